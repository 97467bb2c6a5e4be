import CSQLite
import SatchelValues

extension Database {
  /// Runs `body` in one transaction that has the write lock from its beginning. The transaction keeps either all writes
  /// of `body` or none.
  ///
  /// Throws a busy error if another writer holds the lock for longer than the busy timeout.
  public func writeTransaction<T>(_ runMode: RunMode = .commit, _ body: () throws -> T) throws -> T {
    try execute("BEGIN IMMEDIATE")
    writes.beginTransaction()
    defer { writes.endTransaction() }
    return try finish(runMode, body)
  }

  /// Runs `body` on one unchanging view of the database, even if other connections write meanwhile.
  public func readTransaction<T>(_ body: () throws -> T) throws -> T {
    try execute("BEGIN")
    return try finish(.commit, body)
  }

  /// Runs `body` in a savepoint. Its writes can be rolled back alone, and the surrounding transaction continues.
  /// - Parameter runMode: `dryRun` rolls the writes back even if `body` succeeds.
  public func savepoint<T>(_ runMode: RunMode = .commit, _ body: () throws -> T) throws -> T {
    try run("SAVEPOINT satchel")
    let before = writes.beginSavepoint()
    defer { writes.endSavepoint() }
    func takeBack() throws {
      defer { writes.takeBack(after: before) }
      try run("ROLLBACK TO satchel")
      try run("RELEASE satchel")
    }
    let result: T
    do {
      result = try body()
      if runMode == .commit { try run("RELEASE satchel") }
    } catch {
      try takeBack()
      throw error
    }
    if runMode == .dryRun { try takeBack() }
    return result
  }

  /// Runs `body` with every trigger of this connection off, because rows from a bundle are written as they are. The
  /// bundle also carries the effects of the triggers at its sender. Afterwards the triggers are on or off as before.
  public func withoutTriggers<T>(_ body: () throws -> T) throws -> T {
    let before = satchel_triggers_run(handle)
    satchel_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    defer { satchel_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, before) }
    return try body()
  }

  private func finish<T>(_ runMode: RunMode, _ body: () throws -> T) throws -> T {
    do {
      let result = try body()
      try execute(runMode == .commit ? "COMMIT" : "ROLLBACK")
      return result
    } catch {
      // After some errors, SQLite itself has already rolled the transaction back.
      if sqlite3_get_autocommit(handle) == 0 { try execute("ROLLBACK") }
      throw error
    }
  }
}
