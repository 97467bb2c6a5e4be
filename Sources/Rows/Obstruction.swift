import SatchelSQLite
import SatchelValues

/// The reason why another row with the same value keeps a row out of its table.
public enum Obstruction {
  /// A UNIQUE index that CREATE INDEX made. A person can drop it by this name.
  case index(String)
  /// A UNIQUE or PRIMARY KEY in the table's declaration. The text names its columns as SQLite's message does.
  case declaration(String)
}

extension RowTable {
  /// Tries to insert the row, and undoes that again. Returns the obstacle that SQLite reports; nil if there is none.
  public func obstruction(to row: Row, in database: borrowing Database) throws -> Obstruction? {
    do {
      try database.savepoint(.dryRun) { try write(.insert(row), of: schema.key(of: row)) }
      return nil
    } catch let error as SQLiteError where error.kind == .unique { return obstruction(named: error.message) }
  }

  /// Finds the obstacle that a message of SQLite names. The message has the name of an index over expressions, and
  /// the columns of any other index.
  private func obstruction(named message: String) -> Obstruction {
    for name in table.info.unsupportedIndexes where message.hasSuffix("index '\(name)'") { return .index(name) }
    for index in table.info.uniqueIndexes where !index.name.hasPrefix("sqlite_autoindex_") {
      if message.hasSuffix(suffix(of: index)) { return .index(index.name) }
    }
    // An example of such a message: "UNIQUE constraint failed: trees.name, trees.place"
    return .declaration(message.firstIndex(of: ":").map { String(message[$0...].dropFirst(2)) } ?? message)
  }

  /// The end of SQLite's message for a value that another row has in this index.
  private func suffix(of index: UniqueIndex) -> String {
    let columns = index.parts.compactMap(\.column).map { "\(name).\(schema.columns[$0])" }
    return columns.count < index.parts.count ? "index '\(index.name)'" : ": " + columns.joined(separator: ", ")
  }
}
