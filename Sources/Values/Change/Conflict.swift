/// The reason why a device's change could not be taken as it was sent.
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
  /// The device's row differs from the row that the hub sent, and the device captured no change.
  case unseen
  /// Another change of the same unit could not be taken.
  case unit
}

/// The side whose value or row stays.
public enum Winner: String, Sendable {
  case hub, device
}

/// The state of a conflict.
public enum ConflictState: String, Sendable, CaseIterable {
  /// A person must decide.
  case open
  /// A policy has decided.
  case settled
  /// The change waits for something, for example a missing parent row.
  case held
  /// A person has decided.
  case resolved
}

/// A value with the name of its column.
public struct Field: Hashable, Sendable {
  public let name: Name
  public let value: Value

  /// The most columns of a table in any build of SQLite.
  public static let most = 32_767

  public init(_ name: Name, _ value: Value) {
    self.name = name
    self.value = value
  }
}

/// The id of a conflict. The same disagreement always has the same id, even if both hub and device find it.
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

/// A device's change that could not be taken as it was sent, with all that people need for a decision.
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
  /// The values of the hub's row when the change came. nil if there was no row, or if the receiver of this record may
  /// not see it.
  public var hubValues: [Field]?
  /// The device's values; nil if the device deleted the row.
  public var deviceValues: [Field]?
  /// The winner for each column that disagrees; empty if the rows disagree as a whole.
  public var winners: [ColumnWinner]
  /// The winner, if the rows disagree as a whole.
  public var rowWinner: Winner
  /// The reason why the change could not be taken, if the values do not show it. After a decision: the note of the
  /// person who decided.
  public var note: String?
  /// The decision and the name of the person who made it; nil unless the state is `resolved`.
  public var decision: Decision?
  /// The conflict that represents the change's unit; nil if the change is in no unit.
  public var unit: ConflictID?

  /// Whether the hub took the change as late work, after its user had lost the right to make it.
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

/// A decision about a conflict, as a bundle carries it to the other replica.
public struct Resolution: Hashable, Sendable {
  public enum Decision: String, Sendable, CaseIterable { case hub, device, set }

  public let conflict: ConflictID
  public let decision: Decision
  public let user: String
  public let stamp: Stamp
  /// The device's generation in which the decision was written into the row.
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
