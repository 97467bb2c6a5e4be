import SatchelConflicts
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The rights that limit a decision about many conflicts: it writes only rows that the user of the conflict may write,
/// or could write when the device made the change.
///
/// A person who looks at one conflict decides freely. A person who decides many conflicts at once has not seen each
/// conflict. The policies of a table never write more than the user's rights, and such a decision does the same.
final class BulkDecisionRights {
  private let scope: ScopeStore
  private let place: Int
  private let record: ConflictRecord
  private let isReport: Bool
  private let held: EverHeldRows?
  private var hadRight: Bool?
  private var store: HubStore { scope.store }

  /// nil if the dataset no longer has the table.
  init?(of record: ConflictRecord, _ store: HubStore) throws {
    guard let place = store.place(of: record.table) else { return nil }
    (self.record, self.place) = (record, place)
    isReport = try store.isReport(record.id)
    scope = ScopeStore(store, user: try store.user(record.user) ?? User(name: record.user, attributes: []))
    held = try store.device(record.device).map { EverHeldRows(store, $0, user: record.user) }
  }

  /// Throws if the row exists and the user may not change it. The caller asks before it writes, and after it.
  func check(_ row: DecidedRow) throws {
    guard let found = try scope.find(row.key, in: place), !found.mayWrite else { return }
    if record.kind == .revoked, try couldWrite(row, becoming: found.row) { return }
    throw WorkspaceError(
      .notTheUsers,
      isReport
        ? "Only a device reports this, and its user may not change the row." : "Its user may not change the row.",
      hint: "Look at it, and decide it by itself: satchel-hub conflicts show ID")
  }

  /// Whether the user lost the right to make the change after the device had the row, as the hub's records show.
  private func couldWrite(_ row: DecidedRow, becoming present: Row) throws -> Bool {
    if let hadRight { return hadRight }
    let hadRight = try row.current == nil ? couldMake(present) : couldChange(row.key)
    self.hadRight = hadRight
    return hadRight
  }

  private func couldChange(_ key: RowKey) throws -> Bool {
    guard let held, try held.contains(key, in: place) else { return false }
    switch store.tables[place].rules.write {
    case .none: return false
    case .visible: return true
    case .expression:
      let writes = FormerWriteRules(scope)
      let values = record.operation == .delete ? [] : record.deviceValues ?? []
      return try held.emissions(showing: key, in: place).contains {
        try writes.couldWrite(key, values, in: place, at: $0)
      }
    }
  }

  /// Whether the user could make a row below rows that the user sees no more.
  private func couldMake(_ row: Row) throws -> Bool {
    guard let held, let newest = try held.newest() else { return false }
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
