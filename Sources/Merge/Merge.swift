import SatchelDataset
import SatchelValues

/// The result of merging one change.
public struct MergeResult: Hashable, Sendable {
  /// The merged row; nil if the row is deleted.
  public let row: Row?
  public let disagreement: Disagreement?
  /// The columns into which others wrote the value of a device's update since it saw the row. They need no write.
  public let writtenTwice: [Int]
  /// Whether the change deletes a row that another writer marked as deleted since the device saw it. The change then
  /// alters nothing, so it is no disagreement. But a unit with such a change cannot be taken as it was sent.
  public let repeatsDelete: Bool

  public init(
    row: Row?, disagreement: Disagreement? = nil, writtenTwice: [Int] = [], repeatsDelete: Bool = false
  ) {
    self.row = row
    self.disagreement = disagreement
    self.writtenTwice = writtenTwice
    self.repeatsDelete = repeatsDelete
  }
}

/// Merges a device's change of one row with the row as the hub has it.
///
/// The function is pure and total: equal inputs give equal results. A column whose value loses is in the disagreement.
/// Equal changes never disagree, except if a counter cannot hold their sum. Changes of different columns disagree only
/// if the table merges whole rows and neither change contains the other. Equal counters of two inserted rows count
/// once, unless the rules say that two devices made the rows.
/// - Parameters:
///   - hub: the present row; nil if it is missing.
///   - others: the changes of everyone but the device since the device saw the row.
///   - stamp: the stamp of the device's change.
public func merge(_ change: Change, at stamp: Stamp, onto hub: Row?, others: OthersChanges, by rules: MergeRules)
  -> MergeResult
{
  if let result = mergeDelete(change, at: stamp, onto: hub, others: others, by: rules) { return result }
  switch (change, hub) {
  case (.insert(let row), nil):
    // A row made after the deletion, by a device that may have known of the deletion, is a new row.
    if !others.presence { return MergeResult(row: row) }
    if others.judge == .stamps, others.disputed.isEmpty, stamp > others.newest, !rules.doubtful.contains(stamp) {
      return MergeResult(row: row)
    }
    // Another user deleted the row, and the device did not know it: a deleted row comes back only by a decision.
    return gone(at: stamp, others, by: rules)
  case (.insert(let row), let hub?):
    // A row that counts as a whole has one stamp.
    let whole = rules.grain == .row ? others.latest : nil
    let meetings = row.values.indices.map {
      Meeting(column: $0, was: .null, value: row[$0], others: whole ?? others.columns[$0] ?? others.newest)
    }
    let differing = meetings.filter { $0.value != hub[$0.column] || rules.adds($0.value, in: $0.column) }
    return meet(.insertInsert, differing, at: stamp, onto: hub, others, by: rules)
  case (.delete(let was), _):
    // Only the device has changed this row.
    return MergeResult(row: hub.flatMap { rules.deleting($0, like: was) })
  case (.update, nil): return gone(at: stamp, others, by: rules)
  case (.update(let changes), let hub?):
    if rules.grain == .row { return mergeWhole(changes, at: stamp, onto: hub, others, by: rules) }
    let meetings = changes.map {
      Meeting(column: $0.column, was: $0.was, value: $0.value, others: others.columns[$0.column])
    }
    return meet(.updateUpdate, meetings, at: stamp, onto: hub, others, by: rules)
  }
}

/// Merges an update of a row that wins or loses as a whole.
///
/// A change has only the columns that its device wrote. So a policy can give the row to one side only if that side
/// wrote all that the other side wrote. Otherwise the result would be a row that neither side wrote, and a person
/// decides. Under `newest` a person also decides if the device loses and wrote columns that the other side did not
/// write. So the result is the same, whichever of the two changes arrives first.
private func mergeWhole(
  _ changes: [ColumnChange], at stamp: Stamp, onto hub: Row, _ others: OthersChanges, by rules: MergeRules
) -> MergeResult {
  let values = Dictionary(uniqueKeysWithValues: changes.map { ($0.column, $0.value) })
  let isByPolicies = others.judge == .policies
  let theirs = isByPolicies ? Set(others.columns.keys) : others.disputed
  let agrees = isByPolicies && !others.presence && theirs.allSatisfy { hub[$0] == values[$0] }
  let met = others.isEmpty || agrees ? nil : others.latest
  let meetings = changes.map { Meeting(column: $0.column, was: $0.was, value: $0.value, others: met) }
  let result = meet(.updateUpdate, meetings, at: stamp, onto: hub, others, by: rules)
  // Stamps alone do not show what each side wrote.
  guard isByPolicies || !theirs.isEmpty, let disagreement = result.disagreement, disagreement.state == .settled
  else { return result }
  let isWhole =
    disagreement.winners.values.contains(.device)
    ? theirs.allSatisfy { values[$0] != nil || others.own.contains($0) }
    : rules.table != .newest || values.keys.allSatisfy { theirs.contains($0) }
  if isWhole { return result }
  return MergeResult(
    row: hub,
    disagreement: Disagreement(
      kind: .updateUpdate, state: .open, winners: disagreement.winners.mapValues { _ in .hub }))
}

/// One column of a device's change, which meets the hub's row.
private struct Meeting {
  let column: Int
  /// The device's start value.
  let was: Value
  let value: Value
  /// The newest stamp of the changes by others that this column meets; nil: there are no such changes.
  let others: Stamp?
}

/// The merged value of a counter or a set that no other device changed, if the hub's value differs from the device's
/// start value.
///
/// The device then started from a value that never reached the hub, so only the device's difference is added. Returns
/// nil if the device's value can be used as it is.
private func difference(_ meeting: Meeting, onto hub: Value, by rules: MergeRules) -> Value? {
  guard rules.countsDifferences(of: meeting.column), let how = rules.combination(of: meeting.column), hub != meeting.was
  else { return nil }
  return combine(how, base: meeting.was, hub: hub, device: meeting.value)
}

/// Whether both sides added to a counter, and the sum is more than the counter can hold.
private func isBeyondCounting(_ meeting: Meeting, onto hub: Value, by rules: MergeRules) -> Bool {
  guard let how = rules.combination(of: meeting.column) else { return false }
  return exceeds(how, base: meeting.was, hub: hub, device: meeting.value)
}

/// Whether the hub's counter or set may already contain this change, and merging it would give another value.
private func isUncertain(_ meeting: Meeting, onto hub: Value, _ others: OthersChanges, by rules: MergeRules) -> Bool {
  guard others.uncertain.contains(meeting.column), rules.countsDifferences(of: meeting.column),
    let how = rules.combination(of: meeting.column),
    let value = combine(how, base: meeting.was, hub: hub, device: meeting.value)
  else { return false }
  return value != hub
}

/// Writes a device's values into the hub's row. If a column clashes and its policy decides for the hub, the hub's value
/// stays. A change that the row may already contain is an open `update/update`, also if it is an insert.
private func meet(
  _ kind: ConflictKind, _ meetings: [Meeting], at stamp: Stamp, onto hub: Row, _ all: OthersChanges,
  by rules: MergeRules
) -> MergeResult {
  var row = hub
  var winners: [Int: Winner] = [:]
  var writtenTwice: [Int] = []
  var isOpen = false
  var isInDoubt = false
  var kind = kind
  for meeting in meetings {
    let column = meeting.column
    if rules.decided.contains(column) {
      if hub[column] != meeting.value { winners[column] = .hub }
      continue
    }
    if isUncertain(meeting, onto: hub[column], all, by: rules) {
      winners[column] = .hub
      (isOpen, kind) = (true, .updateUpdate)
      continue
    }
    guard let others = meeting.others else {
      row[column] = difference(meeting, onto: hub[column], by: rules) ?? meeting.value
      continue
    }
    if let how = rules.combination(of: column),
      let value = combine(how, base: meeting.was, hub: hub[column], device: meeting.value)
    {
      row[column] = value
      if value == hub[column], value == meeting.value { writtenTwice.append(column) }
      // If the greater or the lesser value wins, the other value is lost.
      if how == .max || how == .min, hub[column] != meeting.value {
        winners[column] = value == hub[column] ? .hub : .device
      }
      continue
    }
    if hub[column] == meeting.value, !isBeyondCounting(meeting, onto: hub[column], by: rules) {
      writtenTwice.append(column)
      continue
    }
    let policy = rules.policy(of: column, for: all)
    let verdict = decide(policy, device: stamp, hub: others, rules.doubtful)
    if verdict.winner == .device { row[column] = meeting.value }
    if verdict.state == .open { isOpen = true }
    if policy.isInDoubt(by: verdict) { isInDoubt = true }
    winners[column] = verdict.winner
  }
  let disagreement =
    winners.isEmpty
    ? nil : Disagreement(kind: kind, state: isOpen ? .open : .settled, winners: winners, isInDoubt: isInDoubt)
  return MergeResult(row: row, disagreement: disagreement, writtenTwice: writtenTwice)
}

// MARK: rows that are deleted

/// Whether a row is marked as deleted: the table's column for that has a value that is neither NULL nor 0.
private func isDeleted(_ row: Row, by rules: MergeRules) -> Bool {
  rules.deleted.map { isMark(row[$0]) } ?? false
}

private func isMark(_ value: Value) -> Bool {
  switch value {
  case .null, .integer(0), .real(0): false
  default: true
  }
}

/// Whether the row was marked as deleted before this update of the mark.
private func wasMarked(_ changes: [ColumnChange], by rules: MergeRules) -> Bool {
  changes.contains { $0.column == rules.deleted && isMark($0.was) }
}

/// The result for a change if one side deletes a row that the other side changes; nil: that is not the case. The table
/// may remove deleted rows or mark them.
private func mergeDelete(
  _ change: Change, at stamp: Stamp, onto hub: Row?, others: OthersChanges, by rules: MergeRules
) -> MergeResult? {
  guard let hub, !others.isEmpty else { return nil }
  let newest = others.latest
  let wasDeletedThere =
    isDeleted(hub, by: rules) && (others.presence || rules.deleted.map { others.columns[$0] != nil } ?? false)
  switch change {
  case .delete(let was):
    if isDeleted(hub, by: rules) {
      return MergeResult(row: hub, repeatsDelete: wasDeletedThere && !isDeleted(was, by: rules))
    }
    return deleteMeetsUpdate(rules.deleted == nil ? nil : .some(marked(hub, like: was, by: rules)), newest)
  case .update(let changes):
    let row = applying(changes.filter { !rules.decided.contains($0.column) }, to: hub)
    let deletes = changes.contains { $0.column == rules.deleted } && isDeleted(row, by: rules)
    if wasDeletedThere {
      let equal = changes.map(\.column).filter {
        others.columns[$0] != nil && row[$0] == hub[$0]
      }
      if !deletes { return gone(leaving: hub, at: stamp, others, by: rules) }
      return MergeResult(row: hub, writtenTwice: equal, repeatsDelete: !wasMarked(changes, by: rules))
    }
    return deletes ? deleteMeetsUpdate(row, newest) : nil
  case .insert: return wasDeletedThere ? gone(leaving: hub, at: stamp, others, by: rules) : nil
  }

  func deleteMeetsUpdate(_ deleted: Row?, _ newest: Stamp) -> MergeResult {
    let policy = rules.policy(for: others)
    let verdict = decide(policy, device: stamp, hub: newest, rules.doubtful)
    // The update is newer than the deletion. A person decides, as if the deletion had arrived first.
    let isUndecided = verdict.winner == .hub && rules.table == .newest && others.judge == .policies
    return MergeResult(
      row: verdict.winner == .device ? deleted : hub,
      disagreement: Disagreement(
        kind: .deleteUpdate, state: isUndecided ? .open : verdict.state, rowWinner: verdict.winner,
        isInDoubt: policy.isInDoubt(by: verdict)))
  }
}

extension MergeRules {
  /// The row after its delete: marked as deleted, if the table has a column for that. nil: the row is removed.
  /// - Parameter was: the row as its device deleted it. If that row was marked already, its mark is used.
  public func deleting(_ row: Row, like was: Row) -> Row? {
    if deleted == nil { return nil }
    return isDeleted(row, by: self) ? row : marked(row, like: was, by: self)
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

/// The result for a change of a deleted row. No change of a device restores the row: if the policy would restore it, a
/// person decides.
private func gone(leaving row: Row? = nil, at stamp: Stamp, _ others: OthersChanges, by rules: MergeRules)
  -> MergeResult
{
  let policy = rules.policy(for: others)
  let verdict = decide(policy, device: stamp, hub: others.newest, rules.doubtful)
  return MergeResult(
    row: row,
    disagreement: Disagreement(
      kind: .updateDelete, state: stateOfLoss(by: verdict), isInDoubt: policy.isInDoubt(by: verdict)))
}

/// The state of a conflict whose change by a device cannot be applied, whichever side wins by policy. If the device
/// would have won, a person decides.
public func stateOfLoss(by verdict: (winner: Winner, state: ConflictState)) -> ConflictState {
  verdict.winner == .hub ? verdict.state : .open
}

extension Policy {
  /// The state of a change that lost without a comparison. If the hub wins by policy anyway, no decision is needed.
  public var stateOfUncompared: ConflictState { self == .hub ? .settled : .open }

  /// Whether this policy compares stamps, and a person decides because the stamps do not show the order.
  public func isInDoubt(by verdict: (winner: Winner, state: ConflictState)) -> Bool {
    self == .newest && verdict.state == .open
  }
}

/// The winner by policy. With equal stamps the hub wins, so that every replica decides alike. If the stamps do not show
/// which change is the later one, the hub's value stays and a person decides.
/// - Parameter doubtful: the stamps that do not show the order of changes.
public func decide(
  _ policy: Policy, device: Stamp, hub: Stamp, _ doubtful: DoubtfulTimes = .none
) -> (winner: Winner, state: ConflictState) {
  switch policy {
  case .hub: (.hub, .settled)
  case .device: (.device, .settled)
  case .newest where doubtful.contain(laterOf: device, hub): (.hub, .open)
  case .newest: (device > hub ? .device : .hub, .settled)
  case .manual: (.hub, .open)
  }
}
