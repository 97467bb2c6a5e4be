import SatchelBundle
import SatchelConflicts
import SatchelValues
import SatchelWorkspace

/// Changes that a device took out of its tables because it imported before it delivered: a parent had gone, or the
/// table forbids the row that both sides' changes make.
///
/// The device sends such a change as a conflict that waits. The hub would have let the change wait if the device had
/// delivered first. So the change waits here too, and enters by the rules for waiting changes, with the rights of its
/// user. All other reports need a person's decision.
struct TakenBackChanges {
  let store: HubStore
  let device: EnrolledDevice
  /// The cursor of an emission that the device had before it made any change of the bundle. nil: the hub does not know
  /// such an emission, so no reported change waits.
  let since: Cursor?
  /// The greatest number of the device's changes that may wait.
  let mostHeld: Int
  /// The number of the device's waiting changes. nil until it is looked up.
  private var held: Int?
  /// The number of updates that wait because of this bundle, by table.
  private var updates: [Int: Int64] = [:]

  init(_ store: HubStore, of device: EnrolledDevice, since: Cursor?, mostHeld: Int) {
    (self.store, self.device, self.since, self.mostHeld) = (store, device, since, mostHeld)
  }

  /// Whether a reported change waits here.
  /// - Parameters:
  ///   - record: the report in the hub's terms, after it was judged.
  ///   - hidden: the part of the conflict that the user may not see. A change below a hidden row waits like a change
  ///     below a deleted row, so that the device cannot distinguish the two. But a person decides about it.
  ///   - line: the report as the device sent it.
  mutating func waits(_ record: ConflictRecord, hidden: HiddenPart, as line: ConflictRecord) throws -> Bool {
    let isOfKind = hidden == .parent || [.foreignKey, .constraint].contains(record.kind)
    guard since != nil, line.state == .held, line.unit == nil, record.operation != .delete, isOfKind,
      line.generation.rawValue >= device.merged.rawValue, let place = store.place(of: record.table),
      try isSound(record, in: place)
    else { return false }
    let count = try held ?? ConflictTable.countHeld(of: device.id, in: store.database)
    if count >= mostHeld { return false }
    if record.operation == .update {
      // Waiting changes enter without the brake. So a bundle brings only as many as the brake never stops.
      let brake = store.tables[place].rules.brake
      if !brake.isOff, updates[place, default: 0] >= brake.rows { return false }
      updates[place, default: 0] += 1
    }
    held = count + 1
    return true
  }

  /// Whether the report has the values of a change of its row, as a line of a change has.
  private func isSound(_ record: ConflictRecord, in place: Int) throws -> Bool {
    let schema = store.tables[place].schema
    switch try? record.change(in: schema) {
    case .insert(let row)?: return schema.key(of: row) == record.key
    case .update(let changes)?: return changes.allSatisfy { !schema.key.contains($0.column) }
    case .delete?, nil: return false
    }
  }

  /// Keeps the change as if the hub itself had found the conflict. The hub's row replaces the row of the report.
  func keep(_ report: ConflictRecord, called name: ConflictID, in bundle: BundleID, at now: Int64) throws {
    var record = report
    record.state = .held
    (record.winners, record.rowWinner) = ([], .hub)
    if let place = store.place(of: record.table) {
      record.hubValues = try store.rows[place].row(record.key).map { store.tables[place].schema.fields($0) }
    }
    // The device knows the conflict in this state.
    try ConflictTable.add(record, bundle: bundle, noted: now, since: since, told: 0, in: store.database)
    try store.addReport(record.id, called: name)
    try store.confirmReport(of: record, since: since)
  }
}
