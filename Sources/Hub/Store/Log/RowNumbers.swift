import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

/// The stable numbers of one table's rows. A key keeps its number for ever, even if its row is deleted. The cursor of
/// the row's last log entry is stored with the number.
final class RowNumbers {
  private let find: Statement
  private let add: LazyStatement
  private let move: LazyStatement
  private let entryOf: LazyStatement
  private let keyCount: Int
  private let names: Names
  private var keySQL: String { names.key.joined(separator: ", ") }

  /// The number of a row's key, with the row's newest log entry.
  struct Entry {
    let number: Int64
    /// The row's newest entry in the log. nil if there is none.
    let cursor: Cursor?
    /// The newest stamp of the row's changes. Zero if the row was never changed.
    let stamp: Stamp
  }

  init(_ table: TrackedTable, in database: borrowing Database) throws {
    let names = Self.names(table)
    self.names = names
    keyCount = table.schema.key.count
    find = try database.prepare(
      """
      SELECT \(names.number), \(names.cursor), \(names.stamp)
      FROM \(names.table)
      WHERE \(names.key.map { "\($0) = ?" }.joined(separator: " AND "))
      """)
    add = LazyStatement(
      """
      INSERT INTO \(names.table) (\(names.cursor), \(names.stamp), \(names.key.joined(separator: ", ")))
      VALUES (?, ?, \(names.key.map { _ in "?" }.joined(separator: ", ")))
      """)
    move = LazyStatement(
      """
      UPDATE \(names.table) SET \(names.cursor) = ?2, \(names.stamp) = max(\(names.stamp), ?3) WHERE \(names.number) \
      = ?1
      """
    )
    let keys = names.key.joined(separator: ", ")
    entryOf = LazyStatement(
      "SELECT \(names.cursor), \(names.stamp), \(keys) FROM \(names.table) WHERE \(names.number) = ?")
  }

  /// Creates the table of numbers, and numbers all rows. Its key columns have no type. So keys are compared as bytes,
  /// as in the table of pre-images.
  static func install(_ table: TrackedTable, in database: borrowing Database) throws {
    let names = Self.names(table)
    let keys = names.key.joined(separator: ", ")
    try create(names, in: database)
    try database.execute(
      "INSERT INTO \(names.table) (\(keys)) SELECT \(keys) FROM \(quoted(table.name)) ORDER BY \(keys)")
  }

  /// Renames the columns of the table of numbers to the present names of the key's columns.
  static func follow(_ table: TrackedTable, in database: borrowing Database) throws {
    let names = Self.names(table)
    let saved = try database.all(
      "SELECT name FROM pragma_table_info(:table)", ["table": .string("satchel_rows_\(table.name)")]
    ) { quoted($0.text(0)) }
    if saved == names.columns || saved.isEmpty { return }
    try database.execute("CREATE TEMP TABLE satchel_old AS SELECT * FROM main.\(names.table)")
    try database.execute("DROP TABLE main.\(names.table)")
    try create(names, in: database)
    try database.execute("INSERT INTO main.\(names.table) SELECT * FROM temp.satchel_old")
    try database.execute("DROP TABLE temp.satchel_old")
  }

  private static func create(_ names: Names, in database: borrowing Database) throws {
    let keys = names.key.joined(separator: ", ")
    try database.execute(
      """
      CREATE TABLE \(names.table) (
        \(names.number) INTEGER PRIMARY KEY, -- stands for the row in the sets of emissions
        \(names.cursor) INTEGER,             -- of the row's newest entry in satchel_log; NULL: none
        \(names.stamp) INTEGER NOT NULL DEFAULT 0, -- the newest that any change of the row had
        \(keys),
        UNIQUE (\(keys))
      )
      """)
  }

  /// The names of the table of numbers and of its columns, quoted for SQL.
  struct Names {
    let table: String
    let key: [String]
    let number: String
    let cursor: String
    let stamp: String

    var columns: [String] { [number, cursor, stamp] + key }
  }

  static func tableName(_ table: Name) -> String { "satchel_rows_\(table)" }

  static func names(_ table: TrackedTable) -> Names {
    let key = table.schema.key.map { table.schema.columns[$0] }
    func free(_ wanted: String) -> String {
      var name = wanted
      while key.contains(where: { $0.isSameInSQL(as: Name(name)) }) { name += "_" }
      return quoted(name)
    }
    return Names(
      table: quoted(tableName(table.name)), key: key.map { quoted($0) }, number: free("satchel_number"),
      cursor: free("satchel_cursor"), stamp: free("satchel_stamp"))
  }

  /// The greatest number in the table of numbers. The table has at most so many rows.
  func count(in database: borrowing Database) throws -> Int {
    Int(try database.first("SELECT max(\(names.number)) FROM \(names.table)") { $0.integer(0) } ?? 0)
  }

  /// The number and the newest log entry of the row with this key. nil if no row with this key ever existed.
  func entry(of key: RowKey) throws -> Entry? {
    defer { find.reset() }
    try find.bind(key.values)
    guard try find.step() else { return nil }
    return Entry(
      number: find.integer(0), cursor: find.optionalInteger(1).map { Cursor($0) }, stamp: Stamp(find.integer(2)))
  }

  /// The number of a key. nil if no row with this key ever existed.
  func number(of key: RowKey) throws -> Int64? { try entry(of: key)?.number }

  /// The number of a key. If the key has no number, it gets one.
  func assign(_ key: RowKey, in database: borrowing Database) throws -> Int64 {
    try number(of: key) ?? self.add(key, in: database)
  }

  /// Gives a number to a key that has none yet.
  /// - Parameter cursor: the cursor of the row's next log entry. nil if there will be none.
  func add(_ key: RowKey, at cursor: Cursor? = nil, _ stamp: Stamp = .zero, in database: borrowing Database) throws
    -> Int64
  {
    let values = [cursor.map { .integer($0.rawValue) } ?? .null, .integer(stamp.rawValue)] + key.values
    try add.prepared(beside: find).statement.run(values)
    return database.lastInsertRowID
  }

  /// Records the cursor and the stamp of a row's newest log entry.
  func note(_ cursor: Cursor, _ stamp: Stamp, of number: Int64) throws {
    let values: [Value] = [.integer(number), .integer(cursor.rawValue), .integer(stamp.rawValue)]
    try move.prepared(beside: find).statement.run(values)
  }

  /// A row whose number is in a set.
  struct Member {
    let number: Int64
    let key: RowKey
    /// The row's newest entry in the log. nil if there is none.
    let cursor: Cursor?
    /// The newest stamp of the row's changes. Zero if it was never changed.
    let stamp: Stamp
  }

  /// Calls `body` for each row of a set, in SQLite's order of the keys' values: numbers, then texts by their bytes,
  /// then blobs. The order of the row numbers would reveal rows that a user may not see.
  func each(of set: RowSet, in database: borrowing Database, _ body: (Member) throws -> Void) throws {
    if set.isEmpty { return }
    let count = set.count
    // A few rows are sorted in memory. For many rows, it costs less to read the whole table in the order of its keys.
    if count > Self.mostSorted {
      let columns = "\(names.number), \(names.cursor), \(names.stamp), \(keySQL)"
      try database.each("SELECT \(columns) FROM \(names.table) ORDER BY \(keySQL)") {
        if set.contains($0.integer(0)) { try body(member($0.integer(0), $0, from: 1)) }
      }
      return
    }
    var found: [Member] = []
    found.reserveCapacity(count)
    for number in set { if let member = try member(number) { found.append(member) } }
    for member in found.sorted(by: { $0.key.isBeforeInSQL($1.key) }) { try body(member) }
  }

  private static let mostSorted = 20_000

  func key(of number: Int64) throws -> RowKey? { try member(number)?.key }

  private func member(_ number: Int64) throws -> Member? {
    let entry = try entryOf.prepared(beside: find)
    defer { entry.statement.reset() }
    try entry.statement.bind(.integer(number), at: 1)
    return try entry.statement.step() ? member(number, entry.statement, from: 0) : nil
  }

  private func member(_ number: Int64, _ row: borrowing Statement, from first: Int) -> Member {
    Member(
      number: number, key: RowKey(row.values(from: first + 2, count: keyCount)),
      cursor: row.optionalInteger(first).map { Cursor($0) }, stamp: Stamp(row.integer(first + 1)))
  }
}
