import SatchelConflicts
import SatchelValues

/// Finds out which changes a user could make when the device had the rows, although the user does not see them now.
struct LostRights {
  private let scope: ScopeStore
  private let held: EverHeldRows
  private var store: HubStore { scope.store }

  /// - Parameters:
  ///   - scope: the scope of the bundle's author.
  ///   - device: the device, with this author as its user.
  init(_ scope: ScopeStore, _ device: EnrolledDevice) {
    (self.scope, held) = (scope, EverHeldRows(scope.store, device, user: device.user))
  }

  /// Records for each of these new conflicts whether its user could make the change.
  func note(_ conflicts: [ConflictID]) throws {
    for id in conflicts {
      guard let record = try ConflictTable.conflict(id, in: store.database)?.record,
        let place = store.place(of: record.table)
      else { continue }
      let isThere = try store.rows[place].contains(record.key)
      if try isThere ? couldChange(record, in: place) : couldMake(record, in: place) { try store.addFormerRight(id) }
    }
  }

  private func couldChange(_ record: ConflictRecord, in place: Int) throws -> Bool {
    guard try held.contains(record.key, in: place) else { return false }
    switch store.tables[place].rules.write {
    case .none: return false
    case .visible: return true
    case .expression:
      let writes = FormerWriteRules(scope)
      let values = record.operation == .delete ? [] : record.deviceValues ?? []
      return try held.emissions(showing: record.key, in: place).contains {
        try writes.couldWrite(record.key, values, in: place, at: $0)
      }
    }
  }

  /// Whether the user could make a row below rows that the user sees no more.
  private func couldMake(_ record: ConflictRecord, in place: Int) throws -> Bool {
    guard case .insert(let row)? = try? record.change(in: store.tables[place].schema),
      let newest = try held.newest()
    else { return false }
    let neverHeld = try scope.hiddenParent(of: row, from: nil, in: place) { try !held.contains($0.key, in: $0.place) }
    if neverHeld != nil { return false }
    switch store.tables[place].rules.write {
    case .none: return false
    case .visible: return true
    case .expression: return try FormerWriteRules(scope).couldMake(row, in: place, at: newest)
    }
  }
}
