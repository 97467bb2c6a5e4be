import SatchelSQLite
import SatchelValues

/// Conflicts about rows that traded UNIQUE values on their device.
///
/// A decision for the device about only one of them would delete the other row, although the device only changed that
/// row.
extension [StoredConflict] {
  /// The rows of these conflicts.
  public var rows: Set<RowInTable> { Set(map(\.record.rowInTable)) }

  /// Throws a `WorkspaceError` if a decision for the device about these conflicts needs a UNIQUE value of another
  /// row, and that row has an undecided conflict. This applies only if the same device changed that row, and if its
  /// conflict is not among these.
  /// - Parameters:
  ///   - tool: the name of the command-line tool, for the hint.
  ///   - rivals: returns the rows that have UNIQUE values of a conflict's row.
  public func checkTrades(
    in database: borrowing Database, tool: String, rivals: (StoredConflict) throws -> [RowInTable]
  ) throws {
    let decided = rows
    for member in self {
      let others = try rivals(member).filter { !decided.contains($0) }.compactMap {
        try ConflictTable.undecidedUpdate($0, by: member.record.device, in: database)
      }
      if !others.isEmpty { throw WorkspaceError(undecided: others, neededBy: member.record, tool: tool) }
    }
  }
}

extension WorkspaceError {
  /// The error for a decision that needs the values of rows with undecided conflicts.
  fileprivate init(undecided others: [ConflictRecord], neededBy record: ConflictRecord, tool: String) {
    let ids = others.map { String($0.id.text.prefix(8)) }
    let (rows, conflicts) = (others.map(\.words).joined(separator: ", "), ids.joined(separator: ", "))
    let (own, its) = (record.id.text.prefix(8), ids.joined(separator: " "))
    self.init(
      .undecidedRow,
      """
      Another row has a UNIQUE value that this decision needs: \(rows). The same device changed that row too, and its \
      conflict is not decided yet: \(conflicts).
      """,
      hint: """
        Decide them together: \(tool) conflicts resolve \(own) \(its) --keep device. Or decide \(conflicts) first.
        """)
  }
}

extension StoredConflict {
  /// The other row that a conflict about a UNIQUE value shows; nil if it shows none.
  public func rival(in schema: TableSchema, _ database: borrowing Database) throws -> RowInTable? {
    guard record.kind == .unique else { return nil }
    return try record.present(in: schema, database).rivalKey(in: schema).map {
      RowInTable(table: record.table, key: $0)
    }
  }
}

extension [ConflictUnit] {
  /// The units in groups that must be decided together. Two units of one device are in a group if one needs a UNIQUE
  /// value of a row that the other changed. The groups are in the order of their first units.
  /// - Parameter rivals: returns the rows that have UNIQUE values of a conflict's row.
  public func inTrades(rivals: (StoredConflict) throws -> [RowInTable]) throws -> [[ConflictUnit]] {
    var owners: [RowOfDevice: Int] = [:]
    for (number, unit) in enumerated() {
      for member in unit.members where member.record.operation == .update && member.record.state != .resolved {
        owners[RowOfDevice(row: member.record.rowInTable, device: member.record.device)] = number
      }
    }
    var sets = DisjointSets(count: count)
    for (number, unit) in enumerated() {
      let needed = try unit.members.flatMap { member in
        try rivals(member).map { RowOfDevice(row: $0, device: member.record.device) }
      }
      for row in needed {
        guard let owner = owners[row] else { continue }
        sets.join(number, owner)
      }
    }
    var groups: [Int: [ConflictUnit]] = [:]
    for (number, unit) in enumerated() { groups[sets.head(of: number), default: []].append(unit) }
    return indices.compactMap { groups[$0] }
  }
}

private struct RowOfDevice: Hashable {
  let row: RowInTable
  let device: ReplicaID
}
