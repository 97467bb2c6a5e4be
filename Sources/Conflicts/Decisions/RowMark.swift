import SatchelBundle
import SatchelCrypto
import SatchelGeometry
import SatchelValues

/// The state of a row on which a person based a decision.
public enum RowSeen: Sendable {
  /// The row as it was when the conflict was found.
  case asFound
  /// Like `asFound`, or as earlier decisions of the same command left these rows.
  case asFoundOrDecided(Set<RowInTable>)
  /// The row that was shown to the person with this mark.
  case mark(String)
  /// Any state: the decision is made without a check.
  case anyway
}

/// A short digest of a row's values. If the digest has changed, the row is no longer as the person saw it.
public func rowMark(_ fields: [Field]?) -> String {
  guard let fields else { return "gone" }
  return Hexadecimal.text(of: blake2b(FieldsCoding.json(fields), length: 16).prefix(4))
}

extension ConflictRecord {
  /// Throws a `WorkspaceError` if the row has changed since the person saw it.
  /// - Parameters:
  ///   - decision: the person's decision. A decision for the device is also accepted if columns have their base
  ///     values again, because then no value is lost.
  ///   - mark: the mark of the unit to which the change belongs; nil if it belongs to no unit.
  public func check(
    _ seen: RowSeen, for decision: Resolution.Decision, current: [Field]?, mark: String? = nil
  ) throws {
    let present = mark ?? rowMark(current)
    switch seen {
    case .anyway: return
    case .asFound: if isAsFound(current, or: decision == .device ? baseValues ?? [] : []) { return }
    case .asFoundOrDecided(let rows):
      if rows.contains(rowInTable) { return }
      return try check(.asFound, for: decision, current: current, mark: mark)
    case .mark(let mark): if present == mark { return }
    }
    throw WorkspaceError(
      .rowChanged,
      """
      The row was changed since this disagreement was found. Then: \(words(found)). Now: \
      \(words(current.map(of(found))))
      """,
      hint:
        "Look at it again (conflicts show \(id.text.prefix(8))); to decide all the same: --row \(present)")
  }

  /// The values that were in the table when the conflict was found; nil if there was no row.
  private var found: [Field]? {
    if isWithoutShownRow { return baseValues }
    if winners.isEmpty { return rowWinner == .hub ? hubValues : deviceValues }
    return winners.compactMap { winner in
      (winner.winner == .hub ? hubValues : deviceValues)?.first { $0.name == winner.name }
    }
  }

  /// Whether this conflict about a UNIQUE value shows no other row. That is so if several rows have UNIQUE values of
  /// the update, or if the device's user may not see the row that has one. The update's own row was in the table.
  private var isWithoutShownRow: Bool {
    kind == .unique && operation == .update && rowWinner == .hub && hubValues == nil
  }

  private func isAsFound(_ current: [Field]?, or base: [Field]) -> Bool {
    guard let found else { return current == nil }
    guard let current else { return false }
    return found.allSatisfy { field in
      current.contains(field) || base.contains { $0.name == field.name && current.contains($0) }
    }
  }

  private func of(_ found: [Field]?) -> ([Field]) -> [Field] {
    { fields in
      guard let found, !found.isEmpty else { return fields }
      return fields.filter { field in found.contains { $0.name == field.name } }
    }
  }

  private func words(_ fields: [Field]?) -> String {
    guard let fields else { return "no row" }
    // People cannot read the bytes of a geometry, so the geometry is described.
    let shown = fields.map { field in
      guard case .blob(let bytes) = field.value, let stored = StoredGeometry(bytes) else { return field }
      return Field(field.name, .string(stored.geometry.words))
    }
    return String(decoding: FieldsCoding.json(shown), as: UTF8.self)
  }
}
