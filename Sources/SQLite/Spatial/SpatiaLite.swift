import SatchelValues

/// A spatial index of SpatiaLite: an R-tree with triggers. These triggers call a function which only SpatiaLite has.
struct SpatiaLiteIndex: Equatable {
  let table: String
  let column: String

  /// The commands that a person runs before and after an import. Without the DROP, the old entries of the index would
  /// stay.
  var wayAround: String {
    let arguments = "(\(quotedText(table)), \(quotedText(column)))"
    return """
      Only SpatiaLite can write into its spatial index, so an import fails. Before it, in SpatiaLite: SELECT \
      DisableSpatialIndex\(arguments); DROP TABLE \(quoted(Name("idx_\(table)_\(column)"))); \
      After it: SELECT CreateSpatialIndex\(arguments);
      """
  }
}

extension Database {
  /// The SpatiaLite index that this trigger maintains; nil: the trigger has another purpose. SpatiaLite names its
  /// triggers `gii_TABLE_COLUMN`, `giu_TABLE_COLUMN` and `gid_TABLE_COLUMN`.
  func spatiaLiteIndex(keptBy trigger: Name) throws -> SpatiaLiteIndex? {
    guard try has(["f_table_name", "f_geometry_column"], in: "geometry_columns") else { return nil }
    return try first(
      """
      SELECT f_table_name, f_geometry_column
      FROM geometry_columns
      WHERE lower(:trigger) IN (
        lower('gii_' || f_table_name || '_' || f_geometry_column),
        lower('giu_' || f_table_name || '_' || f_geometry_column),
        lower('gid_' || f_table_name || '_' || f_geometry_column))
      """, ["trigger": .string(trigger.text)]
    ) { SpatiaLiteIndex(table: $0.text(0), column: $0.text(1)) }
  }

  /// Whether SpatiaLite has registered this column as a column of geometries.
  public func isSpatiaLiteColumn(_ column: Name, of table: Name) throws -> Bool {
    guard try has(["f_table_name", "f_geometry_column"], in: "geometry_columns") else { return false }
    return try first(
      """
      SELECT 1
      FROM geometry_columns
      WHERE lower(f_table_name) = lower(:table) AND lower(f_geometry_column) = lower(:column)
      """, ["table": .string(table.text), "column": .string(column.text)]
    ) { _ in true } ?? false
  }
}
