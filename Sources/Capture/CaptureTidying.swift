import SatchelSQLite
import SatchelValues

/// How the table of writes is kept from growing with each write of a row that is written again and again.
///
/// From time to time a trigger of its own drops all entries of a row but the first, which says what the row was, and
/// puts one entry in their place that says how many they were and when the last one was made. It looks at everything,
/// so it does this only when as much was added as was left the last time, and never for less than `room`: what it costs
/// is a small part of what the writes cost.
struct CaptureTidying {
  let names: CaptureNames
  let columns: [Name]
  let key: [Name]
  /// The key for which SQLite counts, where it does: entry 0 notes the greatest that was foretold.
  let counted: Name?

  /// Bytes that may be added, roughly, before it is worth while to look.
  static let room = 32 << 20
  /// After how many entries it is asked whether it is.
  static let interval = 64

  private var writes: String { quoted(names.writes) }
  private var number: String { quoted(names.number) }
  private var written: String { quoted(names.written) }
  private var again: String { quoted(names.again) }

  /// The last statement of a trigger that adds up to `count` entries. It touches nothing, not even the table's first
  /// page, unless the interval's end lies among those: what comes before AND is looked at first.
  func occasion(after count: Int) -> String {
    "UPDATE \(writes) SET \(quoted(names.existed)) = NULL WHERE last_insert_rowid() % \(Self.interval) < \(count) AND \(number) = 0"
  }

  /// Entry 0 keeps in `again` the number of the last entry, and in `written` how many there were, when this was done
  /// last.
  ///
  /// It is NEW that is asked, so that with recursive triggers the body's own updates of that entry set nothing off.
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
          AND \(number) IS NOT (SELECT min(\(number)) FROM \(writes) WHERE \(isForetold));
        UPDATE \(writes) SET \(again) = \(newest), \(written) = (SELECT count(*) FROM \(writes)) WHERE \(number) = 0;
      END
      """
    )
  }

  private var isForetold: String { "\(quoted(names.existed)) = \(CaptureTables.foretold)" }

  private var note: String {
    guard let counted = counted.map({ quoted($0) }) else { return "" }
    return
      ", \(counted) = max(coalesce(\(counted), 0), (SELECT coalesce(max(\(counted)), 0) FROM \(writes) WHERE \(isForetold)))"
  }

  /// The number of the last entry that the body has looked at.
  private var seen: String { "(SELECT \(again) FROM \(writes) WHERE \(number) = 0)" }

  /// How many bytes an entry takes, on the average of the last four.
  private var size: String { Self.size(of: columns, in: names) }

  static func size(of columns: [Name], in names: CaptureNames) -> String {
    "(SELECT avg(satchel_size) FROM (SELECT 32 + \(sum(columns[...])) AS satchel_size FROM \(quoted(names.writes)) ORDER BY \(quoted(names.number)) DESC LIMIT 4))"
  }

  /// The lengths of these columns, added in halves: SQLite limits how deep an expression may be.
  private static func sum(_ columns: ArraySlice<Name>) -> String {
    if columns.count == 1 { return columns.map { "coalesce(length(\(quoted($0))), 0)" }.joined() }
    let middle = columns.startIndex + columns.count / 2
    return "(\(sum(columns[..<middle])) + \(sum(columns[middle...])))"
  }
}
