import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues

/// Renames columns in stored values after a column was renamed. Otherwise a change under the old name would not be
/// found.
public enum RenamedColumns {
  /// Renames columns in the named values that `holder` has for one table's rows. `holder` is one of Satchel's own
  /// tables, with the column `table_name`.
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

  /// Renames columns in the values of the table's conflicts, in the same way.
  public static func followInConflicts(_ mapping: ColumnMapping, of table: Name, database: borrowing Database) throws {
    try follow(
      mapping, of: table, in: "satchel_conflicts", ["base_values", "hub_values", "device_values", "winners"],
      database: database)
  }
}
