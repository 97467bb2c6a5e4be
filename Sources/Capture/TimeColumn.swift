import SatchelSQLite
import SatchelValues

/// A column with stamps or times in one of Satchel's tables. `table` and `column` are SQL.
public struct TimeColumn: Sendable {
  let table: String
  let column: String

  public init(table: String, column: String = "stamp") {
    self.table = table
    self.column = column
  }

  /// Lowers all values above `floor` in these columns to values just above `floor`. Order and equality of the values
  /// stay the same. The caller has begun a transaction.
  public static func lower(
    _ columns: [TimeColumn], above floor: Int64, in database: borrowing Database
  ) throws {
    let limit: KeyValuePairs<String, Value> = ["floor": .integer(floor)]
    try database.execute("CREATE TEMP TABLE satchel_lowered (former INTEGER PRIMARY KEY, lowered INTEGER)")
    for entry in columns {
      try database.run(
        """
        INSERT OR IGNORE INTO temp.satchel_lowered (former)
        SELECT \(entry.column) FROM \(entry.table) WHERE \(entry.column) > :floor
        """, limit)
    }
    try database.run(
      """
      UPDATE temp.satchel_lowered
      SET lowered = :floor + place
      FROM (SELECT former AS known, row_number() OVER (ORDER BY former) AS place FROM temp.satchel_lowered)
      WHERE former = known
      """, limit)
    for entry in columns {
      try database.run(
        """
        UPDATE \(entry.table)
        SET \(entry.column) = (SELECT lowered FROM temp.satchel_lowered WHERE former = \(entry.table).\(entry.column))
        WHERE \(entry.column) > :floor
        """, limit)
    }
    try database.execute("DROP TABLE temp.satchel_lowered")
  }
}

extension Capture {
  /// Lowers all stamps above `floor` to stamps just above `floor`. The caller has begun a transaction and called
  /// `settle`.
  /// - Parameter others: columns with stamps in tables that do not belong to capture.
  public static func lowerStamps(
    above floor: Stamp, of tables: [TrackedTable], and others: [TimeColumn], in database: borrowing Database
  ) throws {
    let own =
      [TimeColumn(table: "satchel_capture")]
      + tables.map { TimeColumn(table: quoted($0.names.before), column: quoted($0.names.stamp)) }
    try TimeColumn.lower(own + others, above: floor.rawValue, in: database)
  }
}
