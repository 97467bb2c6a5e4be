import SatchelSQLite
import SatchelValues

/// The obstacle that keeps a row out of its table: an index, or a UNIQUE or PRIMARY KEY in the table's declaration.
public enum Obstruction {
  /// It was made by CREATE INDEX, and has a name by which it can be dropped.
  case index(String)
  /// It belongs to the declaration of the table. In SQLite's words: which columns.
  case declaration(String)
}

extension RowTable {
  /// Finds what keeps a row out, by SQLite's own answer; nil: nothing does. Nothing is changed.
  public func obstruction(to row: Row, in database: borrowing Database) throws -> Obstruction? {
    do {
      try database.savepoint(.dryRun) { try write(.insert(row), of: schema.key(of: row)) }
      return nil
    } catch let error as SQLiteError where error.kind == .unique { return obstruction(named: error.message) }
  }

  /// SQLite names an index over expressions, and otherwise the columns that are indexed.
  private func obstruction(named message: String) -> Obstruction {
    for name in table.info.unsupportedIndexes where message.hasSuffix("index '\(name)'") { return .index(name) }
    for index in table.info.uniqueIndexes where !index.name.hasPrefix("sqlite_autoindex_") {
      if message.hasSuffix(suffix(of: index)) { return .index(index.name) }
    }
    return .declaration(message.split(separator: ": ").last.map(String.init) ?? message)
  }

  /// The end of SQLite's message about a value that is taken in an index.
  private func suffix(of index: UniqueIndex) -> String {
    let columns = index.parts.compactMap(\.column).map { "\(name).\(schema.columns[$0])" }
    return columns.count < index.parts.count ? "index '\(index.name)'" : ": " + columns.joined(separator: ", ")
  }
}
