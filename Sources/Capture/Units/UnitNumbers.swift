import SatchelSQLite
import SatchelValues

/// Gives each captured write the number of its unit.
///
/// SQL cannot read where a transaction begins or ends. But SQLite has one writer at a time, so no other program
/// writes between the writes of one transaction. So successive writes are one unit unless a pause between them is
/// longer than `longestPause`. An app can mark the borders: each row that it inserts into `satchel_unit` begins a
/// unit, which lasts until the next such row.
///
/// The triggers only record the newest mark with each write. The pauses are found when the writes are moved into the
/// pre-images.
enum UnitNumbers {
  static let schemas = [
    """
    CREATE TABLE satchel_unit (
      number INTEGER PRIMARY KEY CHECK (number BETWEEN 1 AND \(largest)),
      mark INTEGER NOT NULL DEFAULT 1 -- 1: an app began this unit; 0: the last number that was given
    )
    """,
    """
    CREATE TABLE satchel_unit_joins (
      generation INTEGER NOT NULL,
      unit INTEGER NOT NULL,
      other INTEGER NOT NULL,         -- a row was written in both units, so they are one
      PRIMARY KEY (generation, unit, other)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE satchel_unit_times (
      written REAL PRIMARY KEY,       -- the Julian day at which a unit without a mark begins; empty between commands
      unit INTEGER
    ) WITHOUT ROWID
    """,
  ]

  static let names = ["satchel_unit", "satchel_unit_joins", "satchel_unit_times"].map { Name($0) }

  /// The greatest number of a captured unit. Units that only references join get greater numbers.
  static let largest: Int64 = 1 << 52

  /// The longest pause in seconds between two writes of one unit.
  static let longestPause = 2
  /// When the table of writes is shortened, the writes of one row are merged only within spans of this many seconds.
  static let span = 1

  /// SQL for the newest mark; NULL if no app has marked a unit.
  static let newestMark = "(SELECT number FROM satchel_unit WHERE mark ORDER BY number DESC LIMIT 1)"

  /// SQL for the unit of an entry in a table of writes.
  static func unit(of names: CaptureNames) -> String {
    """
    coalesce(\(quoted(names.mark)), (
      SELECT unit FROM satchel_unit_times WHERE written <= \(quoted(names.written)) ORDER BY written DESC LIMIT 1))
    """
  }

  /// Numbers the units of all writes to these tables that have no mark of an app. The caller has begun the
  /// transaction.
  static func give(to tables: [TrackedTable], in database: borrowing Database) throws {
    try database.run("DELETE FROM satchel_unit_times")
    for names in tables.map(\.names) {
      try database.run(
        """
        INSERT OR IGNORE INTO satchel_unit_times (written)
        SELECT \(quoted(names.written))
        FROM \(quoted(names.writes))
        WHERE \(quoted(names.number)) > 0 AND \(quoted(names.mark)) IS NULL
        """)
    }
    for statement in numbering { try database.run(statement) }
  }

  /// SQL that keeps only the times at which units begin, and numbers them.
  private static let numbering = [
    """
    DELETE FROM satchel_unit_times
    WHERE written IN (
      SELECT written
      FROM (SELECT written, written - lag(written) OVER (ORDER BY written) AS pause FROM satchel_unit_times)
      WHERE pause * 86400.0 <= \(longestPause + span))
    """,
    """
    UPDATE satchel_unit_times
    SET unit = numbered.unit
    FROM (
      SELECT written AS begun,
        (SELECT coalesce(max(number), 0) FROM satchel_unit) + row_number() OVER (ORDER BY written) AS unit
      FROM satchel_unit_times) AS numbered
    WHERE written = numbered.begun
    """,
    "INSERT INTO satchel_unit (number, mark) SELECT unit, 0 FROM satchel_unit_times ORDER BY unit DESC LIMIT 1",
    """
    DELETE FROM satchel_unit
    WHERE number < (SELECT max(number) FROM satchel_unit) AND number IS NOT \(newestMark)
    """,
  ]

  static func forgetTimes(in database: borrowing Database) throws {
    try database.run("DELETE FROM satchel_unit_times")
  }

  /// SQL that records which units wrote the same row. It compares the pre-images with the entries in the table of
  /// writes.
  /// - Parameter key: the primary key of the app's table.
  static func join(_ names: CaptureNames, key: [Name]) -> String {
    let isSameRow =
      key.map { "saved.\(quoted($0)) = entry.\(quoted($0))" } + [
        "saved.\(quoted(names.generation)) = (SELECT generation FROM satchel_capture)"
      ]
    return """
      INSERT OR IGNORE INTO satchel_unit_joins (generation, unit, other)
      SELECT saved.\(quoted(names.generation)), saved.\(quoted(names.unit)), entry.satchel_entry_unit
      FROM (
        SELECT \(quotedList(key)), \(unit(of: names)) AS satchel_entry_unit
        FROM \(quoted(names.writes))
        WHERE \(quoted(names.number)) > 0) AS entry
      JOIN \(quoted(names.before)) AS saved ON \(isSameRow.joined(separator: " AND "))
      WHERE saved.\(quoted(names.unit)) <> entry.satchel_entry_unit
      """
  }
}

extension Capture {
  /// Deletes the records of units that wrote the same row in generations below `generation`.
  public static func forgetUnits(before generation: Generation, in database: borrowing Database) throws {
    try database.run(
      "DELETE FROM satchel_unit_joins WHERE generation < :generation", ["generation": .integer(generation.rawValue)])
  }

  /// Moves the records of units to another generation, after all pre-images were moved to that generation.
  public static func moveUnits(to generation: Generation, in database: borrowing Database) throws {
    try database.run(
      "UPDATE OR IGNORE satchel_unit_joins SET generation = :generation",
      ["generation": .integer(generation.rawValue)])
  }

  /// Adds the tables for units to a database from a release without them. The caller has begun the transaction.
  public static func addUnitTables(in database: borrowing Database) throws {
    for (name, schema) in zip(UnitNumbers.names, UnitNumbers.schemas) where try !database.hasTable(name.text) {
      try database.execute(schema)
    }
  }
}
