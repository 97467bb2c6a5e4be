import SatchelConflicts
import SatchelSQLite
import SatchelValues

/// The table `satchel_left_conflicts`: the conflicts that were not decided when the device left its hub. The table
/// exists until the first bundle of the next hub comes.
enum LeftConflictTable {
  /// Copies the undecided conflicts of the device's user into this table. The caller drops `satchel_conflicts` in the
  /// same transaction.
  static func keep(of user: String, in database: borrowing Database) throws {
    try database.execute("DROP TABLE IF EXISTS main.satchel_left_conflicts")
    try database.execute(
      "CREATE TABLE satchel_left_conflicts AS SELECT * FROM satchel_conflicts WHERE state IN ('open', 'held')")
    try database.run("DELETE FROM satchel_left_conflicts WHERE user <> :user", ["user": .string(user)])
  }

  /// Copies the conflicts into a temporary table of this connection, because joining a hub removes all earlier tables
  /// of Satchel from the database file. Returns false if there is nothing to copy.
  static func takeOut(of database: borrowing Database) throws -> Bool {
    guard try database.hasTable("satchel_left_conflicts") else { return false }
    try database.execute("CREATE TEMP TABLE left_conflicts AS SELECT * FROM main.satchel_left_conflicts")
    return true
  }

  /// Returns the copied conflicts, and drops the temporary table. `satchel_conflicts` is empty before and afterwards.
  static func takeAll(in database: borrowing Database) throws -> [ConflictRecord] {
    let columns = try database.all("SELECT name FROM pragma_table_info('left_conflicts')") { quoted($0.text(0)) }
      .joined(separator: ", ")
    try database.execute("INSERT INTO satchel_conflicts (\(columns)) SELECT \(columns) FROM temp.left_conflicts")
    let records = try ConflictTable.list([.open, .held], in: database).map(\.record)
    try database.execute("DELETE FROM satchel_conflicts; DROP TABLE temp.left_conflicts")
    return records
  }
}
