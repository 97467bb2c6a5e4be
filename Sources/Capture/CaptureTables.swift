import SatchelSQLite
import SatchelValues

/// The two tables in which the pre-images of one tracked table lie, and the way from the one into the other.
///
/// Triggers write into the table of writes, which lies in the order of the tracked table itself: an entry touches pages beside
/// those that the write touches anyway, and costs little. Each command of ours then sorts the entries by the rows' keys into the
/// table of pre-images. What is in the table of writes belongs to the current generation: one begins when it is empty.
struct CaptureTables {
  let info: TableInfo
  let names: CaptureNames

  private var columns: [Name] { info.schema.columns }
  private var before: String { quoted(names.before) }
  private var writes: String { quoted(names.writes) }

  var key: [Name] { info.schema.key.map { columns[$0] } }

  /// The name by which SQL reaches where a row lies; nil where rows lie in the order of their keys.
  var place: String? { info.rowidAlias == nil ? info.rowid : nil }

  /// Whether the table of writes has neither a rowid of its own nor one that is the key.
  var isOrderedByKey: Bool { place == nil && info.rowidAlias == nil }

  /// By what an entry of the table of writes is found again when its row is written again. A row that came to lie elsewhere may
  /// have several entries; the first one holds what it was.
  var identity: [Name] { (place == nil ? [] : [names.slot]) + key }

  var statements: [String] { [makeBefore, makeWrites] }

  /// Columns are declared without a type, so that values keep the storage class they have; the key is compared as bytes.
  var makeBefore: String {
    """
    CREATE TABLE \(before) (
      \(columns.map { quoted($0) }.joined(separator: ",\n  ")),
      \(quoted(names.generation)) INTEGER NOT NULL, -- the sequence of the last export at the time of the write
      \(quoted(names.existed)) INTEGER NOT NULL,    -- 0: the row was not there before
      \(quoted(names.stamp)) INTEGER NOT NULL,      -- hybrid logical clock of the last write
      PRIMARY KEY (\(quotedList(key)), \(quoted(names.generation)))
    ) WITHOUT ROWID
    """
  }

  var makeWrites: String {
    let alias = info.rowidAlias.map { columns[$0] }
    let slot = place.map { _ in "\(quoted(names.slot)) INTEGER, -- where the row lies\n  " } ?? ""
    let declared = columns.map { $0 == alias ? "\(quoted($0)) INTEGER PRIMARY KEY" : quoted($0) }
    let identity = alias == nil ? ["\(place == nil ? "PRIMARY KEY" : "UNIQUE") (\(quotedList(identity)))"] : []
    return """
      CREATE TABLE \(writes) (
        \(quoted(names.existed)), -- 0: the row was not there before; NULL: an earlier entry says
        \(quoted(names.written)) REAL NOT NULL, -- the Julian day of the last write
        \(quoted(names.again)) INTEGER NOT NULL DEFAULT 0, -- how often the row was written after the first time
        \(slot)\((declared + identity).joined(separator: ",\n  "))
      )\(isOrderedByKey ? " WITHOUT ROWID" : "")
      """
  }

  // MARK: from one table to the other

  var hasWrites: String { "SELECT 1 FROM \(writes)" }

  var settle: [String] { Self.settle(names, columns: columns, key: key, place: place) }

  /// Sorts all writes in: the first entry of a row makes its pre-image in the current generation, each later one moves the stamp
  /// alone. Keys that hold NULL name no row and are left to `status` to report.
  /// - Parameters:
  ///   - columns: those of the tracked table, as both tables have them.
  ///   - place: by which the entries' order is told, where a row may have several.
  static func settle(_ names: CaptureNames, columns: [Name], key: [Name], place: String?) -> [String] {
    let moved = quoted(names.stamp)
    // Milliseconds since 1970 in the upper 48 bits, never behind what this replica has seen, and more with each write.
    let stamp = """
      (SELECT max(stamp + 1, CAST((\(quoted(names.written)) - 2440587.5) * 86400000.0 AS INTEGER) << 16) FROM satchel_capture)
        + \(quoted(names.again))
      """
    return [
      """
      INSERT INTO \(quoted(names.before)) (\(quotedList(columns + [names.generation, names.existed, names.stamp])))
      SELECT \(quotedList(columns)), (SELECT generation FROM satchel_capture), coalesce(\(quoted(names.existed)), 0), \(stamp)
      FROM \(quoted(names.writes))
      WHERE \(key.map { "\(quoted($0)) IS NOT NULL" }.joined(separator: " AND "))
      ORDER BY \((key.map { quoted($0) } + [place].compactMap(\.self)).joined(separator: ", "))
      ON CONFLICT (\(quotedList(key)), \(quoted(names.generation))) DO UPDATE SET \(moved) = max(\(moved) + 1, excluded.\(moved))
      """,
      "DELETE FROM \(quoted(names.writes))",
    ]
  }
}
