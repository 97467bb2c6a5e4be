import SatchelJSON
import SatchelPlatform
import SatchelValues

/// Makes the bytes of lines, one behind the other.
struct LineWriter: Sendable {
  private var writer = JSONWriter()
  private let limit = BundleLimits().lineBytes

  /// Returns how many bytes the line has.
  @discardableResult
  mutating func write(_ line: some BundleLine) throws(BundleError) -> Int {
    let before = writer.bytes.count
    line.write(into: &writer)
    writer.endLine()
    let count = writer.bytes.count - before
    guard count <= limit else { throw .rowTooLarge(line.rowName, limit: limit) }
    return count
  }

  /// All that was written since it began anew.
  var bytes: [UInt8] { writer.bytes }

  mutating func beginAnew() { writer.reset() }

  /// The same bytes, as the taker's alone, and begins anew.
  mutating func take() -> [UInt8] { writer.take() }
}

/// Counts an entry's lines, and tells of them.
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

/// Something that stands in a bundle as one line of JSON.
protocol BundleLine {
  func write(into writer: inout JSONWriter)
  /// What it is about, for people.
  var rowName: String { get }
  /// What a reader must understand to take it.
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
