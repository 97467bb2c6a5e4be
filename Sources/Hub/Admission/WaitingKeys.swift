import SatchelConflicts
import SatchelRows
import SatchelValues

/// Decides whether a new row must wait for a person because of its key. It is about rows that the hub did not accept at
/// once.
final class WaitingKeys {
  private let store: HubStore
  private var ranges: [ReplicaID: PrimaryKeyRanges] = [:]

  init(_ store: HubStore) { self.store = store }

  /// Returns true if the row must wait.
  /// - Parameter record: the conflict about the new row.
  func forbid(_ record: ConflictRecord, in place: Int) throws -> Bool {
    let device = try store.device(record.device)
    let limit = try PrimaryKeyLimit(store).greatest(in: place)
    if try PrimaryKeyLimit(store).forbids(record.key, above: limit, in: place, to: device) { return true }
    // A row that may be older than its device's enrolment waits anyway, for another reason.
    let mayBeFromBefore = record.generation == Generation(0) && record.kind != .constraint
    guard let device, !mayBeFromBefore else { return false }
    let known = try ranges[device.id] ?? PrimaryKeyRanges(store, of: device)
    ranges[device.id] = known
    return try known.forbids(record.key, in: place, .waited)
  }
}
