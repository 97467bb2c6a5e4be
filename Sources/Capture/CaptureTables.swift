import SatchelSQLite
import SatchelValues

/// The two tables with the pre-images of one app's table, and the SQL that moves entries between them.
///
/// Triggers append entries to the table of writes. It has no index, so a new entry changes only one page. Each
/// command sorts these entries by the rows' keys into the table of pre-images. A generation begins only when the
/// table of writes is empty, so all of its entries are of the present generation.
struct CaptureTables {
  let info: TableInfo
  let names: CaptureNames

  private var columns: [Name] { info.schema.columns }
  private var before: String { quoted(names.before) }
  private var writes: String { quoted(names.writes) }

  var key: [Name] { info.schema.key.map { columns[$0] } }

  /// The key column whose value SQLite chooses itself; nil if there is none.
  var alias: Name? { info.rowidAlias.map { columns[$0] } }

  /// The value of `existed` in an entry whose key the trigger has only predicted.
  static let predictedKey = 2

  var statements: [String] { [makeBefore] + makeWrites }

  /// The columns have no types, so that values keep their storage class and keys are compared as bytes.
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

  /// The columns have no constraints, so an insert cannot fail. Then SQLite needs no statement journal for an app's
  /// updates and deletes.
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

  /// SQL for the approximate number of bytes of all recorded writes; NULL if there are none.
  var writtenBytes: String {
    """
    SELECT max(\(quoted(names.number))) * \(CaptureTidying.size(of: columns, in: names)) FROM \(writes) WHERE \
    \(quoted(names.number)) > 0
    """
  }

  /// - Parameter isSorted: whether the entries are sorted by the rows' keys before they are moved.
  func settle(isSorted: Bool) -> [String] {
    Self.settle(names, columns: columns, key: key, alias: alias, isSorted: isSorted)
  }

  /// The most bytes of writes that are moved without sorting. Unsorted writes are fast while the pages to change are
  /// in the cache. An app often writes in the order of keys anyway. With more bytes each entry might read and write a
  /// page again.
  static let mostUnsorted = 32 << 20

  /// SQL for the milliseconds since 1970 of a column with a Julian day. An app may replace SQLite's time functions by
  /// its own, so a missing time counts as 1970, and a time beyond the range of stamps is limited.
  static func milliseconds(_ column: Name) -> String {
    "min(coalesce(CAST((\(quoted(column)) - 2440587.5) * 86400000.0 AS INTEGER), 0), \(Stamp.latestMilliseconds))"
  }

  /// SQL for whether a row existed before all recorded writes, although its first entry says so. The row is new if an
  /// earlier entry predicted its key or a smaller key, because a predicted key is greater than the keys of all
  /// existing rows. Then the prediction was wrong, and a trigger of the app wrote the new row before capture recorded
  /// it as new.
  ///
  /// If no entry has such a key, SQLite does not compute the list after AND.
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

  /// SQL that moves all writes into the pre-images. The first entry of a row becomes its pre-image in the present
  /// generation. Later entries only raise the stamp. Rows with NULL in their key are left out; `status` reports them.
  /// - Parameters:
  ///   - columns: the columns of the app's table that both of capture's tables have.
  ///   - alias: the key column whose value SQLite chooses itself; nil if there is none.
  ///   - isSorted: whether the entries are sorted by the rows' keys first. Sorting takes as long as the rest.
  static func settle(_ names: CaptureNames, columns: [Name], key: [Name], alias: Name?, isSorted: Bool = true)
    -> [String]
  {
    let controls = names.controls
    let (writes, number, existed) = (quoted(names.writes), quoted(names.number), quoted(names.existed))
    // The upper 48 bits of a stamp are milliseconds since 1970. The stamp is later than all stamps that this replica
    // has seen, and rises with each write.
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
      // A trigger predicted a key, so no row with the key -1 existed at that time either. This needs an entry only if
      // another entry is about a row with the key -1.
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
