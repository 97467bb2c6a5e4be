import Glibc

/// Prepared statements of one connection that are not in use, by their SQL text. The cache exists because preparing a
/// statement costs more than running it once.
final class StatementCache {
  private var kept: [SQLText: KeptStatement] = [:]

  /// The limit on the number of kept statements. A command usually has fewer. A dataset with many tables may have more.
  /// The cache is then emptied when it is full.
  private static let capacity = 256

  func take(_ sql: String) -> KeptStatement? { kept.removeValue(forKey: SQLText(sql)) }

  func put(_ statement: KeptStatement, _ sql: String) {
    if kept.count >= Self.capacity { kept.removeAll() }
    kept[SQLText(sql)] = statement
  }
}

/// Holds a statement, so that an array or a dictionary can contain it.
public final class KeptStatement {
  public let statement: Statement

  public init(_ statement: consuming Statement) { self.statement = statement }
}

/// The SQL text of a statement as a dictionary's key. The text is long and is looked up for every row, so it is hashed
/// and compared as one block of bytes.
private struct SQLText: Hashable {
  private var text: String

  init(_ text: String) {
    self.text = text
    self.text.makeContiguousUTF8()
  }

  static func == (a: SQLText, b: SQLText) -> Bool {
    a.withBytes { a in
      b.withBytes { b in a.count == b.count && (a.count == 0 || memcmp(a.baseAddress!, b.baseAddress!, a.count) == 0) }
    }
  }

  func hash(into hasher: inout Hasher) { withBytes { hasher.combine(bytes: $0) } }

  private func withBytes<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
    var text = text
    return text.withUTF8 { body(UnsafeRawBufferPointer($0)) }
  }
}
