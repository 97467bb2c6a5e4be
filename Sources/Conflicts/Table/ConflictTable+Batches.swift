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
  /// A batch ends with the conflict, or with the unit, that reaches one of these limits.
  private static let mostInBatch = 256
  private static let mostBytesInBatch: Int64 = 4 << 20

  /// Calls `body` for batches of the conflicts in these states. Each unit is in one batch if the order is `.units`.
  ///
  /// The database is not locked while `body` runs, because a person may read the list page by page. A conflict whose
  /// state changes meanwhile is left out.
  public static func eachBatch(
    _ states: [ConflictState], _ order: ConflictOrder, in database: borrowing Database,
    _ body: ([StoredConflict]) throws -> Void
  ) throws {
    var batch: [StoredConflict] = []
    var size = ConflictSize.zero
    func finish() throws {
      let full = batch
      (batch, size) = ([], .zero)
      if !full.isEmpty { try body(full) }
    }
    for group in try groups(states, order, in: database) {
      for id in group {
        guard let found = try conflict(id, in: database), states.contains(found.record.state) else { continue }
        size += ConflictSize(found.record)
        batch.append(found)
      }
      if size.count >= mostInBatch || size.bytes >= mostBytesInBatch { try finish() }
    }
    try finish()
  }

  /// The conflicts in these states that pass a test, oldest first. The values of the others are in memory for one batch
  /// alone.
  public static func list(
    _ states: [ConflictState], in database: borrowing Database, where isWanted: (StoredConflict) throws -> Bool
  ) throws -> [StoredConflict] {
    var found: [StoredConflict] = []
    try eachBatch(states, .time, in: database) { found += try $0.filter(isWanted) }
    return found
  }

  /// The units of the conflicts in these states that pass a test, oldest first. The values of the others are in memory
  /// for one batch alone.
  public static func units(
    _ states: [ConflictState], in database: borrowing Database, where isWanted: (ConflictUnit) throws -> Bool
  ) throws -> [ConflictUnit] {
    var found: [ConflictUnit] = []
    try eachBatch(states, .units, in: database) { found += try $0.units.filter(isWanted) }
    return found
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
