import SatchelBundle
import SatchelDataset
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// The database that a bundle carries, opened as untrusted.
public enum BundleSnapshot {
  /// The largest size of a row, in bytes: the limit of a line.
  public static let mostRowBytes = Int64(BundleLimits().lineBytes)

  /// The result for a snapshot if a generated column differs from the column here, and may take long to compute.
  public enum SlowColumn {
    /// The snapshot is refused.
    case refused
    /// The schema is checked, and the rows are not read.
    case notComputed
  }

  /// Opens the database and checks that it holds only these tables, their indexes, and the stamps of rows.
  ///
  /// The schema is compared before SQLite evaluates any part of it. The size of values and the time of all checks are
  /// limited.
  ///
  /// Throws a `BundleError` if the file is not a sound database, or holds anything else. Returns nil if the bundle has
  /// no such entry.
  /// - Parameters:
  ///   - tables: the tables, with the columns that identify their rows.
  ///   - declared: the generated columns of the tables here. nil if there are no tables to compare with.
  ///   - slowColumn: how a generated column is treated that is none of these columns and not cheap to compute.
  ///   - look: compares more of the schema, such as columns.
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

  /// Ten minutes, and a second for each MiB: a slow device needs that long for reading alone.
  private static func timeLimit(for database: borrowing Database, clock: any WallClock) throws -> TimeLimit {
    TimeLimit(milliseconds: 600_000 + (try database.pageBytes() >> 20) * 1_000, by: clock)
  }

  /// A computed value may be four times as large as the file. A value of 1 MiB is always allowed, because it costs
  /// little.
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
  /// SQLite's own counters and statistics.
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
  /// A generated column that may take long and differs from the column here. It is found before it is computed. One
  /// call of a function may take hours, and nothing can end the call.
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

  /// The schema of a table, with the columns that identify its rows: the columns that the dataset names, or else the
  /// PRIMARY KEY.
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
