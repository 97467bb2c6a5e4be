import CSQLite
import SatchelValues

extension Database {
  /// Runs `body` in a write transaction that brings foreign rows into these tables. Triggers are off, because their
  /// effects come as rows too. Triggers that maintain derived tables stay on, because derived tables are not carried:
  /// an R-tree, an index for full-text search. Other connections are not affected.
  ///
  /// - Throws: a `TriggerError` if a trigger that stays on cannot run, a busy error as `writeTransaction` does, and the
  ///   errors of `body`. Nothing has changed then.
  public func applyTransaction<T>(_ runMode: RunMode = .commit, to tracked: [Name], _ body: () throws -> T) throws -> T
  {
    while true {
      // Before the transaction: if the schema changes inside it, rolling back a savepoint ends every open query.
      let version = try schemaVersion()
      let triggers = try derivedTableTriggers(of: tracked) + contentsTriggers(of: tracked)
      let result: T? = try awake(triggers) {
        try writeTransaction(runMode) { try schemaVersion() == version ? withoutTriggers(body) : nil }
      }
      // nil: another program changed tables or triggers in the moment before this connection had the lock.
      if let result { return result }
    }
  }

  /// The same if `change` first changes tables, in the same transaction and with every trigger on. It returns the
  /// tables that `body` is to write. `body` rolls back no savepoint.
  public func applyTransaction<T>(
    _ runMode: RunMode = .commit, after change: () throws -> [Name], _ body: () throws -> T
  ) throws -> T {
    try writeTransaction(runMode) {
      let tracked = try change()
      let triggers = try derivedTableTriggers(of: tracked) + contentsTriggers(of: tracked)
      return try awake(triggers) { try withoutTriggers(body) }
    }
  }

  /// Runs `body` with triggers that widen the bounds of these tables' layers, as GIS tools do for rows that they write.
  /// All other triggers work as usual.
  public func widening<T>(_ tables: [Name], _ body: () throws -> T) throws -> T {
    try awake(contentsTriggers(of: tables), body)
  }

  /// A number that changes when a program changes tables, indexes or triggers.
  public func schemaVersion() throws -> Int64 { try first("PRAGMA main.schema_version") { $0.integer(0) } ?? 0 }

  /// Runs `body` with a copy of each trigger in this connection's own temporary schema, where `withoutTriggers` lets it
  /// fire.
  private func awake<T>(_ triggers: [DerivedTableTrigger], _ body: () throws -> T) throws -> T {
    var copied: [Name] = []
    func dropCopies() throws {
      while let name = copied.popLast() { try execute("DROP TRIGGER IF EXISTS temp.\(quoted(name))") }
    }
    do {
      for trigger in triggers {
        // The stored text begins with CREATE TRIGGER, however the app wrote it.
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

  /// If a write that fired triggers fails, the error names them: it may be theirs.
  private func explained(_ error: any Error, _ triggers: [DerivedTableTrigger]) -> any Error {
    guard let error = error as? SQLiteError, let sql = error.sql, error.mayBeOfTrigger else { return error }
    let culprits = triggers.filter { sql.utf8.holds(" \(quoted($0.table)) ".utf8) }
    guard let table = culprits.first?.table else { return error }
    let names = culprits.map(\.name.text).joined(separator: ", ")
    let index = culprits.compactMap { try? spatiaLiteIndex(keptBy: $0.name) }.first
    return TriggerError(
      message: "A row could not be written to the table \(table), with its triggers \(names): \(error.message).",
      hint: index?.wayAround ?? Self.wayAroundTriggers)
  }
}

extension SQLiteError {
  /// Whether a statement in a trigger may have failed like this, and not only the disk or another program.
  fileprivate var mayBeOfTrigger: Bool {
    switch kind {
    case .other, .constraint, .unique, .foreignKey: true
    // A full-text index reports this if its rows differ from those of its table.
    case .corrupt: code == SQLITE_CORRUPT | 1 << 8
    default: false
    }
  }
}

extension Collection where Element: Equatable {
  /// Whether these elements occur together in a row. The standard library has this in another module, which a static
  /// program would carry for this alone.
  fileprivate func holds(_ part: some Collection<Element>) -> Bool {
    if part.isEmpty { return true }
    return indices.contains { self[$0...].starts(with: part) }
  }
}
