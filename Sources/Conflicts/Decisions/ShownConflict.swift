import SatchelCrypto
import SatchelValues

/// A conflict with everything that a person sees of it; for a unit, all its changes.
public struct ShownConflict: Sendable {
  public struct Part: Sendable {
    public let conflict: StoredConflict
    /// The row as it is now; nil: it is deleted.
    public let row: [Field]?

    public init(_ conflict: StoredConflict, row: [Field]?) {
      self.conflict = conflict
      self.row = row
    }
  }

  /// First the change that represents the unit, then the other changes in order.
  public let parts: [Part]
  /// The device that made the change, by its name if the name is known.
  public let device: String
  /// New rows that wait for the conflict's row.
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

  /// A short mark of all rows, which shows that a person saw the whole unit.
  public var mark: String {
    if !isUnit { return rowMark(row) }
    let marks = parts.map { rowMark($0.row) }.joined(separator: " ")
    return Hexadecimal.text(of: blake2b(Array(marks.utf8), length: 16).prefix(4))
  }

  /// Throws a `WorkspaceError` if a row was changed since the person saw it.
  /// - Parameter present: the record in the columns that its table has now, or nil for a table that left the dataset.
  public func check(
    _ seen: RowSeen, for decision: Resolution.Decision, present: (StoredConflict) throws -> ConflictRecord?
  ) throws {
    let mark = isUnit ? mark : nil
    for part in parts { try present(part.conflict)?.check(seen, for: decision, current: part.row, mark: mark) }
  }
}
