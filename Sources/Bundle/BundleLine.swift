import SatchelJSON
import SatchelPlatform
import SatchelValues

/// Makes the bytes of an entry's lines, and counts them.
final class LineWriter {
  private var writer = JSONWriter()
  private let limit = BundleLimits().lineBytes
  private let progress: (any ProgressObserver)?
  private(set) var count: Int64 = 0
  private(set) var needed: Manifest.Critical?

  init(_ progress: (any ProgressObserver)?) { self.progress = progress }

  func bytes(of line: some BundleLine) throws -> [UInt8] {
    needed = needed ?? line.critical
    writer.reset()
    line.write(into: &writer)
    writer.endLine()
    guard writer.bytes.count <= limit else { throw BundleError.rowTooLarge(line.rowName, limit: limit) }
    count += 1
    if count.isMultiple(of: 1024) { progress?.observe(Progress(.collecting, count)) }
    return writer.bytes
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
  var critical: Manifest.Critical? { content.isAboutKeys ? .keys : nil }

  var rowName: String { "\(table) \(String(decoding: canonicalKey(key), as: UTF8.self))" }
}

extension ConflictRecord: BundleLine {
  var rowName: String { "\(table) \(String(decoding: canonicalKey(key), as: UTF8.self))" }
}

extension Resolution: BundleLine {
  var rowName: String { "the conflict \(conflict)" }
}

extension Migration: BundleLine {
  var rowName: String { "the migration to version \(version)" }
}
