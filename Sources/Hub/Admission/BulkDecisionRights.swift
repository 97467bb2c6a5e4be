import SatchelConflicts
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The rights that limit a decision about many conflicts: it writes only rows that the user of the conflict may write,
/// or could write when the device made the change.
///
/// A person who looks at one conflict decides freely. A person who decides many conflicts at once has not seen each
/// conflict. The policies of a table never write more than the user's rights, and such a decision does the same.
struct BulkDecisionRights {
  private let scope: ScopeStore
  private let place: Int
  private let record: ConflictRecord
  private var store: HubStore { scope.store }

  /// nil if the dataset no longer has the table.
  init?(of record: ConflictRecord, _ store: HubStore) throws {
    guard let place = store.place(of: record.table) else { return nil }
    (self.record, self.place) = (record, place)
    scope = ScopeStore(store, user: try store.user(record.user) ?? User(name: record.user, attributes: []))
  }

  /// Throws if the row exists and the user may not change it. The caller asks before it writes, and after it.
  func check(_ row: DecidedRow) throws {
    guard let found = try scope.find(row.key, in: place), !found.mayWrite else { return }
    if try row.key == record.key && store.hasFormerRight(record.id) { return }
    throw WorkspaceError(
      .notTheUsers,
      try store.isReport(record.id)
        ? "Only a device reports this, and its user may not change the row." : "Its user may not change the row.",
      hint: "Look at it, and decide it by itself: satchel-hub conflicts show ID")
  }
}

/// Finds out which changes a user could make when the device had the rows, although the user does not see them now.
struct LostRights {
  private let scope: ScopeStore
  private let held: EverHeldRows
  private var store: HubStore { scope.store }

  /// - Parameter scope: the scope of the bundle's author, who is the user of the device here.
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
    for key in store.tables[place].schema.foreignKeys {
      guard let parent = try store.parent(of: row, along: key), try !scope.maySee(parent.key, in: parent.place) else {
        continue
      }
      if try !held.contains(parent.key, in: parent.place) { return false }
    }
    switch store.tables[place].rules.write {
    case .none: return false
    case .visible: return true
    case .expression: return try FormerWriteRules(scope).couldMake(row, in: place, at: newest)
    }
  }
}
