import Glibc
import SatchelPlatform
import SatchelValues

/// Brings lines into the order of their places, in bounded memory: what does not fit lies in a file meanwhile, in runs of one place each.
final class LineSorter {
  private static let mostBuffered = 4 << 20

  private let folder: String
  private let files: any FileSystem
  private var buffers: [StepPlace: [UInt8]] = [:]
  private var buffered = 0
  private var runs: [StepPlace: [(offset: Int64, count: Int)]] = [:]
  private var file: (path: String, fd: Int32)?
  private var end: Int64 = 0

  /// - Parameter folder: for the file; it goes with the folder.
  init(in folder: String, files: any FileSystem) {
    self.folder = folder
    self.files = files
  }

  deinit { if let file { files.close(file.fd) } }

  func add(_ line: [UInt8], _ place: StepPlace) throws {
    buffers[place, default: []] += line
    buffered += line.count
    if buffered > Self.mostBuffered { try spill() }
  }

  private func spill() throws {
    let file = try self.file ?? files.createTemporary(in: folder, mode: 0o600)
    self.file = file
    for (place, bytes) in buffers {
      try files.write(file.fd, bytes)
      runs[place, default: []].append((end, bytes.count))
      end += Int64(bytes.count)
    }
    buffers = [:]
    buffered = 0
  }

  /// Hands the lines out, several at once.
  func each(_ body: (_ lines: [UInt8]) throws -> Void) throws {
    for place in Set(runs.keys).union(buffers.keys).sorted() {
      if let file { for run in runs[place] ?? [] { try read(run, of: file, body) } }
      if let rest = buffers[place] { try body(rest) }
    }
  }

  private func read(
    _ run: (offset: Int64, count: Int), of file: (path: String, fd: Int32), _ body: ([UInt8]) throws -> Void
  ) throws {
    try files.seek(file.fd, to: run.offset)
    var left = run.count
    var buffer = [UInt8](repeating: 0, count: min(left, 256 << 10))
    while left > 0 {
      let count = min(left, try files.read(file.fd, into: &buffer))
      if count == 0 { throw PlatformError.other(operation: "read", path: file.path, errno: EIO) }
      try body(Array(buffer[..<count]))
      left -= count
    }
  }
}
