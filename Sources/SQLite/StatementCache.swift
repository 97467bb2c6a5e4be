import SatchelValues

/// Statements of one connection that are not in use, by their text. Preparing one costs more than running it once.
final class StatementCache {
  private var kept: [Name: KeptStatement] = [:]

  /// More texts than a command has; texts made of many tables' names push each other out.
  private static let capacity = 256

  func take(_ sql: String) -> KeptStatement? { kept.removeValue(forKey: Name(sql)) }

  func put(_ statement: KeptStatement, _ sql: String) {
    if kept.count >= Self.capacity { kept.removeAll() }
    kept[Name(sql)] = statement
  }
}

/// A statement that can lie in a dictionary.
final class KeptStatement {
  let statement: Statement

  init(_ statement: consuming Statement) { self.statement = statement }
}
