import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelValues

/// Waiting updates whose columns their device wrote again, before the update enters.
extension HeldRows {
  /// Merges a waiting change with the hub's row. If the device wrote a column again after the waiting change, the later
  /// value stays. The disagreement keeps the earlier value.
  func merged(
    _ change: Change, _ record: ConflictRecord, onto hub: Row?, with past: RowNumbers.Entry?, others: OthersChanges,
    in place: Int
  ) throws -> MergeResult {
    let rules = store.rows[place].rules
    guard case .update(let changes) = change, hub != nil else {
      return merge(change, at: record.stamp, onto: hub, others: others, by: rules)
    }
    let later = try columnsWrittenLater(than: record, with: past, in: place)
    // Counters and sets count by differences, so both writes count.
    let lost = changes.map(\.column).filter { later.contains($0) && !rules.countsDifferences(of: $0) }
    let rest = changes.filter { !lost.contains($0.column) }
    let result = merge(.update(rest), at: record.stamp, onto: hub, others: others, by: rules)
    if lost.isEmpty { return result }
    var winners = result.disagreement?.winners ?? [:]
    for column in lost { winners[column] = .hub }
    let kind = result.disagreement?.kind ?? .updateUpdate
    let state = result.disagreement?.state ?? .settled
    return MergeResult(row: result.row, disagreement: Disagreement(kind: kind, state: state, winners: winners))
  }

  /// The columns that the device of a waiting change wrote after this change.
  private func columnsWrittenLater(
    than record: ConflictRecord, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Set<Int> {
    let own = OwnChanges(of: record.device, by: record.user)
    var columns: Set<Int> = []
    try store.eachChange(of: past) { entry in
      if own.contains(entry), entry.stamp > record.stamp {
        columns.formUnion(entry.columns(in: store.rows[place].schema))
      }
      return .more
    }
    return columns
  }
}
