import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

/// How to treat known rows that are missing after an app created a table or the whole file again.
public enum MissingRows: Sendable {
  /// Put the rows back: no user deleted them.
  case putBack
  /// A user deleted the rows before the table or the file was created again.
  case deleted
}

extension DoctorReport {
  /// Writes back the known rows that are missing in these tables, and reports their number for each table. The caller
  /// holds an `applyTransaction`, so that no trigger of the app changes the rows.
  /// - Parameter lacking: finds the missing rows of one table; nil if their former rows are not known.
  /// - Returns: whether any row was written.
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

/// Known rows that are missing in a table because an app created the table again.
public struct LackingRows {
  private let table: TrackedTable
  private let rows: [(key: RowKey, row: Row)]

  public var count: Int { rows.count }

  /// Finds the missing rows among the unseen changes and among the rows with pending changes.
  ///
  /// If no export carries a pending change, its new values were only in the lost table. Such a row is known only as it
  /// was before the change. A pending delete that no export carries looks like a lost row. If an export carries the
  /// delete of a row, the row is not missing.
  /// - Parameter sent: the rows as they were in the last export.
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

  /// Inserts the missing rows again and returns their number. If another row now has the UNIQUE value of a missing row,
  /// the missing row is not inserted.
  ///
  /// The caller holds an `applyTransaction`, so that no trigger of the app changes the rows. Throws a
  /// `WorkspaceError` if the table no longer accepts a row.
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
          .schemaDrift,
          "A row of \(table.name) that is to be put back does not fit the table as it is now: \(error.message).",
          hint:
            """
            Change the table back; on a device, satchel doctor --repair --tables makes it as the hub has it. Or \
            confirm that the missing rows were deleted: doctor --repair --deleted
            """)
      }
    }
    return count
  }
}
