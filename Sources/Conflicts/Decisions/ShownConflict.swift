import SatchelCrypto
import SatchelValues

/// A conflict as it is shown to a person. For a unit: all conflicts of the unit.
public struct ShownConflict: Sendable {
  public struct Part: Sendable {
    public let conflict: StoredConflict
    /// The present row; nil if it is deleted.
    public let row: [Field]?

    public init(_ conflict: StoredConflict, row: [Field]?) {
      self.conflict = conflict
      self.row = row
    }
  }

  /// The conflict that represents the unit, and then the other conflicts in order.
  public let parts: [Part]
  /// The name of the device that made the change, or its id if the name is not known.
  public let device: String
  /// The new rows that wait for the conflict's row.
  public let below: [ConflictRecord]

  public init(
    _ unit: ConflictUnit, device: String, below: [ConflictRecord], row: (StoredConflict) throws -> [Field]?
  ) rethrows {
    let others = unit.members.filter { $0.record.id != unit.head.record.id }
    parts = try ([unit.head] + others).map { Part($0, row: try row($0)) }
    (self.device, self.below) = (device, below)
  }

  public var conflict: StoredConflict { parts[0].conflict }
  public var row: [Field]? { parts[0].row }
  public var isUnit: Bool { conflict.record.unit != nil }

  /// A short digest of all rows. A person who gives this mark has seen the whole unit.
  public var mark: String {
    if !isUnit { return rowMark(row) }
    let marks = parts.map { rowMark($0.row) }.joined(separator: " ")
    return Hexadecimal.text(of: blake2b(Array(marks.utf8), length: 16).prefix(4))
  }

  /// Throws a `WorkspaceError` if a row has changed since the person saw it.
  /// - Parameter present: returns the record in the present columns of its table; nil if the table has left the
  ///   dataset.
  public func check(
    _ seen: RowSeen, for decision: Resolution.Decision, present: (StoredConflict) throws -> ConflictRecord?
  ) throws {
    let mark = isUnit ? mark : nil
    for part in parts { try present(part.conflict)?.check(seen, for: decision, current: part.row, mark: mark) }
  }
}
