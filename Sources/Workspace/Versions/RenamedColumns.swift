import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Renames columns in values that Satchel has stored, after a column of the app's table was renamed. Without this, a
/// stored change would name a column that no longer exists.
public enum RenamedColumns {
  /// Renames columns in the stored values of one table's rows.
  /// - Parameters:
  ///   - holder: one of Satchel's own tables, with the column `table_name`.
  ///   - columns: the columns of `holder` that contain named values.
  public static func follow(
    _ mapping: ColumnMapping, of table: Name, in holder: String, _ columns: [String], database: borrowing Database
  ) throws {
    if mapping.renamed.isEmpty { return }
    for column in columns.map({ quoted($0) }) {
      let texts = try database.all(
        "SELECT DISTINCT \(column) FROM \(quoted(holder)) WHERE table_name = :table AND \(column) IS NOT NULL",
        ["table": .string(table.text)]
      ) { $0.value(0) }
      for text in texts {
        guard case .text(let bytes) = text else { continue }
        let renamed = try FieldsCoding.parse(bytes).map { Field(mapping.current($0.name) ?? $0.name, $0.value) }
        try database.run(
          "UPDATE \(quoted(holder)) SET \(column) = :new WHERE table_name = :table AND \(column) = :old",
          ["new": .text(FieldsCoding.json(renamed)), "table": .string(table.text), "old": text])
      }
    }
  }

  /// Renames columns in the stored values of the table's conflicts.
  public static func followInConflicts(_ mapping: ColumnMapping, of table: Name, database: borrowing Database) throws {
    try follow(
      mapping, of: table, in: "satchel_conflicts", ["base_values", "hub_values", "device_values", "winners"],
      database: database)
  }
}
