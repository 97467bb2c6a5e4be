import SatchelBundle
import SatchelMerge
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Changes that wait for what they lack, and enter by themselves when it is there.
struct HeldRows {
  private let store: HubStore
  private let now: Int64

  init(_ store: HubStore, now: Int64) {
    self.store = store
    self.now = now
  }

  /// Tries everything that waits for a parent, again as long as that lets further rows in. Returns how many entered.
  func release() throws -> Int {
    var released = 0
    while true {
      var entered = 0
      for conflict in try ConflictTable.list([.held], in: store.database) where conflict.record.kind == .foreignKey {
        if try release(conflict.record, conflict.bundle) { entered += 1 }
      }
      released += entered
      if entered == 0 { return released }
    }
  }

  private func release(_ record: ConflictRecord, _ bundle: BundleID?) throws -> Bool {
    guard let place = store.place(of: record.table), let device = try store.device(record.device),
      let change = try? record.change(in: store.tables[place].schema)
    else { return false }
    let rows = store.rows[place]
    let hub = try rows.row(record.key)
    let others = try store.changesByOthers(
      of: record.key, in: place, after: try ConflictTable.since(record.id, in: store.database), than: device.id)
    let result = merge(change, at: record.stamp, onto: hub, others: others, by: MergeRules(rows.table.rules, schema: rows.schema))
    guard let row = result.row, result.disagreement == nil, try store.missingParent(of: row, in: place) == nil else {
      return false
    }
    let scope = ScopeStore(store, user: try store.user(device.user) ?? User(name: device.user, attributes: []))
    do {
      try store.database.savepoint {
        try rows.write(row, over: hub, key: record.key)
        if try !scope.mayWrite(record.key, in: place) { throw StillHeld() }
      }
    } catch is StillHeld { return false } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint
    {
      return false
    }
    if let change = Change(from: hub, to: row) {
      // The device lost the row while it waited, so it is sent back.
      let origin = Origin(device: device.id, user: record.user, stamp: record.stamp, bundle: bundle, echo: true, at: now)
      try store.log(change, of: record.key, in: place, from: origin)
    }
    try ConflictTable.setState(.settled, of: record.id, in: store.database)
    return true
  }

  private struct StillHeld: Error {}
}

extension ConflictRecord {
  /// The device's change as it was sent.
  func change(in schema: TableSchema) throws -> Change {
    switch operation {
    case .insert: return .insert(try schema.row(deviceValues ?? []))
    case .delete: return .delete(was: try schema.row(baseValues ?? []))
    case .update:
      return .update(
        try zip(baseValues ?? [], deviceValues ?? []).map { was, new in
          guard let column = schema.position(of: new.name) else { throw LineProblem("the table has no column \(new.name)") }
          return ColumnChange(column: column, was: was.value, value: new.value)
        })
    }
  }
}
