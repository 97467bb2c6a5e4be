import SatchelCapture
import SatchelMerge
import SatchelSQLite
import SatchelValues

/// Reads and writes single rows of one tracked table, with statements that are prepared once, when they are needed.
///
/// If the app's schema has an `ON CONFLICT` clause, inserts and updates say OR ABORT. Otherwise the clause could delete
/// or drop rows silently. Without such a clause, these statements do not say OR ABORT. OR ABORT would apply to triggers
/// too, and would refuse their INSERT OR REPLACE into derived tables.
///
/// SQLite finds a row by the key's collation. The row is used only if its key is the same. Numbers in the key may be
/// spelled differently.
public final class RowTable {
  public let table: TrackedTable
  /// How changes of these rows are merged.
  public let rules: MergeRules
  public let schema: TableSchema
  public let name: Name
  /// The name as it is stored in Satchel's tables.
  public let nameBytes: [UInt8]
  private let select: Statement
  private let insertion: LazyStatement
  /// The update statements that were needed until now, by the columns that they write.
  private var updates: [[Int]: KeptStatement] = [:]
  /// The text before the assignments of an update.
  private let updateHead: String
  private let deletion: LazyStatement
  private let meeting: LazyStatement
  /// nil: the table has no local key that can be written, or the rule is `numbered`.
  private let localKeys: LocalPrimaryKeys?
  /// The affinities of the key's columns, in the key's order.
  private let keyAffinities: [Comparison.Affinity]
  private let writes: RowWrites
  private let writer: RowWriter

  /// The rule for local keys of rows that are removed and inserted again.
  public enum LocalKeyRule: Sendable {
    /// Rows keep their local keys.
    case kept
    /// Rows are only inserted, and SQLite numbers them in order.
    case numbered
  }

  public init(
    _ table: TrackedTable, in database: borrowing Database, localKeys rule: LocalKeyRule = .kept
  ) throws {
    let schema = table.schema
    let tableSQL = quoted(schema.name)
    let orAbort = try database.declaresOnConflict(schema.name) ? " OR ABORT" : ""
    self.table = table
    self.schema = schema
    name = schema.name
    nameBytes = Array(schema.name.text.utf8)
    rules = MergeRules(table.rules, schema: schema)
    writes = database.writes
    writer = RowWriter(schema.name)
    let declared = try database.columnDeclarations(of: schema.name)
    keyAffinities = schema.key.map { column in
      declared.first { $0.name == schema.columns[column] }?.affinity ?? .none
    }
    select = try database.prepare("SELECT \(quotedList(schema.columns)) FROM \(tableSQL) WHERE \(table.isKeySQL)")
    let localKeys = rule == .kept ? try LocalPrimaryKeys(table, in: database) : nil
    self.localKeys = localKeys
    let written = ([quotedList(schema.columns)] + [localKeys?.column].compactMap(\.self)).joined(separator: ", ")
    let values = (schema.columns.map { _ in "?" } + [localKeys?.valueSQL].compactMap(\.self)).joined(separator: ", ")
    insertion = LazyStatement("INSERT\(orAbort) INTO \(tableSQL) (\(written)) VALUES (\(values))")
    updateHead = "UPDATE\(orAbort) \(tableSQL) SET"
    deletion = LazyStatement("DELETE FROM \(tableSQL) WHERE \(table.isKeySQL)")
    // The first column of the key is set to itself, so that SQLite returns which row it found.
    let own = quoted(schema.columns[schema.key[0]])
    meeting = LazyStatement(
      """
      INSERT INTO \(tableSQL) (\(written)) VALUES (\(values))
      ON CONFLICT DO UPDATE SET \(own) = \(tableSQL).\(own)
      RETURNING \(quotedList(schema.key.map { schema.columns[$0] }))
      """)
  }

  /// Throws if rows of the table cannot be written here.
  public func checkWrites() throws {
    for statement in [insertion, deletion, meeting] { _ = try statement.prepared(beside: select) }
  }

  /// Whether rows of the table can be written here. Its schema may need a function that only the app has.
  public func isWritable(in database: borrowing Database) throws -> Bool {
    do { try database.withoutTriggers { try checkWrites() } } catch let error as SQLiteError
      where error.nameOfApp != nil
    { return false }
    return true
  }

  /// Whether the CHECKs of the table can be computed here. They may need a function that only the app has.
  public func isCheckable() throws -> Bool {
    if otherColumns.isEmpty { return true }
    do throws(SQLiteError) { _ = try select.prepareAnother(updateSQL(of: otherColumns)).columnCount } catch {
      if error.nameOfApp == nil { throw error }
      return false
    }
    return true
  }

  /// The row with this key; nil if there is none.
  public func row(_ key: RowKey) throws -> Row? {
    defer { select.reset() }
    try select.bind(key.values)
    guard try select.step() else { return nil }
    let row = Row(select.values(from: 0, count: schema.columns.count))
    return schema.key(of: row) == key ? row : nil
  }

  /// Calls `body` with a query that is on the row with this key. Does nothing if there is no such row.
  public func read(_ key: RowKey, _ body: (borrowing Statement) -> Void) throws {
    defer { select.reset() }
    if try find(key) { body(select) }
  }

  /// Whether there is a row with this key.
  public func contains(_ key: RowKey) throws -> Bool {
    defer { select.reset() }
    return try find(key)
  }

  /// Whether there is a row with this key. `select` is then on that row.
  private func find(_ key: RowKey) throws -> Bool {
    try select.bind(key.values)
    guard try select.step() else { return false }
    return zip(schema.key, key.values).allSatisfy { select.value($0).isSameInKey(as: $1) }
  }

  /// Inserts the current row of a query with this table's columns in their order.
  public func insert(rowOf query: borrowing Statement) throws {
    let insertion = try insertion.prepared(beside: select)
    defer { insertion.statement.reset() }
    try insertion.statement.bind(rowOf: query)
    _ = try insertion.statement.step()
    if writes.isOn { report(RowKey(schema.key.map { query.value($0) })) }
  }

  /// Reports a write to the observers of the connection's writes.
  /// - Parameter columns: the columns that an update wrote; nil: the row came or went.
  private func report(_ key: RowKey, columns: [Int]? = nil) {
    if writes.isOn { writes.report(.init(table: name, key: key, columns: columns)) }
  }

  /// Copies the row with this key from another database's table. Returns the key as that row spells it; nil: there is
  /// no such row.
  public func copy(_ key: RowKey, from source: RowTable) throws -> RowKey? {
    defer { source.select.reset() }
    guard try source.find(key) else { return nil }
    try insert(rowOf: source.select)
    return RowKey(schema.key.map { source.select.value($0) })
  }

  /// Inserts a row, unless another row holds its key or one of its UNIQUE values: then nothing is changed. Returns the
  /// key of that other row; nil: the row was inserted.
  public func insertUnlessTaken(_ row: Row) throws -> RowKey? {
    let meeting = try meeting.prepared(beside: select)
    defer { meeting.statement.reset() }
    try meeting.statement.bind(row.values)
    guard try writer.computing(meeting, { try meeting.statement.step() }) else { return nil }
    let found = RowKey(meeting.statement.values(from: 0, count: schema.key.count))
    _ = try meeting.statement.step()
    report(schema.key(of: row))
    return found.values == schema.key(of: row).values ? nil : found
  }

  /// Inserts, updates or deletes the row, so that it becomes `after`. `before` is the present row.
  public func write(_ after: Row?, over before: Row?, key: RowKey) throws {
    if let change = Change(from: before, to: after) { try write(change, of: key) }
  }

  /// Changes the row with this key. The row must be as the change expects. Its key stays, but numbers in the key may
  /// get another spelling.
  ///
  /// Throws an `SQLiteError` of the kind `constraint` if the table would store a new row under another key, or if
  /// SQLite cannot compute an expression of the row. The row is then as before.
  public func write(_ change: Change, of key: RowKey) throws {
    switch change {
    case .insert(let row):
      try insert(row)
      report(key)
    case .delete:
      try localKeys?.save(key)
      try deletion.prepared(beside: select).statement.run(key.values)
      report(key)
    case .update(let changes):
      let changes = changes.filter { !schema.key.contains($0.column) || $0.was.isSameInKey(as: $0.value) }
      if changes.isEmpty { return }
      let columns = changes.map(\.column)
      try writer.update(key.values + changes.map(\.value), by: update(of: columns))
      report(key, columns: columns)
    }
  }

  /// Writes the row with this key unchanged, so that SQLite checks all constraints of the table.
  ///
  /// Throws an `SQLiteError` of the kind `constraint` if the row breaks a CHECK, or if a CHECK cannot be computed.
  public func rewrite(_ key: RowKey) throws {
    guard let row = try row(key) else { return }
    let others = otherColumns
    if !others.isEmpty { try writer.update(key.values + others.map { row[$0] }, by: update(of: others)) }
  }

  /// The columns outside the key.
  private var otherColumns: [Int] { schema.columns.indices.filter { !schema.key.contains($0) } }

  /// Returns the statement that writes these columns. Only changed columns are written. Then SQLite skips the indexes
  /// of other columns, which would be half of the work.
  private func update(of columns: [Int]) throws -> KeptStatement {
    if let known = updates[columns] { return known }
    let made = KeptStatement(try select.prepareAnother(updateSQL(of: columns)))
    if updates.count >= Self.mostUpdates { updates.removeAll() }
    updates[columns] = made
    return made
  }

  private func updateSQL(of columns: [Int]) -> String {
    // These parameters follow the parameters of the key.
    let assignments = columns.enumerated()
      .map { "\(quoted(schema.columns[$1])) = ?\(schema.key.count + $0 + 1)" }.joined(separator: ", ")
    return "\(updateHead) \(assignments) WHERE \(table.isKeySQL)"
  }

  /// Programs write the same few columns again and again.
  private static let mostUpdates = 256
}

extension RowTable {
  /// Inserts a row. A column's type may convert a key, such as the text '1' to the number 1. Then the row would have a
  /// key here that no other replica knows.
  private func insert(_ row: Row) throws {
    try writer.insert(row.values, by: insertion.prepared(beside: select))
    guard zip(schema.key, keyAffinities).contains(where: { $1.mayChange(row[$0]) }) else { return }
    let key = schema.key(of: row)
    if try contains(key) { return }
    try deletion.prepared(beside: select).statement.run(key.values)
    throw SQLiteError(constraint: "The table \(name) changes the value of its key: a column has another type here.")
  }
}

extension Comparison.Affinity {
  /// Whether a column may store another value than the given value, and not only another spelling.
  fileprivate func mayChange(_ value: Value) -> Bool {
    switch (self, value) {
    case (.numeric, .text), (.integer, .text), (.real, .text), (.text, .integer), (.text, .real): true
    default: false
    }
  }
}

extension RowTable {
  /// Prepares the connection for local keys, before a transaction begins. If a transaction changes the schema, rolling
  /// back a savepoint ends every open query.
  public static func prepareLocalKeys(of tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables { _ = try LocalPrimaryKeys(table, in: database) }
  }

  /// The row's local key, by which programs on this replica may refer to it; nil: there is none.
  public func localKey(of key: RowKey) throws -> Int64? { try localKeys?.place(of: key) }

  /// Gives a row that is about to be inserted the local key that it had under its former key.
  public func keepLocalKey(_ local: Int64?, for key: RowKey) throws {
    if let local { try localKeys?.assign(local, to: key) }
  }
}

extension RowTable {
  /// The keys of the rows that hold a UNIQUE value of `row`. SQLite itself finds these rows. Nothing is changed. Empty
  /// if the row fails for another reason.
  public func rivals(of row: Row, in database: borrowing Database) throws -> [RowKey] {
    var rivals: [RowKey] = []
    do {
      try database.savepoint(.dryRun) {
        let key = schema.key(of: row)
        try write(nil, over: try self.row(key), key: key)
        while let rival = try insertUnlessTaken(row) {
          rivals.append(rival)
          // A row whose key holds NULL cannot be found by its key.
          guard let there = try self.row(rival) else { break }
          try write(nil, over: there, key: rival)
        }
      }
    } catch let error as SQLiteError where error.kind == .constraint { return [] }
    return rivals
  }
}
