import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues

/// The reason why a database cannot go to another version of its dataset. Nothing has changed.
public struct VersionError: ExplainedError {
  public let message: String
  public let hint: String?
  /// Whether a migration failed because a row breaks a constraint, or because an expression cannot be computed for a
  /// row.
  public let isByConstraint: Bool
  public var code: Reason { .migration }

  public init(_ message: String, hint: String? = nil, isByConstraint: Bool = false) {
    self.message = message
    self.hint = hint
    self.isByConstraint = isByConstraint
  }
}

/// Brings a database with capture to another version of its dataset. Runs the migrations, and installs capture on the
/// resulting tables.
///
/// The hub and each device run the same migration. If both counted its writes to rows as changes, these changes would
/// count twice. So both sides save the rows from before the migration, in the new columns. The hub compares these rows
/// with the migrated rows, and sends the differences as its own changes. A device undoes the migration's writes,
/// because it may see only a part of the rows.
public final class VersionStep {
  /// Whether the definition already lists all references.
  public enum References {
    /// The definition lists all references: the hub has added those of the GeoPackage.
    case complete
    /// The GeoPackage may declare further references, also by a migration.
    case completedByDatabase
  }

  /// How rows with pending changes are treated while migrations run.
  public enum PendingRows: Sendable {
    case inTables
    /// The tables get the rows from before the pending changes, because the migrations fail with these changes.
    case setAside
  }

  /// The definition of the new version, with the references that the database declares.
  public let definition: DatasetDefinition
  /// The tables of the new version.
  public let tables: [TrackedTable]
  /// The tables that are in the former version and in the new version.
  public let kept: [TrackedTable]
  /// The tables that join the dataset, and whether the database already had them.
  public let added: [(table: TrackedTable, existed: Bool)]
  /// The tables that leave the dataset, as they were in the former version.
  public let removed: [TrackedTable]
  /// The column mappings of the tables that stay in the dataset.
  public let mappings: [Name: ColumnMapping]
  /// By table: the value of each new column in the rows that existed before.
  public let newValues: [Name: [Name: Value]]
  /// The rows without the pending changes: the rows that the hub is known to have. nil if no migration ran.
  public let known: BaselineRows?
  /// The rows with pending changes, as they are with these changes; nil if no migration ran.
  public let pending: BaselineRows?

  /// Runs the migrations and installs capture. The caller has begun the transaction, has logged the local writes, and
  /// has left triggers on.
  /// - Parameters:
  ///   - migrations: the migrations to run, in the order of their versions.
  ///   - pendingRows: how rows with pending changes are treated while migrations run.
  ///   - limit: the time limit for all migrations together.
  ///   - folder: the folder for copies of rows. It must exist longer than this value.
  ///   - observed: the column mappings of tables that another program has brought to the new version.
  /// - Throws: `VersionError` if a migration fails. `DatasetError` if the resulting tables do not match the
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
      // If a migration deletes rows, a device later inserts them again with their local keys.
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

  /// Gives rows with pending changes their values from before these changes. All such rows leave the tables before
  /// any is written back, because rows may have traded UNIQUE values.
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

  /// Throws a `DatasetError` if the columns of a table's key changed. Otherwise the table's rows would have other keys
  /// than the same rows on other replicas.
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
  /// The same rows in the present columns of their tables.
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
