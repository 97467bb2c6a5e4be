import SatchelSQLite
import SatchelValues

extension Capture {
  /// Adds the column for the stamp of the first write to each table of pre-images from release 0.1. The caller has
  /// begun the transaction.
  public static func addFirstWriteColumns(in database: borrowing Database) throws {
    let tables = try database.all(
      """
      SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'satchel\\_before\\_%' ESCAPE '\\' ORDER BY \
      name
      """
    ) { Name($0.text(0)) }
    for table in tables {
      guard let shape = try database.tableShape(table) else { continue }
      let name = CaptureNames.free("satchel_first", among: shape.columns)
      try database.execute("ALTER TABLE main.\(quoted(table)) ADD COLUMN \(quoted(name)) INTEGER")
    }
  }
}
