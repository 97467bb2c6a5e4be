import SatchelSQLite
import SatchelValues

/// Conflicts that are listed, shown and decided together: the conflicts of one unit, or a single conflict.
public struct ConflictUnit: Sendable {
  /// The conflict that represents the unit. The hub could not take the change of this conflict.
  public let head: StoredConflict
  /// All conflicts of the unit, including `head`.
  public let members: [StoredConflict]
  public var isSingle: Bool { head.record.unit == nil }

  /// Whether any of the changes is in this table.
  /// - Parameter table: nil means any table.
  public func isAbout(_ table: Name?) -> Bool {
    table.map { table in members.contains { $0.record.table == table } } ?? true
  }

  public init(_ members: [StoredConflict]) {
    // The list of conflicts is never empty.
    head = members.first { $0.record.id == $0.record.unit } ?? members[0]
    self.members = members
  }
}

/// The identity of a unit. A device chooses the ids of its units, so an id is unique only within that device.
private enum UnitID: Hashable {
  case unit(ConflictID, ReplicaID)
  case single(ConflictID)

  init(_ record: ConflictRecord) { self = record.unit.map { .unit($0, record.device) } ?? .single(record.id) }
}

extension ConflictTable {
  /// All conflicts of the unit to which a conflict belongs, in any state. A conflict without a unit is alone.
  public static func whole(_ conflict: StoredConflict, in database: borrowing Database) throws -> ConflictUnit {
    ConflictUnit(try unit(of: conflict, in: database))
  }
}

extension [StoredConflict] {
  /// The conflicts grouped by unit, in the order of the first conflict of each unit.
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
  /// The text for a change that is not taken because another change of its unit could not be taken.
  /// - Parameter unit: the record of that other change.
  public static func words(of unit: ConflictRecord) -> String {
    "It belongs to a unit: the change of \(unit.words) could not be taken."
  }

  public var rowInTable: RowInTable { RowInTable(table: table, key: key) }

  /// The row's name for messages.
  public var words: String { rowInTable.words }
}

extension ConflictState {
  /// The state of a unit, computed from the states of the changes that could not be taken. The unit is open if one of
  /// them is open. Otherwise it is settled if one of them lost by a policy.
  public static func ofUnit(_ states: some Sequence<ConflictState>) -> ConflictState {
    let states = Set(states)
    return states.contains(.open) ? .open : states.contains(.settled) ? .settled : .held
  }
}
