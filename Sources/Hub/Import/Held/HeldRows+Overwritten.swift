import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelValues

/// Waiting updates of columns that their device wrote again before the hub accepted the update.
extension HeldRows {
  /// Merges a waiting change with the hub's row. If the device later wrote a column again, the later value stays, and
  /// the disagreement keeps the waiting value.
  func merged(
    _ change: Change, _ record: ConflictRecord, onto hub: Row?, with past: RowNumbers.Entry?, others: OthersChanges,
    from base: ChangeBase, in place: Int
  ) throws -> MergeResult {
    let rules = try rules(in: place)
    guard case .update(let changes) = change, hub != nil else {
      let rules = try hub == nil ? rules : self.rules(for: change, record, with: past, from: base, in: place)
      return merge(change, at: record.stamp, onto: hub, others: others, by: rules)
    }
    let later = try logs(of: record).latest.columns(of: past, in: place, laterThan: record.stamp)
    // The device's writes to counters and sets are differences, so both writes count.
    let lost = changes.map(\.column).filter { later.contains($0) && !rules.countsDifferences(of: $0) }
    let rest = changes.filter { !lost.contains($0.column) }
    let result = merge(.update(rest), at: record.stamp, onto: hub, others: others, by: rules)
    if lost.isEmpty { return result }
    var winners = result.disagreement?.winners ?? [:]
    for column in lost { winners[column] = .hub }
    let kind = result.disagreement?.kind ?? .updateUpdate
    let state = result.disagreement?.state ?? .settled
    return MergeResult(
      row: result.row,
      disagreement: Disagreement(
        kind: kind, state: state, winners: winners, isInDoubt: result.disagreement?.isInDoubt ?? false),
      writtenTwice: result.writtenTwice, repeatsDelete: result.repeatsDelete)
  }

  /// Returns the rules for a waiting insert that meets a row. If another replica made that row, the counters of both
  /// rows are added even if they are equal.
  private func rules(
    for change: Change, _ record: ConflictRecord, with past: RowNumbers.Entry?, from base: ChangeBase, in place: Int
  ) throws -> MergeRules {
    let rules = try rules(in: place)
    guard case .insert = change else { return rules }
    if try store.mayHaveJoined(record.id) { return rules.forChange(change, first: nil) }
    if !rules.hasCounters { return rules }
    let emission = try base.cursor.flatMap { cursor in
      try store.emissions(of: record.device).last { $0.cursor == cursor }?.number
    }
    let held = try HeldAtBase(store, device: record.device, emission: emission)
    let own = OwnChanges(of: record.device, by: record.user)
    // Only changes up to the insert count. Later, the device may also have changed a row that another replica made.
    let isContained = try store.mayContain(insertOf: past, in: place, from: base, holding: held) {
      own.contains($0) && $0.stamp <= record.stamp
    }
    return isContained ? rules : rules.addingEqualCounters
  }
}
