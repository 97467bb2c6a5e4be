import SatchelCapture
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The checks of `init` before it makes a hub for a database. They find faults that would otherwise appear only weeks
/// later.
public struct InitCheck {
  private let definition: DatasetDefinition
  private let path: String
  private let defaults: Defaults

  /// The rules that apply where the definition has none.
  public enum Defaults: Sendable {
    /// The defaults of all releases.
    case asWritten
    /// The defaults for a new hub: rows without a parent are hidden.
    case ofNewHub
  }

  public init(_ definition: DatasetDefinition, database path: String, defaults: Defaults = .asWritten) {
    self.definition = definition
    self.path = path
    self.defaults = defaults
  }

  /// The dataset's tables. Throws if no hub can be made for this database, or if every import would fail later.
  func tables() throws -> [TrackedTable] {
    do { return try check(Database(path: path, mode: .readWrite)) } catch let error as SQLiteError
      where error.kind == .corrupt
    { throw damaged(error.message) }
  }

  private func check(_ database: borrowing Database) throws -> [TrackedTable] {
    if try database.hasTable("satchel_capture") {
      throw WorkspaceError(
        .captured, "The database \(path) belongs to a Satchel workspace already.",
        hint: "Use that workspace, or a copy of the data.")
    }
    if let fault = try database.brokenPage() { throw damaged(fault) }
    let definition = try completed(in: database)
    let tables = try TrackedTable.find(definition, in: database)
    try HubWorkspace.check(tables, of: definition, in: database)
    for table in tables { try checkWrites(to: table, in: database) }
    let faults = try database.fatalTriggerFaults(of: tables.map(\.name))
    if let first = faults.first {
      throw WorkspaceError(
        .trigger, faults.map(\.message).joined(separator: "\n"),
        hint: faults.count == 1 ? first.hint : "Mend or drop them, then run the command again.")
    }
    return tables
  }

  /// Throws if no hub can be made for this database, or if every import would fail later.
  public func run() throws { _ = try tables() }

  /// The rules of each table, as the hub would understand them.
  public func summaries() throws -> [RuleSummary] {
    let database = try Database(path: path, mode: .readWrite)
    let definition = try completed(in: database)
    return try RuleSummary.all(of: TrackedTable.find(definition, in: database), definition, in: database)
  }

  /// Returns the definition with two additions: the references that the database declares, and the defaults.
  func completed() throws -> DatasetDefinition { try completed(in: Database(path: path, mode: .readWrite)) }

  private func completed(in database: borrowing Database) throws -> DatasetDefinition {
    let completed = try definition.completed(by: database)
    guard defaults == .ofNewHub else { return completed }
    // Earlier releases do not know the rule about rows without a parent. So it is added only if a table has parents.
    let hasParents = try TrackedTable.find(completed, in: database).contains {
      !$0.parentKeys(in: completed).isEmpty
    }
    return try hasParents ? completed.saying(.hidden) : completed
  }

  /// Throws if rows of the table cannot be written by Satchel. For example, a CHECK or a generated column may call a
  /// function that only the app has.
  private func checkWrites(to table: TrackedTable, in database: borrowing Database) throws {
    do {
      try database.withoutTriggers { try RowTable(table, in: database).checkWrites() }
    } catch let error as SQLiteError where error.kind == .other {
      throw DatasetError(
        "tables.\(table.name)", "its rows cannot be written here: \(error.message)",
        hint: "Remove from the table what only the app can run, or leave the table out of the dataset.")
    }
  }

  private func damaged(_ words: String) -> WorkspaceError {
    WorkspaceError(
      .corrupt, "The database \(path) is damaged: \(words).",
      hint:
        """
        Keep the file. If there is a sound backup of it, begin with that. If not, make a new database from the parts \
        that can be read: sqlite3 OLD .dump | sed 's/^ROLLBACK.*/COMMIT;/' | sqlite3 NEW (or use .recover, if your \
        sqlite3 has it). Check its rows, and begin with it.
        """
    )
  }
}

/// Warnings of `init`: faults that do not prevent a hub, but that people would notice later.
extension InitCheck {
  public func warnings() throws -> [Finding] {
    let database = try Database(path: path, mode: .readWrite)
    let tables = try TrackedTable.find(completed(in: database), in: database)
    let faults = try database.triggerFaults(of: tables.map(\.name)).filter { !$0.isFatal }
    return try faults.map { Finding(.trigger, $0.message, hint: $0.hint) } + outwardReferences(tables)
      + countedKeys(tables) + ReferenceWarnings(definition, tables).findings(in: database)
      + PolicyWarnings(tables, of: definition).findings(in: database)
  }

  /// Finds references to tables outside the dataset, which no device gets.
  private func outwardReferences(_ tables: [TrackedTable]) -> [Finding] {
    tables.compactMap { table in
      let parents = Set(table.schema.foreignKeys.map(\.parent)).filter { definition.rules(for: $0) == nil }.sorted()
      if parents.isEmpty { return nil }
      let names = parents.map(\.text).joined(separator: ", ")
      return Finding(
        .referenceOut,
        """
        \(table.name) refers to \(names), which the dataset does not have. No device has such a table, so an app with \
        foreign keys on cannot write \(table.name) there.
        """,
        hint:
          """
          Add it to the dataset ("write": "none" if only the office changes it), or have the app make it on devices \
          (--template).
          """
      )
    }
  }

  /// Finds tables in which SQLite counts the primary keys, so that two replicas may give one key to two different rows.
  private func countedKeys(_ tables: [TrackedTable]) -> [Finding] {
    let counted = tables.filter { table in
      guard table.rules.keys == .asIs, table.rules.write != .none, let key = table.info.rowidAlias else { return false }
      return !table.schema.foreignKeys.contains { $0.columns.contains(key) }
    }
    if counted.isEmpty { return [] }
    let names = counted.map(\.name.text).joined(separator: ", ")
    return [
      Finding(
        .countedKeys,
        """
        SQLite counts the keys of \(names): two devices that each add a row give both the same key, and that is a \
        conflict.
        """,
        hint:
          """
          Say "keys": "blocks" (for AUTOINCREMENT) or "keys": "rekey" in the dataset; or let the app give keys that \
          nobody else gives, such as UUIDs.
          """
      )
    ]
  }
}
