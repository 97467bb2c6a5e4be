import SatchelJSON
import SatchelSQLite
import SatchelValues

/// The order of a list of conflicts.
public enum ConflictOrder: Sendable {
  /// Sorted by state. The oldest conflicts of each state come first.
  case time
  /// The same order, but all conflicts of a unit follow the first conflict of the unit.
  case units
}

/// Long lists of conflicts. The values of the rows are in memory for one batch alone.
extension ConflictTable {
  private static let batchSize = 256

  /// Calls `body` for batches of the conflicts in these states. Each unit is in one batch if the order is `.units`.
  ///
  /// The database is not locked while `body` runs, because a person may read the list page by page. A conflict whose
  /// state changes meanwhile is left out.
  public static func eachBatch(
    _ states: [ConflictState], _ order: ConflictOrder, in database: borrowing Database,
    _ body: ([StoredConflict]) throws -> Void
  ) throws {
    var batch: [ConflictID] = []
    func finish() throws {
      let conflicts = try batch.compactMap { try conflict($0, in: database) }
      batch = []
      let listed = conflicts.filter { states.contains($0.record.state) }
      if !listed.isEmpty { try body(listed) }
    }
    for group in try groups(states, order, in: database) {
      if batch.count + group.count > batchSize { try finish() }
      batch += group
    }
    try finish()
  }

  /// The ids of the conflicts that belong into one batch together.
  private static func groups(
    _ states: [ConflictState], _ order: ConflictOrder, in database: borrowing Database
  ) throws -> [[ConflictID]] {
    var groups: [[ConflictID]] = []
    var places: [String: Int] = [:]
    for state in ConflictState.allCases where states.contains(state) {
      try database.each(
        "SELECT id, unit, device FROM satchel_conflicts WHERE state = :state ORDER BY noted, id",
        ["state": .string(state.rawValue)]
      ) { row in
        guard let id = ConflictID(row.text(0)) else { return }
        // A device chooses the names of its units, so a name is unique only within that device.
        let unit = order == .units ? row.optionalText(1).map { "\($0) \(row.text(2))" } : nil
        if let unit, let place = places[unit] {
          groups[place].append(id)
          return
        }
        if let unit { places[unit] = groups.count }
        groups.append([id])
      }
    }
    return groups
  }
}
