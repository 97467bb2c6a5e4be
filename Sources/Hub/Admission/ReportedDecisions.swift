import SatchelBundle
import SatchelConflicts
import SatchelValues
import SatchelWorkspace

/// Closes conflicts that a device's user decided. It closes only conflicts of this user, and records this user as the
/// person who decided.
struct ReportedDecisions {
  let store: HubStore
  /// The device, with the author of the bundle as its user.
  let device: EnrolledDevice
  let changes: Manifest.Changes
  let now: Int64
  /// The limits for the device's waiting changes.
  let heldLimit: HeldLimit

  /// A row of a late decision: its conflict was already decided at the hub when the device's decision came.
  struct LateRow: Hashable {
    let table: Name
    let key: RowKey
    let generation: Generation
  }

  /// Takes the decisions of the bundle. If a conflict has two decisions, the first decision at the hub counts.
  /// - Returns: `late` has, for each row of a late decision, the part of the row that was decided.
  func take(_ bundle: borrowing VerifiedBundle) throws -> (resolved: Int, late: [LateRow: DecidedPart]) {
    var resolved = 0
    var late: [LateRow: DecidedPart] = [:]
    // The conflicts that these decisions decide for the device, as they were before.
    var accepted: [ConflictRecord] = []
    try bundle.eachResolution { resolution in
      guard resolution.generation.rawValue < changes.sequence.rawValue else {
        throw LineProblem("its generation is not below the number of the export")
      }
      guard let known = try store.conflict(called: resolution.conflict, by: device.histories),
        Name(known.record.user) == Name(device.user)
      else { return }
      let isFirst = try ConflictTable.resolve(
        known.record.id, resolution.decision, by: device.user, at: now, note: resolution.note, in: store.database)
      if isFirst {
        resolved += 1
        if resolution.decision == .device { accepted.append(known.record) }
      } else if known.decision?.by != device.user || known.decision?.made != resolution.decision {
        let row = LateRow(table: known.record.table, key: known.record.key, generation: resolution.generation)
        let part = DecidedPart(of: known.record, in: store)
        late[row] = late[row].map { $0.joined(with: part) } ?? part
        try ConflictTable.retell(known.record.id, in: store.database)
      }
    }
    for history in device.histories {
      let records = accepted.filter { $0.device == history }
      let below = try records.waitingBelow(store.tables, in: store.database).filter { try !store.isReport($0.id) }
      try LostParents(store).waitAgain(below, within: heldLimit)
    }
    return (resolved, late)
  }
}
