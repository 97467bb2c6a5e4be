import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The rights that limit a decision about many conflicts. For each conflict, the decision writes only rows that the
/// conflict's user may write. A former right at the time of the change counts too.
///
/// A person who decides one conflict has seen it, and may write anything. A person who decides many conflicts at once
/// has not seen each of them. So the decision gets the same limits as the policies of a table.
///
/// By a former right, a decision writes nothing that changes who may see or write rows. Otherwise one write could give
/// the rights for the next one.
struct BulkDecisionRights {
  private let store: HubStore
  private let scopes: UserScopes
  private let keys: WaitingKeys
  private let inserts: NewestInserts

  init(_ store: HubStore) throws {
    (self.store, scopes, keys) = (store, UserScopes(store), WaitingKeys(store))
    inserts = try NewestInserts(store)
  }

  /// Throws a `WorkspaceError` if a decision about `record` may not write the row. The caller calls this before it
  /// writes the row, and again after that.
  func check(_ row: DecidedRow, for record: ConflictRecord) throws {
    guard let place = store.place(of: record.table) else { return }
    let isDelete = row.target == nil
    if record.device == store.identity.id {
      // The hub recorded this conflict after a lost time, and it has no user. So no rights can be checked. A row that a
      // bundle of that time lacks may only have left the sight of the bundle's user.
      if isDelete || record.operation == .delete {
        throw refusal("It would delete a row that a bundle of a lost time did not show.")
      }
      return
    }
    if try store.device(record.device)?.isReadOnly == true { throw refusal("Its device may change nothing.") }
    if isDelete, store.tables[place].rules.delete == .never { throw refusal(StepMerger.isNeverDeleted) }
    if row.current == nil, !isDelete, row.key == record.key, record.operation == .insert,
      try keys.forbid(record, in: place)
    {
      throw refusal("The key of the new row waits for a person.")
    }
    let scope = try scopes.scope(of: record.user)
    if try bringsBackHidden(row, for: record, in: place, scope) { throw refusal("Its user may not change the row.") }
    guard let found = try scope.find(row.key, in: place), !found.mayWrite else { return }
    guard try row.key == record.key && store.hasFormerRight(record.id) else {
      throw refusal(
        try store.isReport(record.id)
          ? "Only a device reports this, and its user may not change the row." : "Its user may not change the row.")
    }
    guard try decidesNothing(row, for: record, in: place, scope) else {
      throw refusal("The change decides who may see or change rows.")
    }
    if let target = row.target, row.current == nil, try isBelowLaterRow(target, of: record, in: place, scope) {
      throw refusal("It names a row that was not accepted.")
    }
  }

  /// Whether a write brings a deleted row back with values that its user may not see. The last values before the delete
  /// count, because the written values could make the row visible to the user.
  private func bringsBackHidden(
    _ row: DecidedRow, for record: ConflictRecord, in place: Int, _ scope: ScopeStore
  ) throws -> Bool {
    guard row.current == nil, row.target != nil, record.operation == .update,
      let last = try store.lastImage(of: row.key, in: place)
    else { return false }
    // The scope's results about the deleted row do not hold for present rows.
    defer { scope.forgetTrees() }
    let rows = store.rows[place]
    do {
      return try store.database.savepoint(.dryRun) {
        try rows.write(last, over: rows.row(row.key), key: row.key)
        return try !scope.mayWrite(row.key, in: place)
      }
    } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint { return true }
  }

  /// Whether a write changes no one's rights. A new row is compared with the row in the device's change. The hub found
  /// the former right for that row, and the decision may add later changes to it.
  private func decidesNothing(
    _ row: DecidedRow, for record: ConflictRecord, in place: Int, _ scope: ScopeStore
  ) throws -> Bool {
    if let change = Change(from: row.current, to: row.target), try !scope.decidesNothing(change, in: place) {
      return false
    }
    guard let target = row.target else { return true }
    guard let judged = try row.current ?? judgedRow(of: record, in: place),
      try scope.hiddenParent(of: target, from: judged, in: place) == nil
    else { return false }
    return try Change(from: judged, to: target).map { try scope.decidesNothing($0, in: place) } ?? true
  }

  private func judgedRow(of record: ConflictRecord, in place: Int) throws -> Row? {
    if record.operation != .insert { return try store.lastImage(of: record.key, in: place) }
    let schema = store.tables[place].schema
    guard case .insert(let row)? = try? record.present(in: schema, store.database).change(in: schema) else {
      return nil
    }
    return row
  }

  /// Whether a row names a parent row that the user does not see, and that came after the hub recorded the conflict. A
  /// parent that the same device made does not count.
  private func isBelowLaterRow(
    _ row: Row, of record: ConflictRecord, in place: Int, _ scope: ScopeStore
  ) throws -> Bool {
    let noted = try ConflictTable.noted(record.id, in: store.database) ?? 0
    return try scope.hiddenParent(of: row, from: nil, in: place) { parent in
      guard let entry = try inserts.entry(of: parent.key, in: parent.place) else { return false }
      return try entry.at > noted && !isMade(parent, entry, by: record.device)
    } != nil
  }

  /// Whether a device made a new row. The row's insert came with a bundle, or was written by a decision for the device.
  private func isMade(
    _ row: (place: Int, key: RowKey), _ entry: LogEntry, by device: ReplicaID
  ) throws -> Bool {
    if let author = entry.device { return author == device.text }
    return try ConflictTable.hasDecidedInsert(
      row.key, of: store.tables[row.place].name, device: device, by: HubWorkspace.hubUser, at: entry.at,
      in: store.database)
  }

  private func refusal(_ words: String) -> WorkspaceError {
    WorkspaceError(.notTheUsers, words, hint: "Look at it, and decide it by itself: satchel-hub conflicts show ID")
  }
}
