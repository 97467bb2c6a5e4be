import SatchelValues

extension Database {
  /// Triggers that update `gpkg_contents` when rows are applied, as a GIS tool does when it writes rows. They widen the
  /// bounds of the layer and record the time. The list is empty if the database is no GeoPackage, or if `gpkg_contents`
  /// itself is a tracked table.
  ///
  /// Like GDAL, these triggers never narrow the bounds, because narrowing would need a scan of the layer.
  func contentsTriggers(of tracked: [Name]) throws -> [DerivedTableTrigger] {
    guard try keepsContents(tracked) else { return [] }
    let layers = try layers()
    return tracked.flatMap { table in
      layers.first { $0.table.isSameInSQL(as: table) }.map { contentsTriggers(of: table, geometry: $0.column) } ?? []
    }
  }

  /// Whether Satchel maintains the bounds in `gpkg_contents`. It does so if the database is a GeoPackage and
  /// `gpkg_contents` is not a tracked table.
  func keepsContents(_ tracked: [Name]) throws -> Bool {
    try hasTable("gpkg_contents") && !tracked.contains { $0.isSameInSQL(as: "gpkg_contents") }
  }

  private func contentsTriggers(of table: Name, geometry: Name) -> [DerivedTableTrigger] {
    let new = "NEW.\(quoted(geometry))"
    let sides = [
      ("min_x", "min", "ST_MinX"), ("min_y", "min", "ST_MinY"), ("max_x", "max", "ST_MaxX"),
      ("max_y", "max", "ST_MaxY"),
    ]
    // SQL for the smaller or the greater of two values that may be NULL.
    let widen = sides.map { side, choice, function in
      ", \(side) = \(choice)(coalesce(\(side), \(function)(\(new))), coalesce(\(function)(\(new)), \(side)))"
    }.joined()
    return [("INSERT", widen), ("UPDATE", widen), ("DELETE", "")].map { event, widen in
      let name = Name("satchel_contents_\(event.lowercased()):\(table)")
      return DerivedTableTrigger(
        name: name, table: table,
        sql: """
          CREATE TRIGGER \(quoted(name)) AFTER \(event) ON \(quoted(table))
          BEGIN
            UPDATE gpkg_contents
            SET last_change = strftime('%Y-%m-%dT%H:%M:%fZ', 'now')\(widen)
            WHERE lower(table_name) = lower(\(quotedText(table.text)));
          END
          """)
    }
  }
}
