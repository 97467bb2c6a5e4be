import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Elements that a change removed from a set, before the change that added them came. The adding change comes later,
/// from another device that delivers again.
extension HubStore {
  /// A row for each such element.
  static let removedElements = """
    CREATE TABLE satchel_removed_elements (
      table_name TEXT NOT NULL,
      row INTEGER NOT NULL,     -- the row's stable number
      column_name TEXT NOT NULL,
      element TEXT NOT NULL,    -- JSON
      stamp INTEGER NOT NULL,   -- of the change that took it out
      PRIMARY KEY (table_name, row, column_name, element)
    ) WITHOUT ROWID
    """

  /// The elements that were removed from a row's set by changes newer than `stamp`.
  func removedElements(of row: Int64, _ column: Int, in place: Int, after stamp: Stamp) throws -> [JSONValue] {
    try database.all(
      """
      SELECT element
      FROM satchel_removed_elements
      WHERE table_name = :table AND row = :row AND column_name = :column AND stamp > :stamp
      """,
      [
        "table": .string(tables[place].name.text), "row": .integer(row),
        "column": .string(rows[place].schema.columns[column].text), "stamp": .integer(stamp.rawValue),
      ]
    ) { try JSONValue.parse(Array($0.text(0).utf8)) }
  }

  func rememberRemoved(_ elements: [JSONValue], of row: Int64, _ column: Int, in place: Int, at stamp: Stamp) throws {
    for element in elements {
      try database.run(
        """
        INSERT INTO satchel_removed_elements (table_name, row, column_name, element, stamp)
        VALUES (:table, :row, :column, :element, :stamp)
        ON CONFLICT (table_name, row, column_name, element) DO UPDATE SET stamp = max(stamp, :stamp)
        """,
        [
          "table": .string(tables[place].name.text), "row": .integer(row),
          "column": .string(rows[place].schema.columns[column].text), "element": .text(element.compactBytes),
          "stamp": .integer(stamp.rawValue),
        ])
    }
  }

  func forgetRemovedElements() throws { try database.run("DELETE FROM satchel_removed_elements") }
}
