import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The database that a full bundle carries. It is opened as untrusted, and must hold the dataset's tables and nothing
/// else.
final class Snapshot {
  let database: Database

  private init(database: consuming Database) { self.database = database }

  /// Opens the snapshot of a full bundle, which must have a snapshot. nil: the bundle is a delta.
  /// - Parameters:
  ///   - tables: the tables as this device has them.
  ///   - device: the device's own database.
  static func open(
    _ bundle: borrowing VerifiedBundle, tables: [TrackedTable], in device: borrowing Database
  ) throws -> Snapshot? {
    let declared = try device.generatedColumns(of: tables.map(\.name))
    let database = try open(bundle, holding: tables.map(\.rules), computing: declared) { try check(tables, in: $0) }
    guard let database else { return nil }
    return Snapshot(database: database)
  }

  /// Opens the snapshot of a bundle while the tables here still have an earlier version. Call `check` after the
  /// upgrade.
  static func open(beforeUpgrade bundle: borrowing VerifiedBundle) throws -> Snapshot? {
    guard let database = try open(holdingItsOwnTables: bundle) else { return nil }
    return Snapshot(database: database)
  }

  /// Opens the snapshot of a bundle of any dataset version: the bundle's own definition describes the tables.
  static func open(holdingItsOwnTables bundle: borrowing VerifiedBundle) throws -> Database? {
    guard let source = try bundle.dataset(limit: DatasetDefinition.maximumBytes) else { return nil }
    return try open(bundle, holding: DatasetDefinition(json: source).tables)
  }

  /// Checks that the snapshot's tables have the same columns and keys as the tables here.
  func check(_ tables: [TrackedTable]) throws { try Self.check(tables, in: database) }

  private static func check(_ tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables {
      try table.schema.refuseOtherColumns(table.carriedColumns(in: database) ?? [])
      guard try table.hasSameKey(in: database) else {
        throw Refusal(
          .schemaDiffers, "The table \(table.name) has another PRIMARY KEY at the hub than in the database here.",
          hint: "Bring the app and its database to the same version on both sides, then import the file again.")
      }
    }
  }

  /// Opens the snapshot and checks that it holds only these tables, their indexes, and the stamps. The snapshot may
  /// become the device's database.
  static func open(
    _ bundle: borrowing VerifiedBundle, holding tables: [TableRules], computing declared: [GeneratedColumn]? = nil,
    look: (borrowing Database) throws -> Void = { _ in }
  ) throws -> Database? {
    guard case .scope(let scope) = bundle.manifest.body, scope.extent == .full else { return nil }
    guard let database = try BundleSnapshot.open(bundle, holding: tables, computing: declared, look: look) else {
      throw BundleError.manifest("it is full and has no snapshot.sqlite")
    }
    return database
  }

  /// The stamp of the last change of the hub's row; zero: the row was never changed.
  func stamp(of key: RowKey, in table: Name) throws -> Stamp {
    try SnapshotBuilder.stamp(of: key, in: table, database: database)
  }

  /// The writes of other devices to the row; nil: the snapshot does not list them.
  func others(of key: RowKey, in table: Name) throws -> [OthersWrite]? {
    do { return try SnapshotBuilder.others(of: key, in: table, database: database) } catch let error as SQLiteError {
      throw error
    } catch { throw BundleError.entry("snapshot.sqlite", "has unreadable data about a row of \(table)") }
  }
}
