import SatchelValues

/// A trigger of the app that cannot run on Satchel's connections.
public struct TriggerFault: Sendable {
  /// The trigger's name; nil if it is unknown which of the table's triggers cannot run.
  public let trigger: Name?
  public let table: Name
  /// SQLite's message.
  public let words: String
  /// Whether the trigger makes every import fail. False for a trigger that calls a function which only the app has: an
  /// import then fails only if the trigger fires.
  public let isFatal: Bool
  /// SpatiaLite's index that the trigger maintains; nil: the trigger maintains something else.
  var spatiaLiteIndex: SpatiaLiteIndex?

  public var message: String {
    let name = trigger.map { "The trigger \($0) of the table \(table)" } ?? "A trigger of the table \(table)"
    return "\(name) cannot run here: \(words)."
  }

  public var hint: String {
    if isFatal { return "Mend or drop it, then run the command again." }
    return spatiaLiteIndex?.wayAround
      ?? "An import fails when it fires. Drop it, and rebuild the table that it maintains after each import."
  }
}

extension Database {
  /// A trigger of the app that makes every import fail; nil if there is none.
  public func fatalTriggerFault(of tracked: [Name]) throws -> TriggerFault? {
    do { _ = try derivedTableTriggers(of: tracked) } catch let error as TriggerError { return error.fault }
    return nil
  }

  /// The app's triggers that make every import fail: the first trigger found, and further triggers on the same tables.
  public func fatalTriggerFaults(of tracked: [Name]) throws -> [TriggerFault] {
    guard let first = try fatalTriggerFault(of: tracked) else { return [] }
    var faults = [first]
    let probe = try TriggerProbe(of: self)
    for trigger in try appTriggers()
    where trigger.name != first.trigger && tracked.contains(where: { $0.isSameInSQL(as: trigger.table) }) {
      guard let failure = try probe.failure(of: trigger), failure.lackingName == nil else { continue }
      faults.append(
        TriggerFault(trigger: trigger.name, table: trigger.table, words: failure.message, isFatal: true))
    }
    return faults
  }

  /// The app's triggers that can make it impossible to apply rows to these tables.
  public func triggerFaults(of tracked: [Name]) throws -> [TriggerFault] {
    let keeping: [DerivedTableTrigger]
    do { keeping = try derivedTableTriggers(of: tracked) } catch let error as TriggerError {
      return [error.fault].compactMap(\.self)
    }
    if keeping.isEmpty { return [] }
    let probe = try TriggerProbe(of: self)
    var faults: [TriggerFault] = []
    for trigger in keeping {
      guard let failure = try probe.failure(of: trigger), failure.lackingName != nil else { continue }
      let index = try spatiaLiteIndex(keptBy: trigger.name)
      // Two triggers maintain each SpatiaLite index. One fault is enough, because dropping the index drops both
      // triggers.
      if let index, faults.contains(where: { $0.spatiaLiteIndex == index }) { continue }
      faults.append(
        TriggerFault(
          trigger: trigger.name, table: trigger.table, words: failure.message, isFatal: false, spatiaLiteIndex: index))
    }
    return faults
  }
}

/// A copy of a database's tables and views, without rows. This copy tests each trigger alone.
struct TriggerProbe: ~Copyable {
  private let probe: Database

  init(of database: borrowing Database) throws {
    let probe = try Database(path: ":memory:", mode: .create)
    // A virtual table whose module only the app has cannot be created here. A trigger that names this table cannot run
    // here either.
    try database.each(
      """
      SELECT sql FROM sqlite_schema WHERE type IN ('table', 'view') AND sql IS NOT NULL AND name NOT LIKE \
      'sqlite\\_%' ESCAPE '\\' ORDER BY rowid
      """
    ) { row in
      do { try probe.execute(row.text(0)) } catch let error as SQLiteError where error.kind == .other {}
    }
    self.probe = probe
  }

  /// Why SQLite cannot compile the trigger; nil if SQLite can compile it.
  func failure(of trigger: DerivedTableTrigger) throws -> SQLiteError? {
    try probe.execute("SAVEPOINT alone")
    defer { try? probe.execute("ROLLBACK TO alone; RELEASE alone") }
    do {
      try probe.execute(trigger.sql)
      for sql in try probe.allWrites(to: trigger.table) {
        if let failure = try failure(ofStatement: sql), !failure.isAboutView { return failure }
      }
      return nil
    } catch let error as SQLiteError where error.kind == .other { return error }
  }

  /// Why SQLite cannot compile the statement; nil if SQLite can compile it.
  private func failure(ofStatement sql: String) throws -> SQLiteError? {
    do { _ = try probe.prepare(sql).columnCount } catch  where error.kind == .other { return error }
    return nil
  }
}

extension SQLiteError {
  /// Whether SQLite refuses a kind of write to a view, because the view has no INSTEAD OF trigger for it.
  fileprivate var isAboutView: Bool { message.hasSuffix("because it is a view") }
}
