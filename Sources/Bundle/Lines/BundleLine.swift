import SatchelJSON
import SatchelPlatform
import SatchelValues

/// Makes the bytes of lines, one after another.
struct LineWriter: Sendable {
  private var writer = JSONWriter()
  private let limit = BundleLimits().lineBytes

  /// Writes a line and returns the number of its bytes.
  @discardableResult
  mutating func write(_ line: some BundleLine) throws(BundleError) -> Int {
    let before = writer.bytes.count
    line.write(into: &writer)
    writer.endLine()
    let count = writer.bytes.count - before
    guard count <= limit else { throw .rowTooLarge(line.rowName, limit: limit) }
    return count
  }

  /// All bytes since the last call of `take` or `beginAnew`.
  var bytes: [UInt8] { writer.bytes }

  mutating func beginAnew() { writer.reset() }

  /// Returns all bytes, and begins a new buffer.
  mutating func take() -> [UInt8] { writer.take() }
}

/// Counts the lines of an entry, and reports the progress.
final class LineTally {
  private let progress: (any ProgressObserver)?
  private(set) var count: Int64 = 0
  private(set) var needed: Set<Manifest.Critical> = []

  init(_ progress: (any ProgressObserver)?) { self.progress = progress }

  func add(_ more: Int, _ critical: Manifest.Critical? = nil) {
    if let critical { needed.insert(critical) }
    let told = count / 1024
    count += Int64(more)
    if count / 1024 > told { progress?.observe(Progress(.collecting, count)) }
  }
}

/// A value that is written as one line of JSON.
protocol BundleLine {
  func write(into writer: inout JSONWriter)
  /// The name of the line's row or object for messages.
  var rowName: String { get }
  /// The feature that a reader must support to read the line; nil if it needs none.
  var critical: Manifest.Critical? { get }
}

extension BundleLine {
  var critical: Manifest.Critical? { nil }
}

extension ChangeLine: BundleLine {
  var critical: Manifest.Critical? {
    content.isAboutKeys ? .keys : !before.isEmpty ? .unseen : unit.map { _ in .units }
  }

  var rowName: String { "\(table) \(String(decoding: canonicalKey(key), as: UTF8.self))" }
}

extension ConflictRecord: BundleLine {
  var critical: Manifest.Critical? { kind == .unseen ? .unseen : unit.map { _ in .units } }

  var rowName: String { "\(table) \(String(decoding: canonicalKey(key), as: UTF8.self))" }
}

extension Resolution: BundleLine {
  var rowName: String { "the conflict \(conflict)" }
}

extension Migration: BundleLine {
  var rowName: String { "the migration to version \(version)" }
}
