import SatchelDataset
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues

/// Changes of an earlier epoch. Devices deliver these changes again to a hub that was set back, in any order. So a
/// change may come before the change that it was based on.
extension StepMerger {
  /// Whether this hub does not have the row of a change yet. Another device made the row and will deliver it again.
  ///
  /// If the hub knows the device's emission, it had the row then. So the row was deleted, and no device delivers it.
  func awaitsRow(_ step: Step, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int) -> Bool {
    guard base.isFormerEpoch, base.knownCursor == nil, hub == nil, store.needsRow(step.change, in: place) else {
      return false
    }
    return past.map { $0.stamp < min(step.stamp, latest) } ?? true
  }

  static let awaited = Obstacle(
    kind: .foreignKey, words: "It waits for the row itself, which another device delivers again.", isHeld: true)

  /// Remembers the deletion of a row that does not exist here. If an older insert comes later, it does not bring the
  /// row back.
  /// - Returns: why the user may not delete the row, in words; nil: there is nothing to say.
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

  /// Remembers deletes of rows that this hub never had. A device brought these deletes from its former hub. Another
  /// device of that hub may bring such a row later. Only deletes that the user may make here are remembered.
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

  /// Whether the user might make a row that is not here. Unknown if another row keeps it out, or if a parent is
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
    // The row came back in this epoch, so its delete is later than any change of an earlier epoch. If the device says
    // which exports are older, no stamp needs to show this.
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

  /// Returns the step without what newer changes of sets undid. The newer changes came to this hub before this step.
  func withoutUndone(_ step: Step, with past: RowNumbers.Entry?, in place: Int) throws -> Step {
    guard base.isFormerEpoch else { return step }
    let change = try store.withoutUndone(step.change, at: min(step.stamp, latest), with: past, in: place)
    if change == step.change { return step }
    // The change was not accepted as sent, so the device must receive the row as it is.
    try store.owe(step.key, in: place, to: device.id)
    return step.with(change)
  }

  /// Remembers the parts of a step that changed nothing. Older changes, which other devices deliver later, do not undo
  /// them.
  func rememberKnown(_ pending: Pending, over hub: Row, with past: RowNumbers.Entry?, in place: Int) throws {
    guard base.isFormerEpoch, !pending.decided, device.refusal == nil else { return }
    let step = pending.step
    try store.rememberKnown(
      step.change, at: min(step.stamp, latest), over: hub, of: step.key, with: past, in: place)
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
}

extension Change {
  /// The change that a conflict records. If a row may already contain an insert, its counters and sets count as changed
  /// from nothing. So a decision for the device adds what the device added.
  func counted(in disagreement: Disagreement) -> Change {
    guard disagreement.kind == .updateUpdate, case .insert(let row) = self else { return self }
    return .update(disagreement.winners.keys.sorted().map { ColumnChange(column: $0, was: .null, value: row[$0]) })
  }
}
