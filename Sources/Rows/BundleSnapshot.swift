import SatchelBundle
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// Opens the database `snapshot.sqlite` of a bundle, whose content is untrusted.
public enum BundleSnapshot {
  /// The most bytes of a row: the same as for a line of a bundle.
  public static let mostRowBytes = Int64(BundleLimits().lineBytes)

  /// How to treat a snapshot with a generated column that differs from the column of this database and may take long
  /// to compute.
  public enum SlowColumn {
    /// The snapshot is refused.
    case refused
    /// The schema is checked, but no rows are read.
    case notComputed
  }

  /// Opens the database and checks that it has only the tables of `tables`, their indexes and the stamps of rows.
  ///
  /// The schema is compared before SQLite evaluates any part of it. Limits apply to the size of values and to the
  /// time of all checks.
  ///
  /// Returns nil if the bundle has no snapshot. Throws a `BundleError` if the file is not a sound database, or if it
  /// holds anything else.
  /// - Parameters:
  ///   - tables: the tables, with the columns that identify their rows.
  ///   - declared: the generated columns of the present tables; nil if there are no such tables to compare with.
  ///   - slowColumn: what happens if a generated column is not in `declared` and may take long to compute.
  ///   - look: checks more of the schema, for example the columns.
  public static func open(
    _ bundle: borrowing VerifiedBundle, holding tables: [TableRules], computing declared: [GeneratedColumn]?,
    _ slowColumn: SlowColumn = .refused, look: (borrowing Database) throws -> Void = { _ in }
  ) throws -> Database? {
    guard let path = bundle.path(of: .snapshot) else { return nil }
    var mostBytes = mostRowBytes
    do {
      let database = try Database.hardened(path: path)
      mostBytes = try min(mostBytes, max(leastLimit, 4 * database.pageBytes()))
      database.limitValues(toBytes: Int32(mostBytes))
      try checkSchema(of: database, tables)
      let slow = try declared.flatMap { try Self.slowColumn(of: tables, in: database, besides: $0) }
      if let slow, slowColumn == .refused { throw problem(slow) }
      try look(database)
      if slow != nil { return database }
      let limit = try timeLimit(for: database, clock: bundle.clock)
      try database.bounded(by: limit.isOver) { try checkContent(of: database, tables) }
      return database
    } catch let error as SQLiteError { throw refusal(error, limit: mostBytes) }
  }

  /// The limit is ten minutes, and one more second for each MiB, which a slow device needs to read the file.
  private static func timeLimit(for database: borrowing Database, clock: any WallClock) throws -> TimeLimit {
    TimeLimit(milliseconds: 600_000 + (try database.pageBytes() >> 20) * 1_000, by: clock)
  }

  /// The limit for a value is at least this size, because a value of 1 MiB costs little. Otherwise a computed value
  /// may be four times as large as the file.
  private static let leastLimit: Int64 = 1 << 20

  private static func refusal(_ error: SQLiteError, limit: Int64) -> any Error {
    if error.isOfTheMachine { return error }
    switch error.kind {
    case .interrupted: return problem("takes longer to read than a database of its size may")
    case .tooLarge: return tooLarge(limit)
    default: return problem("is not a sound database (\(error.message))")
    }
  }

  private static func tooLarge(_ limit: Int64) -> BundleError { .tooLarge("A row in snapshot.sqlite", limit: limit) }

  private static func problem(_ words: String) -> BundleError { .entry("snapshot.sqlite", words) }
}

// MARK: the schema

extension BundleSnapshot {
  /// Tables that SQLite itself makes for counters and statistics.
  private static let ownTables: Set<String> = ["sqlite_sequence", "sqlite_stat1", "sqlite_stat4"]

  private static func checkSchema(of database: borrowing Database, _ tables: [TableRules]) throws {
    if let encoding = try database.otherTextEncoding() {
      throw problem("holds its texts in \(encoding), not in UTF-8")
    }
    let known = tables.map(\.name) + [Name(SnapshotBuilder.stampTable)]
    try database.each("SELECT type, name, tbl_name, sql LIKE 'CREATE VIRTUAL%' FROM sqlite_schema") {
      let (type, name, table) = ($0.text(0), $0.text(1), Name($0.text(2)))
      let isPart = known.contains { $0.isSameInSQL(as: table) } || ownTables.contains(name) && type == "table"
      guard type == "table" || type == "index", isPart, $0.integer(3) == 0 else {
        throw problem("holds an object outside the dataset: the \(type) \(name)")
      }
    }
    for table in tables { _ = try schema(of: table, in: database) }
    let stamps = try database.tableShape(Name(SnapshotBuilder.stampTable))?.columns.map(\.text) ?? []
    guard stamps.starts(with: SnapshotBuilder.stampColumns) else {
      throw problem("does not show when its rows were changed: it has no table \(SnapshotBuilder.stampTable)")
    }
  }
}

extension BundleSnapshot {
  /// The first generated column that may take long and is not in `declared`; nil if there is none. No value of it is
  /// computed for this check. One call of a function may take hours, and nothing can stop the call.
  private static func slowColumn(
    of tables: [TableRules], in database: borrowing Database, besides declared: [GeneratedColumn]
  ) throws -> GeneratedColumn? {
    try database.generatedColumns(of: tables.map(\.name)).first { column in
      !column.isLinear && !declared.contains { column.isDeclared(as: $0) }
    }
  }

  private static func problem(_ column: GeneratedColumn) -> BundleError {
    problem(
      "computes the column \(column.name) of \(column.table) in another way than the table here, and it may take long")
  }

  /// The schema of a table. Its key is the columns that the dataset names, or else the PRIMARY KEY.
  private static func schema(of rules: TableRules, in database: borrowing Database) throws -> TableSchema {
    guard let info = try database.tableInfo(rules.name) else { throw problem("has no table \(rules.name)") }
    guard let columns = rules.key else {
      if info.schema.key.isEmpty { throw problem("has no PRIMARY KEY in \(rules.name)") }
      return info.schema
    }
    let key = try columns.map { column in
      guard let position = info.schema.position(of: column) else {
        throw problem("has no column \(column), which identifies the rows of \(rules.name)")
      }
      return position
    }
    return TableSchema(name: info.schema.name, columns: info.schema.columns, key: key, foreignKeys: [])
  }
}

// MARK: the rows

extension BundleSnapshot {
  private static func checkContent(of database: borrowing Database, _ tables: [TableRules]) throws {
    try database.requireSound()
    for table in tables {
      let schema = try schema(of: table, in: database)
      if try database.row(of: schema, largerThan: mostRowBytes) != nil { throw tooLarge(mostRowBytes) }
      let isNameless = schema.key.map { "\(quoted(schema.columns[$0])) IS NULL" }.joined(separator: " OR ")
      if try database.first("SELECT 1 FROM \(quoted(schema.name)) WHERE \(isNameless)", [:], { _ in true }) ?? false {
        throw problem("has a row without a key in \(schema.name)")
      }
    }
    try checkStamps(of: database, tables)
  }

  private static func checkStamps(of database: borrowing Database, _ tables: [TableRules]) throws {
    let stamps = SnapshotBuilder.stampTable
    let isWrong = "typeof(stamp) <> 'integer' OR stamp < 0 OR typeof(key) <> 'text' OR typeof(table_name) <> 'text'"
    if try database.first("SELECT 1 FROM \(stamps) WHERE \(isWrong)", [:], { _ in true }) ?? false {
      throw problem("has an invalid time in \(stamps)")
    }
    try database.each("SELECT DISTINCT table_name FROM \(stamps)") { row in
      let name = Name(row.text(0))
      guard tables.contains(where: { $0.name.isSameInSQL(as: name) }) else {
        throw problem("has a time in \(stamps) of a row of \(name), which is no table of the dataset")
      }
    }
  }
}
