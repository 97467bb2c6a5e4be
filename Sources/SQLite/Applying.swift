import CSQLite
import SatchelValues

extension Database {
  /// Runs `body` in a write transaction. `body` writes rows of these tables exactly as they are.
  ///
  /// The app's triggers are off, because the rows that triggers would write are applied too. Only triggers that
  /// maintain a derived table stay on, for example an R-tree or a full-text index. A bundle does not carry derived
  /// tables. Other connections are not affected.
  ///
  /// - Throws: a `TriggerError` if a trigger that stays on cannot run, the busy error of `writeTransaction`, and the
  ///   errors of `body`. After an error, the database is unchanged.
  public func applyTransaction<T>(_ runMode: RunMode = .commit, to tracked: [Name], _ body: () throws -> T) throws -> T
  {
    while true {
      // The triggers are copied before the transaction begins. If the schema changes inside a transaction, rolling back
      // a savepoint ends every open query.
      let version = try schemaVersion()
      let triggers = try derivedTableTriggers(of: tracked) + contentsTriggers(of: tracked)
      let result: T? = try awake(triggers) {
        try writeTransaction(runMode) { try schemaVersion() == version ? withoutTriggers(body) : nil }
      }
      // The result is nil if another program changed tables or triggers before this connection had the write lock.
      if let result { return result }
    }
  }

  /// Runs `change` in a write transaction. Then runs `body` in the same transaction, with triggers as in the function
  /// above.
  /// - Parameters:
  ///   - change: changes tables, with every trigger on. Returns the tables that `body` is to write.
  ///   - body: must not roll back a savepoint, because the schema has changed in the transaction.
  public func applyTransaction<T>(
    _ runMode: RunMode = .commit, after change: () throws -> [Name], _ body: () throws -> T
  ) throws -> T {
    try writeTransaction(runMode) {
      let tracked = try change()
      let triggers = try derivedTableTriggers(of: tracked) + contentsTriggers(of: tracked)
      return try awake(triggers) { try withoutTriggers(body) }
    }
  }

  /// Runs `body` with triggers that widen the stored bounds of these tables' layers. GIS tools widen them when they
  /// write rows.
  /// All other triggers work as usual.
  public func widening<T>(_ tables: [Name], _ body: () throws -> T) throws -> T {
    try awake(contentsTriggers(of: tables), body)
  }

  /// A number that changes when a program changes tables, indexes or triggers.
  public func schemaVersion() throws -> Int64 { try first("PRAGMA main.schema_version") { $0.integer(0) } ?? 0 }

  /// Runs `body` while this connection's temporary schema has a copy of each trigger. `withoutTriggers` does not stop
  /// the copies.
  private func awake<T>(_ triggers: [DerivedTableTrigger], _ body: () throws -> T) throws -> T {
    var copied: [Name] = []
    func dropCopies() throws {
      while let name = copied.popLast() { try execute("DROP TRIGGER IF EXISTS temp.\(quoted(name))") }
    }
    do {
      for trigger in triggers {
        // SQLite stores the SQL of every trigger with CREATE TRIGGER at the beginning, even if the app wrote IF NOT
        // EXISTS, for example.
        guard let head = Array(SQLTokens(trigger.sql).prefix(2)).last else { continue }
        let rest = String(decoding: Array(trigger.sql.utf8)[head.end...], as: UTF8.self)
        try execute("CREATE TEMP TRIGGER" + rest)
        copied.append(trigger.name)
      }
      let result = try body()
      try dropCopies()
      return result
    } catch {
      try dropCopies()
      throw explained(error, triggers)
    }
  }

  /// If the failed statement wrote to a table with such triggers, returns an error that names them, because one of them
  /// may be the cause. Returns every other error unchanged.
  private func explained(_ error: any Error, _ triggers: [DerivedTableTrigger]) -> any Error {
    guard let error = error as? SQLiteError, let sql = error.sql, error.mayBeOfTrigger else { return error }
    let culprits = triggers.filter { sql.utf8.holds(" \(quoted($0.table)) ".utf8) }
    guard let table = culprits.first?.table else { return error }
    let names = culprits.map(\.name.text).joined(separator: ", ")
    let index = culprits.compactMap { try? spatiaLiteIndex(keptBy: $0.name) }.first
    return TriggerError(
      message: "A row could not be written to the table \(table), with its triggers \(names): \(error.message).",
      hint: index?.wayAround ?? Self.wayAroundTriggers(error))
  }
}

extension SQLiteError {
  /// Whether a statement in a trigger may have caused this error. For example, a trigger does not cause a full disk.
  fileprivate var mayBeOfTrigger: Bool {
    switch kind {
    case .other, .constraint, .unique, .foreignKey: true
    // A full-text index reports this code if the index does not agree with its table.
    case .corrupt: code == SQLITE_CORRUPT | 1 << 8
    default: false
    }
  }
}

extension Collection where Element: Equatable {
  /// Whether the elements of `part` occur here one directly after the other. The standard library has this function
  /// only in a module that a static program would contain as a whole.
  fileprivate func holds(_ part: some Collection<Element>) -> Bool {
    if part.isEmpty { return true }
    return indices.contains { self[$0...].starts(with: part) }
  }
}
