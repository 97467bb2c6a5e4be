import SatchelDataset
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Changes of an earlier epoch, which devices deliver again to a hub that was set back. They may come in any order. So
/// a change may come before the change on which it was based.
extension StepMerger {
  /// Whether the hub lacks the row of a change, and another device will deliver this row again.
  ///
  /// If the hub knows the device's emission, the hub once had the row. The row was then deleted, so no device delivers
  /// it.
  func awaitsRow(_ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int) -> Bool {
    guard base.isFormerEpoch, base.knownCursor == nil, hub == nil, store.needsRow(step.change, in: place) else {
      return false
    }
    return past.map { $0.stamp < min(step.stamp, latest) } ?? true
  }

  static let awaited = Obstacle(
    kind: .foreignKey, words: "It waits for the row itself, which another device delivers again.", isHeld: true)

  /// Records the deletion of a row that the hub lacks. Without this record, an older insert that comes later would
  /// bring the row back.
  /// - Returns: a text if the user may not delete the row. Otherwise nil.
  func rememberDeletion(
    _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws -> String? {
    guard hub == nil, case .delete(let was) = step.change else { return nil }
    guard base.isFormerEpoch else {
      if past == nil, step.first == nil { unknownDeletes.append((step, place)) }
      return nil
    }
    if let past, past.stamp >= min(step.stamp, latest) { return nil }
    if let words = device.refusal { return words }
    if store.tables[place].rules.delete == .never { return Self.isNeverDeleted }
    if try rights(toMake: was, in: place) == .missing { return Self.mayNotChange }
    try log(step.change, step, with: past, in: place)
    return nil
  }

  /// Records the deletes of rows that this hub never had. A device brought these deletes from its former hub, and
  /// another device of that hub may bring the rows later. Only deletes that the user may make at this hub are recorded.
  func rememberUnknownDeletes() throws {
    for (step, place) in unknownDeletes {
      guard device.refusal == nil, store.tables[place].rules.delete != .never, case .delete(let was) = step.change,
        try store.past(of: step.key, in: place) == nil, try rights(toMake: was, in: place) == .present
      else { continue }
      try log(step.change, step, with: nil, in: place)
    }
    unknownDeletes = []
  }

  private enum Rights { case present, missing, unknown }

  /// Whether the user could make a row that the hub lacks. Unknown if another row excludes it, or if its parent is
  /// missing.
  private func rights(toMake row: Row, in place: Int) throws -> Rights {
    if try store.brokenReference(of: row, from: nil, in: place, using: &parents) != nil { return .unknown }
    do {
      try store.database.savepoint(.dryRun) {
        try write(.insert(row), to: row, over: nil, key: store.tables[place].schema.key(of: row), in: place)
      }
      return .present
    } catch is NotAllowed { return .missing } catch let error as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    { return .unknown }
  }

  /// Whether an insert meets a delete that its device had not seen. The device's emission does not decide this.
  ///
  /// A row may have come back from a lost time and been deleted since. If its device delivers the insert only now, the
  /// insert does not undo the delete. Other deleted rows may have the same key by chance.
  ///
  /// If the device inserted the row before it joined this hub, the insert's stamp is not its true time. It is the time
  /// of the last bundle that the device received. So such an insert meets every delete of the row.
  func meetsDelete(
    _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int, besides own: OwnChanges
  ) throws -> Bool {
    guard hub == nil, case .insert = step.change else { return false }
    if step.first == nil { return past?.cursor != nil }
    guard isOlderThanEpoch(step, writtenAt: step.stamp) else { return false }
    // The row came back in this epoch, so its delete is later than any change of an earlier epoch. If the device names
    // its exports of earlier epochs, the stamp is not needed.
    let stamp = formerExports == nil ? step.stamp : .zero
    return try store.wasDeletedSinceRecovery(past, in: place, after: stamp, besides: own)
  }

  /// Whether the device made a change before it had an emission of the present epoch. This happens if the device
  /// imported from the hub before it delivered its work of a lost time again.
  ///
  /// If a hub merged the change in the lost time, the device exported it in an earlier epoch. Its generation shows
  /// that, even if the device's clock is ahead.
  /// - Parameter stamp: the stamp of the change. It is used only if the device does not name its exports of earlier
  ///   epochs.
  private func isOlderThanEpoch(_ step: Step, writtenAt stamp: Stamp) -> Bool {
    guard base.cursor != nil else { return false }
    if let formerExports { return step.generation.rawValue < formerExports.rawValue }
    return receivedStamp.map { stamp <= $0 } ?? false
  }

  /// Returns the step without the set elements that newer changes treated otherwise. The newer changes came to this hub
  /// first.
  func withoutUndone(_ step: Step, with past: RowNumbers.Entry?, in place: Int) throws -> Step {
    guard base.isFormerEpoch else { return step }
    let change = try store.withoutUndone(step.change, at: min(step.stamp, latest), with: past, in: place)
    if change == step.change { return step }
    // The hub does not accept the change as sent, so the device must receive the row.
    try store.owe(step.key, in: place, to: device.id)
    return step.with(change)
  }

  /// Records the parts of a step that changed nothing. They protect the row from older changes that other devices
  /// deliver later.
  func rememberKnown(_ pending: Pending, over hub: Row, with past: RowNumbers.Entry?, in place: Int) throws {
    guard base.isFormerEpoch, !pending.decided, device.refusal == nil else { return }
    let step = pending.rest
    try store.rememberKnown(
      step.change, at: min(step.stamp, latest), over: hub, of: step.key, with: past, in: place)
  }

  /// Returns the counters and sets whose value at the hub may already contain a change. This is possible if the row
  /// came back from the lost time before the device delivered the change.
  func uncertainColumns(
    _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Set<Int> {
    let stamp = min(step.stamp, latest)
    if base.isFormerEpoch {
      return try store.uncertainColumns(of: step.change, onto: hub, with: past, in: place, since: received, at: stamp)
    }
    // Release 0.1 does not send the first write, so its last write is used.
    let first = step.first?.stamp ?? step.stamp
    guard isOlderThanEpoch(step, writtenAt: first) else { return [] }
    // The device has rebased the change on the row that came back. So the change's old values do not help.
    let written = formerExports == nil ? first : nil
    return try store.uncertainColumns(onto: hub, with: past, in: place, written: written)
  }

  static let mayBeCounted =
    "The row came back from the lost time before this change came. Its counter or list may already contain the change."

  /// Whether a person must decide, because the row may already contain the change.
  func isUncertain(
    _ disagreement: Disagreement, _ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int
  ) throws -> Bool {
    guard disagreement.kind == .updateUpdate, disagreement.state == .open else { return false }
    return try !uncertainColumns(step, onto: hub, with: past, in: place).isDisjoint(with: disagreement.winners.keys)
  }
}

extension Change {
  /// Returns the change that a conflict records. If the row may already contain an insert, the conflict records an
  /// update from NULL. If a person decides for the device, the hub then adds the device's counters and set elements.
  func counted(in disagreement: Disagreement) -> Change {
    guard disagreement.kind == .updateUpdate, case .insert(let row) = self else { return self }
    return .update(disagreement.winners.keys.sorted().map { ColumnChange(column: $0, was: .null, value: row[$0]) })
  }
}
