import SatchelDataset
import SatchelSQLite
import SatchelValues

/// Damage to a database with capture. Capture may have missed changes because of it.
public struct CaptureDamage: Sendable {
  public enum Kind: String, Sendable {
    /// Triggers are missing, or are not as capture made them.
    case triggers
    /// The app created its table again, with the same columns.
    case remade
    /// The table has other columns than when capture was installed.
    case columns
    /// One of Satchel's own tables with recorded changes is missing.
    case saved
    /// The app's table is missing, or capture cannot be installed on it.
    case table
    /// The columns that identify the table's rows have changed.
    case key
    /// The file stores its texts in UTF-16. SQLite changes some texts when it reads them from such a file.
    case encoding
  }

  public let kind: Kind
  public let table: Name
  /// A description of the damage, for the second part of a sentence.
  public let words: String
  /// The steps that a person must do before a repair; nil if the repair alone is enough.
  public let hint: String?

  public var isRepairable: Bool { hint == nil }

  /// Whether a migration by the app's own tool may have caused the damage. Such a tool changes columns or creates
  /// tables again.
  public var mayBeMigration: Bool { isRepairable && [.columns, .remade].contains(kind) }

  /// A stable word for machines.
  public var code: Reason { [.columns, .table, .key, .encoding].contains(kind) ? .schemaDrift : .damaged }
}

extension Capture {
  /// Finds damage to capture and to the captured tables. Reads only the schema, so it is fast enough for every
  /// command.
  public static func damage(
    in database: borrowing Database, tables: [TrackedTable], dataset: DatasetDefinition
  ) throws -> [CaptureDamage] {
    var found = try otherEncoding(in: database).map { [$0] } ?? []
    for rules in dataset.tables where !tables.contains(where: { $0.name == rules.name }) {
      found.append(try lost(rules.name, dataset, in: database))
    }
    if try !countsExports(in: database) {
      found.append(
        CaptureDamage(
          kind: .saved, table: "satchel_capture",
          words: "the table satchel_capture, which counts exports, is missing or empty",
          hint: nil))
    }
    for name in UnitNumbers.names where try !database.hasTable(name.text) {
      found.append(
        CaptureDamage(
          kind: .saved, table: name, words: "the table \(name), which numbers units of changes, is missing", hint: nil))
    }
    let triggers = try triggers(in: database)
    for table in tables { if let damage = try damage(to: table, triggers, in: database) { found.append(damage) } }
    return found
  }

  private static func otherEncoding(in database: borrowing Database) throws -> CaptureDamage? {
    guard let encoding = try database.otherTextEncoding() else { return nil }
    return CaptureDamage(
      kind: .encoding, table: "sqlite_schema",
      words: "the database holds its texts in \(encoding), which changes some of them when they are read",
      hint:
        """
        Make a database in UTF-8 of it: sqlite3 OLD .dump | sqlite3 NEW; put that in its place, then run doctor \
        --repair.
        """
    )
  }

  private static func savedDamage(to table: TrackedTable, in saved: Name) -> CaptureDamage {
    CaptureDamage(
      kind: .saved, table: table.name,
      words: "Satchel's table \(saved), which records the changes of \(table.name), is missing or was changed",
      hint: nil
    )
  }

  private static func damage(
    to table: TrackedTable, _ triggers: [Name: Name], in database: borrowing Database
  ) throws -> CaptureDamage? {
    guard let before = try table.saved(in: database) else {
      return savedDamage(to: table, in: table.names.before)
    }
    guard let writes = try database.tableShape(table.names.writes),
      table.savedWrites(writes) == table.savedColumns(before), table.hasUnits(in: before, writes)
    else {
      return savedDamage(to: table, in: table.names.writes)
    }
    let mapping = ColumnMapping(from: table.savedColumns(before), to: table.schema.columns)
    if table.hasOtherKey(than: before, mapping) {
      return CaptureDamage(
        kind: .key, table: table.name, words: "the table \(table.name) has another PRIMARY KEY than before",
        hint: oldKey)
    }
    let noted = try DeclaredColumns.noted(table.name, in: database)
    if let words = ChangedColumn.changedNumbering(of: table, mapping, noted: noted) {
      return CaptureDamage(
        kind: .key, table: table.name, words: "the key of the table \(table.name) was changed: \(words)", hint: oldKey)
    }
    let changed = try ChangedColumn.find(in: table, mapping, noted: noted, database)
    if let column = changed.first(where: { table.schema.key.map { table.schema.columns[$0] }.contains($0.name) }) {
      return CaptureDamage(
        kind: .key, table: table.name, words: "the key of the table \(table.name) was changed: \(column.words)",
        hint: oldKey)
    }
    let isMadeAnew = try table.isMadeAnew(in: database)
    let columns = changed.map { "changed a column: \($0.words)" }
    if let words = columns.isEmpty
      ? mapping.words : ([mapping.words].compactMap(\.self) + columns).joined(separator: " and ")
    {
      let verb = isMadeAnew ? "was created again and " : ""
      let loss = try loss(of: mapping.gone, in: table, database)
      return CaptureDamage(
        kind: .columns, table: table.name, words: "the table \(table.name) \(verb)\(words)\(loss)", hint: nil)
    }
    if isMadeAnew {
      return CaptureDamage(
        kind: .remade, table: table.name, words: "the table \(table.name) was created again", hint: nil)
    }
    let missing = missingTriggers(of: table, among: triggers)
    if missing.isEmpty { return nil }
    let names = missing.map(\.text).joined(separator: ", ")
    return CaptureDamage(
      kind: .triggers, table: table.name,
      words: missing.count == 1
        ? "the trigger \(names) is not as Satchel made it" : "the triggers \(names) are not as Satchel made them",
      hint: nil)
  }

  /// The end of a sentence. It says that values of removed columns are lost. Empty if each change of the table is in a
  /// bundle.
  private static func loss(
    of columns: [Name], in table: TrackedTable, _ database: borrowing Database
  ) throws -> String {
    let names = table.names
    guard !columns.isEmpty, try database.hasTable("satchel_capture") else { return "" }
    let isAny = try database.first(
      """
      SELECT
        EXISTS (SELECT 1 FROM \(quoted(names.writes)) WHERE \(quoted(names.number)) > 0)
        OR EXISTS (
          SELECT 1 FROM \(quoted(names.before))
          WHERE \(quoted(names.generation)) = (SELECT generation FROM satchel_capture))
      """
    ) { $0.integer(0) != 0 }
    guard isAny ?? false else { return "" }
    let list = columns.map(\.text).joined(separator: ", ")
    return ", and rows were changed that are in no bundle yet: anything written into \(list) there is lost"
  }

  private static let oldKey =
    """
    Give the table its old key back: make a table with that key, copy the rows into it, drop this table, and give the \
    new one its name. Then run doctor --repair. \(asTheHubHasIt)
    """

  private static let asTheHubHasIt =
    """
    If that is not possible, on a device: satchel doctor --repair --tables makes the table as the hub has it, and \
    keeps a copy of the database.
    """

  private static let oldForm = "Bring the table back to what it was, then run doctor --repair. \(asTheHubHasIt)"

  /// Whether the table had changes that the hub is not known to have. The app's table itself may be missing.
  public static func hasSavedRows(of name: Name, in database: borrowing Database) throws -> Bool {
    for saved in ["satchel_before_\(name)", "satchel_writes_\(name)"] where try database.hasTable(saved) {
      if try database.first("SELECT 1 FROM \(quoted(Name(saved))) LIMIT 1", [:], { _ in true }) ?? false { return true }
    }
    return false
  }

  /// Whether the app's table was renamed. If so, SQLite has moved the capture triggers to the new name.
  public static func isRenamed(_ name: Name, in database: borrowing Database) throws -> Bool {
    try newName(of: name, in: database) != nil
  }

  private static func newName(of name: Name, in database: borrowing Database) throws -> Name? {
    try database.first(
      "SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger' AND name = :name AND tbl_name <> :table",
      ["name": .string("satchel_before_delete:\(name)"), "table": .string(name.text)]
    ) { Name($0.text(0)) }
  }

  /// The damage of a table that cannot be captured any more: it was renamed, dropped or changed.
  private static func lost(_ name: Name, _ dataset: DatasetDefinition, in database: borrowing Database) throws
    -> CaptureDamage
  {
    if let renamed = try newName(of: name, in: database) {
      return CaptureDamage(
        kind: .table, table: name, words: "the table \(name) was renamed to \(renamed)",
        hint:
          """
          Rename it back: ALTER TABLE \(quoted(renamed)) RENAME TO \(quoted(name)); then run doctor again. If a \
          migration of the app renamed it, the hub then runs that migration: satchel-hub dataset apply NEW.json \
          --migration SQL
          """
      )
    }
    if try database.tableInfo(name) == nil {
      return CaptureDamage(
        kind: .table, table: name, words: "the table \(name) is gone",
        hint:
          """
          Have the app create it again, then run doctor. Before a repair, doctor counts the rows that are missing in \
          it. If the app cannot create it, on a device: satchel doctor --repair --tables. If a migration of the app \
          dropped it at the hub, create it again, empty, and record the migration: satchel-hub dataset apply NEW.json \
          --migration SQL --migrated
          """
      )
    }
    do { _ = try TrackedTable.find(dataset, in: database) } catch let error as DatasetError {
      return CaptureDamage(
        kind: .table, table: name, words: "the table \(name) cannot be kept in step any more: \(error.problem)",
        hint: try hasLostKey(name, dataset, in: database)
          ? wayBack(of: name, in: database) : [error.hint, oldForm].compactMap(\.self).joined(separator: " "))
    }
    return CaptureDamage(
      kind: .table, table: name, words: "the table \(name) cannot be read", hint: "Run doctor again.")
  }

  /// Whether the table's rows were identified by its PRIMARY KEY, and the table no longer has one.
  private static func hasLostKey(
    _ name: Name, _ dataset: DatasetDefinition, in database: borrowing Database
  ) throws -> Bool {
    try dataset.rules(for: name)?.key == nil && database.tableShape(name)?.key.isEmpty == true
  }

  /// The advice for a table that was created again in a form that cannot be captured.
  private static func wayBack(of name: Name, in database: borrowing Database) throws -> String {
    let key = try database.tableShape(CaptureNames.before(name)).map { before in
      // The last column of this key is the generation.
      before.key.dropLast().map { quoted(before.columns[$0]) }.joined(separator: ", ")
    }
    return (key.map { "It had the key (\($0)). " } ?? "") + oldKey
  }
}

extension TrackedTable {
  /// Whether an app created the table again after capture was installed. Then SQLite's schema has it after the table
  /// of writes. ALTER TABLE does not change the position of a table, and VACUUM keeps the order.
  public func isMadeAnew(in database: borrowing Database) throws -> Bool {
    try database.first(
      """
      SELECT own.rowid > writes.rowid
      FROM sqlite_schema AS own JOIN sqlite_schema AS writes ON writes.type = 'table' AND writes.name = :writes
      WHERE own.type = 'table' AND own.name = :table
      """, ["table": .string(name.text), "writes": .string(names.writes.text)]
    ) { $0.integer(0) != 0 } ?? false
  }

  /// The table of pre-images; nil if it is missing or lacks capture's own columns.
  func saved(in database: borrowing Database) throws -> TableShape? {
    guard let before = try database.tableShape(names.before) else { return nil }
    let isMade =
      [names.generation, names.existed, names.stamp].allSatisfy(before.columns.contains)
      && before.key.contains { before.columns[$0] == names.generation }
    return isMade ? before : nil
  }

  /// The columns that the app's table had when capture was installed, in order.
  func savedColumns(_ before: TableShape) -> [Name] {
    before.columns.filter { !names.isOwn($0) }
  }

  /// The columns of the table of writes that belong to the app's table, in order.
  func savedWrites(_ writes: TableShape) -> [Name] {
    writes.columns.filter { !names.isOwn($0) }
  }

  /// Whether the two tables of capture have columns for units exactly if the dataset's rules demand units.
  func hasUnits(in before: TableShape, _ writes: TableShape) -> Bool {
    before.columns.contains(names.unit) == names.keepsUnits && writes.columns.contains(names.mark) == names.keepsUnits
  }

  func hasOtherKey(than before: TableShape, _ mapping: ColumnMapping) -> Bool {
    let saved = before.key.map { before.columns[$0] }.filter { $0 != names.generation }
    return saved.map { mapping.current($0) } != schema.key.map { schema.columns[$0] }
  }
}

extension [TrackedTable] {
  /// The tables among these that an app created again after capture was installed.
  public func madeAgain(in database: borrowing Database) throws -> [TrackedTable] {
    var found: [TrackedTable] = []
    for table in self where try table.isMadeAnew(in: database) { found.append(table) }
    return found
  }
}
