import SatchelDataset
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Changes of an earlier epoch. Devices deliver these changes again to a hub that was set back, in any order. So a
/// change may come before the change that it was based on.
extension StepMerger {
  /// Whether this hub does not have the row of a change yet. Another device made the row and will deliver it again.
  func awaitsRow(_ step: Step, onto hub: Row?, with past: RowNumbers.Entry?) -> Bool {
    guard base.isFormerEpoch, hub == nil, case .update = step.change else { return false }
    return past.map { $0.stamp < min(step.stamp, latest) } ?? true
  }

  static let awaited = Obstacle(
    kind: .foreignKey, words: "It waits for the row itself, which another device delivers again.", isHeld: true)

  /// Remembers the deletion of a row that does not exist here. If an older insert comes later, it does not bring the
  /// row back.
  func rememberDeletion(_ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int) throws {
    guard hub == nil, case .delete = step.change else { return }
    guard base.isFormerEpoch else {
      if past == nil, step.first == nil { unknownDeletes.append((step, place)) }
      return
    }
    if let past, past.stamp >= min(step.stamp, latest) { return }
    try log(step.change, step, with: past, in: place)
  }

  /// Remembers deletes of rows that this hub never had. A device brought these deletes from its former hub. Another
  /// device of that hub may bring such a row later. Only deletes that the user may make here are remembered.
  func rememberUnknownDeletes() throws {
    for (step, place) in unknownDeletes {
      guard device.refusal == nil, store.tables[place].rules.delete != .never, case .delete(let was) = step.change,
        try store.past(of: step.key, in: place) == nil, try mayMake(was, in: place)
      else { continue }
      try log(step.change, step, with: nil, in: place)
    }
    unknownDeletes = []
  }

  private func mayMake(_ row: Row, in place: Int) throws -> Bool {
    do {
      try store.database.savepoint(.dryRun) {
        try write(.insert(row), to: row, over: nil, key: store.tables[place].schema.key(of: row), in: place)
      }
      return true
    } catch is NotAllowed { return false } catch let error as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    { return false }
  }

  /// Whether an insert meets a delete that its device had not seen, whatever emission the device has now.
  ///
  /// A row that came back from a lost time may have been deleted since. If its device delivers the insert only now, the
  /// insert does not undo the delete. Any other deleted row may have the same key by chance.
  ///
  /// If the insert is from before its device joined, stamps do not show which change came later. The reason: such a row
  /// has the time of the last bundle that its device got. So it meets a delete of this hub, or of another device of the
  /// former hub.
  func meetsDelete(
    _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int, besides own: OwnChanges
  ) throws -> Bool {
    guard hub == nil, case .insert = step.change else { return false }
    if step.first == nil { return past?.cursor != nil }
    guard isOlderThanEpoch(step, writtenAt: step.stamp) else { return false }
    // The row came back in this epoch. So a change of an earlier epoch is older than its deletion.
    let stamp = formerExports == nil ? step.stamp : .zero
    return try store.wasDeletedSinceRecovery(past, in: place, after: stamp, besides: own)
  }

  /// Whether the device made a change before it had an emission of the present epoch. The hub did not know the device
  /// for a while, or the device imported before it delivered again what it had written in a lost time.
  ///
  /// A change that a hub merged in the lost time was exported in an earlier epoch. So its generation shows this, even
  /// if the device's clock is ahead.
  /// - Parameter stamp: the stamp of the change. It decides if the device does not say which exports are older.
  private func isOlderThanEpoch(_ step: Step, writtenAt stamp: Stamp) -> Bool {
    guard base.cursor != nil else { return false }
    if let formerExports { return step.generation.rawValue < formerExports.rawValue }
    return receivedStamp.map { stamp <= $0 } ?? false
  }

  /// Returns the step without elements of sets that a newer change removed. The newer change came to this hub before
  /// this step, so there was nothing to remove at that time.
  func withoutRemovedElements(_ step: Step, with past: RowNumbers.Entry?, in place: Int) throws -> Step {
    guard base.isFormerEpoch, let past, case .update(var changes) = step.change else { return step }
    let stamp = min(step.stamp, latest)
    for (number, change) in changes.enumerated() where isSet(change.column, in: place) {
      let removed = try store.removedElements(of: past.number, change.column, in: place, after: stamp)
      guard !removed.isEmpty, let value = ElementSet(change.value)?.removing(removed, butNot: ElementSet(change.was))
      else {
        continue
      }
      changes[number] = ColumnChange(column: change.column, was: change.was, value: value)
    }
    let kept = changes.filter { $0.was != $0.value }
    if .update(kept) == step.change { return step }
    // The change was not accepted as sent, so the device must receive the row as it is.
    try store.owe(step.key, in: place, to: device.id)
    return step.with(.update(kept))
  }

  /// Remembers the elements that a change removed from a set, if the hub's set does not contain them.
  func rememberRemovals(_ step: Step, onto hub: Row, with past: RowNumbers.Entry?, in place: Int) throws {
    guard base.isFormerEpoch, case .update(let changes) = step.change else { return }
    for change in changes where isSet(change.column, in: place) {
      guard let was = ElementSet(change.was), let now = ElementSet(change.value),
        let here = ElementSet(hub[change.column])
      else {
        continue
      }
      let present = Set(now.elements).union(here.elements)
      let removed = was.elements.filter { !present.contains($0) }
      if removed.isEmpty { continue }
      let number = try past?.number ?? store.numbers[place].assign(step.key, in: store.database)
      try store.rememberRemoved(removed, of: number, change.column, in: place, at: min(step.stamp, latest))
    }
  }

  /// Returns the counters and sets whose value at the hub may already contain a change, because the row came back from
  /// the lost time before its device delivered.
  func uncertainColumns(
    _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Set<Int> {
    let stamp = min(step.stamp, latest)
    if base.isFormerEpoch {
      return try store.uncertainColumns(of: step.change, onto: hub, with: past, in: place, since: received, at: stamp)
    }
    // Release 0.1 does not send the first write.
    let first = step.first?.stamp ?? step.stamp
    guard isOlderThanEpoch(step, writtenAt: first) else { return [] }
    // The device has rebased the change on the row that came back, so its former values show nothing.
    let written = formerExports == nil ? first : nil
    return try store.uncertainColumns(onto: hub, with: past, in: place, written: written)
  }

  static let mayBeCounted =
    "The row came back from the lost time before this change came. Its counter or list may already contain the change."

  /// Whether a person decides because the row may already contain the change.
  func isUncertain(
    _ disagreement: Disagreement, _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Bool {
    guard disagreement.kind == .updateUpdate, disagreement.state == .open else { return false }
    return try !uncertainColumns(step, onto: hub, with: past, in: place).isDisjoint(with: disagreement.winners.keys)
  }

  private func isSet(_ column: Int, in place: Int) -> Bool { store.rows[place].rules.combination(of: column) == .union }
}

extension Change {
  /// The change that a conflict records. If a row may already contain an insert, its counters and sets count as changed
  /// from nothing. So a decision for the device adds what the device added.
  func counted(in disagreement: Disagreement) -> Change {
    guard disagreement.kind == .updateUpdate, case .insert(let row) = self else { return self }
    return .update(disagreement.winners.keys.sorted().map { ColumnChange(column: $0, was: .null, value: row[$0]) })
  }
}
