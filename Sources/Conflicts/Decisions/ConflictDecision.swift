import SatchelMerge
import SatchelValues

/// A person's decision about a conflict.
public enum ConflictDecision: Sendable {
  /// The hub's values stay.
  case hub
  /// The device's change is applied after all.
  case device
  /// A person gives values for some columns.
  case set([EnteredField])

  public var word: Resolution.Decision {
    switch self {
    case .hub: .hub
    case .device: .device
    case .set: .set
    }
  }

  /// The conflict's row after this decision; nil if the decision deletes the row.
  /// - Parameters:
  ///   - current: the present row; nil if it is deleted.
  ///   - whole: the row before it was deleted; nil if it is not known.
  ///   - rules: the rules of the table. For a counter they add the device's difference, so that the additions of
  ///     others stay.
  ///   - values: converts the values that a person entered.
  func row(
    for record: ConflictRecord, current: Row?, whole: Row?, schema: TableSchema, rules: MergeRules,
    values: EnteredValueReader
  ) throws -> Row? {
    // If the device inserted the row, the record has all its values, even if the row is not in the table now.
    let made = record.operation == .insert ? try record.deviceValues.map { try schema.row($0) } : nil
    switch self {
    case .hub: return current
    case .set(let entered):
      let row = current ?? whole ?? made
      let fields = try values.fields(entered, known: record.allValues + (row.map { schema.fields($0) } ?? []))
      return try Self.setting(fields, in: row, record, schema)
    case .device:
      return try Self.deviceRow(for: record, current: current, whole: whole, schema: schema, rules: rules)
    }
  }

  /// The conflict's row after a decision for the device; nil if the decision deletes the row. In a table with soft
  /// deletes, a delete only marks the row. The parameters have the same meaning as in `row`.
  static func deviceRow(
    for record: ConflictRecord, current: Row?, whole: Row?, schema: TableSchema, rules: MergeRules
  ) throws -> Row? {
    switch record.operation {
    case .delete:
      guard let current else { return nil }
      var was = current
      was.write(record.baseValues ?? [], in: schema)
      return rules.deleting(current, like: was)
    case .insert, .update:
      // An insert has values for all columns, so it does not need `whole`. A deleted row with the same key may be
      // another row.
      let row = current ?? (record.operation == .update ? whole : nil)
      return try setting(record.untaken(onto: row, schema, rules), in: row, record, schema)
    }
  }

  /// Throws a `WorkspaceError` unless the decision is for the hub, which leaves the row as it is. No other decision
  /// is possible for a table that has left the dataset.
  public func check(forDeparted record: ConflictRecord) throws {
    if case .hub = self { return }
    throw WorkspaceError(
      .noTable, "The table \(record.table) is no longer in the dataset, so nothing can be written into it here.",
      hint: "Use the values as you need them; then close the conflict: --keep hub")
  }

  public static func decidedAlready(_ conflict: StoredConflict) -> WorkspaceError {
    let by = conflict.decision.map { " by \($0.by): \($0.made.rawValue)" } ?? ""
    return WorkspaceError(
      .decided, "The conflict \(conflict.record.id.text.prefix(8)) was decided already\(by).",
      hint: """
        If the row is still not right, change it like any other row. To decide again, at the hub: satchel-hub \
        conflicts reopen \(conflict.record.id.text.prefix(8))
        """)
  }

  private static func setting(_ fields: [Field], in row: Row?, _ record: ConflictRecord, _ schema: TableSchema) throws
    -> Row
  {
    var values = row?.values.map { Optional($0) } ?? schema.columns.map { _ in nil }
    for field in fields {
      guard let column = schema.position(of: field.name) else {
        throw WorkspaceError(
          .noColumn, "The table \(schema.name) has no column \(field.name).",
          hint: "It has: \(schema.columns.map(\.text).joined(separator: ", ")).")
      }
      if schema.key.contains(column), let place = schema.key.firstIndex(of: column),
        !record.key.values[place].isSameInKey(as: field.value)
      {
        throw WorkspaceError(
          .keyColumn, "The column \(field.name) is part of the row's key, which a decision cannot change.")
      }
      values[column] = field.value
    }
    guard values.allSatisfy({ $0 != nil }) else {
      throw WorkspaceError(
        .rowGone, "The row is gone, and the values of its other columns are not known here.",
        hint: "Decide it at the hub, which has the row's history.")
    }
    return Row(values.compactMap(\.self))
  }
}

extension ConflictRecord {
  /// The values of all three sides.
  fileprivate var allValues: [Field] { [baseValues, hubValues, deviceValues].compactMap(\.self).flatMap { $0 } }
}
