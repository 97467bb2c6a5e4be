import CSQLite
import SatchelValues

/// A trigger of the app that maintains a derived table, for example an R-tree, an index for full-text search, or a
/// count of rows.
struct DerivedTableTrigger {
  let name: Name
  /// The table whose writes fire the trigger. This is a tracked table, or a table that another trigger of this kind
  /// writes.
  let table: Name
  let sql: String
}

/// Why the app's triggers make an import impossible, and the next step.
public struct TriggerError: ExplainedError {
  public let message: String
  /// The trigger that SQLite cannot compile; nil if a trigger failed while it ran.
  var fault: TriggerFault?
  public let hint: String?
  public var code: Reason { .trigger }
}

extension Database {
  /// The app's triggers that must stay on while rows are applied to these tables.
  ///
  /// A trigger maintains a derived table if its body writes only tables that are neither tracked nor Satchel's. Only
  /// the trigger's own body counts, not the bodies of triggers that it fires. A trigger that may RAISE is a guard, and
  /// stays off, because applied rows are written as they are.
  /// - Throws: a `TriggerError` if SQLite cannot compile a trigger. If a trigger calls a function which only the app
  ///   has, this function does not throw: the error comes when the trigger runs.
  func derivedTableTriggers(of tracked: [Name]) throws -> [DerivedTableTrigger] {
    let triggers = try appTriggers()
    let beginnings = tracked.filter { table in triggers.contains { $0.table.isSameInSQL(as: table) } }
    if beginnings.isEmpty { return [] }

    let bodies = TriggerBodies()
    for table in beginnings { try read(bodies, from: table) }
    var keeping = triggers.filter { trigger in
      let written = bodies.written[trigger.name] ?? []
      return !written.isEmpty && !mayRaise(trigger.sql)
        && !written.contains { name in
          isSatchels(name) || isSQLites(name) || tracked.contains { $0.isSameInSQL(as: name) }
        }
    }
    try leaveOutThoseBehindViews(&keeping, triggers, bodies)
    return keeping
  }

  /// The steps for a person after a trigger has failed while rows were applied.
  static func wayAroundTriggers(_ error: SQLiteError) -> String {
    if error.lackingName != nil {
      return """
        Only the app has this, so the trigger cannot run here. Drop the trigger, import again, create it again, and \
        rebuild the table that it maintains.
        """
    }
    return """
      Rebuild the table that the trigger maintains, for example a full-text index by its command 'rebuild', and import \
      again. If the trigger cannot run here at all: drop it, import, create it again, and rebuild that table.
      """
  }

  /// Removes each trigger that writes through a view from `keeping`, if a trigger of that view is off. Only the view's
  /// triggers can carry out such a write. Without them, the write would have no effect.
  private func leaveOutThoseBehindViews(
    _ keeping: inout [DerivedTableTrigger], _ triggers: [DerivedTableTrigger], _ bodies: TriggerBodies
  ) throws {
    let views = try all("SELECT name FROM sqlite_schema WHERE type = 'view'") { Name($0.text(0)) }
    var count = 0
    repeat {
      count = keeping.count
      let asleep = triggers.filter { trigger in
        bodies.written[trigger.name] != nil && !keeping.contains { $0.name == trigger.name }
      }
      let shut = views.filter { view in asleep.contains { $0.table.isSameInSQL(as: view) } }
      keeping.removeAll { trigger in
        bodies.written[trigger.name]?.contains { name in shut.contains { $0.isSameInSQL(as: name) } } ?? false
      }
    } while keeping.count < count
  }

  /// Makes SQLite compile all kinds of writes to the table, and records the tables that each trigger would write.
  private func read(_ bodies: TriggerBodies, from table: Name) throws {
    let statements = try allWrites(to: table)
    var standIns: Set<LackingName> = []
    defer { for function in standIns { removeStandIn(for: function) } }
    for sql in statements {
      do {
        while let failure = try failure(of: sql, bodies) {
          guard let name = failure.lackingName, standIns.insert(name).inserted else { throw failure }
          try addStandIn(for: name, .reading)
        }
      } catch let error as SQLiteError where error.kind == .other {
        let fault = try fault(of: table, error)
        throw TriggerError(message: fault.message, fault: fault, hint: fault.hint)
      }
    }
  }

  /// One INSERT, one UPDATE and one DELETE for the table.
  func allWrites(to table: Name) throws -> [String] {
    guard let info = try tableInfo(table) else { return [] }
    let name = "main.\(quoted(table))"
    let assignments = info.schema.columns.map { "\(quoted($0)) = \(quoted($0))" }.joined(separator: ", ")
    return ["INSERT INTO \(name) DEFAULT VALUES", "UPDATE \(name) SET \(assignments)", "DELETE FROM \(name)"]
  }

  /// Finds the app's trigger that SQLite cannot compile. Writes to this table fire it directly, or through other
  /// triggers.
  private func fault(of table: Name, _ error: SQLiteError) throws -> TriggerFault {
    let probe = try TriggerProbe(of: self)
    let culprit = try appTriggers().first { trigger in
      try probe.failure(of: trigger).map { $0.lackingName == nil } ?? false
    }
    return TriggerFault(trigger: culprit?.name, table: culprit?.table ?? table, words: error.message, isFatal: true)
  }

  func appTriggers() throws -> [DerivedTableTrigger] {
    try all("SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid") {
      DerivedTableTrigger(name: Name($0.text(0)), table: Name($0.text(1)), sql: $0.text(2))
    }.filter { !isSatchels($0.name) }
  }

  /// Compiles the statement. Returns SQLite's error, for example about a function that only the app has; nil if there
  /// is no error.
  private func failure(of sql: String, _ bodies: TriggerBodies) throws -> SQLiteError? {
    do {
      try noting(bodies) { _ = try prepare(sql).columnCount }
      return nil
    } catch let error as SQLiteError { return error }
  }

  private func noting<T: ~Copyable>(_ bodies: TriggerBodies, _ body: () throws -> T) throws -> T {
    sqlite3_set_authorizer(
      handle,
      { context, action, subject, _, _, trigger in
        if let context, let trigger {
          Unmanaged<TriggerBodies>.fromOpaque(context).takeUnretainedValue()
            .note(action, subject.map { String(cString: $0) } ?? "", in: Name(String(cString: trigger)))
        }
        return SQLITE_OK
      }, Unmanaged.passUnretained(bodies).toOpaque())
    defer { sqlite3_set_authorizer(handle, nil, nil) }
    return try withExtendedLifetime(bodies, body)
  }
}

/// Records the actions of triggers that SQLite reports while it compiles a statement.
private final class TriggerBodies {
  /// The tables that each trigger writes by its own body. The set is empty for a trigger that only reads.
  private(set) var written: [Name: Set<Name>] = [:]

  func note(_ action: Int32, _ subject: String, in trigger: Name) {
    let isWrite = [SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE].contains(action)
    written[trigger, default: []].formUnion(isWrite ? [Name(subject)] : [])
  }
}

private func isSatchels(_ name: Name) -> Bool { begins(name, "satchel_") }

/// Whether this is one of SQLite's own tables. They are not derived from rows: one of them holds the next primary keys,
/// for example.
private func isSQLites(_ name: Name) -> Bool { begins(name, "sqlite_") }

private func begins(_ name: Name, _ beginning: String) -> Bool {
  Array(name.text.utf8.prefix(beginning.utf8.count)).asciiLowercased == Array(beginning.utf8)
}

/// Whether the trigger may stop the statement that fires it, or skip a row.
private func mayRaise(_ sql: String) -> Bool {
  let tokens = Array(SQLTokens(sql))
  return zip(tokens, zip(tokens.dropFirst(), tokens.dropFirst(2))).contains { word, next in
    word.isWord("raise") && next.0.isSign("(")
      && ["ignore", "rollback", "abort", "fail"].contains { next.1.isWord($0) }
  }
}
