import SatchelCapture
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension HubWorkspace {
  /// The conflicts that are in one of these states, oldest first.
  public func conflicts(_ states: [ConflictState]) throws -> [StoredConflict] {
    try ConflictTable.list(states, in: store().database)
  }

  /// The conflict whose id begins with `prefix`, with the row as it is now and the name of the device.
  public func conflict(_ prefix: String) throws -> (conflict: StoredConflict, row: [Field]?, device: String) {
    let store = try store()
    let found = try ConflictTable.find(prefix, in: store.database)
    let device = try store.device(found.record.device)?.name ?? found.record.device.text
    guard let place = store.place(of: found.record.table) else { return (found, nil, device) }
    return (found, try store.rows[place].row(found.record.key).map { store.tables[place].schema.fields($0) }, device)
  }

  /// Decides a conflict at the hub: an ordinary change of the row by the hub's operator.
  public func resolve(_ prefix: String, _ decision: ConflictDecision, note: String?) throws -> StoredConflict {
    try applying { store in
      let found = try ConflictTable.find(prefix, in: store.database)
      guard found.record.state != .resolved else { throw ConflictDecision.decidedAlready(found) }
      try write(decision, for: found, store)
      let now = platform.clock.milliseconds()
      _ = try ConflictTable.resolve(found.record.id, decision.word, by: Self.hubUser, at: now, note: note, in: store.database)
      try ConflictTable.retell(found.record.id, in: store.database)
      return try ConflictTable.find(found.record.id.text, in: store.database)
    }
  }

  private func write(_ decision: ConflictDecision, for conflict: StoredConflict, _ store: HubStore) throws {
    let record = conflict.record
    guard let place = store.place(of: record.table) else {
      throw WorkspaceError("no-table", "The dataset has no table \(record.table) any more.")
    }
    let schema = store.tables[place].schema
    let current = try store.rows[place].row(record.key)
    let target = try decision.row(
      for: record, current: current, whole: try store.lastImage(of: record.key, in: place), schema: schema)
    if let target, let missing = try store.missingParent(of: target, in: place) {
      throw WorkspaceError(
        "no-parent", "The row of \(missing.parent) to which it refers is not there.",
        hint: "Bring that row first, or set another value.")
    }
    if target == nil, let current, let children = try store.tableWithChildren(of: current, in: place) {
      throw WorkspaceError("has-children", "There are rows of \(children) that refer to it.", hint: "Delete or move those first.")
    }
    do { try store.rows[place].write(target, over: current, key: record.key) } catch let error as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    {
      throw WorkspaceError(
        "not-allowed", "The database does not allow the row as you decided it: \(error.message).",
        hint: "Decide with other values: --set COLUMN=VALUE")
    }
    // As it is stored: what was typed may have become a number on its way into the column.
    guard let change = Change(from: current, to: try store.rows[place].row(record.key)) else { return }
    let now = platform.clock.milliseconds()
    let stamp = try Capture.tick(now: now, in: store.database)
    try store.log(
      change, of: record.key, in: place,
      from: Origin(device: nil, user: Self.hubUser, stamp: stamp, bundle: nil, echo: false, at: now))
  }
}
