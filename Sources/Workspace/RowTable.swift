import SatchelCapture
import SatchelMerge
import SatchelSQLite
import SatchelValues

/// Reads and writes single rows of one tracked table, with statements that are prepared once.
///
/// What a statement does where a UNIQUE value is taken is said here, and not by an `ON CONFLICT` in the app's schema:
/// that would delete or drop rows without a word. It is said only where there is one, because it holds for the triggers
/// too: what they INSERT OR REPLACE into a derived table would be refused.
///
/// A row is found by the key's collation and taken only if its key is the same, however its numbers are spelled.
public final class RowTable {
  public let table: TrackedTable
  /// How changes of these rows are merged.
  public let rules: MergeRules
  public let schema: TableSchema
  public let name: Name
  /// The name as it stands in tables of ours.
  public let nameBytes: [UInt8]
  private let select: Statement
  private let insertion: Statement
  /// Updates by the columns that they write; those that were needed so far.
  private var updates: [[Int]: KeptStatement] = [:]
  /// What stands before the assignments of an update.
  private let updateHead: String
  private let deletion: Statement
  private let meeting: Statement
  /// nil: the table has no key of each replica's own, or rows that come in are new here.
  private let localKeys: LocalKeys?
  /// What the key's columns make of values, in the key's order.
  private let keyAffinities: [Comparison.Affinity]
  private let writes: RowWrites

  /// The rule for local keys of rows that are taken out and put in again.
  public enum LocalKeyRule: Sendable {
    /// Rows keep them.
    case kept
    /// Rows only come in, and SQLite numbers them in their order.
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
    let declared = try database.columnDeclarations(of: schema.name)
    keyAffinities = schema.key.map { column in
      declared.first { $0.name == schema.columns[column] }?.affinity ?? .none
    }
    select = try database.prepare("SELECT \(quotedList(schema.columns)) FROM \(tableSQL) WHERE \(table.isKeySQL)")
    let localKeys = rule == .kept ? try LocalKeys(table, in: database) : nil
    self.localKeys = localKeys
    let written = ([quotedList(schema.columns)] + [localKeys?.column].compactMap(\.self)).joined(separator: ", ")
    let values = (schema.columns.map { _ in "?" } + [localKeys?.valueSQL].compactMap(\.self)).joined(separator: ", ")
    insertion = try database.prepare("INSERT\(orAbort) INTO \(tableSQL) (\(written)) VALUES (\(values))")
    updateHead = "UPDATE\(orAbort) \(tableSQL) SET"
    deletion = try database.prepare("DELETE FROM \(tableSQL) WHERE \(table.isKeySQL)")
    // The first column of the key is set to what it is: SQLite then says which row it has found.
    let own = quoted(schema.columns[schema.key[0]])
    meeting = try database.prepare(
      """
      INSERT INTO \(tableSQL) (\(written)) VALUES (\(values))
      ON CONFLICT DO UPDATE SET \(own) = \(tableSQL).\(own)
      RETURNING \(quotedList(schema.key.map { schema.columns[$0] }))
      """)
  }

  /// The row with this key; nil where there is none.
  public func row(_ key: RowKey) throws -> Row? {
    defer { select.reset() }
    try select.bind(key.values)
    guard try select.step() else { return nil }
    let row = Row(select.values(from: 0, count: schema.columns.count))
    return schema.key(of: row) == key ? row : nil
  }

  /// Whether there is a row with this key.
  public func contains(_ key: RowKey) throws -> Bool {
    defer { select.reset() }
    return try find(key)
  }

  /// Whether there is a row with this key, at which `select` then stands.
  private func find(_ key: RowKey) throws -> Bool {
    try select.bind(key.values)
    guard try select.step() else { return false }
    return zip(schema.key, key.values).allSatisfy { select.value($0).isSameInKey(as: $1) }
  }

  /// Inserts the row at which a query stands that has this table's columns in their order.
  public func insert(rowOf query: borrowing Statement) throws {
    defer { insertion.reset() }
    try insertion.bind(rowOf: query)
    _ = try insertion.step()
    if writes.isOn { report(RowKey(schema.key.map { query.value($0) })) }
  }

  /// Reports a write to those who follow the connection's writes.
  /// - Parameter columns: the columns that an update wrote; nil: the row came or went.
  private func report(_ key: RowKey, columns: [Int]? = nil) {
    if writes.isOn { writes.report(.init(table: name, key: key, columns: columns)) }
  }

  /// Inserts the row that another database's table has under this key. Returns the key as that row spells it; nil:
  /// there is no such row.
  public func copy(_ key: RowKey, from source: RowTable) throws -> RowKey? {
    defer { source.select.reset() }
    guard try source.find(key) else { return nil }
    try insert(rowOf: source.select)
    return RowKey(schema.key.map { source.select.value($0) })
  }

  /// Inserts a row, unless another one holds its key or one of its UNIQUE values: then nothing is changed. Returns that
  /// one's key; nil where the row is in.
  public func insertUnlessTaken(_ row: Row) throws -> RowKey? {
    defer { meeting.reset() }
    try meeting.bind(row.values)
    guard try meeting.step() else { return nil }
    let found = RowKey(meeting.values(from: 0, count: schema.key.count))
    _ = try meeting.step()
    report(schema.key(of: row))
    return found.values == schema.key(of: row).values ? nil : found
  }

  /// Makes the row what it is to be: inserts, updates or deletes. `before` is the row as it is.
  public func write(_ after: Row?, over before: Row?, key: RowKey) throws {
    if let change = Change(from: before, to: after) { try write(change, of: key) }
  }

  /// Changes the row with this key, which must be as the change says that it was. Its key stays, but its numbers may be
  /// spelled in another way from now on.
  ///
  /// Throws an `SQLiteError` of the kind `constraint` if a new row would have another key than it says.
  public func write(_ change: Change, of key: RowKey) throws {
    switch change {
    case .insert(let row):
      try insert(row)
      report(key)
    case .delete:
      try localKeys?.save(key)
      try deletion.run(key.values)
      report(key)
    case .update(let changes):
      let changes = changes.filter { !schema.key.contains($0.column) || $0.was.isSameInKey(as: $0.value) }
      if changes.isEmpty { return }
      let columns = changes.map(\.column)
      try update(of: columns).statement.run(key.values + changes.map(\.value))
      report(key, columns: columns)
    }
  }

  /// Writes the row with this key as it is, so that SQLite looks at all that the table demands of a row.
  ///
  /// Throws an `SQLiteError` of the kind `constraint` if the row breaks a CHECK.
  public func rewrite(_ key: RowKey) throws {
    guard let row = try row(key) else { return }
    let others = schema.columns.indices.filter { !schema.key.contains($0) }
    if !others.isEmpty { try update(of: others).statement.run(key.values + others.map { row[$0] }) }
  }

  /// Only what changed is written: then SQLite need not look after an index of other columns, which would be half of
  /// the work.
  private func update(of columns: [Int]) throws -> KeptStatement {
    if let known = updates[columns] { return known }
    // Behind the key's own parameters.
    let assignments = columns.enumerated()
      .map { "\(quoted(schema.columns[$1])) = ?\(schema.key.count + $0 + 1)" }.joined(separator: ", ")
    let made = KeptStatement(try select.prepareAnother("\(updateHead) \(assignments) WHERE \(table.isKeySQL)"))
    if updates.count >= Self.mostUpdates { updates.removeAll() }
    updates[columns] = made
    return made
  }

  /// Programs write the same few columns again and again.
  private static let mostUpdates = 256
}

extension RowTable {
  /// Inserts a row. A column's type may make another key of a value, such as the number 1 of the text '1': then the row
  /// would be here under a name that nobody else knows.
  private func insert(_ row: Row) throws {
    try insertion.run(row.values)
    guard zip(schema.key, keyAffinities).contains(where: { $1.mayChange(row[$0]) }) else { return }
    let key = schema.key(of: row)
    if try contains(key) { return }
    try deletion.run(key.values)
    throw SQLiteError(constraint: "The table \(name) makes another value of its key: a column has another type here.")
  }
}

extension Comparison.Affinity {
  /// Whether a column may hold another value, and not just another spelling, than the one that is put into it.
  fileprivate func mayChange(_ value: Value) -> Bool {
    switch (self, value) {
    case (.numeric, .text), (.integer, .text), (.real, .text), (.text, .integer), (.text, .real): true
    default: false
    }
  }
}

extension RowTable {
  /// Makes the connection ready to keep local keys, before a transaction begins: with a schema that changes inside it,
  /// a savepoint that is taken back ends every open query.
  public static func prepareLocalKeys(of tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables { _ = try LocalKeys(table, in: database) }
  }

  /// The row's local key, by which programs on this replica may name it; nil: there is none.
  public func localKey(of key: RowKey) throws -> Int64? { try localKeys?.place(of: key) }

  /// Gives a row that is about to be inserted the local key of the row that it was under another key.
  public func keepLocalKey(_ local: Int64?, for key: RowKey) throws {
    if let local { try localKeys?.assign(local, to: key) }
  }
}

extension RowTable {
  /// The keys of the rows that would have to go for `row` to be there, by any UNIQUE index; SQL itself says which.
  /// Nothing is changed. A row that could not be there for another reason has none.
  public func rivals(of row: Row, in database: borrowing Database) throws -> [RowKey] {
    var rivals: [RowKey] = []
    do {
      try database.savepoint {
        let key = schema.key(of: row)
        try write(nil, over: try self.row(key), key: key)
        while let rival = try insertUnlessTaken(row) {
          rivals.append(rival)
          // One whose key holds NULL has no name by which it could be found.
          guard let there = try self.row(rival) else { break }
          try write(nil, over: there, key: rival)
        }
        throw OnlyLooking()
      }
    } catch is OnlyLooking {} catch let error as SQLiteError where error.kind == .constraint { return [] }
    return rivals
  }

  private struct OnlyLooking: Error {}
}
