import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Writes of earlier epochs that changed nothing here, because the row already was as they left it.
///
/// The device that made such a write knew older changes, which other devices will deliver again. The older changes must
/// not undo it, although the row does not show the later write.
extension HubStore {
  /// A row for each value that a write left in a row, and for each element that a write put into a set or took out.
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

  /// Returns the stamps of the newest writes that left columns of a row as they were.
  func knownStamps(of row: Int64, in place: Int) throws -> [Int: Stamp] {
    let schema = rows[place].schema
    let found = try database.all(
      """
      SELECT column_name, stamp FROM satchel_known_writes WHERE table_name = :table AND row = :row AND element = ''
      """, ["table": .string(tables[place].name.text), "row": .integer(row)]
    ) { (column: schema.position(of: Name($0.text(0))), stamp: Stamp($0.integer(1))) }
    return Dictionary(found.compactMap { known in known.column.map { ($0, known.stamp) } }, uniquingKeysWith: max)
  }

  /// Returns which of some elements writes newer than `stamp` put into a row's set, and which they took out.
  ///
  /// Only these elements are looked up. The row may have any number of others.
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

  /// Remembers that a write left a column of a row as it was.
  func rememberWritten(_ column: Int, of row: Int64, in place: Int, at stamp: Stamp) throws {
    try rememberKnown(Value.text([]), true, column, of: row, in: place, at: stamp)
  }

  /// Remembers that a write later than `stamp` left a column of a row as it was.
  func rememberWritten(_ column: Int, of row: Int64, in place: Int, after stamp: Stamp) throws {
    try rememberWritten(column, of: row, in: place, at: Stamp(rawValue: stamp.rawValue + 1))
  }

  /// Remembers that a write put elements into a row's set, or took them out.
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
