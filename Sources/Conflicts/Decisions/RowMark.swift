import SatchelBundle
import SatchelCrypto
import SatchelGeometry
import SatchelValues

/// The state of a row that a person knew when deciding about it.
public enum RowSeen: Sendable {
  /// The row as it was when the disagreement was found.
  case asFound
  /// The row as it was when the disagreement was found, or as earlier decisions of the same run left it.
  case asFoundOrDecided(Set<RowInTable>)
  /// The row with this mark, as it was shown.
  case mark(String)
  /// The row in any state: the decision counts in each case.
  case anyway
}

/// A short mark of a row's values. It shows whether a row is still as the person saw it.
public func rowMark(_ fields: [Field]?) -> String {
  guard let fields else { return "gone" }
  return Hexadecimal.text(of: blake2b(FieldsCoding.json(fields), length: 16).prefix(4))
}

extension ConflictRecord {
  /// Throws a `WorkspaceError` if the row was changed since the person saw it.
  /// - Parameters:
  ///   - decision: the decision that the person made. The device's values may also replace the values from which the
  ///     device started, because then no value is lost.
  ///   - mark: the mark of the unit to which the change belongs; nil: it belongs to none.
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

  /// The values in the table when the disagreement was found; nil: there was no row.
  private var found: [Field]? {
    if isWithoutShownRow { return baseValues }
    if winners.isEmpty { return rowWinner == .hub ? hubValues : deviceValues }
    return winners.compactMap { winner in
      (winner.winner == .hub ? hubValues : deviceValues)?.first { $0.name == winner.name }
    }
  }

  /// Whether the conflict shows no row although its own row was there. Several rows have UNIQUE values of the update,
  /// or the device's user may not see the row that has one.
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
    // The bytes of a geometry are unreadable for people.
    let shown = fields.map { field in
      guard case .blob(let bytes) = field.value, let stored = StoredGeometry(bytes) else { return field }
      return Field(field.name, .string(stored.geometry.words))
    }
    return String(decoding: FieldsCoding.json(shown), as: UTF8.self)
  }
}
