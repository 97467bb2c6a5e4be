import SatchelCapture
import SatchelConflicts
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Finds decisions that can only be taken back together, because their rows traded UNIQUE values.
struct TradedDecisions {
  private let store: HubStore
  private let user: String
  private let now: Int64

  /// - Parameters:
  ///   - user: the person whose decisions are taken back.
  ///   - now: the present time, in milliseconds since 1970.
  init(_ store: HubStore, by user: String, now: Int64) { (self.store, self.user, self.now) = (store, user, now) }

  /// The other conflicts that must be opened together with the named conflicts, because they were decided together.
  ///
  /// Throws a `WorkspaceError` if a row cannot get its former values because of a later decision.
  func tradedWith(_ named: [StoredConflict]) throws -> [StoredConflict] {
    var all = named
    while true {
      let rows = try rowsInTheWay(of: all)
      let added = try decidedTogether(with: all, rows)
      if added.isEmpty {
        try checkLater(than: all, rows)
        return Array(all.dropFirst(named.count))
      }
      all += added
    }
  }

  /// The rows that have UNIQUE values now which the rows of these decisions had before.
  private func rowsInTheWay(of decided: [StoredConflict]) throws -> Set<RowInTable> {
    let rows = try store.rows(decidedIn: decided, by: user).rows
    if rows.isEmpty { return [] }
    // Only a trial can show which rows are in the way, because the rows of these decisions may free values for each
    // other.
    return try store.database.savepoint(.dryRun) {
      let stamp = try Capture.tick(now: now, in: store.database)
      var revert = Revert(store: store, now: now, stamp: stamp, left: .counted)
      try revert.run(rows)
      return revert.rowsInTheWay
    }
  }

  /// Finds other conflicts that were decided at the same times, and whose rows traded UNIQUE values with these rows.
  /// Each conflict comes with all members of its unit.
  /// - Parameter rows: the rows that prevent the rows of these decisions from going back.
  private func decidedTogether(
    with all: [StoredConflict], _ rows: Set<RowInTable>
  ) throws -> [StoredConflict] {
    var known = Set(all.map(\.record.id))
    let own = all.rows
    let rivals = Set(try all.compactMap { try rival(of: $0) })
    let times = Set(all.compactMap(\.decision).filter { $0.by == user }.map(\.at)).sorted()
    let others = try times.flatMap { try ConflictTable.decided(by: user, at: $0, in: store.database) }
    var added: [StoredConflict] = []
    for other in others where !known.contains(other.record.id) {
      let row = other.record.rowInTable
      let isTraded = try rivals.contains(row) || rival(of: other).map { own.contains($0) } ?? false
      guard isTraded || rows.contains(row) else { continue }
      let unit = try ConflictTable.whole(other, in: store.database).members.filter { $0.decision != nil }
      added += unit.filter { known.insert($0.record.id).inserted }
    }
    return added
  }

  /// The other row of a conflict, if a decision for the device had to take a value from that row. Otherwise nil.
  private func rival(of conflict: StoredConflict) throws -> RowInTable? {
    guard conflict.decision?.made == .device, let place = store.place(of: conflict.record.table) else { return nil }
    return try conflict.rival(in: store.tables[place].schema, store.database)
  }

  /// Throws a `WorkspaceError` if one of these rows has a needed value because of a later decision.
  /// - Parameter rows: the rows that prevent the rows of the decisions from going back.
  private func checkLater(than all: [StoredConflict], _ rows: Set<RowInTable>) throws {
    guard let time = all.compactMap(\.decision).filter({ $0.by == user }).map(\.at).min() else { return }
    for row in rows.subtracting(all.rows) {
      for later in try ConflictTable.decided(row, by: user, after: time, in: store.database) {
        let unit = try ConflictTable.whole(later, in: store.database).members.filter { $0.decision != nil }
        if try !rowsInTheWay(of: all + unit).contains(row) { throw Self.valueTaken(by: later) }
      }
    }
  }

  private static func valueTaken(by later: StoredConflict) -> WorkspaceError {
    let id = later.record.id.text.prefix(8)
    return WorkspaceError(
      .valueTaken,
      """
      A row cannot go back to the values from before the decision. \(later.record.words) has a UNIQUE value of it now, \
      by the later decision about the conflict \(id).
      """,
      hint: "First take that decision back: satchel-hub conflicts reopen \(id)")
  }
}
