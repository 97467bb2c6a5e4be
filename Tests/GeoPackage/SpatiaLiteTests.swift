import Foundation
import SatchelGeometry
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

/// Compares Satchel with SpatiaLite. GDAL contains SpatiaLite.
@Suite("Geometries written by GDAL and SpatiaLite")
struct SpatiaLiteTests {
  private static let texts = [
    "POINT (1.5 -2)", "POINT Z (1 2 3)", "POINT M (1 2 3)", "POINT ZM (1 2 3 4)", "LINESTRING (0 0,1.25 1,2 7,5 5)",
    "LINESTRING Z (0 0 1,1.25 1 2,2 7 3,5 5 4)", "LINESTRING M (0 0 1,1.25 1 2,2 7 3,5 5 4)",
    "LINESTRING ZM (0 0 1 9,1.25 1 2 8,2 7 3 7,5 5 4 6)", "POLYGON ((0 0,8 0,8 8,0 0),(1 1,2 1,2 2,1 1))",
    "POLYGON Z ((0 0 1,8 0 1,8 8 2,0 0 1))", "MULTIPOINT ((1 2),(3 4))", "MULTILINESTRING ((0 0,1 1),(2 2,3 3,4 5))",
    "MULTIPOLYGON (((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))",
    "GEOMETRYCOLLECTION (POINT (1 2),LINESTRING (0 0,3 4),POLYGON ((0 0,1 0,1 1,0 0)))",
  ]

  @Test("SpatiaLite's blobs, plain, compressed and short, are read as SpatiaLite reads them")
  func blobs() throws {
    let folder = try TemporaryFolder()
    try folder.write(Array("id,name\n1,one\n".utf8), to: "empty.csv")
    try StockTool.ogr2ogr("-f", "GPKG", "a.gpkg", "empty.csv", in: folder.path)
    let plain = Self.texts.map {
      """
      ST_GeomFromText('\($0.replacing(" Z ", with: " Z").replacing(" M ", with: " M").replacing(" ZM ", with: " ZM"))')
      """
    }
    let expressions = plain + plain.map { "CompressGeometry(\($0))" } + plain.prefix(4).map { "TinyPointEncode(\($0))" }
    let query = expressions.map { "SELECT hex(\($0)) AS h" }.joined(separator: " UNION ALL ")
    try folder.write(Array(query.utf8), to: "query.sql")
    let hexadecimal = try StockTool.ogrinfo("-q", "-ro", "a.gpkg", "-sql", "@query.sql", in: folder.path).lines
      .compactMap { $0.components(separatedBy: "h (String) = ").dropFirst().first }
    try #require(hexadecimal.count == expressions.count)
    for (place, digits) in hexadecimal.enumerated() {
      let blob = try #require(Hexadecimal.bytes(of: digits.lowercased()), "\(expressions[place])")
      let text = Self.texts[place % Self.texts.count]
      let stored = StoredGeometry(blob)
      #expect(stored?.geometry.wellKnownText == text && stored?.form == .spatiaLite, "\(expressions[place]): \(digits)")
      let expected = GeometryBounds(of: try Geometry(wellKnownText: text))
      #expect(GeometryBlob(blob.span)?.bounds == expected, "\(text)")
    }
  }

  @Test("geometries are written byte for byte as GDAL writes them")
  func written() throws {
    let texts =
      Self.texts + [
        "POINT EMPTY", "LINESTRING EMPTY", "POLYGON EMPTY", "MULTIPOLYGON EMPTY", "GEOMETRYCOLLECTION EMPTY",
        "CIRCULARSTRING (0 0,1 1,2 0)", "COMPOUNDCURVE ((5 3,5 13),CIRCULARSTRING (5 13,7 15,9 13))",
        "CURVEPOLYGON (CIRCULARSTRING (0 0,1 1,2 0,1 -1,0 0))", "POINT (0.1 123456789012345.67)",
      ]
    let folder = try TemporaryFolder()
    try folder.write(Array((["WKT;name"] + texts.map { "\($0);x" }).joined(separator: "\n").utf8), to: "t.csv")
    try StockTool.ogr2ogr(
      "-f", "GPKG", "a.gpkg", "t.csv", "-oo", "GEOM_POSSIBLE_NAMES=WKT", "-oo", "KEEP_GEOM_COLUMNS=NO", "-a_srs",
      "EPSG:32633", "-lco", "GEOMETRY_NAME=geom", in: folder.path)
    let blobs = try Database(path: folder("a.gpkg"), mode: .readOnly).all("SELECT geom FROM t ORDER BY fid") {
      $0.value(0)
    }
    try #require(blobs.count == texts.count)
    for (text, blob) in zip(texts, blobs) {
      let geometry = try Geometry(wellKnownText: text)
      #expect(Value.blob(geometry.geoPackageBlob(referenceSystem: 32633)) == blob, "\(text)")
    }
  }

  /// Makes a SpatiaLite database with an indexed table, and a template from it.
  private func makeOffice() throws -> GeoPackageFixture {
    let expedition = try GeoPackageFixture(ending: "sqlite")
    try expedition.folder.write(Array("WKT;name\nPOINT (1 2);a\nPOINT (3 4);b\n".utf8), to: "trees.csv")
    try StockTool.ogr2ogr(
      "-f", "SQLite", "office.sqlite", "trees.csv", "-dsco", "SPATIALITE=YES", "-oo", "GEOM_POSSIBLE_NAMES=WKT", "-oo",
      "KEEP_GEOM_COLUMNS=NO", "-a_srs", "EPSG:32633", "-lco", "GEOMETRY_NAME=geom", in: expedition.folder.path)
    return expedition
  }

  @Test(
    "init names SpatiaLite's index once, with the exact way around it; that way works, and without it an import says so"
  )
  func index() throws {
    let expedition = try makeOffice()
    let made = try expedition.found(["trees"], rules: ["keys": "blocks"])
    #expect(made.code == 0, "\(made.error)")
    let before = "SELECT DisableSpatialIndex('trees', 'geom'); DROP TABLE \"idx_trees_geom\";"
    let after = "SELECT CreateSpatialIndex('trees', 'geom');"
    #expect(made.out.components(separatedBy: before).count == 2 && made.out.contains(after), "\(made.out)")
    expedition.hub("user", "add", "ann")
    #expect(expedition.hub("device", "provision", "gps", "--user", "ann", "--into", expedition.folder("gps")).code == 0)
    try expedition.sql(
      expedition.database("gps"), "INSERT INTO trees (name, geom) SELECT 'c', geom FROM trees WHERE name = 'b'")
    expedition.device("gps", "export")
    let bundle = expedition.folder("gps/bundles/outbox/land-gps-hub-1.satchel")
    let refused = expedition.hub("import", bundle)
    #expect(refused.code != 0 && refused.error.contains(before) && refused.error.contains(after), "\(refused.error)")

    func gdal(_ sql: String) throws -> String {
      let done = try StockTool.ogrinfo("-q", expedition.office, "-sql", sql, in: expedition.folder.path)
      return done.text + done.complaint
    }
    _ = try gdal("SELECT DisableSpatialIndex('trees', 'geom')")
    _ = try gdal("DROP TABLE \"idx_trees_geom\"")
    let taken = expedition.hub("import", bundle)
    #expect(taken.code == 0, "\(taken.error)")
    _ = try gdal("SELECT CreateSpatialIndex('trees', 'geom')")
    #expect(try gdal("SELECT CheckSpatialIndex('trees', 'geom') AS c").contains("c (Integer) = 1"))
    #expect(try expedition.rows(expedition.office, "SELECT count(*) FROM idx_trees_geom") == ["integer(3)"])
  }

  @Test("provisioning into a template with SpatiaLite's index says the same, and leaves nothing")
  func template() throws {
    let expedition = try makeOffice()
    try FileManager.default.copyItem(atPath: expedition.office, toPath: expedition.folder("template.sqlite"))
    try StockTool.sqlite3(
      "template.sqlite", "DROP TRIGGER gid_trees_geom; DELETE FROM trees; DELETE FROM idx_trees_geom",
      in: expedition.folder.path)
    #expect(try expedition.found(["trees"]).code == 0)
    expedition.hub("user", "add", "ann")
    let refused = expedition.provision("gps", template: "template.sqlite")
    #expect(refused.code != 0, "\(refused.out)")
    #expect(refused.error.contains("DisableSpatialIndex('trees', 'geom')"), "\(refused.error)")
    #expect(!FileManager.default.fileExists(atPath: expedition.folder("gps")))
  }
}
