import Glibc
import SatchelPlatform
import SatchelValues

/// Sorts lines by their places, in bounded memory.
///
/// Lines are written to an entry's file as they come. As far as memory allows, lines of one place are kept together.
/// Lines mostly come in order: one generation, and parents before children. Then that file is the entry. Otherwise the
/// runs of lines are copied to another file, in the order of their places.
struct LineSorter: ~Copyable {
  /// Lines of several places wait for more lines of each place. Lines of a single place need not wait.
  private static let mostBuffered = 4 << 20
  private static let mostOfOnePlace = 256 << 10

  private var entry: EntryWriter
  private var buffers: [ApplyOrder: [UInt8]] = [:]
  private var buffered = 0
  private var runs: [Run] = []

  /// Lines of one place that follow each other in the file.
  private struct Run {
    let place: ApplyOrder
    let offset: Int64
    var bytes: Int64
  }

  init(in folder: borrowing StagingFolder) throws(PlatformError) { entry = try EntryWriter(in: folder) }

  mutating func add(_ lines: ArraySlice<UInt8>, _ place: ApplyOrder) throws(PlatformError) {
    buffers[place, default: []] += lines
    buffered += lines.count
    if buffered > (buffers.count == 1 ? Self.mostOfOnePlace : Self.mostBuffered) { try spill() }
  }

  private mutating func spill() throws(PlatformError) {
    for (place, lines) in buffers.sorted(by: { $0.key < $1.key }) where !lines.isEmpty {
      if runs.last?.place != place { runs.append(Run(place: place, offset: entry.written, bytes: 0)) }
      runs[runs.count - 1].bytes += Int64(lines.count)
      try entry.write(lines)
    }
    // If there is only one buffer, its memory is used again. A buffer that a very large row enlarged is dropped.
    if buffers.count == 1, buffered < Self.mostBuffered, let place = buffers.keys.first {
      buffers[place]?.removeAll(keepingCapacity: true)
    } else {
      buffers = [:]
    }
    buffered = 0
  }

  /// Returns the file with all lines in order. No line may be added afterwards.
  mutating func finish(in folder: borrowing StagingFolder) throws(PlatformError) -> BundleDraft.StagedFile {
    try spill()
    if !zip(runs, runs.dropFirst()).allSatisfy({ $0.place < $1.place }) { try sort(in: folder) }
    return try entry.finish()
  }

  private mutating func sort(in folder: borrowing StagingFolder) throws(PlatformError) {
    var sorted = try EntryWriter(in: folder)
    for run in runs.sorted(by: { ($0.place, $0.offset) < ($1.place, $1.offset) }) {
      try entry.copy(run.bytes, from: run.offset, to: &sorted)
    }
    swap(&entry, &sorted)
    try folder.files.remove(sorted.path)
  }
}
