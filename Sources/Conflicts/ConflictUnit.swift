import SatchelSQLite
import SatchelValues

/// Conflicts that are listed, shown and decided together: the conflicts of one unit, or a single conflict.
public struct ConflictUnit: Sendable {
  /// The conflict that represents all members. In a unit, it is the change that could not be applied.
  public let head: StoredConflict
  /// All conflicts, including the representative.
  public let members: [StoredConflict]
  public var isSingle: Bool { head.record.unit == nil }

  /// Whether any of the changes belongs to this table.
  /// - Parameter table: nil: any table.
  public func isAbout(_ table: Name?) -> Bool {
    table.map { table in members.contains { $0.record.table == table } } ?? true
  }

  public init(_ members: [StoredConflict]) {
    // The list of conflicts is never empty.
    head = members.first { $0.record.id == $0.record.unit } ?? members[0]
    self.members = members
  }
}

/// A device chooses the names of its units, so a name is unique only within that device.
private enum UnitID: Hashable {
  case unit(ConflictID, ReplicaID)
  case single(ConflictID)

  init(_ record: ConflictRecord) { self = record.unit.map { .unit($0, record.device) } ?? .single(record.id) }
}

extension ConflictTable {
  /// The unit of a conflict, in any state. A conflict without a unit is returned alone.
  public static func whole(_ conflict: StoredConflict, in database: borrowing Database) throws -> ConflictUnit {
    ConflictUnit(try unit(of: conflict, in: database))
  }
}

extension [StoredConflict] {
  /// The conflicts grouped by unit, ordered by the first conflict of each unit.
  public var units: [ConflictUnit] {
    var groups: [UnitID: [StoredConflict]] = [:]
    var order: [UnitID] = []
    for conflict in self {
      let unit = UnitID(conflict.record)
      if groups[unit] == nil { order.append(unit) }
      groups[unit, default: []].append(conflict)
    }
    return order.compactMap { groups[$0].map { ConflictUnit($0) } }
  }
}

extension ConflictRecord {
  /// Explains why a change is not applied, if only another change of its unit prevents it.
  public static func words(of unit: ConflictRecord) -> String {
    "It belongs to a unit: the change of \(unit.words) could not be taken."
  }

  public var rowInTable: RowInTable { RowInTable(table: table, key: key) }

  /// The row, as messages name it.
  public var words: String { rowInTable.words }
}

extension ConflictState {
  /// The state of a unit, computed from the states of its changes that could not be applied. If one of these changes
  /// needs a person, the unit needs a person. A change that lost by a policy does not wait.
  public static func ofUnit(_ states: some Sequence<ConflictState>) -> ConflictState {
    let states = Set(states)
    return states.contains(.open) ? .open : states.contains(.settled) ? .settled : .held
  }
}
