import SatchelPlatform

/// Where a line is to stand among others.
public struct LineRank: Hashable, Comparable, Sendable {
  private let major: Int64
  private let minor: Int

  public init(_ major: Int64, _ minor: Int) {
    self.major = major
    self.minor = minor
  }

  /// Before all others.
  public static let first = LineRank(.min, .min)

  public static func < (a: LineRank, b: LineRank) -> Bool { (a.major, a.minor) < (b.major, b.minor) }
}

/// Brings lines into the order of their ranks, in bounded memory: what does not fit lies in a file meanwhile, in runs of one rank each.
final class LineSorter {
  private static let mostBuffered = 4 << 20

  private let folder: String
  private let files: any FileSystem
  private var buffers: [LineRank: [UInt8]] = [:]
  private var buffered = 0
  private var runs: [LineRank: [(offset: Int64, count: Int)]] = [:]
  private var file: (path: String, fd: Int32)?
  private var end: Int64 = 0

  /// - Parameter folder: for the file; it goes with the folder.
  init(in folder: String, files: any FileSystem) {
    self.folder = folder
    self.files = files
  }

  deinit { if let file { files.close(file.fd) } }

  func add(_ line: [UInt8], _ rank: LineRank) throws {
    buffers[rank, default: []] += line
    buffered += line.count
    if buffered > Self.mostBuffered { try spill() }
  }

  private func spill() throws {
    let file = try self.file ?? files.createTemporary(in: folder, mode: 0o600)
    self.file = file
    for (rank, bytes) in buffers {
      try files.write(file.fd, bytes)
      runs[rank, default: []].append((end, bytes.count))
      end += Int64(bytes.count)
    }
    buffers = [:]
    buffered = 0
  }

  /// Hands the lines out, several at once.
  func each(_ body: (_ lines: [UInt8]) throws -> Void) throws {
    for rank in Set(runs.keys).union(buffers.keys).sorted() {
      for run in runs[rank] ?? [] { try read(run, body) }
      if let rest = buffers[rank] { try body(rest) }
    }
  }

  private func read(_ run: (offset: Int64, count: Int), _ body: ([UInt8]) throws -> Void) throws {
    guard let file else { return }
    try files.seek(file.fd, to: run.offset)
    var left = run.count
    var buffer = [UInt8](repeating: 0, count: min(left, 256 << 10))
    while left > 0 {
      let count = min(left, try files.read(file.fd, into: &buffer))
      if count == 0 { throw PlatformError.other(operation: "read", path: file.path, errno: 5) }
      try body(Array(buffer[..<count]))
      left -= count
    }
  }
}
