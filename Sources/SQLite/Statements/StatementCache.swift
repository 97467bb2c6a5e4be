import Glibc

/// Statements of one connection that are not in use, by their text. Preparing a statement costs more than running it
/// once.
final class StatementCache {
  private var kept: [SQLText: KeptStatement] = [:]

  /// The most statements that are kept. A command usually has fewer. If there are more, because a dataset has many
  /// tables, the full cache is emptied.
  private static let capacity = 256

  func take(_ sql: String) -> KeptStatement? { kept.removeValue(forKey: SQLText(sql)) }

  func put(_ statement: KeptStatement, _ sql: String) {
    if kept.count >= Self.capacity { kept.removeAll() }
    kept[SQLText(sql)] = statement
  }
}

/// A statement that can be in an array or a dictionary.
public final class KeptStatement {
  public let statement: Statement

  public init(_ statement: consuming Statement) { self.statement = statement }
}

/// The text of a statement as a dictionary's key, compared by its bytes. It is hashed and compared as a block, because
/// a text is long and is looked up for every row.
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
