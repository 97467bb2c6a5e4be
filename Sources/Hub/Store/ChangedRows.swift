import SatchelBundle
import SatchelSQLite
import SatchelValues

/// The rows of one table that were changed, as one device needs to know it.
struct ChangedRows {
  /// Changed by somebody whose change the device does not have, or may have rebased away.
  var news = RowSet()
  /// Changed by the device itself, whatever became of it there.
  var allOwn = RowSet()
  /// Changed by the device itself, and there as it was sent: for each of some cursors, what was changed after it.
  var own: [RowSet]
  /// Of those that anybody changed, the ones of which the change may say that another user sees them now. Most updates
  /// leave alone what the rules look at, and nobody needs to be asked about these.
  var decisive = RowSet()

  /// Changed by anybody.
  var all: RowSet { news.union(allOwn) }
}

/// The rows of one table that were changed after a cursor, and by whom: what all devices share.
struct ChangesSince {
  /// At the hub, or by a device and there in another way than it was sent: news for everybody.
  var forAll = RowSet()
  /// By each device, and there as it was sent.
  var byDevice: [String: RowSet] = [:]
  /// All devices that changed anything.
  var authors: Set<String> = []
  var decisive = RowSet()
}

extension HubStore {
  /// What was changed in each table after `cursor`, as one device needs to know it.
  /// - Parameter marks: cursors not before `cursor`, for `own`.
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

  /// What was changed in each table after `cursor`. One walk through the log serves all devices that stand there.
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

  /// Whether an entry of the log changes what the rules look at. One that names a column that is none by now is taken
  /// to.
  private func mayDecide(_ entry: borrowing Statement, of place: Int, _ deciding: Set<Int>) throws -> Bool {
    guard Operation(rawValue: entry.text(4)) == .update, let set = try entry.fields(5) else { return true }
    return set.contains { field in rows[place].schema.position(of: field.name).map(deciding.contains) ?? true }
  }

  /// For each table, the columns of a row on which it depends who may see it.
  private func decidingColumns() throws -> [Set<Int>] {
    if let known = walks.deciding { return known }
    let rules = ScopeRules(dataset: dataset, tables: tables)
    let columns = try tables.map { table in
      try prepared(rule: rules.ofRowSQL(table, rules.visible(table))).authorizer.dependencies(on: table.schema)
    }
    walks.deciding = columns
    return columns
  }

  /// Prepares SQL made of rules under the eyes of the authorizer.
  func prepared(rule sql: String) throws -> (statement: KeptStatement, authorizer: ReadAuthorizer) {
    let ours = tables.map { "satchel_rows_\($0.name)" }
    let authorizer = ReadAuthorizer(tables: tables.map(\.name.text) + ours, ownFunctions: [OpenScopes.function])
    let statement = try database.authorized(by: authorizer) { try database.prepare(sql) }
    return (KeptStatement(statement), authorizer)
  }
}

/// The walks through the log that were made for one emission.
final class LogWalks {
  private var walks: [Cursor: [ChangesSince]] = [:]
  private var newest = Cursor.zero
  var deciding: [Set<Int>]?

  func known(after cursor: Cursor, upTo newest: Cursor) -> [ChangesSince]? {
    newest == self.newest ? walks[cursor] : nil
  }

  /// Devices that came at different times stand at different places. Of many, the last ones are kept: each may be a bit
  /// for every row.
  func keep(_ changes: [ChangesSince], after cursor: Cursor, upTo newest: Cursor) {
    if newest != self.newest || walks.count == 8 { walks = [:] }
    self.newest = newest
    walks[cursor] = changes
  }

  /// What was read may be taken back, and other changes may get its cursors.
  func forget() { (walks, newest, deciding) = ([:], .zero, nil) }
}
