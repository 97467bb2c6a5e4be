import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues

/// The last known rows, computed from bundles and logs, in a database of their own.
///
/// The tables have the columns, types and defaults of the present tables. They have no other constraints, because the
/// rows pass through states that the constraints would not allow.
public final class BaselineRows {
  private let database: Database
  public let tables: [BaselineTable]

  /// - Parameter path: the path of the new file. The caller removes the file later.
  public init(at path: String, like original: borrowing Database, tables: [TrackedTable]) throws {
    let database = try Database(path: path, mode: .create)
    try database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
    self.tables = try tables.map { try BaselineTable($0, like: original, in: database) }
    self.database = database
  }

  public func table(_ name: Name) -> BaselineTable? { tables.first { $0.name == name } }

  /// The value that a table would store if `value` were written into a column.
  public func stored(_ value: Value, in column: Name, of table: BaselineTable) throws -> Value {
    // This temporary table has the affinity of the column.
    let copy = "temp.\(quoted("one value"))"
    try database.execute("CREATE TABLE \(copy) AS SELECT \(quoted(column)) FROM \(quoted(table.schema.name)) WHERE 0")
    try database.run("INSERT INTO \(copy) VALUES (:value)", ["value": value])
    let stored = try database.first("SELECT * FROM \(copy)") { $0.values(from: 0, count: 1)[0] }
    try database.execute("DROP TABLE \(copy)")
    return stored ?? value
  }

  /// Sets the dataset version of the rows that come from now on. In that version columns may have had other names.
  public func expect(version: Int64, _ former: FormerColumns) {
    for table in tables { table.expect(version: version, former) }
  }
}

/// One table with last known rows.
public final class BaselineTable: KnownTableRows {
  public let table: TrackedTable
  /// The default values of a row's columns.
  private let defaults: Row
  /// Maps the columns of the coming rows to the columns of this table.
  private var mapping: ColumnMapping
  /// Returns the present name of a column that has the given name in the version of the coming rows. nil if the
  /// column no longer exists.
  private var present: (Name) -> Name? = { $0 }
  private let select: Statement
  private let replace: Statement
  private let deletion: Statement
  private let keys: Statement
  private let all: Statement

  public var name: Name { table.name }
  public var schema: TableSchema { table.schema }

  fileprivate init(_ table: TrackedTable, like original: borrowing Database, in database: borrowing Database) throws {
    let schema = table.schema
    let name = quoted(schema.name)
    let defaults = try original.defaults(of: schema.columns, in: schema.name)
    let takesAny = try original.isStrict(schema.name)
    let columns = schema.columns.indices.map { place in
      let type = table.info.types[place]
      let isAny = takesAny && type.utf8.elementsEqual("ANY".utf8, by: { $0 & 0xdf == $1 })
      return quoted(schema.columns[place]) + (type.isEmpty || isAny ? "" : " \(quoted(type))")
        + (defaults[place].map { " DEFAULT \($0)" } ?? "")
    }
    let key = schema.key.map { schema.columns[$0] }
    let isKey = key.enumerated().map { "\(quoted($1)) = ?\($0 + 1)" }.joined(separator: " AND ")
    try database.execute("CREATE TABLE \(name) (\(columns.joined(separator: ", ")))")
    try database.execute("INSERT INTO \(name) DEFAULT VALUES")
    self.defaults =
      try database.first("SELECT \(quotedList(schema.columns)) FROM \(name)") {
        Row($0.values(from: 0, count: schema.columns.count))
      } ?? Row(schema.columns.map { _ in .null })
    try database.execute(
      "DELETE FROM \(name); CREATE UNIQUE INDEX \(quoted("key of \(schema.name)")) ON \(name) (\(quotedList(key)))")
    select = try database.prepare("SELECT \(quotedList(schema.columns)) FROM \(name) WHERE \(isKey)")
    replace = try database.prepare(
      """
      INSERT OR REPLACE INTO \(name) (\(quotedList(schema.columns))) VALUES \
      (\(schema.columns.map { _ in "?" }.joined(separator: ", ")))
      """
    )
    deletion = try database.prepare("DELETE FROM \(name) WHERE \(isKey)")
    keys = try database.prepare("SELECT \(quotedList(key)) FROM \(name)")
    all = try database.prepare("SELECT \(quotedList(schema.columns)) FROM \(name)")
    mapping = ColumnMapping(from: schema.columns, to: schema.columns)
    self.table = table
  }

  /// Sets the column names of the rows that come from now on.
  public func expect(columns: [Name]) { expect(ColumnMapping(from: columns.compactMap(present), to: schema.columns)) }

  public func expect(_ mapping: ColumnMapping) { self.mapping = mapping }

  fileprivate func expect(version: Int64, _ former: FormerColumns) {
    let name = name
    present = former.areSame(since: version) ? { $0 } : { former.current($0, of: name, since: version) }
  }

  public func row(_ key: RowKey) throws -> Row? {
    defer { select.reset() }
    try select.bind(key.values)
    guard try select.step() else { return nil }
    let row = Row(select.values(from: 0, count: schema.columns.count))
    return schema.key(of: row) == key ? row : nil
  }

  /// The default that the present table declares for a column.
  public func defaultValue(of column: Int) -> Value { defaults[column] }

  /// Calls `body` for each row, in any order.
  public func eachRow(_ body: (Row) throws -> Void) throws {
    defer { all.reset() }
    while try all.step() { try body(Row(all.values(from: 0, count: schema.columns.count))) }
  }

  public func eachKey(_ body: (RowKey) throws -> Void) throws {
    defer { keys.reset() }
    while try keys.step() { try body(RowKey(keys.values(from: 0, count: schema.key.count))) }
  }

  /// Sets the last known state of a row. nil means that the row did not exist.
  public func set(_ key: RowKey, _ row: Row?) throws {
    if let row { try replace.run(row.values) } else { try deletion.run(key.values) }
  }

  /// Makes a row from named values. Values of removed columns are left out. Added columns get their default.
  public func row(of fields: [Field]) -> Row { laid(fields, over: defaults) }

  /// A copy of `row` with these values in the named columns.
  public func laid(_ fields: [Field], over row: Row) -> Row {
    var row = row
    for field in fields {
      let name = present(field.name).flatMap { mapping.current($0) }
      if let column = name.flatMap({ schema.position(of: $0) }) { row[column] = field.value }
    }
    return row
  }

  /// Adds all rows of the table with the same name in another database.
  public func fill(from snapshot: borrowing Database) throws {
    guard let columns = try table.carriedColumns(in: snapshot) else { return }
    expect(columns: columns)
    try snapshot.each("SELECT \(quotedList(columns)) FROM \(quoted(name))") {
      let values = $0.values(from: 0, count: columns.count)
      let row = self.row(of: zip(columns, values).map { Field($0, $1) })
      try set(schema.key(of: row), row)
    }
  }
}
