import SatchelConflicts
import SatchelMerge
import SatchelValues

/// The part of a row that a person decided at the hub before the decision of the device came. In this part the hub's
/// values stay. The device's other writes in the row are merged as usual.
enum DecidedPart: Hashable {
  case columns(Set<Int>)
  case row

  /// The part of the row that a conflict is about. The whole row, if the conflict is about a unit or does not name
  /// columns, or if the columns of the row are not merged one by one.
  init(of record: ConflictRecord, in store: HubStore) {
    self = Self.columns(of: record, in: store).map { .columns($0) } ?? .row
  }

  private static func columns(of record: ConflictRecord, in store: HubStore) -> Set<Int>? {
    guard [.updateUpdate, .insertInsert].contains(record.kind), record.unit == nil, !record.winners.isEmpty,
      let place = store.place(of: record.table), store.rows[place].rules.grain == .column
    else { return nil }
    let found = record.winners.compactMap { store.rows[place].schema.position(of: $0.name) }
    // A write to the mark of deleted rows is about the whole row.
    if let mark = store.rows[place].rules.deleted, found.contains(mark) { return nil }
    return found.count == record.winners.count ? Set(found) : nil
  }

  func joined(with other: DecidedPart) -> DecidedPart {
    guard case (.columns(let columns), .columns(let others)) = (self, other) else { return .row }
    return .columns(columns.union(others))
  }

  /// The decided columns of a row to which a change also writes other columns. nil if the whole change was decided.
  func columns(beside change: Change) -> Set<Int>? {
    guard case .columns(let columns) = self else { return nil }
    if case .update(let changes) = change, changes.allSatisfy({ columns.contains($0.column) }) { return nil }
    return columns
  }
}

extension StepMerger.Pending {
  /// The step without its writes to the columns that were decided before.
  var rest: Step {
    guard !kept.isEmpty, case .update(let changes) = step.change else { return step }
    return step.with(.update(changes.filter { !kept.contains($0.column) }))
  }

  /// The disagreement of a step whose device decided otherwise, if the step belongs to a unit. The hub does not take
  /// the unit then, and only a part of it was decided. So a person decides about the unit. nil if the decisions are
  /// equal.
  func overruled(in result: MergeResult) -> Disagreement? {
    guard let found = result.disagreement, !kept.isDisjoint(with: found.winners.keys) else { return nil }
    return Disagreement(kind: found.kind, state: .open, winners: found.winners)
  }
}
