import SatchelBundle
import SatchelConflicts
import SatchelValues
import SatchelWorkspace

/// Judges a reported conflict as the hub would have judged the change itself.
///
/// The device cannot know whether a row was deleted or only left its user's scope. The hub knows this, and it knows the
/// user's rights. The person who decides sees the hub's own row. A report gives the user no more rights than the change
/// itself would have given.
final class ReportJudge {
  private let scope: ScopeStore
  /// The device, with the author of the bundle as its user.
  private let device: EnrolledDevice
  private let held: EverHeldRows
  private var store: HubStore { scope.store }

  /// - Parameter scope: the scope of the bundle's author.
  init(_ scope: ScopeStore, _ device: EnrolledDevice) {
    (self.scope, self.device, held) = (scope, device, EverHeldRows(scope.store, device, user: device.user))
  }

  /// Corrects the record of a reported conflict by what the hub knows.
  /// - Returns: the part of the conflict that the user may not see.
  func judge(_ record: inout ConflictRecord) throws -> HiddenPart {
    guard let place = store.place(of: record.table) else { return .nothing }
    let found = try scope.find(record.key, in: place)
    if let found, !found.maySee {
      try judgeHidden(&record, found, in: place)
      return .row
    }
    if let words = device.refusal {
      forbid(&record, words)
    } else if let found, !found.mayWrite {
      forbid(&record, StepMerger.mayNotChange)
    } else if record.kind == .foreignKey, record.state != .settled, let parent = try hiddenParent(of: record, in: place)
    {
      try judgeBelow(parent, &record)
      return .parent
    } else if found == nil, try isDeletedLater(record, in: place) {
      record.state = .settled
    }
    return .nothing
  }

  /// Whether the row was deleted after the reported change, so that the change loses under `newest`. A device never
  /// learns when a row was deleted.
  private func isDeletedLater(_ record: ConflictRecord, in place: Int) throws -> Bool {
    guard record.kind == .updateDelete, record.state == .open, store.tables[place].rules.conflict == .newest,
      let past = try store.past(of: record.key, in: place)
    else { return false }
    return try record.stamp <= past.stamp && !store.doubtfulTimes().contains(past.stamp)
  }

  /// Changes the kind of the conflict to `forbidden`, if a person must still decide it. A settled conflict stays as it
  /// is: its change lost, so the rights of the user do not matter.
  private func forbid(_ record: inout ConflictRecord, _ words: String) {
    if record.state == .settled { return }
    record.note = words
    // The kind "unseen" stays, because it says more than "forbidden".
    if record.kind != .unseen { record.kind = .forbidden }
  }

  private func judgeHidden(_ record: inout ConflictRecord, _ found: ScopeStore.Found, in place: Int) throws {
    // A conflict that was settled while its user saw the row stays as it is.
    if record.state == .settled, record.kind != .updateDelete { return }
    record.hubValues = store.tables[place].schema.fields(found.row)
    (record.winners, record.rowWinner) = ([], .hub)
    let isLost = try found.mayWrite || held.contains(record.key, in: place)
    if device.refusal != nil || !isLost {
      forbid(&record, device.refusal ?? StepMerger.mayNotChange)
    } else {
      record.kind = .revoked
    }
  }

  private func judgeBelow(_ parent: (place: Int, key: RowKey), _ record: inout ConflictRecord) throws {
    record.note = MissingParent.words(hiddenIn: store.tables[parent.place].name)
    record.kind = try held.contains(parent.key, in: parent.place) ? .revoked : .forbidden
  }

  /// Returns a row to which the change refers and that the user may not see. nil if there is none.
  private func hiddenParent(of record: ConflictRecord, in place: Int) throws -> (place: Int, key: RowKey)? {
    let schema = store.tables[place].schema
    guard record.operation != .delete, let written = record.deviceValues else { return nil }
    for key in schema.foreignKeys {
      let values = key.columns.compactMap { column in written.first { $0.name == schema.columns[column] }?.value }
      guard values.count == key.columns.count, let parent = try store.parent(values, along: key) else { continue }
      if try !scope.maySee(parent.key, in: parent.place) { return parent }
    }
    return nil
  }
}
