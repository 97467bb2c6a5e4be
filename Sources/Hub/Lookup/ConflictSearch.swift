import SatchelConflicts
import SatchelDataset
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// One page of a list of conflicts, with the values that its filter can have.
public struct ConflictList: Sendable {
  public let conflicts: [StoredConflict]
  /// The number of all conflicts that fit the filter.
  public let total: Int64
  /// The layers of the database, if it is a GeoPackage.
  public let layers: [Layer]
  public let tables: [Name]
  public let devices: [(id: ReplicaID, name: String)]
  public let users: [String]
}

/// The numbers of conflicts that one decision is about.
public struct ConflictCounts: Sendable {
  public let counts: [ConflictCount]
  public let mark: ConflictSetMark
  /// The number of conflicts. A unit counts as one.
  public var total: Int64 { counts.reduce(0) { $0 + $1.count } }
}

/// Searches for conflicts.
extension HubWorkspace {
  /// Some of the conflicts that fit a filter, oldest first.
  public func conflicts(_ filter: ConflictFilter, from first: Int64, count: Int64) throws -> ConflictList {
    let store = try store()
    let page = try ConflictTable.page(filter, store.tables, from: first, count: count, in: store.database)
    return ConflictList(
      conflicts: try store.marked(page.conflicts), total: page.total,
      layers: try store.database.layers(), tables: store.tables.map(\.name),
      devices: try store.devices().map { ($0.id, $0.name) },
      users: try store.users().map(\.name))
  }

  /// Counts the conflicts that fit a filter.
  public func countConflicts(_ filter: ConflictFilter) throws -> ConflictCounts {
    let store = try store()
    return ConflictCounts(
      counts: try ConflictTable.counts(filter, store.tables, in: store.database),
      mark: ConflictSetMark(of: try ConflictTable.ids(filter, store.tables, in: store.database)))
  }

  /// The conflict that follows `conflict` in the list of a filter, and the number of other conflicts in the list. nil
  /// if there is none.
  public func conflict(after conflict: StoredConflict, _ filter: ConflictFilter) throws -> (
    id: ConflictID, left: Int64
  )? {
    let store = try store()
    return try ConflictTable.next(after: conflict, filter, store.tables, in: store.database)
  }

  /// Decides the conflicts that fit a filter by a policy, as `resolveAll(_:table:note:)` does. A conflict that a person
  /// must decide by itself stays undecided.
  /// - Parameter expected: the mark of the conflicts that the person saw. If the filter finds other conflicts now,
  ///   nothing is decided.
  public func resolveAll(_ policy: Policy, _ filter: ConflictFilter, expected: ConflictSetMark, note: String?) throws
    -> ResolvedAll
  {
    try applying { store in
      let ids = try ConflictTable.ids(filter, store.tables, in: store.database)
      guard ConflictSetMark(of: ids) == expected else {
        let total = try ConflictTable.count(filter, store.tables, in: store.database)
        throw WorkspaceError(
          .otherConflicts, "These are not the conflicts that you saw: there are \(total) now.",
          hint: "Nothing was decided. Go back to the list, and look again.")
      }
      let units = try ConflictTable.units([.open, .held], in: store.database) { unit in
        unit.members.contains { ids.contains($0.record.id) }
      }
      return try resolveEach(units, policy, note: note, store)
    }
  }
}
