import SatchelSQLite
import SatchelValues

/// The obstacle that keeps a row out of its table: an index, or a UNIQUE or PRIMARY KEY in the table's declaration.
public enum Obstruction {
  /// An index that CREATE INDEX made. It can be dropped by its name.
  case index(String)
  /// A constraint in the table's declaration. The text names its columns in SQLite's words.
  case declaration(String)
}

extension RowTable {
  /// Inserts the row on trial, and returns the obstacle that SQLite reports; nil: there is none. Nothing is changed.
  public func obstruction(to row: Row, in database: borrowing Database) throws -> Obstruction? {
    do {
      try database.savepoint(.dryRun) { try write(.insert(row), of: schema.key(of: row)) }
      return nil
    } catch let error as SQLiteError where error.kind == .unique { return obstruction(named: error.message) }
  }

  /// SQLite's message names an index over expressions by its name. It names other indexes by their columns.
  private func obstruction(named message: String) -> Obstruction {
    for name in table.info.unsupportedIndexes where message.hasSuffix("index '\(name)'") { return .index(name) }
    for index in table.info.uniqueIndexes where !index.name.hasPrefix("sqlite_autoindex_") {
      if message.hasSuffix(suffix(of: index)) { return .index(index.name) }
    }
    // "UNIQUE constraint failed: trees.name, trees.place"
    return .declaration(message.firstIndex(of: ":").map { String(message[$0...].dropFirst(2)) } ?? message)
  }

  /// The end of SQLite's message that a value is already in an index.
  private func suffix(of index: UniqueIndex) -> String {
    let columns = index.parts.compactMap(\.column).map { "\(name).\(schema.columns[$0])" }
    return columns.count < index.parts.count ? "index '\(index.name)'" : ": " + columns.joined(separator: ", ")
  }
}
