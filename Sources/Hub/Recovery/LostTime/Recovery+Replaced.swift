import SatchelConflicts
import SatchelDataset
import SatchelMerge
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// Values that this hub merged after it was set back and before it knew that. For example, an old export came again
/// from a stick. Later, a value of the lost time may replace such a value.
///
/// The hub cannot know whether the writer of the lost value had seen the replaced value. So a conflict keeps the
/// replaced value.
extension Recovery {
  /// Records the replaced values of a row: one conflict for each change that wrote some of these values.
  /// - Parameters:
  ///   - changes: the changes from the lost time to the row.
  ///   - hub: the row before these changes.
  ///   - writers: for each column, the change that wrote its replaced value, if the lost time may not have had that
  ///     value.
  func keepReplaced(
    by changes: [ColumnChange], of lost: LostRow, in hub: Row, _ writers: [Int: LogEntry]
  ) throws {
    if writers.isEmpty { return }
    let schema = store.rows[lost.place].schema
    let name = RowInTable(table: schema.name, key: lost.key)
    var present = hub
    present.write(changes)
    var columns: [Cursor: [Int]] = [:]
    for (column, writer) in writers {
      let field = Field(schema.columns[column], hub[column])
      // The device may have found and reported this conflict already.
      if try ConflictTable.holds(field, of: name, in: store.database) { continue }
      columns[writer.cursor, default: []].append(column)
    }
    let entries = Dictionary(writers.values.map { ($0.cursor, $0) }, uniquingKeysWith: { first, _ in first })
    for (cursor, replaced) in columns.sorted(by: { $0.key < $1.key }) {
      guard let entry = entries[cursor] else { continue }
      try note(
        disagreement(about: replaced, entry, in: lost.place),
        .update(replaced.sorted().map { change(of: $0, entry, in: schema, to: hub[$0]) }), lost.key, at: entry.stamp,
        present, in: lost.place, "\(entry.user) wrote it. A value of the lost time replaced it. \(lost.emission.words)")
    }
  }

  /// The lost value wins, because its stamp is later. If the policy of a device's change is `manual`, the conflict is
  /// open.
  private func disagreement(about columns: [Int], _ entry: LogEntry, in place: Int) -> Disagreement {
    let isOpen = entry.device != nil && columns.contains { policy(of: $0, in: place) == .manual }
    let winners = Dictionary(uniqueKeysWithValues: columns.map { ($0, Winner.hub) })
    return Disagreement(kind: .updateUpdate, state: isOpen ? .open : .settled, winners: winners)
  }

  private func policy(of column: Int, in place: Int) -> Policy {
    let rules = store.rows[place].rules
    if rules.grain == .row { return rules.table }
    if case .winner(let policy) = rules.columns[column] { return policy }
    // For columns with `max` or `min`, the conflict is settled like a conflict of `newest`.
    return .newest
  }

  private func change(
    of column: Int, _ entry: LogEntry, in schema: TableSchema, to value: Value
  ) -> ColumnChange {
    let was = entry.was?.first { $0.name == schema.columns[column] }?.value
    return ColumnChange(column: column, was: was ?? .null, value: value)
  }
}
