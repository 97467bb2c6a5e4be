import SatchelSQLite
import SatchelValues

/// Compares the R-trees of a GeoPackage with the geometries in its layers.
enum Rtrees {
  struct Tree {
    let table: String
    let column: String
    var name: String { "rtree_\(table)_\(column)" }
  }

  static func all(in database: borrowing Database) throws -> [Tree] {
    try database.all(
      """
      SELECT table_name, column_name FROM gpkg_geometry_columns
      WHERE 'rtree_' || table_name || '_' || column_name IN (SELECT name FROM sqlite_schema)
      ORDER BY 1
      """
    ) { Tree(table: $0.text(0), column: $0.text(1)) }
  }

  /// The faults of all R-trees. A feature may be missing in the tree, or may have other bounds than the nearest 32-bit
  /// numbers. An entry may have no feature, or a count of features may be wrong. SQLite's own findings about the tree
  /// are included.
  static func faults(in database: borrowing Database) throws -> [String] {
    var faults: [String] = []
    for tree in try all(in: database) {
      let (table, column, name) = (quoted(tree.table), quoted(tree.column), quoted(tree.name))
      let key = try database.first(
        "SELECT name FROM pragma_table_info(:table) WHERE pk", ["table": .string(tree.table)]
      ) {
        quoted($0.text(0))
      }
      let fits = [("minx", "ST_MinX"), ("maxx", "ST_MaxX"), ("miny", "ST_MinY"), ("maxy", "ST_MaxY")].map {
        side, function in
        "abs(r.\(side) - \(function)(t.\(column))) <= 1e-6 * max(1, abs(r.\(side)))"
      }.joined(separator: " AND ")
      faults += try database.all(
        """
        SELECT t.\(key ?? "rowid") FROM \(table) AS t LEFT JOIN \(name) AS r ON r.id = t.\(key ?? "rowid")
        WHERE CASE WHEN ifnull(ST_IsEmpty(t.\(column)), 1) THEN r.id IS NOT NULL ELSE r.id IS NULL OR NOT (\(fits)) END
        """
      ) { "\(tree.table): the feature \($0.integer(0))" }
      faults += try database.all("SELECT id FROM \(name) WHERE id NOT IN (SELECT \(key ?? "rowid") FROM \(table))") {
        "\(tree.name): the entry \($0.integer(0))"
      }
      let isRight = try database.first(
        """
        SELECT (SELECT feature_count FROM gpkg_ogr_contents WHERE lower(table_name) = lower(:table)) IS (SELECT count(*) FROM \(table))
        """, ["table": .string(tree.table)]
      ) { $0.integer(0) != 0 }
      if isRight != true { faults.append("\(tree.table): the count") }
      let check = try database.first("SELECT rtreecheck(:tree)", ["tree": .string(tree.name)]) { $0.text(0) }
      if check != "ok" { faults.append("\(tree.name): \(check ?? "")") }
    }
    return faults
  }
}
