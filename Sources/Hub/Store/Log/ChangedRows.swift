import SatchelBundle
import SatchelSQLite
import SatchelValues

/// The changed rows of one table, for one device.
struct ChangedRows {
  /// Rows that others changed. Also rows that the device changed, if it may now have them in another form than it sent
  /// them.
  var news = RowSet()
  /// Rows that the device itself changed, in whatever form it has them now.
  var allOwn = RowSet()
  /// Rows that the device itself changed, and that it still has in the form in which it sent them. There is one set for
  /// each cursor in `marks`: the rows that were changed after that cursor.
  var own: [RowSet]
  /// Changed rows whose visibility may have changed, because a column that a rule reads was written. Most updates write
  /// no such column, so their rows need no evaluation.
  var decisive = RowSet()

  /// All changed rows.
  var all: RowSet { news.union(allOwn) }
}

/// The rows of one table that were changed after a cursor, with the devices that changed them. It is computed once for
/// all devices.
struct ChangesSince {
  /// Rows that are news for all devices. The hub changed them, or a device did and may have them in another form now.
  var forAll = RowSet()
  /// For each device, the rows that it changed and still has in the form in which it sent them.
  var byDevice: [String: RowSet] = [:]
  /// All devices that changed any of the rows.
  var authors: Set<String> = []
  var decisive = RowSet()
}

extension HubStore {
  /// The changed rows of each table after `cursor`, for one device.
  /// - Parameter marks: the cursors for `own`. None of them is before `cursor`.
  func changed(after cursor: Cursor, device: ReplicaID, marks: [Cursor] = []) throws -> [ChangedRows] {
    let walk = try changes(after: cursor)
    var result = walk.map { changes in
      let news = changes.byDevice.reduce(changes.forAll) { $1.key == device.text ? $0 : $0.union($1.value) }
      return ChangedRows(news: news, own: marks.map { _ in RowSet() }, decisive: changes.decisive)
    }
    guard walk.contains(where: { $0.authors.contains(device.text) }) else { return result }
    try database.each(
      "SELECT table_name, row, echo, cursor FROM satchel_log WHERE cursor > :cursor AND device = :device",
      ["cursor": .integer(cursor.rawValue), "device": .string(device.text)]
    ) {
      guard let place = place(of: Name($0.text(0))) else { return }
      let row = $0.integer(1)
      result[place].allOwn.insert(row)
      if $0.integer(2) != 0 { return }
      let at = Cursor($0.integer(3))
      for (mark, cursor) in marks.enumerated() where at > cursor { result[place].own[mark].insert(row) }
    }
    return result
  }

  /// The changed rows of each table after `cursor`. Reads the log once for all devices with this cursor.
  private func changes(after cursor: Cursor) throws -> [ChangesSince] {
    let newest = try self.cursor()
    if let known = walks.known(after: cursor, upTo: newest) { return known }
    let deciding = try decidingColumns()
    var result = tables.map { _ in ChangesSince() }
    try database.each(
      "SELECT table_name, row, device, echo, operation, set_values FROM satchel_log WHERE cursor > :cursor",
      ["cursor": .integer(cursor.rawValue)]
    ) {
      guard let place = place(of: Name($0.text(0))) else { return }
      let row = $0.integer(1)
      let device = $0.optionalText(2)
      if let device { result[place].authors.insert(device) }
      if let device, $0.integer(3) == 0 {
        result[place].byDevice[device, default: RowSet()].insert(row)
      } else {
        result[place].forAll.insert(row)
      }
      if try !result[place].decisive.contains(row) && mayDecide($0, of: place, deciding[place]) {
        result[place].decisive.insert(row)
      }
    }
    walks.keep(result, after: cursor, upTo: newest)
    return result
  }

  /// Whether a log entry changes a column that the rules read. A column that does not exist any more counts as such a
  /// column.
  private func mayDecide(_ entry: borrowing Statement, of place: Int, _ deciding: Set<Int>) throws -> Bool {
    guard Operation(rawValue: entry.text(4)) == .update, let set = try entry.fields(5) else { return true }
    return set.contains { field in rows[place].schema.position(of: field.name).map(deciding.contains) ?? true }
  }

  /// For each table, the columns that decide who may see a row.
  private func decidingColumns() throws -> [Set<Int>] {
    if let known = walks.deciding { return known }
    let rules = ScopeRules(dataset: dataset, tables: tables)
    let columns = try tables.map { table in
      try prepared(rule: rules.ofRowSQL(table, rules.visible(table))).authorizer.dependencies(on: table.schema)
    }
    walks.deciding = columns
    return columns
  }

  /// Prepares SQL that contains rules. An authorizer checks what the SQL reads.
  func prepared(rule sql: String) throws -> (statement: KeptStatement, authorizer: ReadAuthorizer) {
    let ours = tables.map { "satchel_rows_\($0.name)" }
    let authorizer = ReadAuthorizer(tables: tables.map(\.name.text) + ours, ownFunctions: [OpenScopes.function])
    let statement = try database.authorized(by: authorizer) { try database.prepare(sql) }
    return (KeptStatement(statement), authorizer)
  }
}

/// Remembers what was read from the log for emissions.
final class LogWalks {
  private var walks: [Cursor: [ChangesSince]] = [:]
  private var newest = Cursor.zero
  var deciding: [Set<Int>]?

  func known(after cursor: Cursor, upTo newest: Cursor) -> [ChangesSince]? {
    newest == self.newest ? walks[cursor] : nil
  }

  /// Remembers what was read from the log, for other devices at the same cursor. Only a few results are remembered,
  /// because each may need one bit for every row.
  func keep(_ changes: [ChangesSince], after cursor: Cursor, upTo newest: Cursor) {
    if newest != self.newest || walks.count == 8 { walks = [:] }
    self.newest = newest
    walks[cursor] = changes
  }

  /// Forgets all results. If the caller rolled changes back, new changes get the same cursors.
  func forget() { (walks, newest, deciding) = ([:], .zero, nil) }
}
