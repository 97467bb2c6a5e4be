import SatchelCapture
import SatchelConflicts
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The result of `conflicts reopen`.
public struct ReopenedConflicts: Sendable {
  /// The conflicts that are open again.
  public let conflicts: [ConflictRecord]
  /// The opened conflicts that the person did not name. They were decided together with the named conflict, because
  /// their rows traded UNIQUE values with its row.
  public let traded: [ConflictRecord]
  /// The mark of these conflicts and of the decisions about them.
  public let mark: ConflictSetMark
  /// The number of rows, by table, that have their values from before the decisions again.
  public let rows: [(table: Name, count: Int)]
  /// The number of rows that keep a value of a decision. Other people changed them since, or other rows depend on them.
  public let left: Int
  /// The number of decisions whose rows stay as they are. The hub's history does not reach back to these decisions, or
  /// the tables of the rows left the dataset.
  public let forgotten: Int
}

extension HubWorkspace {
  /// Takes back the decision about a conflict and about all members of its unit, so that they are open again. If the
  /// decision was made at the hub, its rows get their values from before the decision. A value that was changed again
  /// since stays. The same decision may have decided other conflicts. These are opened too if their rows traded UNIQUE
  /// values with these rows.
  ///
  /// Throws a `WorkspaceError` if a later decision gave one of the former values to another row.
  /// - Parameter prefix: the conflict's id, or the beginning of the id.
  public func reopen(_ prefix: String) throws -> ReopenedConflicts {
    try applying { store in
      let found = try ConflictTable.find(prefix, in: store.database)
      guard found.record.state == .resolved, found.decision != nil else {
        throw WorkspaceError(
          .notDecided, "No person has decided the conflict \(found.record.id.text.prefix(8)) yet.",
          hint: "`conflicts list` shows what waits for a decision.")
      }
      let named = try ConflictTable.whole(found, in: store.database).members.filter { $0.decision != nil }
      let traded = try TradedDecisions(store, by: Self.hubUser, now: platform.clock.milliseconds()).tradedWith(named)
      return try reopen(named + traded, traded: traded, store)
    }
  }

  /// Takes back all decisions that were made at the hub at this time or later, as the other `reopen` does.
  /// - Parameters:
  ///   - time: in milliseconds since 1970.
  ///   - expected: the mark of the decisions that the person saw. If the decisions are no longer the same, nothing is
  ///     taken back. nil: all decisions are taken back.
  public func reopen(decidedSince time: Int64, expected: ConflictSetMark? = nil) throws -> ReopenedConflicts {
    try applying { store in
      let decided = try ConflictTable.decided(by: Self.hubUser, since: time, in: store.database)
      if decided.isEmpty {
        throw WorkspaceError(
          .notDecided, "No conflict was decided here since \(platform.clock.localText(milliseconds: time)).",
          hint: "`conflicts list --all` shows the decided ones, and `conflicts show ID` the time of a decision.")
      }
      if let expected, expected != ConflictSetMark(ofDecided: decided) {
        throw WorkspaceError(
          .otherConflicts, "The decisions changed after you looked: there are \(decided.count) now.",
          hint: "Nothing was taken back. Look again.")
      }
      return try reopen(decided, traded: [], store)
    }
  }

  private func reopen(
    _ decided: [StoredConflict], traded: [StoredConflict], _ store: HubStore
  ) throws -> ReopenedConflicts {
    let now = platform.clock.milliseconds()
    let (rows, forgotten) = try store.rows(decidedIn: decided, by: Self.hubUser)
    var revert = Revert(store: store, now: now, stamp: try Capture.tick(now: now, in: store.database), left: .counted)
    try revert.run(rows)
    for conflict in decided { try ConflictTable.reopen(conflict, in: store.database) }
    return ReopenedConflicts(
      conflicts: decided.map(\.record), traded: traded.map(\.record), mark: ConflictSetMark(ofDecided: decided),
      rows: zip(store.tables, revert.counts).filter { $0.1 > 0 }.map { ($0.0.name, $0.1) }, left: revert.left,
      forgotten: forgotten)
  }
}

extension HubStore {
  /// Returns the rows that these decisions changed, with the log entries of the decisions. Also counts the decisions
  /// that the log no longer has. A decision that came from a device is left out, because it is a change in a bundle.
  func rows(
    decidedIn conflicts: [StoredConflict], by user: String
  ) throws -> (rows: [RevertedRow], forgotten: Int) {
    let known = try identity.logFrom > .zero ? timeOfFirstChange(after: identity.logFrom) ?? .max : .min
    var forgotten = 0
    var order: [RowInTable] = []
    var times: [RowInTable: Set<Int64>] = [:]
    for conflict in conflicts {
      guard let decision = conflict.decision, decision.by == user else { continue }
      guard let place = place(of: conflict.record.table), decision.at >= known else {
        // A decision for the hub is not counted, because it seldom writes a row.
        if decision.made != .hub { forgotten += 1 }
        continue
      }
      let schema = tables[place].schema
      let record = try conflict.record.present(in: schema, database)
      for key in [record.key, record.rivalKey(in: schema)].compactMap(\.self) {
        let row = RowInTable(table: schema.name, key: key)
        if times[row] == nil { order.append(row) }
        times[row, default: []].insert(decision.at)
      }
    }
    let rows = try order.compactMap { row -> RevertedRow? in
      guard let place = place(of: row.table) else { return nil }
      let entries = try entries(ofDecisionsAt: times[row, default: []], by: user, in: past(of: row.key, in: place))
      return entries.isEmpty ? nil : RevertedRow(place: place, key: row.key, entries: entries, bundles: [])
    }
    return (rows, forgotten)
  }

  /// The log entries of decisions that were made at these times, oldest first.
  private func entries(
    ofDecisionsAt times: Set<Int64>, by user: String, in past: RowNumbers.Entry?
  ) throws -> [LogEntry] {
    var entries: [LogEntry] = []
    // Entries up to `logFrom` are forgotten. The newest of them may still be there, because it holds the hub's cursor.
    try eachChange(of: past, after: identity.logFrom) { entry in
      if times.contains(entry.at), entry.device == nil, entry.bundle == nil, entry.user == user {
        entries.append(entry)
      }
      return .more
    }
    return entries.reversed()
  }
}
