/// Why a device's change could not be applied as it was.
public enum ConflictKind: String, Sendable, CaseIterable {
  case updateUpdate = "update/update"
  case deleteUpdate = "delete/update"
  case updateDelete = "update/delete"
  case insertInsert = "insert/insert"
  case unique
  case foreignKey = "foreign key"
  case constraint
  case forbidden
  case revoked
  /// The device captured no change, but its row differs from the row that the hub sent.
  case unseen
  /// Another change of the same unit could not be applied.
  case unit
}

/// The side whose value was taken, for a column or for the row.
public enum Winner: String, Sendable {
  case hub, device
}

/// The state of a conflict.
public enum ConflictState: String, Sendable, CaseIterable {
  /// A person must decide.
  case open
  /// A policy has decided.
  case settled
  /// The change waits until the missing row is there.
  case held
  /// A person has decided.
  case resolved
}

/// A value with the name of its column.
public struct Field: Hashable, Sendable {
  public let name: Name
  public let value: Value

  /// The most columns that a table of SQLite can have, whatever its build.
  public static let most = 32_767

  public init(_ name: Name, _ value: Value) {
    self.name = name
    self.value = value
  }
}

/// The id of a conflict. A disagreement always gets the same id, even if both sides find it, or one side finds it
/// twice.
public struct ConflictID: Hashable, Sendable, CustomStringConvertible {
  /// Thirty-two hexadecimal digits.
  public let text: String

  public init?(_ text: String) {
    guard text.utf8.count == 32, text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
      return nil
    }
    self.text = text
  }

  public var description: String { text }
}

/// The kind of change in a line, in a log entry or in a conflict.
public enum Operation: String, Sendable, CaseIterable {
  case insert, update, delete
}

/// A device's change that could not be applied as it was, with everything that people need to decide.
public struct ConflictRecord: Hashable, Sendable {
  public var id: ConflictID
  public var device: ReplicaID
  public var user: String
  public var table: Name
  public var key: RowKey
  public var generation: Generation
  public var stamp: Stamp
  public var operation: Operation
  public var kind: ConflictKind
  public var state: ConflictState
  /// The values from which the device's change started; nil if there was no row.
  public var baseValues: [Field]?
  /// The values that the hub's row had when the change came. nil: there was no row, or the reader of this record may
  /// not see the row.
  public var hubValues: [Field]?
  /// The device's values; nil if the device deleted the row.
  public var deviceValues: [Field]?
  /// The winner of each column in which the sides disagree; empty if they disagree about the whole row.
  public var winners: [ColumnWinner]
  /// The winner, if the sides disagree about the whole row.
  public var rowWinner: Winner
  /// Why the change could not be applied, if the values do not show the reason. After a decision: the note of the
  /// person who decided.
  public var note: String?
  /// The decision, and the person who made it. nil exactly if the state is not `resolved`.
  public var decision: Decision?
  /// The conflict that represents the unit to which the change belongs; nil: the change belongs to no unit.
  public var unit: ConflictID?

  /// Whether the change was applied, although its user has meanwhile lost the right to make it.
  public var isTakenLate: Bool { kind == .revoked && state == .settled && rowWinner == .device }

  public struct Decision: Hashable, Sendable {
    public let made: Resolution.Decision
    public let by: String

    public init(made: Resolution.Decision, by: String) {
      self.made = made
      self.by = by
    }
  }

  public init(
    id: ConflictID, device: ReplicaID, user: String, table: Name, key: RowKey, generation: Generation, stamp: Stamp,
    operation: Operation, kind: ConflictKind, state: ConflictState, baseValues: [Field]?, hubValues: [Field]?,
    deviceValues: [Field]?,
    winners: [ColumnWinner], rowWinner: Winner, note: String?, decision: Decision? = nil, unit: ConflictID? = nil
  ) {
    self.id = id
    self.device = device
    self.user = user
    self.table = table
    self.key = key
    self.generation = generation
    self.stamp = stamp
    self.operation = operation
    self.kind = kind
    self.state = state
    self.baseValues = baseValues
    self.hubValues = hubValues
    self.deviceValues = deviceValues
    self.winners = winners
    self.rowWinner = rowWinner
    self.note = note
    self.decision = decision
    self.unit = unit
  }
}

/// The winner in one column of a conflict.
public struct ColumnWinner: Hashable, Sendable {
  public let name: Name
  public let winner: Winner

  public init(_ name: Name, _ winner: Winner) {
    self.name = name
    self.winner = winner
  }
}

/// A decision about one conflict, on its way to the other side.
public struct Resolution: Hashable, Sendable {
  public enum Decision: String, Sendable, CaseIterable { case hub, device, set }

  public let conflict: ConflictID
  public let decision: Decision
  public let user: String
  public let stamp: Stamp
  /// The generation in which the decision was written into the row.
  public let generation: Generation
  public let note: String?

  public init(
    conflict: ConflictID, decision: Decision, user: String, stamp: Stamp, generation: Generation, note: String?
  ) {
    self.conflict = conflict
    self.decision = decision
    self.user = user
    self.stamp = stamp
    self.generation = generation
    self.note = note
  }
}
