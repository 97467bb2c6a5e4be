import SatchelConflicts
import SatchelValues
import SatchelWorkspace

/// The rights that limit a decision about many conflicts. For a reported conflict, the decision may write only rows
/// that the user of the conflict may write.
///
/// A person who looks at one conflict decides freely. A person who decides many conflicts at once has not seen each
/// conflict.
struct ReportRights {
  private let scope: ScopeStore
  private let place: Int

  /// nil if the hub itself found the conflict, or if its kind is "revoked": the user has lost the row.
  init?(of record: ConflictRecord, _ store: HubStore) throws {
    guard record.kind != .revoked, let place = store.place(of: record.table), try store.isReport(record.id) else {
      return nil
    }
    self.place = place
    scope = ScopeStore(store, user: try store.user(record.user) ?? User(name: record.user, attributes: []))
  }

  /// Throws if the row exists and the user may not change it.
  func check(_ row: DecidedRow) throws {
    guard let found = try scope.find(row.key, in: place), !found.mayWrite else { return }
    throw WorkspaceError(
      .notTheUsers, "Only a device reports this, and its user may not change the row.",
      hint: "Look at it, and decide it by itself: satchel-hub conflicts show ID")
  }
}

extension HubStore {
  /// Returns the conflicts, and marks each conflict that only a device reports.
  func marked(_ conflicts: [StoredConflict]) throws -> [StoredConflict] {
    if conflicts.isEmpty { return [] }
    let labels = try RowLabels(tables, in: database) { record in
      try self.place(of: record.table).flatMap { try self.lastImage(of: record.key, in: $0) }
    }
    return try labels.label(conflicts).map { conflict in
      var marked = conflict
      marked.isReported = try isReport(conflict.record.id)
      return marked
    }
  }
}
