import SatchelBundle
import SatchelCapture
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// How a repair treats tables of the dataset that are gone, or that differ from the hub's tables.
public enum LostTableHandling: Sendable {
  /// The tables stay as they are, and a person or the app makes them again.
  case left
  /// The repair makes the tables as the hub has them.
  case madeAgain
}

/// The tables of the dataset that are gone from a device's database, or whose primary keys or columns differ from the
/// hub's tables.
final class LostTables {
  private let session: DeviceSession
  /// The number of the newest full bundle, which has the hub's tables.
  private let number: Int64
  /// The hub's tables without rows, in the present version of the dataset.
  private let model: Database
  /// The folder with the file of `model`.
  private let folder: StagingFolder
  private let tables: [LostTable]

  /// Returns nil if no table is lost. A renamed table is not lost: its rows are there under its new name.
  ///
  /// Throws a `WorkspaceError` if the archived bundles do not show the hub's tables in the present version.
  init?(_ session: DeviceSession) throws {
    let bundles = try ArchivedBundles(session)
    let numbers = try session.stand().numbers
    let place = try bundles.lastFull(of: numbers)
    let folder = try StagingFolder(in: session.folder.inbox, platform: session.platform)
    let model = try ArchivedVersions(session).presentTables(
      from: numbers[place], through: Array(numbers[(place + 1)...]), in: folder)
    var tables: [LostTable] = []
    for table in try TrackedTable.find(session.dataset, in: model)
    where try !Capture.isRenamed(table.name, in: session.database) {
      if let lost = try LostTable(table, at: model, in: session) { tables.append(lost) }
    }
    if tables.isEmpty { return nil }
    self.session = session
    self.number = numbers[place]
    self.folder = folder
    self.model = model
    self.tables = tables
  }

  /// Makes the tables with their indexes as the hub has them. If a table was changed, this method first makes a copy of
  /// the database.
  ///
  /// A table with the hub's key keeps its rows, with their pending changes. Columns that it lacked get the known
  /// values. Any other table is empty until a repair inserts the known rows again.
  func makeAgain(_ report: inout DoctorReport) throws {
    let copy = try tables.allSatisfy { $0.state == .gone } ? nil : session.keepCopyBeforeRepair()
    var unfit: [Name: Int] = [:]
    var unsent: Set<Name> = []
    try session.database.writeTransaction(session.workspace.runMode) {
      for table in tables where try Capture.hasSavedRows(of: table.name, in: session.database) {
        unsent.insert(table.name)
      }
      unfit = try remake()
    }
    for table in tables {
      if table.state == .gone, unsent.contains(table.name) {
        report.add(
          Finding(
            .schemaDrift,
            """
            Rows of the table \(table.name) had changes that the hub is not known to have. What no export carries is \
            gone with the table.
            """))
      }
      let words = table.words(
        copy: copy, unfit: unfit[table.name, default: 0], isUnsent: unsent.contains(table.name))
      report.add(
        Finding(.schemaDrift, "The table \(table.name) is made as the hub's bundle \(number) has it.\(words)"))
    }
  }

  /// Returns the number of rows of each table that do not fit the table as the hub has it.
  private func remake() throws -> [Name: Int] {
    let changed = tables.filter { $0.state == .otherColumns }
    let names = changed.map(\.name)
    // The rows that return later in this function get their local keys back.
    try LocalPrimaryKeys.saveAll(of: session.tables.filter { names.contains($0.name) }, in: session.database)
    let kept = try names.flatMap { try triggers(of: $0) }
    for table in tables {
      try table.moveAside(in: session.database)
      try make(table.name)
    }
    session.go(to: session.dataset, try TrackedTable.findIntact(session.dataset, in: session.database))
    var unfit: [Name: Int] = [:]
    if !changed.isEmpty {
      let history = try DeviceHistory(session, at: session.stand())
      for table in changed { unfit[table.name] = try table.bringBack(by: history, session) }
    }
    for trigger in kept { try session.database.execute(trigger) }
    // Capture is reinstalled only on a table in which each missing row has a pending delete. This is not known of a
    // table that an app created again: it may lack rows that no person deleted.
    let whole = changed.filter { !$0.isMadeAnew && unfit[$0.name] == 0 }.compactMap { session.table($0.name) }
    try session.reinstall(whole)
    return unfit
  }

  private func make(_ name: Name) throws {
    let declarations = try model.all(
      """
      SELECT sql FROM sqlite_schema
      WHERE tbl_name = :name AND sql IS NOT NULL AND type IN ('table', 'index') ORDER BY type = 'index', name
      """, ["name": .string(name.text)]
    ) { $0.text(0) }
    for declaration in declarations { try session.database.execute(declaration) }
  }

  /// The app's own triggers of a table, which SQLite drops together with the table.
  private func triggers(of name: Name) throws -> [String] {
    try session.database.all(
      """
      SELECT sql FROM sqlite_schema
      WHERE type = 'trigger' AND tbl_name = :name AND name NOT LIKE 'satchel\\_%' ESCAPE '\\' ORDER BY rowid
      """, ["name": .string(name.text)]
    ) { $0.text(0) }
  }
}

extension DoctorReport {
  /// Adds findings for the damage that other programs did to a device's database.
  mutating func addDamage(to session: DeviceSession) {
    add(session.damage)
    hasOtherColumns = session.damage.contains { $0.kind == .columns }
  }
}
