import SatchelSQLite
import SatchelValues

/// Satchel's own tables in a database, as the SQL that made them.
public struct OwnTables {
  public let names: [String]

  public init(madeBy schemas: [String], and others: [String] = []) {
    // CREATE TABLE name ( ...
    names = schemas.compactMap { $0.split(separator: " ", maxSplits: 3).dropFirst(2).first.map(String.init) } + others
  }

  /// Throws a `WorkspaceError` if one of them is missing: then its contents are lost too.
  public func check(in database: borrowing Database, at path: String, hint: String) throws {
    for name in names where try !database.hasTable(name) {
      throw WorkspaceError(
        .missingTable, "Satchel's table \(name) is missing from the database \(path).", hint: hint)
    }
  }
}
