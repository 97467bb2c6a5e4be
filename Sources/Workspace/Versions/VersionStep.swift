import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Why a database cannot be brought to another version of its dataset. Nothing has changed.
public struct VersionError: ExplainedError {
  public let message: String
  public let hint: String?
  /// Whether a migration failed at rows that do not fit a constraint of their table, or from which an expression cannot
  /// be computed.
  public let isByConstraint: Bool
  public var code: Reason { .migration }

  public init(_ message: String, hint: String? = nil, isByConstraint: Bool = false) {
    self.message = message
    self.hint = hint
    self.isByConstraint = isByConstraint
  }
}

/// Brings a captured database to another version of its dataset. The migrations run, and capture is reinstalled on the
/// tables that they leave.
///
/// A migration's writes to rows must not count twice, as the hub's change and as every device's change. So a migration
/// counts only as a change of columns. Both sides keep the former rows, in the present columns. The hub compares them
/// with the rows that the migration left, to find its writes. The hub sends these writes as ordinary changes. A device
/// undoes writes that the hub does not send.
public final class VersionStep {
  /// Whether a definition lists all its references.
  public enum References {
    /// The definition lists all references, because the hub has added the missing ones.
    case complete
    /// A GeoPackage may declare more references, and a migration may add more to it.
    case completedByDatabase
  }

  /// The place of rows with pending changes while migrations run.
  public enum PendingRows: Sendable {
    case inTables
    /// The tables have the rows before the first pending change, because the migrations fail with the pending changes.
    case setAside
  }

  /// The new version's definition, with the references that the database declares.
  public let definition: DatasetDefinition
  /// The tables of the new version.
  public let tables: [TrackedTable]
  /// The tables of the new version that the former version also had.
  public let kept: [TrackedTable]
  /// The tables that join the dataset, and whether the database had them before.
  public let added: [(table: TrackedTable, existed: Bool)]
  /// The tables that leave the dataset, in their former form.
  public let removed: [TrackedTable]
  /// The column mappings of the kept tables.
  public let mappings: [Name: ColumnMapping]
  /// By table, the values of new columns in the rows that were there before.
  public let newValues: [Name: [Name: Value]]
  /// The rows before the first pending change: these rows the hub is known to have. nil: no migration ran, and rows are
  /// unchanged.
  public let known: BaselineRows?
  /// The rows with pending changes, in their former form.
  public let pending: BaselineRows?

  /// Takes the step. The caller holds the transaction, has logged the local writes, and keeps triggers on.
  /// - Parameters:
  ///   - migrations: in the order of their versions.
  ///   - pendingRows: the place of rows with pending changes while migrations run.
  ///   - limit: the time limit for all migrations together.
  ///   - folder: the folder for the rows that are kept. It must exist longer than this step.
  ///   - observed: the column mappings of tables that another program has brought to the new version.
  /// - Throws: a `VersionError` if a migration fails, a `DatasetError` if the tables that it leaves do not match the
  ///   definition.
  public init(
    from old: [TrackedTable], to given: DatasetDefinition, _ references: References, by migrations: [Migration],
    with pendingRows: PendingRows = .inTables, within limit: TimeLimit, in database: borrowing Database,
    keeping folder: borrowing StagingFolder, observed: [Name: ColumnMapping] = [:]
  ) throws {
    let staying = old.filter { given.rules(for: $0.name) != nil }
    let present = try Set(
      given.tables.map(\.name).filter { name in
        try !old.contains { $0.name == name } && database.tableInfo(name) != nil
      })
    var before: (known: BaselineRows, pending: BaselineRows)?
    if !migrations.isEmpty {
      before = try Self.rows(of: staying, in: database, folder)
      // A device puts back rows that a migration deleted.
      try LocalPrimaryKeys.saveAll(of: staying, in: database)
      for table in old { try Capture.dropTriggers(of: table.name, in: database) }
      if pendingRows == .setAside { try Self.setAside(staying, in: database) }
    }
    let trail = ColumnTrail(staying)
    for migration in migrations { try Self.run(migration, within: limit, trail, in: database) }
    let definition = references == .complete ? given : try given.completed(by: database)
    let tables = try TrackedTable.find(definition, in: database)
    let mappings = trail.mappings
    let removed = old.filter { definition.rules(for: $0.name) == nil }
    let kept = tables.filter { table in old.contains { $0.name == table.name } }
    let added = tables.filter { table in !old.contains { $0.name == table.name } }
    for table in kept { try Self.checkKey(of: table, old, mappings) }

    for table in removed { try Capture.remove(table, from: database) }
    if before != nil {
      _ = try Capture.reinstall(in: database, tables: kept, generation: .zero, known: mappings)
      for (name, mapping) in mappings {
        try RenamedColumns.followInConflicts(mapping, of: name, database: database)
      }
    } else {
      let changed = kept.filter { table in
        old.contains { $0.name == table.name && $0.keepsUnits != table.keepsUnits }
      }
      _ = try Capture.reinstall(in: database, tables: changed, generation: .zero, known: mappings)
    }
    for table in added { try Capture.add(table, to: database) }
    let carried = try before.map { before in
      try (
        known: before.known.carried(
          to: kept, mappings, trail.newValues, at: folder.file("known-new.sqlite"), in: database),
        pending: before.pending.carried(
          to: kept, mappings, trail.newValues, at: folder.file("pending-new.sqlite"), in: database)
      )
    }
    self.definition = definition
    self.tables = tables
    self.kept = kept
    self.added = added.map { ($0, present.contains($0.name)) }
    self.removed = removed
    self.mappings = mappings.merging(observed) { $1 }
    newValues = trail.newValues
    known = carried?.known
    pending = carried?.pending
  }

  /// The rows that the hub is known to have, and the rows with pending changes.
  private static func rows(
    of tables: [TrackedTable], in database: borrowing Database, _ folder: borrowing StagingFolder
  ) throws -> (known: BaselineRows, pending: BaselineRows) {
    let known = try BaselineRows(at: folder.file("known-old.sqlite"), like: database, tables: tables)
    let pending = try BaselineRows(at: folder.file("pending-old.sqlite"), like: database, tables: tables)
    for (table, own) in zip(known.tables, pending.tables) {
      try database.each(table.table.allRowsSQL) {
        let row = Row($0.values(from: 0, count: table.schema.columns.count))
        try table.set(table.schema.key(of: row), row)
      }
      try PreImageStore.each(table.table, since: .zero, in: database) { key, images, current in
        try table.set(key, images[0].hubRow)
        try own.set(key, current)
      }
    }
    return (known, pending)
  }

  /// Gives rows with pending changes the values from before the first of these changes. All rows leave before any row
  /// is written, because rows may have traded UNIQUE values.
  private static func setAside(_ tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables {
      let rows = try RowTable(table, in: database)
      var changed: [(key: RowKey, before: Row?, current: Row?)] = []
      try PreImageStore.each(table, since: .zero, in: database) { changed.append(($0, $1[0].hubRow, $2)) }
      for row in changed { try rows.write(nil, over: row.current, key: row.key) }
      for row in changed { try rows.write(row.before, over: nil, key: row.key) }
    }
  }

  private static func run(
    _ migration: Migration, within limit: TimeLimit, _ trail: ColumnTrail, in database: borrowing Database
  ) throws {
    do {
      try database.runScript(migration.sql, until: limit.isOver) { try trail.look(at: database) }
    } catch let error as ScriptError {
      throw VersionError(
        "The migration to version \(migration.version) fails at line \(error.line): \(error.message).",
        hint: "Nothing was changed. Try it with sqlite3 on a copy of the database.",
        isByConstraint: error.isByConstraint)
    }
  }

  /// Throws a `DatasetError` if a table's key changed. Rows are identified by their keys, so they could not be matched.
  private static func checkKey(of table: TrackedTable, _ old: [TrackedTable], _ mappings: [Name: ColumnMapping]) throws
  {
    guard let before = old.first(where: { $0.name == table.name })?.schema else { return }
    let key = before.key.map { mappings[table.name]?.current(before.columns[$0]) }
    if key == table.schema.key.map({ table.schema.columns[$0] }) { return }
    let what =
      table.rules.key == nil
      ? "the migration gives it another PRIMARY KEY" : "its \"key\" names other columns than before"
    throw DatasetError(
      "tables.\(table.name)", "\(what), and its rows would have other keys than on other replicas",
      hint: "Make a table of another name, copy the rows into it, and remove this table from the dataset.")
  }
}

extension BaselineRows {
  /// These rows, in the present columns of their tables.
  fileprivate func carried(
    to tables: [TrackedTable], _ mappings: [Name: ColumnMapping], _ newValues: [Name: [Name: Value]], at path: String,
    in database: borrowing Database
  ) throws -> BaselineRows {
    let carried = try BaselineRows(at: path, like: database, tables: tables)
    for target in carried.tables {
      guard let source = table(target.name) else { continue }
      if let mapping = mappings[target.name] { target.expect(mapping) }
      let came = (newValues[target.name] ?? [:]).compactMap { name, value in
        target.schema.position(of: name).map { ($0, value) }
      }
      try source.eachRow { row in
        var moved = target.row(of: source.schema.fields(row))
        for (column, value) in came { moved[column] = value }
        try target.set(target.schema.key(of: moved), moved)
      }
      target.expect(columns: target.schema.columns)
    }
    return carried
  }
}
