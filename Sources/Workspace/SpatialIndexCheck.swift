import SatchelCapture
import SatchelSQLite
import SatchelValues

/// The findings of `doctor` about R-trees. GIS tools find features by these R-trees.
extension DoctorReport {
  /// Compares the R-trees of these tables with their geometries.
  public mutating func checkSpatialIndexes(of tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables {
      if let broken = try database.brokenSpatialIndex(of: table.name) {
        add(try Finding(brokenIndex: broken, of: table.name, database))
      } else {
        add(try database.spatialIndexFaults(of: [table.name]))
        for layer in try database.layersWithIdleIndex(among: [table.name]) { add(Finding(idleIndexOf: layer)) }
      }
    }
  }

  /// Repairs the R-trees of these tables. The caller holds a write transaction.
  public mutating func mendSpatialIndexes(of tables: [TrackedTable], in database: borrowing Database) throws {
    for table in tables {
      if let broken = try database.brokenSpatialIndex(of: table.name) {
        add(try Finding(brokenIndex: broken, of: table.name, database))
      } else {
        add(try database.mendSpatialIndexes(of: [table.name], among: tables.map(\.name)))
        for layer in try database.layersWithIdleIndex(among: [table.name]) {
          try database.makeIndexTriggers(of: layer)
          add(Finding(idleIndexOf: layer))
        }
      }
    }
  }

  private mutating func add(_ faults: [SpatialIndexFault]) {
    for fault in faults {
      if fault.isOfIndex { add(Finding(fault)) }
      if fault.noGeometries > 0 { add(Finding(noGeometriesIn: fault)) }
    }
  }
}

extension Layer {
  /// Two commands for `ogrinfo`, which makes R-trees as the GeoPackage standard requires.
  fileprivate var rebuilding: String {
    let arguments = "('\(table)', '\(column)')"
    return """
      ogrinfo FILE -sql "SELECT DisableSpatialIndex\(arguments)"; \
      ogrinfo FILE -sql "SELECT CreateSpatialIndex\(arguments)"
      """
  }
}

extension Finding {
  fileprivate init(brokenIndex words: String, of table: Name, _ database: borrowing Database) throws {
    let layer = try database.layers().first { $0.table.isSameInSQL(as: table) }
    self.init(
      .spatialIndex, "The spatial index of the layer \(table) contradicts itself: \(words).",
      hint: layer.map { "Rebuild it with GDAL: \($0.rebuilding)" } ?? "Rebuild it in a GIS.")
  }

  fileprivate init(idleIndexOf layer: Layer) {
    self.init(
      .spatialIndex,
      """
      The spatial index of the layer \(layer.table) has no triggers. GIS tools would not find features that are added \
      or moved.
      """)
  }

  fileprivate init(_ fault: SpatialIndexFault) {
    let parts = [
      (fault.lacking, "feature is not in it", "features are not in it"),
      (fault.excess, "entry has no geometry", "entries have no geometry"),
      (fault.otherBoxes, "feature is elsewhere", "features are elsewhere"),
    ].filter { $0.0 > 0 }.map { "\($0.0) \($0.0 == 1 ? $0.1 : $0.2)" }
    self.init(
      .spatialIndex,
      """
      The spatial index of the layer \(fault.layer.table) is wrong: \(parts.joined(separator: ", ")). \
      GIS tools do not find such features at their place.
      """)
  }

  fileprivate init(noGeometriesIn fault: SpatialIndexFault) {
    let (layer, count) = (fault.layer, fault.noGeometries)
    self.init(
      .noGeometry,
      """
      \(count) \(count == 1 ? "feature has" : "features have") text in place of a geometry in the layer \
      \(layer.table): GIS tools cannot read \(count == 1 ? "it" : "them").
      """,
      hint: """
        Find them, and give them a geometry or NULL: SELECT * FROM \(quoted(layer.table)) WHERE \
        typeof(\(quoted(layer.column))) NOT IN ('blob', 'null')
        """)
  }
}
