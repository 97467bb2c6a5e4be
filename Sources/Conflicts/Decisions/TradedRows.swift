import SatchelSQLite
import SatchelValues

/// Conflicts about rows that traded UNIQUE values on their device.
///
/// A decision for the device about one of them alone would delete the other row, which the device only changed.
extension [StoredConflict] {
  /// The rows that these conflicts are about.
  public var rows: Set<RowInTable> { Set(map(\.record.rowInTable)) }

  /// Throws a `WorkspaceError` if a decision for the device about these conflicts would delete a row that the same
  /// device changed, and the conflict about that change is neither decided nor among these conflicts.
  /// - Parameters:
  ///   - tool: the command that decides, for the hint.
  ///   - schema: returns the columns of a table; nil: the table has left the dataset.
  public func checkTrades(
    in database: borrowing Database, tool: String, schema: (Name) -> TableSchema?
  ) throws {
    let decided = rows
    for member in self {
      guard let columns = schema(member.record.table), let rival = try member.rival(in: columns, database),
        !decided.contains(rival),
        let other = try ConflictTable.undecidedUpdate(rival, by: member.record.device, in: database)
      else { continue }
      let (own, its) = (member.record.id.text.prefix(8), other.id.text.prefix(8))
      throw WorkspaceError(
        .undecidedRow,
        """
        The decision would delete \(other.words), which has the UNIQUE value. The same device changed that row, and \
        the conflict \(its) about it is not decided yet.
        """,
        hint: """
          Decide both together: \(tool) conflicts resolve \(own) \(its) --keep device. Or decide \(its) first.
          """)
    }
  }
}

extension StoredConflict {
  /// The other row of a disagreement about a UNIQUE value; nil: there is none.
  fileprivate func rival(in schema: TableSchema, _ database: borrowing Database) throws -> RowInTable? {
    guard record.kind == .unique else { return nil }
    return try record.present(in: schema, database).rivalKey(in: schema).map {
      RowInTable(table: record.table, key: $0)
    }
  }
}

extension [ConflictUnit] {
  /// These units in groups: if a row that one unit needs to go has a change in another unit of the same device, the two
  /// are in one group. The groups have the order of their first units.
  /// - Parameter schema: returns the columns of a table; nil: the table has left the dataset.
  public func inTrades(
    in database: borrowing Database, schema: (Name) -> TableSchema?
  ) throws -> [[ConflictUnit]] {
    var owners: [RowOfDevice: Int] = [:]
    for (number, unit) in enumerated() {
      for member in unit.members where member.record.operation == .update && member.record.state != .resolved {
        owners[RowOfDevice(row: member.record.rowInTable, device: member.record.device)] = number
      }
    }
    var sets = DisjointSets(count: count)
    for (number, unit) in enumerated() {
      for member in unit.members {
        guard let columns = schema(member.record.table), let rival = try member.rival(in: columns, database),
          let owner = owners[RowOfDevice(row: rival, device: member.record.device)]
        else { continue }
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
