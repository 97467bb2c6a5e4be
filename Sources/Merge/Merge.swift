import SatchelDataset
import SatchelValues

/// What a merge makes of one change.
public struct MergeResult: Hashable, Sendable {
  /// The row as it is to be; nil for a row that is not there.
  public let row: Row?
  public let disagreement: Disagreement?

  public init(row: Row?, disagreement: Disagreement? = nil) {
    self.row = row
    self.disagreement = disagreement
  }
}

/// Brings a device's change of one row together with the row as the hub has it.
///
/// Pure and total: the same values in, the same values out. A value that loses is in the disagreement's columns; equal changes
/// and changes of different columns never disagree.
/// - Parameters:
///   - hub: the row as it is now; nil for a row that is not there.
///   - others: what everyone but the device changed since the device saw the row.
///   - stamp: when the device made its change.
public func merge(_ change: Change, at stamp: Stamp, onto hub: Row?, others: OthersChanges, by rules: MergeRules) -> MergeResult {
  switch (change, hub) {
  case (.insert(let row), nil):
    return MergeResult(row: row)
  case (.insert(let row), let hub?):
    let differing = hub.values.indices.filter { hub[$0] != row[$0] }
    let newest = Dictionary(uniqueKeysWithValues: differing.map { ($0, others.columns[$0] ?? others.newest) })
    return meet(.insertInsert, row.values.enumerated().map { ($0, $1) }, at: stamp, onto: hub, clashing: newest, by: rules)
  case (.delete, nil):
    return MergeResult(row: nil)
  case (.delete, let hub?):
    if others.isEmpty { return MergeResult(row: nil) }
    let verdict = decide(rules.table, device: stamp, hub: max(others.newest, others.columns.values.max() ?? .zero))
    let disagreement = Disagreement(kind: .deleteUpdate, state: verdict.state, rowWinner: verdict.winner)
    return MergeResult(row: verdict.winner == .device ? nil : hub, disagreement: disagreement)
  case (.update, nil):
    // An update never brings a row back: where the policy would have it, somebody has to decide.
    let verdict = decide(rules.table, device: stamp, hub: others.newest)
    let state: ConflictState = verdict.winner == .hub ? verdict.state : .open
    return MergeResult(row: nil, disagreement: Disagreement(kind: .updateDelete, state: state))
  case (.update(let changes), let hub?):
    let clashing = clashes(of: changes, with: hub, others: others, grain: rules.grain)
    return meet(.updateUpdate, changes.map { ($0.column, $0.value) }, at: stamp, onto: hub, clashing: clashing, by: rules)
  }
}

/// The columns that both sides changed to different values, each with the stamp of the others' change.
private func clashes(
  of changes: [ColumnChange], with hub: Row, others: OthersChanges, grain: MergeGrain
) -> [Int: Stamp] {
  var result: [Int: Stamp] = [:]
  for change in changes where hub[change.column] != change.value {
    switch grain {
    case .column: result[change.column] = others.columns[change.column]
    case .row: if !others.isEmpty { result[change.column] = max(others.newest, others.columns.values.max() ?? .zero) }
    }
  }
  return result
}

/// Writes a device's values into the hub's row, but for clashing columns that a policy gives to the hub.
private func meet(
  _ kind: ConflictKind, _ values: [(column: Int, value: Value)], at stamp: Stamp, onto hub: Row, clashing: [Int: Stamp],
  by rules: MergeRules
) -> MergeResult {
  var row = hub
  var winners: [Int: Winner] = [:]
  var isOpen = false
  for (column, value) in values where hub[column] != value {
    guard let theirs = clashing[column] else {
      row[column] = value
      continue
    }
    let verdict = decide(rules.grain == .row ? rules.table : rules.columns[column], device: stamp, hub: theirs)
    if verdict.winner == .device { row[column] = value }
    if verdict.state == .open { isOpen = true }
    winners[column] = verdict.winner
  }
  if winners.isEmpty { return MergeResult(row: row) }
  return MergeResult(row: row, disagreement: Disagreement(kind: kind, state: isOpen ? .open : .settled, winners: winners))
}

/// Who wins by policy. With equal stamps the hub does, so that every replica decides alike.
public func decide(_ policy: Policy, device: Stamp, hub: Stamp) -> (winner: Winner, state: ConflictState) {
  switch policy {
  case .hub: (.hub, .settled)
  case .device: (.device, .settled)
  case .newest: (device > hub ? .device : .hub, .settled)
  case .manual: (.hub, .open)
  }
}
