import SatchelConflicts
import SatchelRows
import SatchelValues
import SatchelWorkspace

/// The rights that limit a decision about many conflicts: it writes only what the user of the conflict may write, or
/// could write when the device made the change.
///
/// A person who looks at one conflict decides freely. A person who decides many conflicts at once has not seen each
/// conflict. The policies of a table never write more than the user's rights, and such a decision does the same.
struct BulkDecisionRights {
  private let store: HubStore
  private let scopes: UserScopes

  init(_ store: HubStore) { (self.store, scopes) = (store, UserScopes(store)) }

  /// Throws if a decision about `record` may not write the row. The caller asks before it writes, and after it.
  func check(_ row: DecidedRow, for record: ConflictRecord) throws {
    guard let place = store.place(of: record.table) else { return }
    let isDelete = row.target == nil
    if record.device == store.identity.id {
      // The hub's own conflicts of a lost time have no user. A row that a bundle took away may only have left the
      // sight of that bundle's user.
      if isDelete { throw refusal("It would delete a row that a bundle of a lost time did not show.") }
      return
    }
    if try store.device(record.device)?.isReadOnly == true { throw refusal("Its device may change nothing.") }
    if isDelete, store.tables[place].rules.delete == .never { throw refusal(StepMerger.isNeverDeleted) }
    guard let found = try scopes.scope(of: record.user).find(row.key, in: place), !found.mayWrite else { return }
    if try row.key == record.key && store.hasFormerRight(record.id) { return }
    throw refusal(
      try store.isReport(record.id)
        ? "Only a device reports this, and its user may not change the row." : "Its user may not change the row.")
  }

  private func refusal(_ words: String) -> WorkspaceError {
    WorkspaceError(.notTheUsers, words, hint: "Look at it, and decide it by itself: satchel-hub conflicts show ID")
  }
}
