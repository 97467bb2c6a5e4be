import SatchelBundle
import SatchelCapture
import SatchelDataset
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The changes that a new version of the dataset made at the hub.
public struct VersionReport: Sendable {
  public let dataset: String
  public let version: Int64
  public let change: DatasetChange
  /// The changes of columns in tables that stay. For messages, the words are put after the table's name.
  public let columns: [(table: Name, words: String)]
  /// The rows of added tables, and the rows that the migration wrote. Rows in which only columns changed are left out.
  /// Bundles carry these rows as the hub's own changes.
  public let tally: RowTally
  /// Devices that need the new version.
  public let devices: [String]
  /// Warnings about faults that people would notice only later.
  public let warnings: [Finding]
  /// The rules of each table, as the hub understands them.
  public let rules: [RuleSummary]
  /// The rows that users get and lose. nil if the rows were not counted.
  public let preview: ScopePreview?
}

/// The state of the hub's tables before a new version of the dataset.
public enum HubTables: Sendable {
  /// The tables are as in the former version. The migration will change them.
  case former
  /// Another program has already run the migration on these tables. The hub only records it for the devices.
  case migrated
}

/// The dataset versions of a device.
public struct DeviceVersion: Sendable {
  public let device: String
  public let user: String
  /// The version that the device is known to have. nil if the device is not known to have rows.
  public let version: Int64?
  /// The version of the newest emission, if the device is not known to have that emission. Otherwise nil.
  public let sent: Int64?
}

/// The dataset as it is defined at the hub, and the version of each device.
public struct DatasetReport: Sendable {
  public let definition: DatasetDefinition
  public let versions: [(version: Int64, at: Int64)]
  public let devices: [DeviceVersion]
}

extension HubWorkspace {
  /// Brings the hub to the next version of its dataset, in one transaction. Checks the definition as `create` does,
  /// runs the migration, and makes capture and the hub's own tables again.
  ///
  /// Throws a `DatasetError` or a `VersionError` that names the fault. Nothing has changed then.
  /// - Parameters:
  ///   - script: the SQL of the migration. nil if the tables stay as they are.
  ///   - state: whether the migration has already been run on the hub's tables.
  ///   - counting: whether to count the rows that users get and lose. All rows of the users are evaluated twice for it.
  ///     If another program ran the migration, they are not counted.
  public func applyDataset(
    _ source: [UInt8], migration script: [UInt8]?, to state: HubTables = .former, counting: ScopeCounting = .counted
  ) throws -> VersionReport {
    let given = try DatasetDefinition(json: source)
    return try locked {
      let store = try state == .former ? storeForLongWork() : examinedAfterMigration()
      try checkClock(store)
      let old = store.dataset
      let given = try old.orphans.map { try given.saying($0) } ?? given
      let added = try DatasetChange(from: old, to: given).added
      let migration = try script.map { try Self.migration(given.version, $0) }
      for table in added { try Self.refuseReturn(of: table, store) }
      let staging = try StagingFolder(in: folder.inbox, platform: platform)
      return try recordingAct(store) { act in
        try store.writeTransaction(runMode) {
          let now = platform.clock.milliseconds()
          var tally = RowTally()
          let observed = try state == .former ? [:] : takeUpMigration(store, &tally)
          try store.logLocalWrites(user: Self.hubUser, at: now)
          let before = try counting == .counted && state == .former ? ScopesBefore(store) : nil
          let step = try VersionStep(
            from: store.tables, to: given, .completedByDatabase,
            by: state == .former ? migration.map { [$0] } ?? [] : [],
            within: TimeLimit(milliseconds: Migration.longestAtHub, by: platform.clock),
            in: store.database, keeping: staging, observed: observed)
          let definition = step.definition
          try Self.check(step.tables, of: definition, after: store.tables, in: store.database)
          try store.take(step, definition, migration, at: now)
          try saveWritten(by: step, store, &tally)
          try store.logLocalWrites(user: Self.hubUser, at: now)
          if runMode == .commit {
            try writeBase(store.database, store.tables, definition, epoch: store.identity.epoch, cursor: store.cursor())
          }
          try store.add(act)
          return VersionReport(
            dataset: definition.name, version: definition.version,
            change: try DatasetChange(from: old, to: definition),
            columns: step.kept.compactMap { table in step.mappings[table.name]?.words.map { (table.name, $0) } },
            tally: tally,
            devices: try store.devices().filter { $0.state == .active }.map(\.name),
            warnings: try ReferenceWarnings(given, step.tables).findings(in: store.database)
              + PolicyWarnings(step.tables, of: definition).findings(in: store.database),
            rules: try RuleSummary.all(of: step.tables, definition, in: store.database),
            preview: try before?.preview(store))
        }
      }
    }
  }

  /// Opens the database after another program changed its tables. Throws a `WorkspaceError` if there is damage that
  /// `doctor` cannot repair.
  private func examinedAfterMigration() throws -> HubStore {
    let store = try examined()
    if let lasting = store.damage.first(where: { !$0.isRepairable }) {
      throw WorkspaceError.damaged(lasting, tool: "satchel-hub")
    }
    return store
  }

  /// Installs capture on the tables that another program changed. Records the rows that the program wrote as the hub's
  /// own changes. Returns the mappings of the columns.
  private func takeUpMigration(_ store: HubStore, _ tally: inout RowTally) throws -> [Name: ColumnMapping] {
    let mappings = try reinstall(store)
    try store.go(to: store.dataset, store.tables)
    let changes = try compare(store)
    for found in changes { if let made = found.change { tally.add(made, in: found.table) } }
    try save(changes, store)
    return mappings
  }

  /// The rules of each table as this hub understands them, with the number of the table's rows.
  public func ruleSummaries() throws -> [RuleSummary] {
    let store = try store()
    return try RuleSummary.all(of: store.tables, store.dataset, in: store.database)
  }

  /// The present definition, and the version of each device.
  public func dataset() throws -> DatasetReport {
    let store = try store()
    return DatasetReport(
      definition: store.dataset,
      versions: try VersionTable.definitions(in: store.database).map { ($0.version, $0.at) },
      devices: try store.devices().filter { $0.state != .revoked }.map { device in
        let emissions = try store.emissions(of: device.id)
        let proved = emissions.first { $0.number == device.proved }
        let sent = emissions.last { $0.number > device.proved }
        return DeviceVersion(device: device.name, user: device.user, version: proved?.version, sent: sent?.version)
      })
  }

  private static func migration(_ version: Int64, _ bytes: [UInt8]) throws -> Migration {
    guard let sql = String(validating: bytes, as: UTF8.self) else {
      throw VersionError("The migration is not text in UTF-8.", hint: "Save it as UTF-8.")
    }
    guard bytes.count <= Migration.maximumBytes else {
      throw VersionError(
        "The migration has \(bytes.count) bytes. The most is \(Migration.maximumBytes).",
        hint: "Rows that it brings can be written at the hub afterwards: they travel as any change.")
    }
    return Migration(version: version, sql: sql)
  }

  /// Throws a `DatasetError` if an added table was in the dataset before. Since then devices have used that table as
  /// their own. So the hub cannot know which rows in it are new.
  private static func refuseReturn(of table: Name, _ store: HubStore) throws {
    guard let last = try store.lastVersion(with: table) else { return }
    throw DatasetError(
      "tables.\(table)", "it was in the dataset up to version \(last), and a removed table cannot come back",
      hint: "Make a table of another name and copy the rows into it.")
  }

  /// Saves pre-images for the rows that the migration wrote, and counts these rows. With the pre-images, the log
  /// records the rows as the hub's own changes.
  private func saveWritten(by step: VersionStep, _ store: HubStore, _ tally: inout RowTally) throws {
    for table in step.kept {
      guard let known = step.known?.table(table.name) else { continue }
      let written = UnseenChanges(of: table, known: known, unsent: .zero, generation: .zero)
      try written.find(in: store.database) { change in
        if let made = change.change { tally.add(made, in: table.name) }
        try UnseenChanges.save(
          [change], of: table, generation: .zero,
          stamp: { try Capture.tick(now: platform.clock.milliseconds(), in: store.database) }, in: store.database)
      }
    }
    for (table, _) in step.added {
      try store.database.each(table.allRowsSQL) {
        tally.add(.insert(Row($0.values(from: 0, count: table.schema.columns.count))), in: table.name)
      }
    }
  }
}
