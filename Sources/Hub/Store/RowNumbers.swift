import SatchelCapture
import SatchelSQLite
import SatchelValues

/// The stable numbers of one table's rows: a key has one number for ever, whether its row is there or not.
final class RowNumbers {
  private let find: Statement
  private let add: Statement
  private let keyOf: Statement
  private let keyCount: Int

  init(_ table: TrackedTable, in database: borrowing Database) throws {
    let names = Self.names(table)
    keyCount = table.schema.key.count
    find = try database.prepare(
      "SELECT \(names.number) FROM \(names.table) WHERE \(names.key.map { "\($0) = ?" }.joined(separator: " AND "))")
    add = try database.prepare(
      """
      INSERT INTO \(names.table) (\(names.key.joined(separator: ", ")), \(names.number))
      VALUES (\(names.key.map { _ in "?" }.joined(separator: ", ")), (SELECT coalesce(max(\(names.number)) + 1, 0) FROM \(names.table)))
      RETURNING \(names.number)
      """)
    keyOf = try database.prepare("SELECT \(names.key.joined(separator: ", ")) FROM \(names.table) WHERE \(names.number) = ?")
  }

  /// Keys stand without a type and are compared as bytes, as in the table of pre-images.
  static func install(_ table: TrackedTable, in database: borrowing Database) throws {
    let names = Self.names(table)
    let keys = names.key.joined(separator: ", ")
    try create(names, in: database)
    try database.execute(
      """
      INSERT INTO \(names.table)
      SELECT \(keys), row_number() OVER (ORDER BY \(keys)) - 1
      FROM \(quoted(table.name))
      """)
  }

  /// Gives the columns of the table of numbers the names that the key's columns have by now.
  static func follow(_ table: TrackedTable, in database: borrowing Database) throws {
    let names = Self.names(table)
    let saved = try database.all(
      "SELECT name FROM pragma_table_info(:table)", ["table": .string("satchel_rows_\(table.name)")]
    ) { quoted($0.text(0)) }
    if saved == names.key + [names.number] || saved.isEmpty { return }
    try database.execute("CREATE TEMP TABLE satchel_old AS SELECT * FROM main.\(names.table)")
    try database.execute("DROP TABLE main.\(names.table)")
    try create(names, in: database)
    try database.execute("INSERT INTO main.\(names.table) SELECT * FROM temp.satchel_old")
    try database.execute("DROP TABLE temp.satchel_old")
  }

  private static func create(_ names: (table: String, key: [String], number: String), in database: borrowing Database) throws {
    let keys = names.key.joined(separator: ", ")
    try database.execute(
      """
      CREATE TABLE \(names.table) (
        \(keys),
        \(names.number) INTEGER NOT NULL UNIQUE, -- stands for the row in the sets of emissions
        PRIMARY KEY (\(keys))
      ) WITHOUT ROWID
      """)
  }

  /// SQL for the table of numbers: its name, the key's columns, and the number's.
  static func names(_ table: TrackedTable) -> (table: String, key: [String], number: String) {
    let key = table.schema.key.map { table.schema.columns[$0] }
    var number = "satchel_number"
    while key.contains(where: { $0.text.lowercased() == number }) { number += "_" }
    return (quoted("satchel_rows_\(table.name)"), key.map { quoted($0) }, quoted(number))
  }

  /// The number of a key; nil where no row of this key was ever there.
  func number(of key: RowKey) throws -> Int64? {
    defer { find.reset() }
    try find.bind(key.values)
    return try find.step() ? find.integer(0) : nil
  }

  /// The number of a key, which gets one if it has none.
  func assign(_ key: RowKey) throws -> Int64 {
    if let number = try number(of: key) { return number }
    defer { add.reset() }
    try add.bind(key.values)
    _ = try add.step()
    return add.integer(0)
  }

  func key(of number: Int64) throws -> RowKey? {
    defer { keyOf.reset() }
    try keyOf.bind(.integer(number), at: 1)
    return try keyOf.step() ? RowKey(keyOf.values(from: 0, count: keyCount)) : nil
  }
}
