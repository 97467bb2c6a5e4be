import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The database that a full bundle carries, opened as the work of a stranger and found to hold the dataset's tables and no more.
final class Snapshot {
  let database: Database

  private init(database: consuming Database) { self.database = database }

  /// nil where the bundle carries none, which a delta may and a full bundle may not.
  static func open(_ bundle: borrowing VerifiedBundle, tables: [TrackedTable]) throws -> Snapshot? {
    guard let database = try openUnchecked(bundle) else { return nil }
    for table in tables {
      let info = try database.tableInfo(table.name)
      try table.schema.refuseOtherColumns(info?.schema.columns ?? [])
      guard let theirs = info?.schema,
        theirs.key.map({ theirs.columns[$0] }) == table.schema.key.map({ table.schema.columns[$0] })
      else {
        throw Refusal(
          "schema-differs", "The table \(table.name) has another PRIMARY KEY at the hub than in the database here.",
          hint: "Bring the app and its database to the same version on both sides, then import the file again.")
      }
    }
    return Snapshot(database: database)
  }

  /// Opens the snapshot and checks that there is nothing in it but tables and indexes.
  static func openUnchecked(_ bundle: borrowing VerifiedBundle) throws -> Database? {
    guard case .scope(let scope) = bundle.manifest.body, scope.extent == .full else { return nil }
    guard let path = bundle.path(of: .snapshot) else { throw BundleError.manifest("it is full and has no snapshot.sqlite") }
    let database: Database
    do { database = try Database.untrusted(path: path) } catch {
      throw BundleError.entry("snapshot.sqlite", "is no sound database (\(error.message))")
    }
    let strange = try database.first("SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index')") {
      "\($0.text(0)) \($0.text(1))"
    }
    if let strange { throw BundleError.entry("snapshot.sqlite", "holds more than tables and indexes: the \(strange)") }
    return database
  }

  /// When the hub's row was changed last; zero where it never was.
  func stamp(of key: RowKey, in table: Name) throws -> Stamp {
    try SnapshotBuilder.stamp(of: key, in: table, database: database)
  }
}
