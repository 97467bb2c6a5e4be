import SatchelCapture
import SatchelConflicts
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// All records of the hub, in an SQLite database. Only the store uses SQL on the hub's own tables.
final class HubStore {
  let database: Database
  private(set) var dataset: DatasetDefinition
  /// The tables of the dataset that can be kept in step. Without damage, these are all tables.
  private(set) var tables: [TrackedTable]
  /// Damage to the database that may have hidden changes from capture.
  let damage: [CaptureDamage]
  let identity: Identity
  private(set) var rows: [RowTable]
  /// Empty if there is damage.
  private(set) var numbers: [RowNumbers]
  private(set) var references: [References]
  /// For each table, whether a write of a row can be undone by the opposite write. This is so if the table has no
  /// triggers and no AUTOINCREMENT.
  private(set) var isReversible: [Bool]
  let logged: LogStatements
  /// The clock that measures the time limit of rules.
  let clock: any WallClock
  let walks = LogWalks()
  let scopes = OpenScopes()

  struct Identity: Sendable {
    let id: ReplicaID
    let name: String
    let epoch: Epoch
    /// Emissions with lower numbers belong to former epochs.
    var firstEmission = EmissionNumber.zero
    /// Changes up to this cursor are older than this epoch.
    var epochCursor = Cursor.zero
    /// Whether the hub knows all former epochs.
    var knowsFormerEpochs = true
    /// Changes up to this cursor are forgotten.
    var logFrom = Cursor.zero
  }

  init(path: String, clock: any WallClock = SystemClock()) throws {
    let database = try Database(path: path, mode: .readWrite)
    try database.prepareForCommand()
    let isOurs = try database.hasTable("satchel_hub")
    if isOurs { try HubSchema.upgrade.run(in: database) }
    guard isOurs, let (identity, definition) = try Self.identity(in: database) else {
      throw WorkspaceError(
        .notCaptured, "The database \(path) was not set up by Satchel: its satchel_ tables are missing.",
        hint: "Was the file replaced? Put the right one back.")
    }
    let dataset = try DatasetDefinition(json: definition)
    try OwnTables(madeBy: Self.checkedTables, and: dataset.tables.map { RowNumbers.tableName($0.name) }).check(
      in: database, at: path, hint: "Keep the file, and bring the hub back from its last backup: satchel-hub restore")
    let found = try CapturedTables(of: dataset, in: database)
    let tables = found.tables
    damage = found.damage
    rows = try database.readTransaction { try Self.rows(of: tables, in: database) }
    // With damage, the key's columns may have other names than the columns in the table of row numbers.
    numbers = damage.isEmpty ? try tables.map { try RowNumbers($0, in: database) } : []
    references = tables.map { References(of: $0, among: tables) }
    isReversible = try Self.areReversible(tables, in: database)
    logged = try LogStatements(in: database)
    self.dataset = dataset
    self.tables = tables
    self.identity = identity
    self.clock = clock
    self.database = database
    self.database.addFunction(OpenScopes.function) { [scopes] in try scopes.answer($0) }
    followReferences()
  }

  /// Turns on the observation of writes if tables have references. Trees and indexes of references are remembered, and
  /// a write may make them wrong.
  private func followReferences() {
    if tables.contains(where: { !$0.schema.foreignKeys.isEmpty }) { database.writes.turnOn() }
  }

  private static func identity(in database: borrowing Database) throws -> (Identity, definition: [UInt8])? {
    try database.first(
      "SELECT id, name, epoch, definition, emissions_from, log_from, epoch_cursor, former_known FROM satchel_hub"
    ) {
      (
        Identity(
          id: ReplicaID(unchecked: $0.text(0)), name: $0.text(1), epoch: Epoch(unchecked: $0.text(2)),
          firstEmission: EmissionNumber($0.integer(4)), epochCursor: Cursor($0.integer(6)),
          knowsFormerEpochs: $0.integer(7) != 0, logFrom: Cursor($0.integer(5))),
        Array($0.text(3).utf8)
      )
    }
  }

  private static func rows(of tables: [TrackedTable], in database: borrowing Database) throws -> [RowTable] {
    // A trigger that only the app can run would make this preparation fail. So triggers are off here. None of them
    // would fire.
    try database.withoutTriggers { try tables.map { try RowTable($0, in: database) } }
  }

  private static func areReversible(_ tables: [TrackedTable], in database: borrowing Database) throws -> [Bool] {
    try tables.map { try !$0.info.isAutoincrement && !database.hasTriggers(on: $0.name) }
  }

  /// Continues with the tables of another version of the dataset. The caller's transaction has changed them.
  func go(to definition: DatasetDefinition, _ tables: [TrackedTable]) throws {
    rows = try Self.rows(of: tables, in: database)
    numbers = try tables.map { try RowNumbers($0, in: database) }
    references = tables.map { References(of: $0, among: tables) }
    isReversible = try Self.areReversible(tables, in: database)
    dataset = definition
    self.tables = tables
    walks.forget()
    followReferences()
  }

  /// Runs `body` in a transaction that writes no rows of the dataset.
  func writeTransaction<T>(_ runMode: RunMode, _ body: () throws -> T) throws -> T {
    defer { if runMode == .dryRun { walks.forget() } }
    return try database.writeTransaction(runMode) {
      begin()
      return try body()
    }
  }

  /// Runs `body` in a transaction that may write rows of the dataset. It turns off triggers that must not fire for
  /// these rows.
  func applyTransaction<T>(_ runMode: RunMode, _ body: () throws -> T) throws -> T {
    try applyTransaction(runMode, to: tables.map(\.name), body)
  }

  /// Runs `body` in a transaction that may write only rows of these tables. It turns off triggers that must not fire
  /// for these rows.
  func applyTransaction<T>(_ runMode: RunMode, to tables: [Name], _ body: () throws -> T) throws -> T {
    defer { if runMode == .dryRun { walks.forget() } }
    return try database.applyTransaction(runMode, to: tables) {
      begin()
      return try body()
    }
  }

  private func begin() {
    logged.begin()
    scopes.forgetTrees()
  }

  private static let ownTables =
    HubSchema.all + [ConflictTable.schema, BlockTable.schema, Ledger.schema, VersionTable.schema]
  private static let checkedTables = ownTables + [SchemaUpgrade.schema]

  /// Makes a database the hub's database: adds capture and the hub's tables, and numbers all rows. The caller must hold
  /// the transaction.
  static func install(
    in database: borrowing Database, identity: Identity, definition: DatasetDefinition, tables: [TrackedTable],
    at time: Int64
  ) throws {
    try Capture.install(in: database, tables: tables)
    for sql in ownTables { try database.execute(sql) }
    try HubSchema.upgrade.begin(in: database)
    try database.run(
      """
      INSERT INTO satchel_hub (one, id, name, epoch, clock, definition) VALUES (1, :id, :name, :epoch, :time, \
      :definition)
      """,
      [
        "id": .string(identity.id.text), "name": .string(identity.name), "epoch": .string(identity.epoch.text),
        "time": .integer(time), "definition": .text(definition.source),
      ])
    try VersionTable.add(definition.version, definition.source, nil, at: time, in: database)
    for table in tables { try RowNumbers.install(table, in: database) }
  }

  /// Gives the hub's own writers their first ranges of keys, above the keys of all present rows.
  static func giveFirstBlocks(_ tables: [TrackedTable], to hub: ReplicaID, in database: borrowing Database) throws {
    for table in tables where table.rules.keys == .blocks {
      let next = try table.nextKey(in: database)
      guard next < Int64.max - table.rules.block else { continue }
      let block = KeyBlock(table: table.name, first: next, last: next + table.rules.block - 1, number: .zero)
      try BlockTable.add(block, of: hub, in: database)
      try table.count(from: block, in: database)
    }
  }

  /// The index of a table among the dataset's tables. nil if the dataset does not have the table.
  func place(of table: Name) -> Int? { rows.firstIndex { $0.name == table } }

  /// The hub's cursor: the number of row changes that the hub has committed.
  func cursor() throws -> Cursor {
    Cursor(try database.first("SELECT max(cursor) FROM satchel_log") { $0.integer(0) } ?? 0)
  }
}
