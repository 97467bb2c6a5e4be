import Glibc
import SatchelPlatform
import SatchelValues

/// Sorts lines by their `ApplyOrder`, with little memory.
///
/// Lines with the same place are collected in memory, and then written to a file together. Usually the lines come in
/// order, because there is one generation, and parents come before children. If so, the file is finished. Otherwise
/// groups of lines are copied to another file in the right order.
struct LineSorter: ~Copyable {
  /// The most bytes in the buffers, if there are lines of several places. Then the lines wait for more lines of the
  /// same place. If all lines have one place, waiting is of no use, and the second limit applies.
  private static let mostBuffered = 4 << 20
  private static let mostOfOnePlace = 256 << 10

  private var entry: EntryWriter
  private var buffers: [ApplyOrder: [UInt8]] = [:]
  private var buffered = 0
  private var runs: [Run] = []

  /// Lines with the same place that are next to each other in the file.
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
    // A single buffer is kept for the next lines, unless a very large row made it large.
    if buffers.count == 1, buffered < Self.mostBuffered, let place = buffers.keys.first {
      buffers[place]?.removeAll(keepingCapacity: true)
    } else {
      buffers = [:]
    }
    buffered = 0
  }

  /// Returns the file with all lines in order. No line may be added after that.
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
