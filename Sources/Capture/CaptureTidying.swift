import SatchelSQLite
import SatchelValues

/// Keeps the table of writes small if an app writes the same rows again and again.
///
/// A trigger sometimes drops entries of rows. It keeps the first entry of each row, which has the pre-image. One entry
/// replaces the dropped ones, with their number and the time of the last one. The trigger reads the whole table, so it
/// must run rarely. It runs if more entries were added since its last run than that run had left, and if they have more
/// than `room` bytes. So its time is a small part of the time of the writes.
struct CaptureTidying {
  let names: CaptureNames
  let columns: [Name]
  let key: [Name]
  /// The key column of an AUTOINCREMENT table; nil if there is none. In entry 0 this column has the greatest
  /// predicted key.
  let counted: Name?

  /// The approximate bytes of added entries at which shortening the table is worth its time.
  static let room = 32 << 20
  /// The number of entries between two checks.
  static let interval = 64

  private var writes: String { quoted(names.writes) }
  private var number: String { quoted(names.number) }
  private var written: String { quoted(names.written) }
  private var again: String { quoted(names.again) }

  /// The last statement of a trigger that adds up to `count` entries. It runs the check once in each interval. SQLite
  /// evaluates the part before AND first, so at other times it reads no page.
  func occasion(after count: Int) -> String {
    """
    UPDATE \(writes) SET \(quoted(names.existed)) = NULL WHERE last_insert_rowid() % \(Self.interval) < \(count) AND \
    \(number) = 0
    """
  }

  /// The trigger that shortens the table of writes. Entry 0 records its last run: `again` is the number of the last
  /// entry at that time, and `written` is the number of entries that were left.
  ///
  /// The condition reads `again` of NEW. So the trigger's own update of entry 0 does not fire it again, even with
  /// recursive triggers.
  var trigger: (name: Name, sql: String) {
    let name = names.trigger("tidy")
    let newest = "(SELECT max(\(number)) FROM \(writes))"
    let added = "\(newest) - NEW.\(again)"
    let keys = quotedList(key)
    let own = names.keepsUnits ? ", \(quoted(names.mark))" : ""
    let groups = keys + own + (names.keepsUnits ? ", CAST(\(written) * \(86_400 / UnitNumbers.span) AS INTEGER)" : "")
    return (
      name,
      """
      CREATE TRIGGER \(quoted(name)) AFTER UPDATE ON \(writes)
      WHEN NEW.\(number) = 0 AND \(added) > NEW.\(written) AND (\(added)) * \(size) > \(Self.room)
      BEGIN
        UPDATE \(writes) SET \(again) = \(newest)\(note) WHERE \(number) = 0;
        INSERT INTO \(writes) (\(written), \(again), \(keys)\(own))
          SELECT max(\(written)), sum(coalesce(\(again), 0) + 1) - 2, \(keys)\(own)
          FROM \(writes)
          WHERE \(number) > 0
          GROUP BY \(groups)
          HAVING count(*) > 1;
        DELETE FROM \(writes)
        WHERE \(newest) > \(seen) AND \(number) BETWEEN 1 AND \(seen)
          AND \(number) NOT IN (SELECT min(\(number)) FROM \(writes) WHERE \(number) > 0 GROUP BY \(groups))
          AND \(number) IS NOT (SELECT min(\(number)) FROM \(writes) WHERE \(isPredicted));
        UPDATE \(writes) SET \(again) = \(newest), \(written) = (SELECT count(*) FROM \(writes)) WHERE \(number) = 0;
      END
      """
    )
  }

  private var isPredicted: String { "\(quoted(names.existed)) = \(CaptureTables.predictedKey)" }

  private var note: String {
    guard let counted = counted.map({ quoted($0) }) else { return "" }
    return
      """
      , \(counted) = max(coalesce(\(counted), 0), (SELECT coalesce(max(\(counted)), 0) FROM \(writes) WHERE \
      \(isPredicted)))
      """
  }

  /// SQL for the number of the last entry when this run of the trigger began.
  private var seen: String { "(SELECT \(again) FROM \(writes) WHERE \(number) = 0)" }

  /// SQL for the approximate bytes of an entry: the average of the last four entries.
  private var size: String { Self.size(of: columns, in: names) }

  static func size(of columns: [Name], in names: CaptureNames) -> String {
    """
    (SELECT avg(satchel_size) FROM (SELECT 32 + \(sum(columns[...])) AS satchel_size FROM \(quoted(names.writes)) \
    ORDER BY \(quoted(names.number)) DESC LIMIT 4))
    """
  }

  /// SQL for the sum of the lengths of these columns. The sum is nested in halves, because SQLite limits the depth of
  /// an expression.
  private static func sum(_ columns: ArraySlice<Name>) -> String {
    if columns.count == 1 { return columns.map { "coalesce(length(\(quoted($0))), 0)" }.joined() }
    let middle = columns.startIndex + columns.count / 2
    return "(\(sum(columns[..<middle])) + \(sum(columns[middle...])))"
  }
}
