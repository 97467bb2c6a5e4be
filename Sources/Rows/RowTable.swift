import SatchelCapture
import SatchelMerge
import SatchelSQLite
import SatchelValues

/// Reads and writes single rows of one tracked table. Each statement is prepared once, when it is first needed.
///
/// If the app's table has an `ON CONFLICT` clause, inserts and updates say OR ABORT. Otherwise that clause could
/// silently delete or skip rows. Without such a clause they do not say OR ABORT, because it would also apply to the
/// INSERT OR REPLACE of triggers into derived tables.
///
/// SQLite finds a row by the collation of its key. The row is used only if its key is the same, apart from another
/// spelling of numbers.
public final class RowTable {
  public let table: TrackedTable
  /// The rules by which changes of these rows are merged.
  public let rules: MergeRules
  public let schema: TableSchema
  public let name: Name
  /// The table's name as it is in Satchel's own tables.
  public let nameBytes: [UInt8]
  private let select: Statement
  private let insertion: LazyStatement
  /// The update statements that were used so far, by the columns that they write.
  private var updates: [[Int]: KeptStatement] = [:]
  /// The beginning of an update statement, before its assignments.
  private let updateHead: String
  private let deletion: LazyStatement
  private let meeting: LazyStatement
  /// nil if the table has no local key, if the database is read-only, or if the rule is `numbered`.
  private let localKeys: LocalPrimaryKeys?
  /// The affinities of the key's columns, in the order of the key.
  private let keyAffinities: [Comparison.Affinity]
  private let writes: RowWrites
  private let writer: RowWriter

  /// How new rows get local keys.
  public enum LocalKeyRule: Sendable {
    /// A row that is removed and inserted again keeps its local key.
    case kept
    /// No row is removed. SQLite numbers the inserted rows in order.
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
    // DO UPDATE changes nothing, because it sets the key's first column to its own value. But with it SQLite returns
    // the key of the row that is in the way.
    let own = quoted(schema.columns[schema.key[0]])
    meeting = LazyStatement(
      """
      INSERT INTO \(tableSQL) (\(written)) VALUES (\(values))
      ON CONFLICT DO UPDATE SET \(own) = \(tableSQL).\(own)
      RETURNING \(quotedList(schema.key.map { schema.columns[$0] }))
      """)
  }

  /// Throws if this database cannot write rows of the table.
  public func checkWrites() throws {
    for statement in [insertion, deletion, meeting] { _ = try statement.prepared(beside: select) }
  }

  /// Whether this database can write rows of the table. The schema may need a function that only the app has.
  public func isWritable(in database: borrowing Database) throws -> Bool {
    do { try database.withoutTriggers { try checkWrites() } } catch let error as SQLiteError
      where error.nameOfApp != nil
    { return false }
    return true
  }

  /// Whether SQLite can compute the CHECKs of the table. They may need a function that only the app has.
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

  /// Calls `body` with a query whose current row is the row with this key. Does nothing if there is no such row.
  public func read(_ key: RowKey, _ body: (borrowing Statement) -> Void) throws {
    defer { select.reset() }
    if try find(key) { body(select) }
  }

  /// Whether there is a row with this key.
  public func contains(_ key: RowKey) throws -> Bool {
    defer { select.reset() }
    return try find(key)
  }

  /// Whether there is a row with this key. If so, it is the current row of `select`.
  private func find(_ key: RowKey) throws -> Bool {
    try select.bind(key.values)
    guard try select.step() else { return false }
    return zip(schema.key, key.values).allSatisfy { select.value($0).isSameInKey(as: $1) }
  }

  /// Inserts the current row of a query. The query returns this table's columns in their order.
  public func insert(rowOf query: borrowing Statement) throws {
    let insertion = try insertion.prepared(beside: select)
    defer { insertion.statement.reset() }
    try insertion.statement.bind(rowOf: query)
    _ = try insertion.statement.step()
    if writes.isOn { report(RowKey(schema.key.map { query.value($0) })) }
  }

  /// Reports a write to the observers of this connection.
  /// - Parameter columns: the columns that an update wrote; nil for an insert or a delete.
  private func report(_ key: RowKey, columns: [Int]? = nil) {
    if writes.isOn { writes.report(.init(table: name, key: key, columns: columns)) }
  }

  /// Copies the row with this key from a table of another database. Returns the key in that row's spelling; nil if
  /// there is no such row.
  public func copy(_ key: RowKey, from source: RowTable) throws -> RowKey? {
    defer { source.select.reset() }
    guard try source.find(key) else { return nil }
    try insert(rowOf: source.select)
    return RowKey(schema.key.map { source.select.value($0) })
  }

  /// Inserts a row if no other row has its key or one of its UNIQUE values. Otherwise nothing changes. Returns nil if
  /// the row was inserted, otherwise the key of the other row.
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

  /// Inserts, updates or deletes a row, so that `after` is in the table. `before` must be the present row.
  public func write(_ after: Row?, over before: Row?, key: RowKey) throws {
    if let change = Change(from: before, to: after) { try write(change, of: key) }
  }

  /// Applies a change to the row with this key. The row must be as the change expects. The key does not change,
  /// except for the spelling of numbers.
  ///
  /// Throws an `SQLiteError` of the kind `constraint` if the table would store a new row under another key, or if
  /// SQLite cannot compute an expression of the row. In both cases the row does not change.
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

  /// Writes a row without a change, so that SQLite checks all constraints of the table.
  ///
  /// Throws an `SQLiteError` of the kind `constraint` if the row breaks a CHECK, or if SQLite cannot compute a CHECK.
  public func rewrite(_ key: RowKey) throws {
    guard let row = try row(key) else { return }
    let others = otherColumns
    if !others.isEmpty { try writer.update(key.values + others.map { row[$0] }, by: update(of: others)) }
  }

  /// The columns outside the key.
  private var otherColumns: [Int] { schema.columns.indices.filter { !schema.key.contains($0) } }

  /// The statement that writes these columns. An update writes only changed columns, because SQLite then skips the
  /// indexes of other columns. That saves half of the work.
  private func update(of columns: [Int]) throws -> KeptStatement {
    if let known = updates[columns] { return known }
    let made = KeptStatement(try select.prepareAnother(updateSQL(of: columns)))
    if updates.count >= Self.mostUpdates { updates.removeAll() }
    updates[columns] = made
    return made
  }

  private func updateSQL(of columns: [Int]) -> String {
    // The parameters of the key come first.
    let assignments = columns.enumerated()
      .map { "\(quoted(schema.columns[$1])) = ?\(schema.key.count + $0 + 1)" }.joined(separator: ", ")
    return "\(updateHead) \(assignments) WHERE \(table.isKeySQL)"
  }

  /// The most update statements that are stored for reuse. Programs usually write the same few columns again.
  private static let mostUpdates = 256
}

extension RowTable {
  /// Inserts a row. Throws if a column's type changes its key, for example the text '1' to the number 1. Other
  /// replicas would not know the changed key.
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
  /// Whether a column with this affinity may store a different value instead of `value`. Another spelling of the same
  /// number does not count.
  fileprivate func mayChange(_ value: Value) -> Bool {
    switch (self, value) {
    case (.numeric, .text), (.integer, .text), (.real, .text), (.text, .integer), (.text, .real): true
    default: false
    }
  }
}

extension RowTable {
  /// Prepares the connection for local keys before a transaction begins. In a transaction this would change the
  /// schema. A later rollback of a savepoint would then end all open queries.
  public static func prepareLocalKeys(of tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables { _ = try LocalPrimaryKeys(table, in: database) }
  }

  /// The local key of a row; nil if there is none.
  public func localKey(of key: RowKey) throws -> Int64? { try localKeys?.place(of: key) }

  /// Reserves a local key for a row that is about to be inserted under another key.
  public func keepLocalKey(_ local: Int64?, for key: RowKey) throws {
    if let local { try localKeys?.assign(local, to: key) }
  }
}

extension RowTable {
  /// The keys of the rows that have a UNIQUE value of `row`. SQLite itself finds them, and the changes are undone.
  /// Empty if SQLite refuses the row for another reason.
  public func rivals(of row: Row, in database: borrowing Database) throws -> [RowKey] {
    var rivals: [RowKey] = []
    do {
      try database.savepoint(.dryRun) {
        let key = schema.key(of: row)
        try write(nil, over: try self.row(key), key: key)
        while let rival = try insertUnlessTaken(row) {
          rivals.append(rival)
          // A row with NULL in its key cannot be found by its key.
          guard let there = try self.row(rival) else { break }
          try write(nil, over: there, key: rival)
        }
      }
    } catch let error as SQLiteError where error.kind == .constraint { return [] }
    return rivals
  }
}
