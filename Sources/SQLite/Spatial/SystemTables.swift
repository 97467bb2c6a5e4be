import SatchelValues

extension Database {
  /// The tables of the database that GeoPackage or SpatiaLite do not maintain themselves, without those of Satchel and
  /// SQLite, and without the tables behind virtual tables.
  public func tablesOfApps() throws -> [Name] {
    let isSpatiaLite = try has(["f_table_name", "f_geometry_column"], in: "geometry_columns")
    return try tableNames().filter { table in
      let name = table.text.lowercased()
      if name.hasPrefix("gpkg_") || name.hasPrefix("rtree_") { return false }
      return !isSpatiaLite || !Self.startsOfSpatiaLite.contains { name.hasPrefix($0) }
    }
  }

  /// The tables that `InitSpatialMetadataFull()` of SpatiaLite 5 makes begin like this.
  private static let startsOfSpatiaLite = [
    "spatial_ref_sys", "spatialite_history", "geometry_columns", "views_geometry_columns", "virts_geometry_columns",
    "sql_statements_log", "data_licenses", "se_", "topologies", "networks", "raster_coverages", "vector_coverages",
    "wms_", "iso_metadata", "stored_procedures", "stored_variables", "rl2map_configurations", "idx_",
  ]

  /// The layers that the contents of a GeoPackage name. Empty if the database is no GeoPackage.
  public func layersInContents() throws -> [Name] {
    guard try has(["table_name"], in: "gpkg_contents") else { return [] }
    return try all("SELECT table_name FROM gpkg_contents ORDER BY table_name") { Name($0.text(0)) }
  }
}
