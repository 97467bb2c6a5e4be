import SatchelConflicts
import SatchelRows
import SatchelValues

/// Finds out which changes a user could make when the device had the rows, although the user does not see them now.
struct LostRights {
  private let scope: ScopeStore
  private let device: EnrolledDevice
  private let held: EverHeldRows
  private let writes: FormerWriteRules
  private var store: HubStore { scope.store }

  /// - Parameters:
  ///   - scope: the scope of the bundle's author.
  ///   - device: the device, with this author as its user.
  init(_ scope: ScopeStore, _ device: EnrolledDevice) {
    (self.scope, self.device) = (scope, device)
    (held, writes) = (EverHeldRows(scope.store, device, user: device.user), FormerWriteRules(scope))
  }

  /// Records for each of these new conflicts whether its user could make the change. A device from which the hub
  /// accepts no changes never could.
  func note(_ conflicts: [ConflictID]) throws {
    if device.refusal != nil { return }
    for id in conflicts {
      guard let record = try ConflictTable.conflict(id, in: store.database)?.record,
        let place = store.place(of: record.table)
      else { continue }
      let isThere = try store.rows[place].contains(record.key)
      if try isThere ? couldChange(record, in: place) : couldMake(record, in: place) { try store.addFormerRight(id) }
    }
  }

  private func couldChange(_ record: ConflictRecord, in place: Int) throws -> Bool {
    let values = record.operation == .delete ? [] : record.deviceValues ?? []
    return try held.moments(of: record.key, in: place).contains { moment in
      guard let former = try store.row(record.key, in: place, at: moment.cursor) else { return false }
      var written = former
      written.write(values, in: store.tables[place].schema)
      return try !isBelowUnknown(written, from: former, in: place)
        && writes.couldChange(former, to: written, in: place, at: moment)
    }
  }

  /// Whether the user could make a row below rows that the user sees no more.
  private func couldMake(_ record: ConflictRecord, in place: Int) throws -> Bool {
    guard case .insert(let row)? = try? record.change(in: store.tables[place].schema),
      try !isBelowUnknown(row, from: nil, in: place)
    else { return false }
    return try held.moments().contains { try writes.couldMake(row, in: place, at: $0) }
  }

  /// Whether a row names a hidden parent that the device never had.
  private func isBelowUnknown(_ row: Row, from former: Row?, in place: Int) throws -> Bool {
    try scope.hiddenParent(of: row, from: former, in: place) { try !held.contains($0.key, in: $0.place) } != nil
  }
}
