import SatchelValues

/// The triggers that update the R-tree of a layer when features change.
extension Database {
  /// The layers among these tables whose R-tree follows the GeoPackage standard, but has no trigger that writes it. GIS
  /// tools do not find features that were added or moved in such a layer.
  public func layersWithIdleIndex(among tables: [Name]) throws -> [Layer] {
    try spatialIndexes(of: tables).map(\.layer).filter { layer in
      try isDeclared(layer)
        && first(
          """
          SELECT 1
          FROM sqlite_schema
          WHERE type = 'trigger' AND tbl_name = :table COLLATE NOCASE AND instr(lower(sql), lower(:index)) > 0
          """, ["table": .string(layer.table.text), "index": .string(layer.spatialIndex.text)]
        ) { _ in true } == nil
    }
  }

  private func isDeclared(_ layer: Layer) throws -> Bool {
    guard try has(["table_name", "extension_name"], in: "gpkg_extensions") else { return false }
    return try first(
      """
      SELECT 1
      FROM gpkg_extensions
      WHERE table_name = :table COLLATE NOCASE AND extension_name = 'gpkg_rtree_index'
      """, ["table": .string(layer.table.text)]
    ) { _ in true } ?? false
  }

  /// Creates the triggers that update the R-tree of a layer. The caller holds a write transaction.
  ///
  /// The triggers have the names and effects of GeoPackage 1.4, annex F.3. Therefore GIS tools find and replace them.
  public func makeIndexTriggers(of layer: Layer) throws {
    guard let index = try spatialIndexes(of: [layer.table]).first else { return }
    for trigger in index.triggers { try execute(trigger) }
    try forgetFeatureCount(of: layer)
  }

  /// Makes GDAL count the features of the layer again, unless GDAL's own triggers maintain its count.
  private func forgetFeatureCount(of layer: Layer) throws {
    guard try has(["table_name", "feature_count"], in: "gpkg_ogr_contents") else { return }
    try run(
      """
      UPDATE gpkg_ogr_contents SET feature_count = NULL
      WHERE table_name = :table COLLATE NOCASE AND NOT EXISTS (
        SELECT 1
        FROM sqlite_schema
        WHERE type = 'trigger' AND tbl_name = :table COLLATE NOCASE AND instr(lower(sql), 'gpkg_ogr_contents') > 0)
      """, ["table": .string(layer.table.text)])
  }
}

extension SpatialIndex {
  /// The SQL of the triggers.
  fileprivate var triggers: [String] {
    let geometry = quoted(layer.column)
    func isThere(_ row: String) -> String { "\(row).\(geometry) NOT NULL AND NOT ST_IsEmpty(\(row).\(geometry))" }
    func isNone(_ row: String) -> String { "(\(row).\(geometry) ISNULL OR ST_IsEmpty(\(row).\(geometry)))" }
    let sides = ["ST_MinX", "ST_MaxX", "ST_MinY", "ST_MaxY"].map { "\($0)(NEW.\(geometry))" }
    let put = "INSERT OR REPLACE INTO \(name) VALUES (NEW.\(rowid), \(sides.joined(separator: ", ")));"
    let moved = zip(columns.dropFirst(), sides).map { "\($0) = \($1)" }.joined(separator: ", ")
    func remove(_ rows: String...) -> String {
      "DELETE FROM \(name) WHERE \(id) IN (\(rows.map { "\($0).\(rowid)" }.joined(separator: ", ")));"
    }
    let (stays, goes) = ("OLD.\(rowid) = NEW.\(rowid)", "OLD.\(rowid) <> NEW.\(rowid)")
    let ofGeometry = "UPDATE OF \(geometry)"
    return [
      trigger("insert", "INSERT", isThere("NEW"), put),
      trigger("update2", ofGeometry, "\(stays) AND \(isNone("NEW"))", remove("OLD")),
      trigger("update4", "UPDATE", "\(goes) AND \(isNone("NEW"))", remove("OLD", "NEW")),
      trigger("update5", "UPDATE", "\(goes) AND \(isThere("NEW"))", "\(remove("OLD")) \(put)"),
      trigger(
        "update6", ofGeometry, "\(stays) AND \(isThere("NEW")) AND \(isThere("OLD"))",
        "UPDATE \(name) SET \(moved) WHERE \(id) = NEW.\(rowid);"),
      trigger("update7", ofGeometry, "\(stays) AND \(isThere("NEW")) AND \(isNone("OLD"))", put),
      trigger("delete", "DELETE", "OLD.\(geometry) NOT NULL", remove("OLD")),
    ]
  }

  private func trigger(_ word: String, _ event: String, _ condition: String, _ effect: String) -> String {
    """
    CREATE TRIGGER \(quoted(Name("\(layer.spatialIndex)_\(word)"))) AFTER \(event) ON \(quoted(layer.table))
    WHEN \(condition)
    BEGIN \(effect) END
    """
  }
}
