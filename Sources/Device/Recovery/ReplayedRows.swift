import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues

/// The rows of one table that were written in an old copy of the database, with writes that only the copy has.
///
/// All other rows are as in the newer database. The table may forbid a replayed row: another row got its UNIQUE value,
/// or the values of both databases do not fit together. Then the row gets its values in the newer database, and the
/// write of the copy becomes a conflict.
struct ReplayedRows {
  struct Replayed {
    let key: RowKey
    /// The row in the copy.
    let copied: Row?
    /// The row in the newer database.
    let newer: Row?
    /// The row of the newer database with the write of the copy.
    let merged: Row?
    /// The write of the copy, in its new generation.
    let image: PreImage
    let change: Change
    /// The pre-images of the exported changes of the row.
    let exported: [PreImage]

    /// Whether the row combines values of both databases.
    fileprivate var isMixed: Bool { merged != nil && merged != copied }
  }

  /// Why the table forbids a row.
  private struct Loss {
    let kind: ConflictKind
    /// The row that the write meets.
    let met: Row?
  }

  private let rows: RowTable
  private var replayed: [Replayed] = []

  init(_ rows: RowTable) { self.rows = rows }

  mutating func append(_ row: Replayed) { replayed.append(row) }

  /// Deletes the rows, so that rows may exchange UNIQUE values.
  func leave(_ lost: LostChanges) throws {
    for row in replayed {
      try rows.write(nil, over: row.copied, key: row.key)
      if let copied = row.copied, row.merged == nil { lost.note(deleted: copied, of: rows.schema) }
    }
  }

  /// Writes the rows. All other rows of the table must be written already.
  func enter(in database: borrowing Database, _ lost: LostChanges) throws {
    var left = replayed.sorted { $0.key.isBeforeInSQL($1.key) }
    while !left.isEmpty {
      let refused = try write(left, in: database)
      if refused.isEmpty { return }
      // All rows leave again, because a refused row may need a UNIQUE value that another replayed row has taken.
      for row in left { try rows.write(nil, over: rows.row(row.key), key: row.key) }
      for row in left {
        if let loss = refused[row.key] { try giveUp(row, loss, in: database, lost) }
      }
      left.removeAll { refused[$0.key] != nil }
    }
  }

  /// Writes rows. Returns the rows that the table forbids.
  private func write(_ left: [Replayed], in database: borrowing Database) throws -> [RowKey: Loss] {
    var refused: [RowKey: Loss] = [:]
    for row in left {
      do { try rows.write(row.merged, over: nil, key: row.key) } catch let error as SQLiteError
        where error.kind == .unique
      {
        refused[row.key] = Loss(kind: .unique, met: try rival(of: row, among: left, in: database) ?? row.newer)
      } catch let error as SQLiteError where error.kind == .constraint {
        refused[row.key] = Loss(kind: .constraint, met: row.newer)
      }
    }
    let mixed = left.filter { $0.isMixed && refused[$0.key] == nil }
    for row in try rowsWithBrokenChecks(among: mixed, in: database) {
      refused[row.key] = Loss(kind: .constraint, met: row.newer)
    }
    return refused
  }

  /// The only row of the newer database that has a UNIQUE value of the row; nil: there are several, or none.
  private func rival(of row: Replayed, among left: [Replayed], in database: borrowing Database) throws -> Row? {
    guard let merged = row.merged else { return nil }
    let rivals = try rows.rivals(of: merged, in: database)
    guard rivals.count == 1, !left.contains(where: { $0.key == rivals[0] }) else { return nil }
    return try rows.row(rivals[0])
  }

  /// The rows among `mixed` that break a CHECK.
  private func rowsWithBrokenChecks(
    among mixed: [Replayed], in database: borrowing Database
  ) throws -> [Replayed] {
    if mixed.isEmpty { return [] }
    return try database.withChecks {
      // A CHECK may need a function that is missing here. In that case, only the hub checks the row.
      try rows.isCheckable() ? mixed.filter { try rows.breaksCheck($0.key) } : []
    }
  }

  /// Writes a row as in the newer database, and records the copy's write of the row as a conflict.
  private func giveUp(
    _ row: Replayed, _ loss: Loss, in database: borrowing Database, _ lost: LostChanges
  ) throws {
    try rows.write(row.newer, over: nil, key: row.key)
    try PreImageStore.replace(
      row.exported + [row.image.with(row: row.newer)], of: row.key, in: rows.table, database: database)
    // A policy may settle only a conflict about a UNIQUE value.
    let state = loss.kind == .unique ? rows.rules.table.stateOfUncompared : .open
    lost.add(
      .init(
        rows.name, row.key, image: row.image, change: row.change,
        disagreement: Disagreement(kind: loss.kind, state: state), met: loss.met))
    if let copied = row.copied, row.newer == nil { lost.note(deleted: copied, of: rows.schema) }
  }
}
