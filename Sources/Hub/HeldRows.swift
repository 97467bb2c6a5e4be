import SatchelBundle
import SatchelCapture
import SatchelMerge
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Changes that wait for what they lack, and enter by themselves when it is there.
final class HeldRows {
  private let store: HubStore
  private let now: Int64
  /// Those whose changes wait.
  private var senders: [Sender: ScopeStore] = [:]

  private struct Sender: Hashable {
    let device: ReplicaID
    let user: String
  }

  init(_ store: HubStore, now: Int64) {
    self.store = store
    self.now = now
  }

  /// Tries everything that waits, again as long as that lets further rows in. Returns how many entered.
  ///
  /// What a user may not do waits for somebody's decision, and not for the user's rights to grow.
  func release() throws -> Int {
    try giveNewKeys()
    var released = 0
    while true {
      let entered = try pass()
      released += entered
      if entered == 0 { return released }
    }
  }

  /// While a row waited, another one may have come with its key, or with its natural key. Then it is the later one.
  private func giveNewKeys() throws {
    let references = try KeyReferences(store.tables)
    if references.isEmpty { return }
    for conflict in try ConflictTable.list([.held], in: store.database) {
      let record = conflict.record
      guard record.operation == .insert, let place = store.place(of: record.table),
        let key = store.tables[place].singleKey(record.key), let new = try newKey(of: record, key, in: place)
      else { continue }
      let map = KeyMap(references, store.tables, [.init(place: place, old: key, new: new)])
      for other in try ConflictTable.list([.held, .open], in: store.database) where other.record.device == record.device {
        guard let place = store.place(of: other.record.table) else { continue }
        let moved = map.record(other.record, of: place)
        if moved != other.record { try ConflictTable.rename(moved, in: store.database) }
      }
    }
  }

  private func newKey(of record: ConflictRecord, _ key: Value, in place: Int) throws -> Value? {
    let table = store.tables[place]
    if table.folds, let scope = try scope(of: record), case .insert(let row)? = try? record.change(in: table.schema),
      let twin = try store.twin(of: row, in: place, for: scope)
    {
      return try store.rename(key, to: twin, in: place, of: record.device, at: now).new
    }
    guard table.givesNewKeys, try store.rows[place].row(record.key) != nil,
      // A key that the hub itself gave, the device may know already.
      try !store.isGiven(key, in: place)
    else { return nil }
    return try store.giveNewKey(to: key, in: place, of: record.device, above: 0, at: now)?.new
  }

  static func areThere(_ store: HubStore) throws -> Bool { try !ConflictTable.list([.held], in: store.database).isEmpty }

  private struct RowReference: Hashable {
    let device: ReplicaID
    let table: Name
    let key: RowKey
  }

  private func pass() throws -> Int {
    var entered = 0
    // A row's changes enter in their order: where one still waits, so do the later ones.
    var waiting: Set<RowReference> = []
    let held = try ConflictTable.list([.held], in: store.database).filter { $0.record.kind != .forbidden }
    for conflict in held.sorted(by: { $0.record.generation < $1.record.generation }) {
      let record = conflict.record
      let row = RowReference(device: record.device, table: record.table, key: record.key)
      if try !waiting.contains(row) && release(record, conflict.bundle) { entered += 1 } else { waiting.insert(row) }
    }
    return entered
  }

  private func release(_ kept: ConflictRecord, _ bundle: BundleID?) throws -> Bool {
    guard let place = store.place(of: kept.table), let scope = try scope(of: kept) else { return false }
    let record = try kept.present(in: store.tables[place].schema, store.database)
    guard let change = try? record.change(in: store.tables[place].schema) else { return false }
    let rows = store.rows[place]
    let hub = try rows.row(record.key)
    if hub != nil {
      let rights = try scope.rights(to: record.key, in: place)
      if !rights.see, !rights.write { return false }
    }
    let past = try store.past(of: record.key, in: place)
    let others = try store.changesByOthers(
      of: past, in: place, after: try ConflictTable.since(record.id, in: store.database), than: record.device)
    let result = merge(change, at: record.stamp, onto: hub, others: others, by: rows.rules)
    guard try hasAll(result.row, over: hub, in: place) else { return false }
    let row = result.row
    do {
      try store.database.savepoint {
        try rows.write(row, over: hub, key: record.key)
        if row != nil, try !scope.mayWrite(record.key, in: place) { throw StillHeld() }
      }
    } catch is StillHeld { return false } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint
    {
      return false
    }
    if let change = Change(from: hub, to: row) {
      // The device lost the row while it waited, so it is sent back.
      let origin = Origin(device: record.device, user: record.user, stamp: record.stamp, bundle: bundle, echo: true, at: now)
      try store.log(change, of: record.key, with: past, in: place, from: origin)
    }
    try close(record, change, result.disagreement, met: hub, in: place)
    return true
  }

  /// The change is in. What it met meanwhile is a disagreement as any other.
  private func close(
    _ record: ConflictRecord, _ change: Change, _ disagreement: Disagreement?, met: Row?, in place: Int
  ) throws {
    guard let disagreement else { return try ConflictTable.setState(.settled, of: record.id, in: store.database) }
    var found = ConflictRecord(
      disagreement, of: change, at: record.stamp, generation: record.generation, key: record.key, in: store.tables[place].schema,
      met: met, device: record.device, user: record.user)
    found.id = record.id
    let isHidden = try met != nil && scope(of: record)?.maySee(record.key, in: place) != true
    try ConflictTable.update(found, at: now, isHidden: isHidden, in: store.database)
    try ConflictTable.retell(record.id, in: store.database)
    try store.owe(record.key, in: place, to: record.device)
  }

  /// Of the user who made the change, who may have given the device away meanwhile; nil where the device is no more.
  private func scope(of record: ConflictRecord) throws -> ScopeStore? {
    let sender = Sender(device: record.device, user: record.user)
    if let known = senders[sender] { return known }
    guard try store.device(record.device) != nil else { return nil }
    let user = try store.user(record.user) ?? User(name: record.user, attributes: [])
    senders[sender] = ScopeStore(store, user: user)
    return senders[sender]
  }

  /// Whether everything is there that the row refers to; for a row that goes, whether nothing refers to it.
  private func hasAll(_ row: Row?, over hub: Row?, in place: Int) throws -> Bool {
    if let row { return try store.missingParent(of: row, changedFrom: hub, in: place) == nil }
    return try hub.map { try store.tableWithChildren(of: $0, in: place) == nil } ?? true
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
