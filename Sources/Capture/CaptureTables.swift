import SatchelSQLite
import SatchelValues

/// The two tables that hold the pre-images of one tracked table, and the SQL that moves entries between them.
///
/// Triggers append to the table of writes, which has no index: a new entry touches one page, whatever the row's key is.
/// Each command then sorts the entries by the rows' keys into the table of pre-images. All entries in the table of
/// writes belong to the current generation: a generation begins when the table is empty.
struct CaptureTables {
  let info: TableInfo
  let names: CaptureNames

  private var columns: [Name] { info.schema.columns }
  private var before: String { quoted(names.before) }
  private var writes: String { quoted(names.writes) }

  var key: [Name] { info.schema.key.map { columns[$0] } }

  /// The key column that SQLite fills by itself; nil if there is none.
  var alias: Name? { info.rowidAlias.map { columns[$0] } }

  /// A value of `existed` in the table of writes: the trigger could only predict the row's key.
  static let predictedKey = 2

  var statements: [String] { [makeBefore] + makeWrites }

  /// Columns have no type, so that values keep their storage class. Keys are compared as bytes.
  var makeBefore: String {
    """
    CREATE TABLE \(before) (
      \(columns.map { quoted($0) }.joined(separator: ",\n  ")),
      \(quoted(names.generation)) INTEGER NOT NULL, -- the sequence of the last export at the time of the write
      \(quoted(names.existed)) INTEGER NOT NULL,    -- 0: no such row; 1: the row existed; 2: as 1, but not at the hub
      \(quoted(names.stamp)) INTEGER NOT NULL,      -- hybrid logical clock of the last write
      \(quoted(names.first)) INTEGER, -- the clock at the first write; negative: more followed; NULL: unknown
      \(names.keepsUnits ? "\(quoted(names.unit)) INTEGER, -- the unit of the first write in the generation\n  " : "")\
    PRIMARY KEY (\(quotedList(key)), \(quoted(names.generation)))
    ) WITHOUT ROWID
    """
  }

  /// No column has a constraint: a trigger that cannot fail lets SQLite update and delete without a statement journal.
  var makeWrites: [String] {
    [
      """
      CREATE TABLE \(writes) (
        \(quoted(names.number)) INTEGER PRIMARY KEY, -- in the order of the writes; 0: when the table was tidied up last
        \(quoted(names.existed)), -- 1: the former row; 0: no such row; \(Self.predictedKey): none with key -1 either
        \(quoted(names.written)), -- the Julian day of the write
        \(quoted(names.again)), -- the number of dropped writes that this one represents; NULL: none
        \(names.keepsUnits ? "\(quoted(names.mark)), -- the unit that an app began; NULL: none\n  " : "")\
            \(columns.map { quoted($0) }.joined(separator: ",\n  "))
      )
      """,
      Self.beginWrites(names),
    ]
  }

  private static func beginWrites(_ names: CaptureNames) -> String {
    "INSERT INTO \(quoted(names.writes)) (\(quotedList([names.number, names.written, names.again]))) VALUES (0, 0, 0)"
  }

  // MARK: from one table to the other

  /// SQL for the approximate number of bytes of all writes; NULL: there are no writes.
  var writtenBytes: String {
    """
    SELECT max(\(quoted(names.number))) * \(CaptureTidying.size(of: columns, in: names)) FROM \(writes) WHERE \
    \(quoted(names.number)) > 0
    """
  }

  /// - Parameter isSorted: whether the rows are sorted by their keys first.
  func settle(isSorted: Bool) -> [String] {
    Self.settle(names, columns: columns, key: key, alias: alias, isSorted: isSorted)
  }

  /// The most bytes of writes that are moved without sorting. While the target pages stay in the cache, any order is
  /// fast, and an app often writes in key order. With more bytes, each entry would read and write pages again.
  static let mostUnsorted = 32 << 20

  /// SQL for the milliseconds since 1970 of a column that holds a Julian day. An app may replace SQLite's clock with
  /// its own function. A write without a time counts as a write of 1970. No result exceeds the range of a stamp.
  static func milliseconds(_ column: Name) -> String {
    "min(coalesce(CAST((\(quoted(column)) - 2440587.5) * 86400000.0 AS INTEGER), 0), \(Stamp.latestMilliseconds))"
  }

  /// SQL for whether a row existed before all writes, if its entry records that it existed. The row did not exist if an
  /// earlier entry predicted its key or a lower key: a predicted key is above the key of every row. In that case a
  /// trigger of the app wrote the new row before capture could see that the row is new, and the predicted key was
  /// wrong.
  ///
  /// If no such row was written, SQLite never builds the lists after AND.
  private static func wasBefore(_ alias: Name, _ names: CaptureNames) -> String {
    let (writes, number, existed) = (quoted(names.writes), quoted(names.number), quoted(names.existed))
    let key = quoted(alias)
    let told = "iif(\(existed) = \(predictedKey), \(key), NULL)"
    let least = "(SELECT min(\(key)) FROM \(writes) WHERE \(existed) = \(predictedKey))"
    return """
      NOT coalesce(\(key) >= \(least) AND \(number) IN (
          SELECT satchel_number
          FROM (
            SELECT \(number) AS satchel_number, \(key) AS satchel_key, \(existed) AS satchel_existed,
              min(\(told)) OVER (ORDER BY \(number) ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS satchel_least
            FROM \(writes)
            WHERE \(number) > 0
          )
          WHERE satchel_existed = 1 AND satchel_key >= satchel_least
            AND satchel_number IN (SELECT min(\(number)) FROM \(writes) WHERE \(number) > 0 GROUP BY \(key))), 0)
      """
  }

  /// Moves all writes into the pre-images. The first entry of a row makes its pre-image in the current generation; each
  /// later entry only raises the stamp. Rows whose key holds NULL are skipped: `status` reports them.
  /// - Parameters:
  ///   - columns: the columns of the tracked table that both tables have.
  ///   - alias: the key column that SQLite fills by itself, if there is one.
  ///   - isSorted: whether the rows are sorted by their keys first, which costs as much as all the rest.
  static func settle(_ names: CaptureNames, columns: [Name], key: [Name], alias: Name?, isSorted: Bool = true)
    -> [String]
  {
    let controls = names.controls
    let (writes, number, existed) = (quoted(names.writes), quoted(names.number), quoted(names.existed))
    // The stamp has milliseconds since 1970 in its upper 48 bits. It is later than each stamp that this replica has
    // seen, and grows with each write.
    let stamp = """
      max((SELECT stamp + 1 FROM satchel_capture), \(milliseconds(names.written)) << 16)
          + coalesce(\(quoted(names.again)), 0)
      """
    let clock = "max(1, \(milliseconds(names.written)) << 16)"
    let first = "iif(coalesce(\(quoted(names.again)), 0) > 0, -\(clock), \(clock))"
    func entries(_ columns: [String], where condition: String) -> String {
      let wasThere = "coalesce(\(existed), 0) = 1" + (alias.map { " AND \(wasBefore($0, names))" } ?? "")
      let unit = names.keepsUnits ? [UnitNumbers.unit(of: names)] : []
      let values = zip(["(SELECT generation FROM satchel_capture)", wasThere, stamp, first] + unit, controls).map {
        "\($0) AS \(quoted($1))"
      }
      return "SELECT \((columns + values + [number]).joined(separator: ", "))\nFROM \(writes)\nWHERE \(condition)"
    }
    var sources = [entries(columns.map { quoted($0) }, where: "\(number) > 0")]
    if let alias {
      // If a key was predicted, the row with the key -1 did not exist either. This matters only if entries record a
      // write of the row with the key -1.
      let isFirst = "\(number) = (SELECT min(\(number)) FROM \(writes) WHERE \(existed) = \(predictedKey))"
      let isWritten = "EXISTS (SELECT 1 FROM \(writes) WHERE \(number) > 0 AND \(quoted(alias)) = -1)"
      let row = columns.map { "\($0 == alias ? "-1" : "NULL") AS \(quoted($0))" }
      sources.append(entries(row, where: "\(isFirst) AND \(isWritten)"))
    }
    let (moved, begun) = (quoted(names.stamp), quoted(names.first))
    let unit = quoted(names.unit)
    let keepUnit = names.keepsUnits ? ", \(unit) = coalesce(\(unit), excluded.\(unit))" : ""
    return [
      """
      INSERT INTO \(quoted(names.before)) (\(quotedList(columns + controls)))
      SELECT \(quotedList(columns + controls))
      FROM (\(sources.joined(separator: "\nUNION ALL\n")))
      WHERE \(key.map { "\(quoted($0)) IS NOT NULL" }.joined(separator: " AND "))
      ORDER BY \(quotedList((isSorted ? key : []) + [names.number]))
      ON CONFLICT (\(quotedList(key)), \(quoted(names.generation))) DO UPDATE
      SET \(moved) = max(\(moved) + 1, excluded.\(moved)), \(begun) = -abs(\(begun))\(keepUnit)
      """
    ] + (names.keepsUnits ? [UnitNumbers.join(names, key: key)] : []) + [
      "DELETE FROM \(writes)",
      beginWrites(names),
    ]
  }
}
