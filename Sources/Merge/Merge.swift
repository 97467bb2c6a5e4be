import SatchelDataset
import SatchelValues

/// The result of merging one change.
public struct MergeResult: Hashable, Sendable {
  /// The merged row; nil if the row is deleted.
  public let row: Row?
  public let disagreement: Disagreement?

  public init(row: Row?, disagreement: Disagreement? = nil) {
    self.row = row
    self.disagreement = disagreement
  }
}

/// Merges a device's change of one row with the row as the hub has it.
///
/// Pure and total: equal inputs give equal results. A losing value is in the disagreement's columns. Equal changes and
/// changes of different columns never disagree.
/// - Parameters:
///   - hub: the present row; nil if it is missing.
///   - others: the changes of everyone but the device since the device saw the row.
///   - stamp: when the device made its change.
public func merge(_ change: Change, at stamp: Stamp, onto hub: Row?, others: OthersChanges, by rules: MergeRules)
  -> MergeResult
{
  if let result = mergeDelete(change, at: stamp, onto: hub, others: others, by: rules) { return result }
  switch (change, hub) {
  case (.insert(let row), nil):
    // A row made after the deletion, by a device that may have known of the deletion, is a new row.
    if !others.presence { return MergeResult(row: row) }
    if others.judge == .stamps, others.disputed.isEmpty, stamp > others.newest { return MergeResult(row: row) }
    // Another user deleted the row, and the device did not know it: a deleted row comes back only by a decision.
    return gone(at: stamp, others, by: rules)
  case (.insert(let row), let hub?):
    let meetings = row.values.indices.map {
      Meeting(column: $0, was: .null, value: row[$0], others: others.columns[$0] ?? others.newest)
    }
    return meet(.insertInsert, meetings.filter { $0.value != hub[$0.column] }, at: stamp, onto: hub, others, by: rules)
  case (.delete(let was), _):
    // Only the device has changed this row. It is marked as deleted, if the table has a column for that.
    guard let hub, rules.deleted != nil else { return MergeResult(row: nil) }
    return MergeResult(row: isDeleted(hub, by: rules) ? hub : marked(hub, like: was, by: rules))
  case (.update, nil): return gone(at: stamp, others, by: rules)
  case (.update(let changes), let hub?):
    let newest = max(others.newest, others.columns.values.max() ?? .zero)
    let meetings = changes.map { change in
      let met = rules.grain == .column ? others.columns[change.column] : others.isEmpty ? nil : newest
      return Meeting(column: change.column, was: change.was, value: change.value, others: met)
    }
    return meet(.updateUpdate, meetings, at: stamp, onto: hub, others, by: rules)
  }
}

/// One column of a device's change, on its way into the hub's row.
private struct Meeting {
  let column: Int
  /// The device's start value.
  let was: Value
  let value: Value
  /// The newest stamp of others' changes that it meets; nil: no other user has changed it.
  let others: Stamp?
}

/// The merged value of a counter or a set that no other device changed, if the hub's value differs from the device's
/// start value.
///
/// The device then counted from a change that never reached the hub, so only its difference is added. Returns nil if
/// the device's value can be used as it is.
private func difference(_ meeting: Meeting, onto hub: Value, by rules: MergeRules) -> Value? {
  guard rules.countsDifferences(of: meeting.column), let how = rules.combination(of: meeting.column), hub != meeting.was
  else { return nil }
  return combine(how, base: meeting.was, hub: hub, device: meeting.value)
}

/// Whether both sides added to a counter, and the sum is more than it can hold.
private func isBeyondCounting(_ meeting: Meeting, onto hub: Value, by rules: MergeRules) -> Bool {
  guard let how = rules.combination(of: meeting.column) else { return false }
  return exceeds(how, base: meeting.was, hub: hub, device: meeting.value)
}

/// Writes a device's values into the hub's row, except clashing columns that a policy gives to the hub.
private func meet(
  _ kind: ConflictKind, _ meetings: [Meeting], at stamp: Stamp, onto hub: Row, _ all: OthersChanges,
  by rules: MergeRules
) -> MergeResult {
  var row = hub
  var winners: [Int: Winner] = [:]
  var isOpen = false
  for meeting in meetings {
    let column = meeting.column
    guard let others = meeting.others else {
      row[column] = difference(meeting, onto: hub[column], by: rules) ?? meeting.value
      continue
    }
    if let how = rules.combination(of: column),
      let value = combine(how, base: meeting.was, hub: hub[column], device: meeting.value)
    {
      row[column] = value
      // If the greatest or least value is kept, the other value is lost.
      if how == .max || how == .min, hub[column] != meeting.value {
        winners[column] = value == hub[column] ? .hub : .device
      }
      continue
    }
    if hub[column] == meeting.value, !isBeyondCounting(meeting, onto: hub[column], by: rules) { continue }
    let verdict = decide(rules.policy(of: column, for: all), device: stamp, hub: others)
    if verdict.winner == .device { row[column] = meeting.value }
    if verdict.state == .open { isOpen = true }
    winners[column] = verdict.winner
  }
  if winners.isEmpty { return MergeResult(row: row) }
  return MergeResult(
    row: row, disagreement: Disagreement(kind: kind, state: isOpen ? .open : .settled, winners: winners))
}

// MARK: rows that are deleted

/// Whether a row exists and is marked as deleted: any value but NULL and 0 in the table's column for that.
private func isDeleted(_ row: Row, by rules: MergeRules) -> Bool {
  guard let column = rules.deleted else { return false }
  switch row[column] {
  case .null, .integer(0), .real(0): return false
  default: return true
  }
}

/// The result for a change if one side deletes what the other side changes, whether deleted rows are removed or marked;
/// nil: that is not the case.
private func mergeDelete(
  _ change: Change, at stamp: Stamp, onto hub: Row?, others: OthersChanges, by rules: MergeRules
) -> MergeResult? {
  guard let hub, !others.isEmpty else { return nil }
  let newest = max(others.newest, others.columns.values.max() ?? .zero)
  let wasDeletedThere =
    isDeleted(hub, by: rules) && (others.presence || rules.deleted.map { others.columns[$0] != nil } ?? false)
  switch change {
  case .delete(let was):
    if isDeleted(hub, by: rules) { return nil }
    return deleteMeetsUpdate(rules.deleted == nil ? nil : .some(marked(hub, like: was, by: rules)), newest)
  case .update(let changes):
    let deletes = changes.contains { $0.column == rules.deleted } && isDeleted(applying(changes, to: hub), by: rules)
    if wasDeletedThere { return deletes ? MergeResult(row: hub) : gone(leaving: hub, at: stamp, others, by: rules) }
    return deletes ? deleteMeetsUpdate(applying(changes, to: hub), newest) : nil
  case .insert: return wasDeletedThere ? gone(leaving: hub, at: stamp, others, by: rules) : nil
  }

  func deleteMeetsUpdate(_ deleted: Row?, _ newest: Stamp) -> MergeResult {
    let verdict = decide(rules.policy(for: others), device: stamp, hub: newest)
    // A person decides about a newer update that arrives after the deletion, as if it had arrived before it.
    let isUndecided = verdict.winner == .hub && rules.table == .newest && others.judge == .policies
    return MergeResult(
      row: verdict.winner == .device ? deleted : hub,
      disagreement: Disagreement(
        kind: .deleteUpdate, state: isUndecided ? .open : verdict.state, rowWinner: verdict.winner))
  }
}

private func marked(_ row: Row, like was: Row, by rules: MergeRules) -> Row {
  var marked = row
  if let column = rules.deleted { marked[column] = isDeleted(was, by: rules) ? was[column] : .integer(1) }
  return marked
}

private func applying(_ changes: [ColumnChange], to row: Row) -> Row {
  var row = row
  row.write(changes)
  return row
}

/// No change of a device restores a deleted row: if the policy would restore it, a person decides.
private func gone(leaving row: Row? = nil, at stamp: Stamp, _ others: OthersChanges, by rules: MergeRules)
  -> MergeResult
{
  let verdict = decide(rules.policy(for: others), device: stamp, hub: others.newest)
  return MergeResult(row: row, disagreement: Disagreement(kind: .updateDelete, state: stateOfLoss(by: verdict)))
}

/// State of a conflict whose device change cannot be applied, whoever wins by policy. If the device would have won, a
/// person decides.
public func stateOfLoss(by verdict: (winner: Winner, state: ConflictState)) -> ConflictState {
  verdict.winner == .hub ? verdict.state : .open
}

extension Policy {
  /// State of a change that lost without a comparison: if the hub wins anyway, no decision is needed.
  public var stateOfUncompared: ConflictState { self == .hub ? .settled : .open }
}

/// The winner by policy. With equal stamps the hub wins, so that every replica decides alike.
public func decide(_ policy: Policy, device: Stamp, hub: Stamp) -> (winner: Winner, state: ConflictState) {
  switch policy {
  case .hub: (.hub, .settled)
  case .device: (.device, .settled)
  case .newest: (device > hub ? .device : .hub, .settled)
  case .manual: (.hub, .open)
  }
}
