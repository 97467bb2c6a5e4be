import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

/// A table whose rows cannot be written here at all, because its schema needs a function or a collation that only the
/// app has.
struct UnwritableTable: ExplainedError {
  let message: String
  let hint: String?
  var code: Reason { .database }

  /// nil: the error has another cause.
  /// - Parameter error: the error with which SQLite refused to compile a statement.
  init?(_ error: SQLiteError, among tables: [TrackedTable], in database: borrowing Database) throws {
    guard let lacking = error.nameOfApp,
      let table = try tables.first(where: { try !RowTable($0, in: database).isWritable(in: database) })
    else { return nil }
    let index = try database.first(
      """
      SELECT name FROM sqlite_schema
      WHERE type = 'index' AND tbl_name = :table COLLATE NOCASE AND instr(lower(sql), lower(:name))
      """, ["table": .string(table.name.text), "name": .string(lacking)]
    ) { $0.text(0) }
    let rule = index.map { "the index \($0)" } ?? "the table"
    message = "Rows of \(table.name) cannot be written here, because \(rule) needs \(lacking), which only the app has."
    if let index {
      hint = "If the app can do without the index, drop it: DROP INDEX \(quoted(index)). Then import the file again."
    } else {
      hint = "Have the app make the table without it. Then run satchel doctor --repair, and import the file again."
    }
  }
}
