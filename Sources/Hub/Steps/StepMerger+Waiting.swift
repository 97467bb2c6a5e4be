import SatchelConflicts
import SatchelMerge
import SatchelValues
import SatchelWorkspace

/// Steps that wait for other steps of their bundle.
extension StepMerger {
  /// Tries the waiting steps until no further attempt helps. The remaining steps then become conflicts.
  func finish() throws {
    try takeWaiting()
    try endBelowDeleted()
    try rememberUnknownDeletes()
  }

  private func takeWaiting() throws {
    try takeUnits()
    var groups = waitingUnits + (try takeAllFamilies())
    try drainAll(besides: &groups)
    try takeCircles(besides: &groups)
    let isAnyGroupLeft = !groups.isEmpty
    let families = groups.filter { !$0.isUnit }
    if !order.isEmpty, !families.isEmpty {
      for family in families { try refuse(family) }
      order.removeAll { waiting[$0] == nil }
      groups.removeAll { !$0.isUnit }
      try drainAll(besides: &groups)
    }
    if !order.isEmpty, !groups.isEmpty {
      for unit in groups where try !takeAtLast(unit) { try refuse(unit: unit) }
      groups = []
      try drainAll(besides: &groups)
    }
    // The groups above are refused, so they no longer block the other rows.
    if isAnyGroupLeft { try takeCircles(besides: &groups) }
    referring = nil
    for row in order { try giveUp(row) }
    waiting = [:]
    order = []
  }

  /// Tries the waiting steps, and repeats while more steps are merged, up to a limit. The caller then merges the
  /// remaining steps together, or makes conflicts of them.
  /// - Parameter groups: groups of steps that are merged together or not at all. Merged groups leave the list.
  private func drainAll(besides groups: inout [StepGroup]) throws {
    order = try inOrder(order)
    groups = try inOrder(groups)
    var limit = RetryLimit(steps: countSteps(with: groups))
    var helped = true
    while helped, !order.isEmpty, limit.allowsRound(over: countSteps(with: groups)) {
      helped = false
      let waitingGroups = try groups.filter { try !take($0) }
      if waitingGroups.count < groups.count { helped = true }
      groups = waitingGroups
      grouped = Set(groups.flatMap(\.items).map(\.pending.number))
      for row in order where try drain(row) { helped = true }
      order.removeAll { waiting[$0] == nil }
    }
  }

  /// The number of steps that one round tries.
  private func countSteps(with groups: [StepGroup]) -> Int {
    order.count + groups.reduce(0) { $0 + $1.items.count }
  }

  /// Returns the rows in an order in which each row may help the next row to be merged.
  private func inOrder(_ rows: [RowReference]) throws -> [RowReference] {
    try inOrder(rows) { row in
      (waiting[row] ?? []).map { .init(place: row.place, key: row.key, change: $0.step.change) }
    }
  }

  /// Returns the groups in an order in which each group may help the next group.
  private func inOrder(_ groups: [StepGroup]) throws -> [StepGroup] {
    try inOrder(groups) { group in
      group.items.map { .init(place: $0.row.place, key: $0.row.key, change: $0.pending.step.change) }
    }
  }

  /// Returns the steps of a group in an order in which each step may help the next step.
  func inOrder(_ items: [StepGroup.Item]) throws -> [StepGroup.Item] {
    try inOrder(items) { [.init(place: $0.row.place, key: $0.row.key, change: $0.pending.step.change)] }
  }

  private func inOrder<Waiting>(
    _ all: [Waiting], _ parts: (Waiting) -> [WaitingOrder.Part]
  ) throws -> [Waiting] {
    if all.count < 2 { return all }
    let items = all.map { WaitingOrder.Item(parts: parts($0)) }
    let tables = Set(items.flatMap(\.parts).map(\.place))
    let order = WaitingOrder(store.tables, changing: tables) { knownComparisons(along: $0) }
    return try order.sorted(items) { try store.rows[$0].row($1) }.map { all[$0] }
  }

  /// Merges a row's waiting steps as far as possible. Returns whether any step was merged.
  @discardableResult
  func drain(_ row: RowReference) throws -> Bool {
    var rest = (waiting[row] ?? [])[...]
    let count = rest.count
    while let next = rest.first, !grouped.contains(next.number), try attempt(next, in: row.place) == nil {
      rest.removeFirst()
    }
    waiting[row] = rest.isEmpty ? nil : Array(rest)
    return rest.count < count
  }

  /// Makes conflicts of a row's waiting steps. If a step is held, the row's later steps are held too. In tables that
  /// merge whole rows, a later step contains the held step, so the merger tries the later step.
  private func giveUp(_ row: RowReference) throws {
    var isHeld = false
    for sent in waiting[row] ?? [] {
      let pending = try whole(sent, in: row.place)
      // If the row is kept out by another row, a later change may let the row in.
      let isKeptOut = keptRows[row] != nil
      let isBehind = isHeld && !isKeptOut && pending.earlier.isEmpty
      let obstacle = isBehind ? Self.itself : try attempt(pending, in: row.place)
      guard let obstacle else {
        if isKeptOut { isHeld = false }
        continue
      }
      if try obstacle.kind == .unique && prevail(pending, in: row.place) { continue }
      if try note(obstacle, pending, in: row.place) == .held {
        isHeld = true
        if case .update(let changes) = pending.step.change { keptRows[row]?.write(changes) }
      }
    }
  }
}
