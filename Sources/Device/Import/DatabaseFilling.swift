import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A database that the app created, with its own views, triggers, R-trees and settings beside the dataset's tables.
extension DeviceWorkspace {
  /// Copies `template` to the place of this device's database. The hub's first bundle then fills the copy. Rows that
  /// were deleted in the template do not reach the copy: this device's user may not be allowed to see them.
  ///
  /// Throws a `WorkspaceError` if the file is missing, belongs to a workspace, or is not in UTF-8. A dry run only
  /// checks.
  public func begin(from template: String) throws {
    guard try platform.files.kind(template) == .file else {
      throw WorkspaceError(
        .noTemplate, "There is no database \(template).",
        hint: "Name a database that the app made, with the dataset's tables and no rows in them.")
    }
    // The file is opened for writing, because only then does SQLite copy indexes as they are.
    let database = try Database(path: template, mode: .readWrite)
    if try database.hasTable("satchel_capture") { throw captured(template) }
    if let encoding = try database.otherTextEncoding() {
      throw WorkspaceError(
        .datasetDefinition,
        "The template \(template) holds its texts in \(encoding), which changes some of them when they are read.",
        hint: "Make a template in UTF-8 of it: sqlite3 OLD .dump | sqlite3 NEW")
    }
    if runMode == .commit { try database.copy(to: databasePath) }
  }

  /// Puts the rows into the existing database, whose tables are empty.
  func fillDatabase(
    from bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, _ definition: DatasetDefinition
  ) throws -> ImportReport {
    let database = try Database(path: databasePath, mode: .readWrite)
    if try database.hasTable("satchel_capture") { throw captured(databasePath) }
    for rules in definition.tables where try database.tableInfo(rules.name) == nil {
      throw Refusal(
        .noTable, "The database \(databasePath) has no table \(rules.name), which the dataset keeps in step.",
        hint:
          """
          Let the app make its tables before the first bundle is imported; or remove its file, and the import \
          creates one.
          """
      )
    }
    let tables = try TrackedTable.find(definition, in: database)
    guard let snapshot = try Snapshot.open(bundle, tables: tables, in: database) else {
      throw BundleError.manifest("it is full and has no snapshot.sqlite")
    }
    if runMode == .commit { try trustSigner(of: bundle) }
    let arriving = try ArrivingAttachments(bundle, in: folder, platform: platform, runMode: runMode)
    // The hub's rows are accepted as they are, even if they break a CHECK.
    try database.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
    let count = try database.applyTransaction(runMode, to: tables.map(\.name)) {
      var count = 0
      for table in tables { count += try fill(table, of: database, from: snapshot) }
      try addSatchel(to: database, tables, bundle, scope, definition)
      try takeBlocks(of: bundle, tables, in: database)
      try begin(arriving, tables, definition, in: database)
      return count
    }
    var report = ImportReport(bundle.manifest, .imported, written: count)
    report.note(arriving)
    return report
  }

  /// Writes the rows of one table. Returns their number.
  private func fill(_ table: TrackedTable, of database: borrowing Database, from snapshot: Snapshot) throws -> Int {
    let ours = try RowTable(table, in: database)
    var count = 0
    try snapshot.database.each(table.allRowsSQL) {
      let row = Row($0.values(from: 0, count: table.schema.columns.count))
      do { try ours.write(row, over: nil, key: table.schema.key(of: row)) } catch let error as SQLiteError
        where error.kind == .constraint
      { throw UnwritableRow(rows: ours, row: row, error: error).refusal(in: database) }
      count += 1
    }
    return count
  }

  private func captured(_ path: String) -> WorkspaceError {
    WorkspaceError(
      .captured, "The database \(path) belongs to a Satchel workspace already.",
      hint: "Use a database that the app made and that Satchel does not use yet.")
  }
}
