import SatchelBundle
import SatchelCapture
import SatchelJSON
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// One entry of the log about one row.
struct LogEntry {
  let cursor: Cursor
  let operation: Operation
  /// The written values in JSON, which few callers need. nil for a delete.
  let setText: [UInt8]?
  let was: [Field]?
  /// The id of the device. nil for a person or an app at the hub.
  let device: String?
  let user: String
  /// The bundle that brought the change. nil if no bundle did.
  let bundle: String?
  let stamp: Stamp
  /// The time when the hub committed the change, in milliseconds since 1970.
  let at: Int64

  /// The written values. nil for a delete.
  var set: [Field]? { get throws { try setText.map { try FieldsCoding.parse($0) } } }

  /// Whether the change wrote only values that the row had already.
  var changesNothing: Bool { get throws { try operation == .update && set == was } }

  /// The columns that the entry changed. For an inserted or deleted row, these are all columns.
  func columns(in schema: TableSchema) -> [Int] {
    operation == .update ? (was ?? []).compactMap { schema.position(of: $0.name) } : Array(schema.columns.indices)
  }
}

extension HubStore {
  /// The row's number and its newest log entry. nil if no row with this key ever existed.
  func past(of key: RowKey, in place: Int) throws -> RowNumbers.Entry? { try numbers[place].entry(of: key) }

  /// Records one change of a row in the log. The hub's cursor grows by one. The caller has already written the row.
  func log(_ change: Change, of key: RowKey, in place: Int, from origin: Origin) throws {
    try log(change, of: key, with: past(of: key, in: place), in: place, from: origin)
  }

  /// Records one change of a row in the log. `past` must be the newest entry about this row.
  func log(_ change: Change, of key: RowKey, with past: RowNumbers.Entry?, in place: Int, from origin: Origin) throws {
    let schema = rows[place].schema
    let cursor = try logged.nextCursor()
    let number = try past?.number ?? numbers[place].add(key, at: cursor, origin.stamp, in: database)
    if past != nil { try numbers[place].note(cursor, origin.stamp, of: number) }
    let operation: Value
    let set: [Field]?
    let was: [Field]?
    switch change {
    case .insert(let row): (operation, set, was) = (Self.inserted, schema.fields(row), nil)
    case .delete(let row): (operation, set, was) = (Self.deleted, nil, schema.fields(row))
    case .update(let changes):
      operation = Self.updated
      set = changes.map { Field(schema.columns[$0.column], $0.value) }
      was = changes.map { Field(schema.columns[$0.column], $0.was) }
    }
    try logged.add().statement.run([
      .integer(cursor.rawValue), .text(rows[place].nameBytes), .integer(number),
      past?.cursor.map { .integer($0.rawValue) } ?? .null, .text(canonicalKey(key)), operation,
      set.map { .text(FieldsCoding.json($0)) } ?? .null, was.map { .text(FieldsCoding.json($0)) } ?? .null,
      origin.deviceValue,
      origin.userValue, .integer(origin.stamp.rawValue), origin.bundleValue, .integer(origin.returnsToAuthor ? 1 : 0),
      .integer(origin.at),
    ])
  }

  private static let inserted = Value.string(Operation.insert.rawValue)
  private static let updated = Value.string(Operation.update.rawValue)
  private static let deleted = Value.string(Operation.delete.rawValue)

  /// Calls `body` for each change of a row after `cursor`, the newest first, until `body` returns `.enough`.
  func eachChange(
    of past: RowNumbers.Entry?, after cursor: Cursor = .zero, _ body: (LogEntry) throws -> Enough
  ) throws {
    try eachChange(from: past?.cursor, after: cursor, body)
  }

  /// Reads the log of one row backwards from its newest entry.
  /// - Parameters:
  ///   - newest: the cursor of the newest entry. nil if the row has none.
  ///   - cursor: entries up to this cursor are not read.
  func eachChange(from newest: Cursor?, after cursor: Cursor, _ body: (LogEntry) throws -> Enough) throws {
    var next = newest
    let kept = try logged.entry()
    while let at = next, at > cursor {
      defer { kept.statement.reset() }
      try kept.statement.bind(.integer(at.rawValue), at: 1)
      // The log does not reach back to this entry.
      guard try kept.statement.step(), let operation = Operation(rawValue: kept.statement.text(0)) else { return }
      let entry = LogEntry(
        cursor: at, operation: operation, setText: kept.statement.textBytes(1), was: try kept.statement.fields(2),
        device: kept.statement.optionalText(3), user: kept.statement.text(6), bundle: kept.statement.optionalText(7),
        stamp: Stamp(kept.statement.integer(4)), at: kept.statement.integer(8))
      next = kept.statement.optionalInteger(5).map { Cursor($0) }
      if try body(entry) == .enough { return }
    }
  }

  enum Enough { case enough, more }

  /// If a device deleted a row that never existed at the hub, returns the entry of that delete. nil if the row existed
  /// here, or is not deleted.
  func unknownDeletion(_ past: RowNumbers.Entry?) throws -> LogEntry? {
    guard let newest = past?.cursor else { return nil }
    let isFirst = try database.first(
      "SELECT previous IS NULL FROM satchel_log WHERE cursor = :cursor", ["cursor": .integer(newest.rawValue)]
    ) { $0.integer(0) == 1 }
    guard isFirst == true else { return nil }
    var deletion: LogEntry?
    try eachChange(of: past) { entry in
      if entry.operation == .delete, entry.device != nil { deletion = entry }
      return .enough
    }
    return deletion
  }

  /// The changes of a row after `cursor` that are not in `own`.
  func changesByOthers(
    of past: RowNumbers.Entry?, in place: Int, after cursor: Cursor, than own: OwnChanges
  ) throws -> OthersChanges {
    var others = OthersChanges()
    let schema = rows[place].schema
    others.newest = past?.stamp ?? .zero
    try eachChange(of: past, after: cursor) { entry in
      if own.contains(entry) {
        others.own.formUnion(entry.columns(in: schema))
        return .more
      }
      if entry.operation != .update { others.presence = true }
      for column in entry.columns(in: schema) {
        others.columns[column] = max(others.columns[column] ?? .zero, entry.stamp)
      }
      return .more
    }
    return others
  }

  /// Whether a row has not changed since it was inserted.
  func isAsInserted(_ key: RowKey, in place: Int) throws -> Bool {
    var isAsInserted = true
    try eachChange(of: past(of: key, in: place)) { entry in
      isAsInserted = entry.operation == .insert
      return isAsInserted ? .more : .enough
    }
    return isAsInserted
  }

  /// The newest insert of a row, if it is after `cursor`. nil if there is none.
  func newestInsert(of past: RowNumbers.Entry?, after cursor: Cursor = .zero) throws -> LogEntry? {
    var found: LogEntry?
    try eachChange(of: past, after: cursor) { entry in
      guard entry.operation == .insert else { return .more }
      found = entry
      return .enough
    }
    return found
  }

  /// The row as it was before its last delete. nil if the log has no delete, or if the table has other columns by now.
  func lastImage(of key: RowKey, in place: Int) throws -> Row? {
    var last: Row?
    try eachChange(of: past(of: key, in: place)) { entry in
      guard entry.operation == .delete else { return .more }
      do { last = try entry.was.map { try rows[place].schema.row(kept: $0, in: database) } } catch is LineProblem {}
      return .enough
    }
    return last
  }
}

extension Statement {
  /// Parses a JSON object in the log: values of a row, by column name. nil for NULL.
  /// - Parameter column: the position of the object in the statement's result.
  func fields(_ column: Int) throws -> [Field]? { try textBytes(column).map { try FieldsCoding.parse($0) } }

  /// The bytes of a text. nil for any other value.
  func textBytes(_ column: Int) -> [UInt8]? {
    guard case .text(let bytes) = value(column) else { return nil }
    return bytes
  }
}
