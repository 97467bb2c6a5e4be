import SatchelValues

extension Database {
  /// The tables that people or their apps fill. Tables of Satchel and SQLite are left out. So are tables that
  /// GeoPackage, SpatiaLite and the database libraries of Android maintain themselves.
  public func tablesOfApps() throws -> [Name] {
    let isSpatiaLite = try has(["f_table_name", "f_geometry_column"], in: "geometry_columns")
    return try tableNames().filter { table in
      let name = table.text.lowercased()
      if name.hasPrefix("gpkg_") || name.hasPrefix("rtree_") || Self.tablesOfAndroid.contains(name) { return false }
      return !isSpatiaLite || !Self.startsOfSpatiaLite.contains { name.hasPrefix($0) }
    }
  }

  /// The tables that Android's SQLiteDatabase and Room create.
  private static let tablesOfAndroid: Set<String> = ["android_metadata", "room_master_table"]

  /// The beginnings of table names that `InitSpatialMetadataFull()` of SpatiaLite 5 and its spatial indexes use.
  private static let startsOfSpatiaLite = [
    "spatial_ref_sys", "spatialite_history", "geometry_columns", "views_geometry_columns", "virts_geometry_columns",
    "sql_statements_log", "data_licenses", "se_external_graphics", "se_fonts", "se_group_styles", "se_raster_",
    "se_styled_", "se_vector_", "raster_coverages", "vector_coverages", "wms_getcapabilities", "wms_getmap",
    "wms_ref_sys", "wms_settings", "iso_metadata", "stored_procedures", "stored_variables", "rl2map_configurations",
    "idx_",
  ]

  /// The layers that `gpkg_contents` names. The list is empty if the database is no GeoPackage.
  public func layersInContents() throws -> [Name] {
    guard try has(["table_name", "data_type"], in: "gpkg_contents") else { return [] }
    return try all(
      "SELECT table_name FROM gpkg_contents WHERE data_type IN ('features', 'tiles') ORDER BY table_name"
    ) { Name($0.text(0)) }
  }
}
