import SatchelSQLite
import SatchelValues

/// The names of Satchel's own tables, read from the SQL statements that create them.
public struct OwnTables {
  public let names: [String]

  public init(madeBy schemas: [String], and others: [String] = []) {
    // Each statement begins with CREATE TABLE and the name.
    names = schemas.compactMap { $0.split(separator: " ", maxSplits: 3).dropFirst(2).first.map(String.init) } + others
  }

  /// Throws a `WorkspaceError` if one of the tables is missing from the database.
  public func check(in database: borrowing Database, at path: String, hint: String) throws {
    let present = Set(
      try database.all(
        #"SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'satchel\_%' ESCAPE '\'"#
      ) { Name($0.text(0)) })
    for name in names where !present.contains(Name(name)) {
      throw WorkspaceError(
        .missingTable, "Satchel's table \(name) is missing from the database \(path).", hint: hint)
    }
  }
}
