import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Writes of earlier epochs that changed nothing at the hub, because the row already had their values.
///
/// A device that made such a write knew older changes. Other devices will deliver these older changes again. They must
/// not undo the write, but the row itself does not show when the write was made.
extension HubStore {
  /// One row for each value that such a write left in a row. For sets, one row for each element that it put in or took
  /// out.
  static let knownWrites = """
    CREATE TABLE satchel_known_writes (
      table_name TEXT NOT NULL,
      row INTEGER NOT NULL,     -- the row's stable number
      column_name TEXT NOT NULL,
      element TEXT NOT NULL,    -- JSON of a set's element; empty: the value of the column
      is_there INTEGER NOT NULL, -- 0: the write took the element out
      stamp INTEGER NOT NULL,   -- of the newest write
      PRIMARY KEY (table_name, row, column_name, element)
    ) WITHOUT ROWID
    """

  /// Returns the stamps of the newest writes that left columns of a row unchanged.
  func knownStamps(of row: Int64, in place: Int) throws -> [Int: Stamp] {
    let schema = rows[place].schema
    let found = try database.all(
      """
      SELECT column_name, stamp FROM satchel_known_writes WHERE table_name = :table AND row = :row AND element = ''
      """, ["table": .string(tables[place].name.text), "row": .integer(row)]
    ) { (column: schema.position(of: Name($0.text(0))), stamp: Stamp($0.integer(1))) }
    return Dictionary(found.compactMap { known in known.column.map { ($0, known.stamp) } }, uniquingKeysWith: max)
  }

  /// Returns which of these elements a write later than `stamp` put into a row's set, and which of them it took out.
  ///
  /// Other elements of the row are not read, because there may be very many.
  func knownElements(
    among elements: [JSONValue], of row: Int64, _ column: Int, in place: Int, after stamp: Stamp
  ) throws -> (added: [JSONValue], removed: [JSONValue]) {
    if elements.isEmpty { return ([], []) }
    let texts = elements.map { JSONValue.string(String(decoding: $0.compactBytes, as: UTF8.self)) }
    let found = try database.all(
      """
      SELECT known.element, known.is_there
      FROM json_each(:elements) AS named
      CROSS JOIN satchel_known_writes AS known
        ON known.table_name = :table AND known.row = :row AND known.column_name = :column
          AND known.element = named.value
      WHERE known.stamp > :stamp
      """,
      [
        "elements": .text(JSONValue.array(texts).compactBytes),
        "table": .string(tables[place].name.text), "row": .integer(row),
        "column": .string(rows[place].schema.columns[column].text), "stamp": .integer(stamp.rawValue),
      ]
    ) { (element: try JSONValue.parse(Array($0.text(0).utf8)), isThere: $0.integer(1) == 1) }
    return (found.filter(\.isThere).map(\.element), found.filter { !$0.isThere }.map(\.element))
  }

  /// Records that a write left a column of a row unchanged.
  func rememberWritten(_ column: Int, of row: Int64, in place: Int, at stamp: Stamp) throws {
    try rememberKnown(Value.text([]), true, column, of: row, in: place, at: stamp)
  }

  /// Records that a write later than `stamp` left a column of a row unchanged.
  func rememberWritten(_ column: Int, of row: Int64, in place: Int, after stamp: Stamp) throws {
    try rememberWritten(column, of: row, in: place, at: Stamp(rawValue: stamp.rawValue + 1))
  }

  /// Records that a write put elements into a row's set, or took them out.
  func remember(
    _ elements: [JSONValue], areThere: Bool, in column: Int, of row: Int64, in place: Int, at stamp: Stamp
  ) throws {
    for element in elements {
      try rememberKnown(.text(element.compactBytes), areThere, column, of: row, in: place, at: stamp)
    }
  }

  private func rememberKnown(
    _ element: Value, _ isThere: Bool, _ column: Int, of row: Int64, in place: Int, at stamp: Stamp
  ) throws {
    try database.run(
      """
      INSERT INTO satchel_known_writes (table_name, row, column_name, element, is_there, stamp)
      VALUES (:table, :row, :column, :element, :there, :stamp)
      ON CONFLICT (table_name, row, column_name, element) DO UPDATE SET is_there = :there, stamp = :stamp
        WHERE stamp < :stamp
      """,
      [
        "table": .string(tables[place].name.text), "row": .integer(row),
        "column": .string(rows[place].schema.columns[column].text), "element": element,
        "there": .integer(isThere ? 1 : 0), "stamp": .integer(stamp.rawValue),
      ])
  }

  func forgetKnownWrites() throws { try database.run("DELETE FROM satchel_known_writes") }
}
