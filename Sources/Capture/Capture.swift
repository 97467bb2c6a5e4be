import SatchelSQLite
import SatchelValues

/// Installs capture in a database, and manages the generation that triggers give to writes.
public enum Capture {
  /// The table has one row: the present generation, and the newest stamp that this replica has seen.
  static let schema = """
    CREATE TABLE satchel_capture (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      generation INTEGER NOT NULL, -- the sequence of the last export; writes from now on belong to it
      stamp INTEGER NOT NULL       -- the newest hybrid logical clock seen; new stamps are greater
    )
    """

  /// Installs capture for these tables. The database must have no capture yet. The caller has begun the transaction.
  public static func install(in database: borrowing Database, tables: [TrackedTable]) throws {
    try database.execute(schema)
    try database.execute("INSERT INTO satchel_capture VALUES (1, 0, 0)")
    try database.execute(DeclaredColumns.schema)
    try addUnitTables(in: database)
    for table in tables { try add(table, to: database) }
  }

  /// Installs capture for one more table.
  public static func add(_ table: TrackedTable, to database: borrowing Database) throws {
    for statement in table.captureSQL.statements { try database.execute(statement) }
    try DeclaredColumns.note(table.name, in: database)
  }

  /// Removes capture from a table, and deletes the table's pre-images. The app's table itself is not changed and may
  /// be missing.
  public static func remove(_ table: TrackedTable, from database: borrowing Database) throws {
    try dropTriggers(of: table.name, in: database)
    for name in [table.names.before, table.names.writes] { try database.execute("DROP TABLE main.\(quoted(name))") }
    try DeclaredColumns.forget(table.name, in: database)
  }

  /// Moves the writes that triggers recorded into the pre-images. Call this in the same transaction before you read
  /// pre-images, begin a generation or make a stamp.
  public static func settle(_ tables: [TrackedTable], in database: borrowing Database) throws {
    var written: [(table: TrackedTable, bytes: Int64)] = []
    for table in tables {
      let sql = table.captureSQL.tables.writtenBytes
      if let bytes = try database.first(sql, [:], { $0.optionalInteger(0) }) ?? nil { written.append((table, bytes)) }
    }
    let units = written.map(\.table).filter(\.names.keepsUnits)
    if !units.isEmpty { try UnitNumbers.give(to: units, in: database) }
    for (table, bytes) in written {
      let sql = table.captureSQL.tables.settle(isSorted: bytes > CaptureTables.mostUnsorted)
      for statement in sql { try database.run(statement) }
    }
    if !units.isEmpty { try UnitNumbers.forgetTimes(in: database) }
  }

  /// The names of the capture triggers that are missing or changed, because an app dropped them or created the table
  /// again.
  public static func missingTriggers(in database: borrowing Database, tables: [TrackedTable]) throws -> [Name] {
    let present = try triggers(in: database)
    return tables.flatMap { missingTriggers(of: $0, among: present) }
  }

  /// The SQL of each trigger in the database, by the trigger's name.
  static func triggers(in database: borrowing Database) throws -> [Name: Name] {
    let found = try database.all("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'") {
      (Name($0.text(0)), Name($0.text(1)))
    }
    return Dictionary(found) { first, _ in first }
  }

  /// - Parameter present: the SQL of each trigger in the database.
  static func missingTriggers(of table: TrackedTable, among present: [Name: Name]) -> [Name] {
    table.captureSQL.triggers.filter { present[$0.name] != Name($0.sql) }.map(\.name)
  }

  /// Whether the table `satchel_capture` is present and has its row.
  static func countsExports(in database: borrowing Database) throws -> Bool {
    guard try database.hasTable("satchel_capture") else { return false }
    return try database.first("SELECT 1 FROM satchel_capture", [:], { _ in true }) ?? false
  }

  public static func generation(in database: borrowing Database) throws -> Generation {
    Generation(try database.first("SELECT generation FROM satchel_capture") { $0.integer(0) } ?? 0)
  }

  /// Begins a new generation. All later writes belong to it.
  public static func begin(_ generation: Generation, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_capture SET generation = :generation", ["generation": .integer(generation.rawValue)])
  }

  /// Makes every later stamp greater than `stamp`, even if the machine's clock falls back to 1970.
  public static func witness(_ stamp: Stamp, in database: borrowing Database) throws {
    try database.run("UPDATE satchel_capture SET stamp = max(stamp, :stamp)", ["stamp": .integer(stamp.rawValue)])
  }

  /// The newest stamp that this replica has seen.
  public static func newestStamp(in database: borrowing Database) throws -> Stamp {
    Stamp(try database.first("SELECT stamp FROM satchel_capture") { $0.integer(0) } ?? 0)
  }

  /// The latest time among the recorded writes that `settle` has not moved into the pre-images yet. It is a time by
  /// the writing program's clock.
  public static func newestUnsettledWrite(_ tables: [TrackedTable], in database: borrowing Database) throws -> Stamp {
    var newest = Stamp.zero
    for table in tables {
      let sql =
        "SELECT max(\(CaptureTables.milliseconds(table.names.written))) FROM \(quoted(table.names.writes))"
      let time = try database.first(sql) { $0.optionalInteger(0) } ?? nil
      newest = max(newest, Stamp(milliseconds: max(0, time ?? 0)))
    }
    return newest
  }

  /// Makes a new stamp of this replica, for a change that no trigger records.
  public static func tick(now milliseconds: Int64, in database: borrowing Database) throws -> Stamp {
    try database.run(
      "UPDATE satchel_capture SET stamp = max(stamp + 1, :now)",
      ["now": .integer(Stamp(milliseconds: milliseconds).rawValue)])
    return try newestStamp(in: database)
  }
}
