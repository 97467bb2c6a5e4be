import SatchelValues

/// Steps that the hub accepts together or not at all: the deletes of a family, or the steps of a unit.
struct StepGroup {
  struct Item {
    let row: StepMerger.RowReference
    let pending: StepMerger.Pending
  }

  /// The items in the order in which they came.
  let items: [Item]
  /// The rows whose delete followed from the delete of a parent.
  let children: Set<StepMerger.RowReference>
  let isUnit: Bool

  var rows: [StepMerger.RowReference] { items.map(\.row) }
}

extension StepMerger {
  struct NotWhole: Error {}

  /// The treatment of a group if the hub does not accept one of its steps as sent.
  private enum Refusal {
    /// The only step of the group becomes a conflict.
    case alone
    /// No step of the group is accepted.
    case whole
    /// No step of the group is accepted. But first, another row with the same natural key gives way, if the policy
    /// allows that.
    case wholeAtLast
  }

  /// Merges all steps of a group. If one of them cannot be merged, this method has no effect and returns false.
  func take(_ group: StepGroup) throws -> Bool {
    try take(group, group.items.count == 1 ? .alone : .whole)
  }

  /// Makes the last attempt to merge all steps of a group. Unlike in `take`, another row may give way, and rows may
  /// trade UNIQUE values.
  func takeAtLast(_ group: StepGroup) throws -> Bool {
    if try take(group, .wholeAtLast) { return true }
    // The rows of one unit may trade UNIQUE values.
    let own = Set(group.items.map(\.pending.number))
    let rows = group.items.map(\.row)
    guard rows.allSatisfy({ row in waiting[row]?.allSatisfy { own.contains($0.number) } ?? false }) else {
      return false
    }
    var seen: Set<RowReference> = []
    return try takeTogether(rows.filter { seen.insert($0).inserted })
  }

  private func take(_ group: StepGroup, _ refusal: Refusal) throws -> Bool {
    guard isReady(group) else { return false }
    if try takeAbsent(group) { return true }
    if case .alone = refusal {
      guard try attemptAll(group, .alone) else { return false }
    } else {
      guard try takeWhole({ if try !attemptAll(group, refusal) { throw NotWhole() } }) else { return false }
    }
    drop(group)
    return true
  }

  /// Runs `body`, which merges steps. If `body` throws `NotWhole`, this method undoes all effects of `body` and returns
  /// false.
  func takeWhole(_ body: () throws -> Void) throws -> Bool {
    let (before, cursor) = (progress, try store.cursor())
    let (lostBefore, lateBefore) = (lost.count, maybeLate.count)
    walks.begin()
    earlier?.begin()
    do {
      try store.database.savepoint(.commit, body)
      return true
    } catch is NotWhole {
      progress = before
      lost.removeSubrange(lostBefore...)
      maybeLate.removeSubrange(lateBefore...)
      walks.forget(after: cursor)
      earlier?.forget(after: cursor)
      parents.forget()
      return false
    }
  }

  /// Whether the group's steps are the first waiting steps of their rows.
  func isReady(_ group: StepGroup) -> Bool {
    var places: [RowReference: Int] = [:]
    for item in group.items {
      let place = places[item.row, default: 0]
      guard let row = waiting[item.row], place < row.count, row[place].number == item.pending.number else {
        return false
      }
      places[item.row] = place + 1
    }
    return true
  }

  /// Tries the steps of a group, and repeats while more steps are merged, up to a limit. Returns whether all steps were
  /// merged.
  private func attemptAll(_ group: StepGroup, _ refusal: Refusal) throws -> Bool {
    var left = try inOrder(group.items)
    if group.isUnit { presentUnit = group }
    defer { presentUnit = nil }
    var limit = RetryLimit(steps: left.count)
    while !left.isEmpty {
      let count = left.count
      if !limit.allowsRound(over: count) { return false }
      left = try tryEach(left) { item in
        let before = progress.refused
        let obstacle = try attempt(item.pending, in: item.row.place)
        if refusal != .alone, progress.refused > before { throw NotWhole() }
        guard let obstacle else { return true }
        return try refusal == .wholeAtLast && obstacle.kind == .unique && prevail(item.pending, in: item.row.place)
      }
      if left.count == count { return false }
    }
    return true
  }

  /// Tries the first step of each row. Returns the steps that were not merged.
  /// - Parameter body: returns whether the step was merged.
  func tryEach(
    _ items: [StepGroup.Item], _ body: (StepGroup.Item) throws -> Bool
  ) throws -> [StepGroup.Item] {
    // If a row has several steps, they are merged in their order.
    let firsts = Dictionary(items.map { ($0.row, $0.pending.number) }, uniquingKeysWith: min)
    return try items.filter { item in
      try firsts[item.row] != item.pending.number || !body(item)
    }
  }

  /// Removes the first waiting step of a row.
  func dropFirst(of row: RowReference) {
    let rest = Array((waiting[row] ?? []).dropFirst())
    waiting[row] = rest.isEmpty ? nil : rest
  }

  /// Removes the steps of a group from the waiting steps.
  func drop(_ group: StepGroup) {
    let own = Set(group.items.map(\.pending.number))
    for row in Set(group.items.map(\.row)) {
      let rest = (waiting[row] ?? []).filter { !own.contains($0.number) }
      waiting[row] = rest.isEmpty ? nil : rest
    }
    grouped.subtract(own)
  }
}
