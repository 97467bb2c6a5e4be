import SatchelBundle
import SatchelConflicts
import SatchelValues
import TestSupport

/// The hub after the devices' bundles came in one order.
private struct OutcomeOfOrder {
  let disagreements: [RowName: [ConflictRecord]]
  /// Rows with a change whose parent is missing. The hub keeps the whole change, so its other columns are not compared.
  let withoutParent: Set<RowName>
  /// The ids of the conflicts about rights.
  let aboutRights: Set<String>
  let rows: Set<RowName>
  let epoch: Epoch

  /// Whether each disagreement about the row is between two updates. True if there is none.
  func hasNothingButUpdates(of row: RowName) -> Bool {
    disagreements[row, default: []].allSatisfy { $0.kind == .updateUpdate }
  }

  /// Whether the row is gone, and every disagreement about it is a delete. Several devices may have deleted the row,
  /// and only the first delete can be a disagreement.
  func hasNothingButDeletes(of row: RowName) -> Bool {
    !rows.contains(row) && disagreements[row, default: []].allSatisfy { $0.kind == .deleteUpdate }
  }

  func words(for row: RowName) -> String {
    disagreements[row, default: []].map { "\($0.kind) by \($0.user)" }.joined(separator: ", ")
  }
}

/// The devices' bundles in two orders.
extension Season {
  /// The row of a disagreement. If a parent is missing or cannot be deleted, it is the row of the parent. But while a
  /// hub takes a lost time again, a change may wait for its own row, although the parent is there. Then it is this own
  /// row. nil if the change names no parent, because it only waits behind another change of its row.
  private static func issue(of record: ConflictRecord, at rows: Set<RowName>) -> RowName? {
    switch record.kind {
    case .foreignKey where record.table.text == "visits":
      guard case .text(let bytes)? = record.deviceValues?.first(where: { $0.name.text == "site" })?.value else {
        return nil
      }
      let site = RowName(table: "sites", id: ExactText(String(decoding: bytes, as: UTF8.self)))
      return rows.contains(site) && !rows.contains(row(of: record)) ? row(of: record) : site
    default: return row(of: record)
    }
  }

  private static func isAboutRights(_ kind: ConflictKind) -> Bool { kind == .forbidden || kind == .revoked }

  /// Checks that the same rows are in disagreement in two orders of the devices' bundles. The order may decide whether
  /// a person must decide: an update that the policy prefers to a delete cannot restore the row. A row that was written
  /// unseen is not compared. A device's change of it may have a start value that no other replica ever had.
  func checkOrder() throws {
    // While a hub imports a lost time again, the order matters: an update waits for its row, which another device may
    // deliver.
    if try hub.status().recovery != nil { return }
    var parcels: [[Parcel]] = []
    for device in devices {
      if let parcel = try export(device) { parcels.append([parcel]) }
    }
    let uncompared = try rowsWithoutComparison()
    let epoch = try hub.status().epoch
    closeAll()
    world.settle()
    let start = world.snapshot()
    let before = (presence, deleters)
    isCheckingOrder = true
    defer { isCheckingOrder = false }
    var outcomes: [OutcomeOfOrder] = []
    for order in [parcels, parcels.reversed()] {
      for parcel in order.joined() { try deliver(parcel) }
      let records = try hub.conflicts(ConflictState.allCases).map(\.record)
      let rows = try Set(admin().rows().keys)
      outcomes.append(
        OutcomeOfOrder(
          disagreements: Dictionary(
            records.compactMap { record in Self.issue(of: record, at: rows).map { ($0, [record]) } },
            uniquingKeysWith: +),
          withoutParent: Set(records.filter { $0.kind == .foreignKey }.map(Self.row(of:))),
          aboutRights: Set(records.filter { Self.isAboutRights($0.kind) }.map(\.id.text)),
          rows: rows, epoch: try hub.status().epoch))
      closeAll()
      world.bringBack(start)
      (presence, deleters) = before
    }
    // If conflicts about rights differ, the changes that depend on these rights may differ too.
    if outcomes[0].aboutRights != outcomes[1].aboutRights { return }
    let differing = Set(outcomes[0].disagreements.keys).symmetricDifference(outcomes[1].disagreements.keys)
      .subtracting(uncompared).subtracting(unseen)
      .filter { row in !outcomes.allSatisfy { $0.hasNothingButDeletes(of: row) } }
      .filter { row in !mayBeMadeOnAnother(row, outcomes, since: epoch) }
      .filter { row in !outcomes.contains { $0.withoutParent.contains(row) } }
    if differing.isEmpty { return }
    let shown = differing.sorted().map { row in
      "\(row) (\(outcomes.map { $0.words(for: row) }.joined(separator: "; ")))"
    }
    throw Wrong("in another order other rows are in disagreement: \(shown.joined(separator: ", "))")
  }

  /// Whether a row may differ because a new epoch began before its changes came in one order, and after them in the
  /// other. In a new epoch, one change may have been made on the other. So changes of different columns are no
  /// disagreement.
  private func mayBeMadeOnAnother(_ row: RowName, _ outcomes: [OutcomeOfOrder], since epoch: Epoch) -> Bool {
    rules.mergesWholeRows(of: row.table) && outcomes.contains { $0.epoch != epoch }
      && outcomes.allSatisfy { $0.hasNothingButUpdates(of: row) }
  }

  /// Rows that cannot be compared. If two sides deleted a row, the order decides whether a device's change before its
  /// delete is a disagreement. Devices that join a new hub bring counters without a common past, so the hub may ask
  /// about the first of them.
  private func rowsWithoutComparison() throws -> Set<RowName> {
    let atHub = try Set(admin().rows().keys)
    var sides: [RowName: Int] = [:]
    for device in devices {
      guard let app = try device.app() else { continue }
      for row in try app.captured().subtracting(app.rows().keys) {
        sides[row, default: atHub.contains(row) ? 0 : 1] += 1
      }
    }
    let counters = effective.contains(.newHub) ? Tally.rows.map { RowName(table: "counters", id: ExactText($0)) } : []
    return Set(sides.filter { $0.value > 1 }.keys).union(counters)
  }
}
