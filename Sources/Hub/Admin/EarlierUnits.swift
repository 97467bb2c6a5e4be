import SatchelConflicts
import SatchelMerge
import SatchelValues
import SatchelWorkspace

/// Decides whether the hub can take changes that a device made on top of an earlier unit of its own.
final class EarlierUnits {
  private let store: HubStore
  /// For each device, whether the hub has conflicts about the device's units. Decisions make no new conflicts of this
  /// kind.
  private var known: [ReplicaID: Bool] = [:]
  /// For each row of a device, the changes in units that were not taken when the row was first checked, oldest first.
  private var notTaken: [RowOfDevice: [ConflictRecord]] = [:]
  /// The changes that decisions have taken since that first check.
  private var taken: Set<ConflictID> = []

  private struct RowOfDevice: Hashable {
    let device: ReplicaID
    let row: RowInTable
  }

  init(_ store: HubStore) { self.store = store }

  /// Throws a `WorkspaceError` if a change starts from a value of an earlier unit that was not taken. If such a change
  /// were taken, its row would get the amounts of both units. Other rows would only get the amounts of the later unit.
  func check(_ records: [ConflictRecord]) throws {
    guard let device = records.first?.device else { return }
    let hasUnits = try known[device] ?? ConflictTable.hasUnits(of: device, in: store.database)
    known[device] = hasUnits
    guard hasUnits else { return }
    for record in records {
      guard let place = store.place(of: record.table) else { continue }
      for first in try notTaken(of: record, in: place) {
        if first.generation >= record.generation { break }
        guard first.unit != record.unit, !taken.contains(first.id), try isMade(record, on: first, in: place) else {
          continue
        }
        throw Self.needs(first, for: record)
      }
    }
  }

  /// Records that a decision took these changes, so that later checks count them as taken.
  func noteTaken(_ records: [ConflictRecord]) { taken.formUnion(records.map(\.id)) }

  /// The device's changes of the same row that belong to units and are not taken. Reads the log of each row only once.
  private func notTaken(of record: ConflictRecord, in place: Int) throws -> [ConflictRecord] {
    let row = RowOfDevice(device: record.device, row: record.rowInTable)
    if let known = notTaken[row] { return known }
    let ofUnits = try ConflictTable.earlier(
      record.key, of: store.tables[place], device: record.device, in: 0..<Int64.max,
      wanted: .unitsNotDecidedForDevice, store.database
    ).filter(\.isNotTaken)
    var entered: Set<Stamp> = []
    if ofUnits.contains(where: { $0.state == .settled }) {
      try store.eachChange(of: store.past(of: record.key, in: place)) { entry in
        if entry.device == record.device.text { entered.insert(entry.stamp) }
        return .more
      }
    }
    let found = ofUnits.filter { $0.state != .settled || !entered.contains($0.stamp) }
    notTaken[row] = found
    return found
  }

  private func isMade(_ record: ConflictRecord, on first: ConflictRecord, in place: Int) throws -> Bool {
    let rows = store.rows[place]
    guard let hub = try rows.row(record.key) else { return first.operation == .insert }
    let made = Set(first.deviceValues ?? []).subtracting(first.baseValues ?? [])
    return (record.baseValues ?? []).contains { field in
      guard made.contains(field), let column = rows.schema.position(of: field.name) else { return false }
      return hub[column] != field.value && !rows.rules.countsDifferences(of: column)
    }
  }

  private static func needs(_ first: ConflictRecord, for record: ConflictRecord) -> WorkspaceError {
    let id = first.id.text.prefix(8)
    let way =
      first.state == .resolved
      ? "Or open the earlier decision again: satchel-hub conflicts reopen \(id)"
      : "Or decide the earlier one first: satchel-hub conflicts resolve \(id) --keep device"
    return WorkspaceError(
      .unit,
      """
      The change of \(record.words) was made on an earlier unit of the same device, the conflict \(id), which is not \
      taken.
      """, hint: "Keep the hub's rows with --keep hub. \(way)")
  }
}
