import SatchelBundle
import SatchelConflicts
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Judges a reported conflict as the hub would have judged the change itself.
///
/// The device cannot know whether a row was deleted or left its user's scope. The hub knows, and shows its own row to
/// the person who decides. The hub also knows the user's rights. A report gives the user no more rights than the change
/// itself would have.
final class ReportJudge {
  private let scope: ScopeStore
  /// The device, with the author of the bundle as its user.
  private let device: EnrolledDevice
  /// The rows that the device held at any emission that the device may have. nil until they are looked up.
  private var held: [RowSet]?
  private var store: HubStore { scope.store }

  /// - Parameter scope: the scope of the bundle's author.
  init(_ scope: ScopeStore, _ device: EnrolledDevice) { (self.scope, self.device) = (scope, device) }

  /// Corrects the record of a reported conflict.
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
    }
    return .nothing
  }

  /// Changes the kind of the conflict to "forbidden", if a person must decide the conflict. A settled conflict stays as
  /// it is: its change lost, so the owner of the row does not matter.
  private func forbid(_ record: inout ConflictRecord, _ words: String) {
    if record.state == .settled { return }
    record.note = words
    // The kind "unseen" stays, because it says more than "forbidden".
    if record.kind != .unseen { record.kind = .forbidden }
  }

  private func judgeHidden(_ record: inout ConflictRecord, _ found: ScopeStore.Found, in place: Int) throws {
    // A conflict that was settled while the row was visible stays as it is.
    if record.state == .settled, record.kind != .updateDelete { return }
    record.hubValues = store.tables[place].schema.fields(found.row)
    (record.winners, record.rowWinner) = ([], .hub)
    let isLost = try found.mayWrite || wasHeld(record.key, in: place)
    if device.refusal != nil || !isLost {
      forbid(&record, device.refusal ?? StepMerger.mayNotChange)
    } else {
      record.kind = .revoked
    }
  }

  private func judgeBelow(_ parent: (place: Int, key: RowKey), _ record: inout ConflictRecord) throws {
    record.note = MissingParent.words(hiddenIn: store.tables[parent.place].name)
    record.kind = try wasHeld(parent.key, in: parent.place) ? .revoked : .forbidden
  }

  /// Whether the device received a row for this user, or wrote the row itself.
  private func wasHeld(_ key: RowKey, in place: Int) throws -> Bool {
    guard let past = try store.past(of: key, in: place) else { return false }
    if try heldRows()[place].contains(past.number) { return true }
    let own = [device.id.text, device.continues?.text]
    var isOwn = false
    try store.eachChange(of: past) { entry in
      isOwn = own.contains(entry.device) && Name(entry.user) == Name(device.user)
      return isOwn ? .enough : .more
    }
    return isOwn
  }

  private func heldRows() throws -> [RowSet] {
    if let held { return held }
    var rows = store.tables.map { _ in RowSet() }
    for device in [device.id, device.continues].compactMap(\.self) {
      let emissions = try store.emissions(of: device)
      let sets = try store.heldSets(of: device, after: emissions)
      for (emission, set) in zip(emissions, sets) where Name(emission.user) == Name(self.device.user) {
        rows = zip(rows, set).map { $0.union($1) }
      }
    }
    held = rows
    return rows
  }

  /// Returns a row that the change refers to and that the user may not see. nil if there is no such row.
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
