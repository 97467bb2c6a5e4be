import SatchelCapture
import SatchelSQLite
import SatchelValues

/// What becomes of rows that are known, and are not in a file or a table that an app made anew.
public enum MissingRows: Sendable {
  /// They are put back: that they are not there does not mean that anybody deleted them.
  case putBack
  /// They were deleted before the file or the table was made.
  case deleted
}

extension DoctorReport {
  /// Writes back the known rows that these tables lack, and reports how many each table lacked. The caller's transaction
  /// writes rows as they are.
  /// - Parameter lacking: finds the rows of one table; nil if nothing is known of the table.
  /// - Returns: whether a row was written.
  public mutating func putBack(
    _ remade: [TrackedTable], in database: borrowing Database, lacking: (TrackedTable) throws -> LackingRows?
  ) throws -> Bool {
    var isAnyWritten = false
    for table in remade {
      let count = try lacking(table)?.putBack(in: database) ?? 0
      if count == 0 { continue }
      restored.append((table.name, count))
      isAnyWritten = true
    }
    return isAnyWritten
  }
}

/// Known rows that one table lacks, which an app made anew.
public struct LackingRows {
  private let table: TrackedTable
  private let rows: [(key: RowKey, row: Row)]

  public var count: Int { rows.count }

  /// Finds them among the changes that went by unseen, and among the rows with pending changes.
  ///
  /// A pending change that no export carries was in the row alone. So such a row is known as it was before that, and a
  /// pending delete of it cannot be told from its loss. A row that an export told to be deleted is not lost.
  /// - Parameter sent: the rows as the last export told them.
  public init(
    of table: TrackedTable, among changes: [UnseenChange], sent: [RowKey: SentRow] = [:],
    in database: borrowing Database
  ) throws {
    var found: [(key: RowKey, row: Row)] = []
    for change in changes where change.table == table.name {
      guard case .delete(let was)? = change.change else { continue }
      if let told = sent[change.key], told.row == nil { continue }
      found.append((change.key, was))
    }
    let unseen = Set(found.map(\.key))
    try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
      if current != nil || unseen.contains(key) { return }
      if let row = sent[key].map(\.row) ?? images.first?.row { found.append((key, row)) }
    }
    self.table = table
    rows = found
  }

  /// Puts the rows back. Returns how many: where another row has the UNIQUE value of one, that row is what became of
  /// it.
  ///
  /// The caller's transaction writes rows as they are. Throws a `WorkspaceError` where the table takes no such row any
  /// more.
  public func putBack(in database: borrowing Database) throws -> Int {
    let target = try RowTable(table, in: database)
    var count = 0
    for (key, row) in rows {
      do {
        try target.write(row, over: nil, key: key)
        count += 1
      } catch let error as SQLiteError where error.kind == .unique {
        continue
      } catch let error as SQLiteError where error.kind == .constraint {
        throw WorkspaceError(
          "schema-drift",
          "A row of \(table.name) that is to be put back does not fit the table as it is now: \(error.message).",
          hint: "Make the table as it was, or say that the rows it lacks were deleted: doctor --repair --deleted")
      }
    }
    return count
  }
}
