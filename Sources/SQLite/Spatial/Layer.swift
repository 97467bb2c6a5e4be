import SatchelGeometry
import SatchelValues

/// A layer of a GeoPackage: a table with a column of geometries.
public struct Layer: Sendable {
  public let table: Name
  /// The column with the geometries. The name is spelt as in the table's declaration.
  public let column: Name
  public let type: LayerType
  /// `srs_id`: the number that this file gives to the layer's reference system.
  public let referenceSystem: Int32
  /// The number that an organisation gave to the reference system, such as 4326 by EPSG; nil if the file has no such
  /// number.
  public let organizationNumber: Int64?
  public let unit: MapUnit

  /// The name of the layer's R-tree, if the layer has an R-tree.
  public var spatialIndex: Name { Name("rtree_\(table)_\(column)") }
}

extension Database {
  /// The layers of a GeoPackage, in the order of their names; empty if the database is no GeoPackage.
  public func layers() throws -> [Layer] {
    guard
      try has(["table_name", "column_name", "geometry_type_name", "srs_id", "z", "m"], in: "gpkg_geometry_columns"),
      try has(["srs_id", "organization_coordsys_id", "definition"], in: "gpkg_spatial_ref_sys")
    else { return [] }
    return try all(
      """
      SELECT c.table_name, c.column_name, c.geometry_type_name, c.z, c.m, c.srs_id, s.organization_coordsys_id,
        s.definition
      FROM gpkg_geometry_columns AS c LEFT JOIN gpkg_spatial_ref_sys AS s ON s.srs_id = c.srs_id
      ORDER BY c.table_name, c.column_name
      """
    ) { row in
      let table = Name(row.text(0))
      guard let shape = try tableShape(table),
        let column = shape.columns.first(where: { $0.isSameInSQL(as: Name(row.text(1))) })
      else { return nil }
      return Layer(
        table: table, column: column,
        type: LayerType(
          GeometryKind(word: row.text(2)) ?? .geometry, z: .init(rawValue: row.integer(3)) ?? .optional,
          m: .init(rawValue: row.integer(4)) ?? .optional),
        referenceSystem: Int32(truncatingIfNeeded: row.integer(5)), organizationNumber: row.optionalInteger(6),
        unit: MapUnit(definition: row.text(7)))
    }.compactMap(\.self)
  }

  /// The layer whose geometries are in this column; nil if no layer has its geometries there.
  public func layer(of table: Name, column: Name) throws -> Layer? {
    try layers().first { $0.table.isSameInSQL(as: table) && $0.column.isSameInSQL(as: column) }
  }

  /// Whether the table exists and has all these columns.
  func has(_ columns: [Name], in table: Name) throws -> Bool {
    guard let shape = try tableShape(table) else { return false }
    return columns.allSatisfy { column in shape.columns.contains { $0.isSameInSQL(as: column) } }
  }
}
