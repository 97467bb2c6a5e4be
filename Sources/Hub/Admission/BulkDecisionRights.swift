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
