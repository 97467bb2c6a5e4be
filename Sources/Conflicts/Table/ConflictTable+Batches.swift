import SatchelJSON
import SatchelSQLite
import SatchelValues

/// The order of a list of conflicts.
public enum ConflictOrder: Sendable {
  /// Sorted by state. Within each state the oldest conflict is first.
  case time
  /// Like `time`, but the conflicts of a unit follow directly after the first of them.
  case units
}

/// Reads long lists of conflicts in batches, so that the values of only one batch are in memory.
extension ConflictTable {
  /// A batch ends after the conflict or unit with which it reaches one of these limits.
  private static let mostInBatch = 256
  private static let mostBytesInBatch: Int64 = 4 << 20

  /// Calls `body` with batches of the conflicts in these states. With the order `.units`, all conflicts of a unit are
  /// in one batch.
  ///
  /// The database is not locked while `body` runs, because a person may read the list page by page. If the state of a
  /// conflict changes before its batch is read, the conflict is left out.
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

  /// The conflicts in these states that `isWanted` selects, oldest first. All others are in memory only as long as
  /// their batch.
  public static func list(
    _ states: [ConflictState], in database: borrowing Database, where isWanted: (StoredConflict) throws -> Bool
  ) throws -> [StoredConflict] {
    var found: [StoredConflict] = []
    try eachBatch(states, .time, in: database) { found += try $0.filter(isWanted) }
    return found
  }

  /// The units of conflicts in these states that `isWanted` selects, oldest first. All others are in memory only as
  /// long as their batch.
  public static func units(
    _ states: [ConflictState], in database: borrowing Database, where isWanted: (ConflictUnit) throws -> Bool
  ) throws -> [ConflictUnit] {
    var found: [ConflictUnit] = []
    try eachBatch(states, .units, in: database) { found += try $0.units.filter(isWanted) }
    return found
  }

  /// The ids of the conflicts in these states, in groups. All conflicts of a group belong in one batch.
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
        // A device chooses the ids of its units, so an id is unique only within that device.
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
