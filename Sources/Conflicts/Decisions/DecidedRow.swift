import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues

/// One row of a decision, with its present and its decided state.
public struct DecidedRow: Sendable {
  public let key: RowKey
  public let current: Row?
  /// nil if the decision deletes the row.
  public let target: Row?
}

extension ConflictRecord {
  /// The key of the other row in a conflict about a UNIQUE value. nil if the conflict is about one row alone, or if
  /// the other row is hidden here.
  public func rivalKey(in schema: TableSchema) -> RowKey? {
    guard kind == .unique, let hubValues else { return nil }
    let values = schema.key.compactMap { column in hubValues.first { $0.name == schema.columns[column] }?.value }
    let other = RowKey(values)
    return values.count == schema.key.count && other != key ? other : nil
  }

  /// The key of the row that was in the table when this conflict was found: the other row, if it has won.
  public func foundKey(in schema: TableSchema) -> RowKey { rowWinner == .hub ? rivalKey(in: schema) ?? key : key }
}

extension ConflictDecision {
  /// The rows that a decision writes: the conflict's row and, in a conflict about a UNIQUE value, the other row too.
  ///
  /// A decision for the device deletes the other row if that row still has the value. It does not if the same
  /// decision is also made about the other row's own conflict.
  /// - Parameters:
  ///   - decided: the rows of all conflicts about which this decision is made.
  ///   - row: returns the present row with a key.
  ///   - rivals: returns the keys of the rows that have a UNIQUE value of a row. Only such a row is deleted.
  ///   - rules: the merge rules of the table.
  ///   - whole: the conflict's row before it was deleted; nil if it is not known.
  ///   - values: converts the values that a person entered.
  public func rows(
    for record: ConflictRecord, in schema: TableSchema, by rules: MergeRules, whole: Row?,
    values: EnteredValueReader, among decided: Set<RowInTable>, row: (RowKey) throws -> Row?,
    rivals: (Row) throws -> [RowKey]
  ) throws -> [DecidedRow] {
    func target(_ current: Row?) throws -> Row? {
      try self.row(for: record, current: current, whole: whole, schema: schema, rules: rules, values: values)
    }
    let current = try row(record.key)
    guard let rivalKey = record.rivalKey(in: schema) else {
      if case .hub = self, record.kind == .unique, record.rowWinner == .device {
        throw Self.noRemovedRow(hint: "Decide it at the hub, which has kept it.")
      }
      return [DecidedRow(key: record.key, current: current, target: try target(current))]
    }
    if case .device = self, decided.contains(RowInTable(table: record.table, key: rivalKey)) {
      return [DecidedRow(key: record.key, current: current, target: try target(current))]
    }
    let rival = try row(rivalKey)
    let own: Row?
    switch self {
    case .hub: own = rival == nil && record.rowWinner == .device ? try record.rowBefore(current, schema) : current
    case .device, .set: own = try target(current)
    }
    let other: Row?
    switch self {
    // If the policy removed the other row, the decision for the hub brings it back. If a user deleted it later, it
    // stays deleted.
    case .hub: other = try rival ?? (record.rowWinner == .device ? removedRow(of: record, schema) : nil)
    case .device: other = try own.map { try rivals($0).contains(rivalKey) } == false ? rival : nil
    case .set: other = rival
    }
    return [
      DecidedRow(key: record.key, current: current, target: own),
      DecidedRow(key: rivalKey, current: rival, target: other),
    ]
  }

  /// The other row as it was before the policy removed it. Throws if the conflict lacks its values: a device may
  /// report a conflict without them.
  private func removedRow(of record: ConflictRecord, _ schema: TableSchema) throws -> Row {
    do { return try schema.row(record.hubValues ?? []) } catch {
      throw Self.noRemovedRow(hint: "Decide for the device, or make the other row again.")
    }
  }

  private static func noRemovedRow(hint: String) -> WorkspaceError {
    WorkspaceError(.rowGone, "The policy removed the other row, and its values are not known here.", hint: hint)
  }
}

extension ConflictRecord {
  /// The row without the device's change; nil if the device inserted the row or the row is gone.
  fileprivate func rowBefore(_ current: Row?, _ schema: TableSchema) throws -> Row? {
    guard operation == .update, var row = current else { return nil }
    row.write(baseValues ?? [], in: schema)
    return row
  }
}

extension RowTable {
  /// Writes decided rows, deletes first. Throws a `WorkspaceError` if the database or a reference does not allow
  /// them. The caller must then roll back.
  public func write(_ decided: [DecidedRow], _ references: References, in database: borrowing Database) throws {
    for row in decided {
      guard row.target == nil, let current = row.current,
        let children = try references.tableWithChildren(of: current, becoming: nil, schema, in: database)
      else { continue }
      throw hasChildren(children)
    }
    do {
      for row in decided where row.target == nil { try write(nil, over: row.current, key: row.key) }
      for row in decided where row.target != nil { try write(row.target, over: row.current, key: row.key) }
      for row in decided { try checkParents(of: row, references, in: database) }
      for row in decided where row.target != nil { try checkChildren(of: row, references, in: database) }
    } catch let error as SQLiteError where error.kind == .unique || error.kind == .constraint {
      let others = try error.kind == .unique ? rowsInTheWay(of: decided, in: database) : []
      throw WorkspaceError(decidedRowFailed: error, because: others)
    }
  }

  /// Throws a `WorkspaceError` if, after the decision, the row refers to a missing row or other rows refer to a value
  /// that it lost.
  func check(_ decided: DecidedRow, _ references: References, in database: borrowing Database) throws {
    try checkParents(of: decided, references, in: database)
    try checkChildren(of: decided, references, in: database)
  }

  private func hasChildren(_ table: Name) -> WorkspaceError {
    WorkspaceError(.hasChildren, "There are rows of \(table) that refer to it.", hint: "Delete or move those first.")
  }

  /// Throws a `WorkspaceError` if other rows refer to a value that the row no longer has.
  private func checkChildren(of decided: DecidedRow, _ references: References, in database: borrowing Database) throws {
    guard let current = decided.current,
      let children = try references.tableWithOrphans(of: current, becoming: decided.target, schema, in: database)
    else { return }
    throw hasChildren(children)
  }

  /// Throws a `WorkspaceError` if the row refers to a missing row and did not refer to it before.
  private func checkParents(
    of decided: DecidedRow, _ references: References, in database: borrowing Database
  ) throws {
    guard let target = decided.target,
      let parent = try references.missingParent(of: target, changedFrom: decided.current, in: database)
    else { return }
    throw WorkspaceError(
      .noParent, "The row of \(parent) to which it refers is not there.",
      hint: "Bring that row first, or set another value.")
  }
}
