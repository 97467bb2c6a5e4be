import SatchelBundle
import SatchelCapture
import SatchelMerge
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Merges the steps of one bundle into the hub's rows, one after the other, inside the caller's transaction.
///
/// A step that something stands in the way of waits until all others are in, and is tried again as long as that helps.
final class StepMerger {
  private let store: HubStore
  private let scope: ScopeStore
  private let device: EnrolledDevice
  private let bundle: BundleID?
  /// The hub's cursor at the emission on which the device made its changes.
  private let since: Cursor
  private let echo: Bool
  private let now: Int64
  /// No change is later than the hub's own time: a clock that runs ahead must not win by it.
  let latest: Stamp
  private var waiting: [(step: Step, place: Int)] = []

  private(set) var taken = 0
  private(set) var conflicts = 0

  init(_ store: HubStore, device: EnrolledDevice, user: User, bundle: BundleID?, since: Cursor, echo: Bool, now: Int64) {
    self.store = store
    scope = ScopeStore(store, user: user)
    self.device = device
    self.bundle = bundle
    self.since = since
    self.echo = echo
    self.now = now
    latest = Stamp(milliseconds: now + 1)
  }

  /// What keeps a step from being taken at the moment.
  private struct Obstacle {
    let kind: ConflictKind
    let words: String
  }

  /// - Parameter decided: somebody decided this conflict before the device's decision came: the hub's row stands.
  func take(_ step: Step, in place: Int, decided: Bool = false) throws {
    // A row's own steps keep their order.
    if waiting.contains(where: { $0.place == place && $0.step.key == step.key }) {
      waiting.append((step, place))
    } else if try attempt(step, in: place, decided: decided) != nil {
      waiting.append((step, place))
    }
  }

  /// Tries what waits until nothing more gives way; what is left then becomes conflicts.
  func finish() throws {
    var before = Int.max
    while !waiting.isEmpty, waiting.count < before {
      before = waiting.count
      let round = waiting
      waiting = []
      for (step, place) in round { try take(step, in: place) }
    }
    for (step, place) in waiting {
      if let obstacle = try attempt(step, in: place, decided: false) { try note(obstacle, step, in: place) }
    }
    waiting = []
  }

  /// Takes a step, or notes why it is not taken. Returns what stands in its way where that may change.
  private func attempt(_ step: Step, in place: Int, decided: Bool) throws -> Obstacle? {
    let rows = store.rows[place]
    let schema = rows.schema
    let hub = try rows.row(step.key)
    var others = try store.changesByOthers(of: step.key, in: place, after: since, than: device.id)
    if decided { others = OthersChanges(columns: Dictionary(uniqueKeysWithValues: schema.columns.indices.map { ($0, .zero) })) }
    let rules = decided ? MergeRules.hubWins(schema) : MergeRules(rows.table.rules, schema: schema)
    let result = merge(step.change, at: min(step.stamp, latest), onto: hub, others: others, by: rules)
    if let change = Change(from: hub, to: result.row) {
      if hub != nil, try !scope.mayWrite(step.key, in: place) {
        try note(
          Disagreement(kind: .forbidden, state: .settled), step, met: hub, in: place, note: "The user may not change this row.")
        return nil
      }
      if let obstacle = try obstacle(to: result.row, from: hub, in: place) { return obstacle }
      do { try write(result.row, over: hub, step, change, in: place) } catch let error as SQLiteError where error.kind == .unique
      {
        return Obstacle(kind: .unique, words: error.message)
      } catch let error as SQLiteError where error.kind == .constraint {
        try note(Disagreement(kind: .constraint, state: .held), step, met: hub, in: place, note: error.message)
        return nil
      } catch is NotAllowed {
        try note(
          Disagreement(kind: .forbidden, state: .settled), step, met: hub, in: place,
          note: "The user may not make this row as it is.")
        return nil
      }
      taken += 1
    }
    if let disagreement = result.disagreement { try note(disagreement, step, met: hub, in: place) }
    return nil
  }

  private struct NotAllowed: Error {}

  private func write(_ row: Row?, over hub: Row?, _ step: Step, _ change: Change, in place: Int) throws {
    try store.database.savepoint {
      try store.rows[place].write(row, over: hub, key: step.key)
      if row != nil, try !scope.mayWrite(step.key, in: place) { throw NotAllowed() }
    }
    let origin = Origin(
      device: device.id, user: device.user, stamp: min(step.stamp, latest), bundle: bundle, echo: echo, at: now)
    try store.log(change, of: step.key, in: place, from: origin)
  }

  private func obstacle(to row: Row?, from hub: Row?, in place: Int) throws -> Obstacle? {
    if let row {
      guard let missing = try store.missingParent(of: row, in: place) else { return nil }
      // What was wrong before is not this step's fault.
      if let hub, missing.columns.allSatisfy({ hub[$0] == row[$0] }) { return nil }
      return Obstacle(kind: .foreignKey, words: "The row of \(missing.parent) to which it refers is not there.")
    }
    guard let hub, let children = try store.tableWithChildren(of: hub, in: place) else { return nil }
    return Obstacle(kind: .foreignKey, words: "There are rows of \(children) that refer to it.")
  }

  // MARK: conflicts

  private func note(_ obstacle: Obstacle, _ step: Step, in place: Int) throws {
    let state: ConflictState
    switch (obstacle.kind, step.change) {
    // A row waits for its parent; what becomes of children whose parent was to go is for somebody to see to.
    case (.foreignKey, .insert), (.foreignKey, .update): state = .held
    case (.foreignKey, .delete): state = .open
    default: state = store.tables[place].rules.conflict == .hub ? .settled : .open
    }
    let met = try store.rows[place].row(step.key)
    try note(Disagreement(kind: obstacle.kind, state: state), step, met: met, in: place, note: obstacle.words)
  }

  private func note(_ disagreement: Disagreement, _ step: Step, met: Row?, in place: Int, note: String? = nil) throws {
    // Its id comes from the stamp as the device gave it, as it does on the device.
    var record = ConflictRecord(
      disagreement, of: step.change, at: step.stamp, generation: step.generation, key: step.key, in: store.tables[place].schema,
      met: met, device: device.id, user: device.user, note: note)
    record.stamp = min(step.stamp, latest)
    if try ConflictTable.add(record, bundle: bundle, noted: now, since: since, in: store.database) { conflicts += 1 }
    // What was not taken exactly as sent, the device must be shown as it is.
    let isAllDevice =
      disagreement.winners.isEmpty ? disagreement.rowWinner == .device : !disagreement.winners.values.contains(.hub)
    if !isAllDevice { try store.owe(step.key, in: place, to: device.id) }
  }
}
