import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelValues

/// Changes of an earlier epoch that the hub merges after later changes. A later change may have undone a part of an
/// earlier change, and this part must stay undone.
extension HubStore {
  /// Whether a change has no effect if the hub lacks its row. The hub can record a delete without the row. But if the
  /// table marks deleted rows, the hub needs the row to mark it.
  func needsRow(_ change: Change, in place: Int) -> Bool {
    switch change {
    case .insert: false
    case .update: true
    case .delete: rows[place].rules.deleted != nil
    }
  }

  /// Returns a change without the set elements that later changes treated otherwise. These are added elements that were
  /// removed later, and removed elements that were added again later.
  /// - Parameter stamp: the stamp of the change.
  func withoutUndone(
    _ change: Change, at stamp: Stamp, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Change {
    guard let past else { return change }
    func left(of value: Value, since was: Value, _ column: Int) throws -> Value? {
      guard rows[place].rules.combination(of: column) == .union, let was = ElementSet(was), let now = ElementSet(value)
      else { return nil }
      let known = try knownElements(
        among: now.elements + was.elements, of: past.number, column, in: place, after: stamp)
      return now.without(known.removed, keeping: known.added, since: was)
    }
    switch change {
    case .insert(var row):
      for column in row.values.indices {
        if let value = try left(of: row[column], since: .null, column) { row[column] = value }
      }
      return .insert(row)
    case .update(let changes):
      let kept = try changes.map {
        let value = try left(of: $0.value, since: $0.was, $0.column) ?? $0.value
        return ColumnChange(column: $0.column, was: $0.was, value: value)
      }
      return .update(zip(changes, kept).filter { $0 == $1 || $1.was != $1.value }.map(\.1))
    case .delete: return change
    }
  }

  /// Remembers the columns that a change wrote without an effect on the hub's row. Also remembers the set elements that
  /// the change added or removed.
  /// - Parameters:
  ///   - stamp: the stamp of the change.
  ///   - hub: the row before the change.
  func rememberKnown(
    _ change: Change, at stamp: Stamp, over hub: Row, of key: RowKey, with past: RowNumbers.Entry?, in place: Int
  ) throws {
    let columns: [ColumnChange]
    switch change {
    case .insert(let row): columns = row.values.indices.map { ColumnChange(column: $0, was: .null, value: row[$0]) }
    case .update(let changes): columns = changes
    case .delete: return
    }
    let rules = rows[place].rules
    let number = try past?.number ?? numbers[place].assign(key, in: database)
    for change in columns {
      if rules.combination(of: change.column) == .union {
        try rememberElements(of: change, over: hub, number, in: place, at: stamp)
      } else if !rules.countsDifferences(of: change.column), change.value == hub[change.column] {
        try rememberWritten(change.column, of: number, in: place, at: stamp)
      }
    }
  }

  private func rememberElements(
    of change: ColumnChange, over hub: Row, _ number: Int64, in place: Int, at stamp: Stamp
  ) throws {
    guard let was = ElementSet(change.was)?.elements, let now = ElementSet(change.value)?.elements,
      let here = ElementSet(hub[change.column])?.elements
    else { return }
    let (known, present) = (Set(was), Set(now).union(here))
    let (added, removed) = (now.filter { !known.contains($0) }, was.filter { !present.contains($0) })
    try remember(added, areThere: true, in: change.column, of: number, in: place, at: stamp)
    try remember(removed, areThere: false, in: change.column, of: number, in: place, at: stamp)
  }
}
