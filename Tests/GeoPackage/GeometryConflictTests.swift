import Foundation
import SatchelGeometry
import SatchelJSON
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@Suite("Conflicts of geometries")
struct GeometryConflictTests {
  private static let square = "POLYGON ((0 0,10 0,10 10,0 10,0 0))"

  @Test("a conflict says what kind of geometry each side has, where, and how far it moved, in words and in JSON")
  func shown() throws {
    let survey = try Survey([Self.square], kind: "POLYGON")
    try survey.found()
    let id = try survey.quarrel(
      "AsGPB(ST_GeomFromText('POLYGON ((0 0,10 0,10 17,0 10,0 0))', 32633))",
      "ST_GeomFromText('POLYGON ((0 0,10 0,13 14,5 20,0 10,0 0))', 32633)")
    let expedition = survey.expedition
    let list = expedition.hub("conflicts").out
    #expect(list.contains("trees [1]: 6 points instead of 5"), "\(list)")
    let shown = expedition.hub("conflicts", "show", id).out
    for words in [
      "geom\n  BEFORE   Polygon, 5 points\n  HUB      Polygon, 5 points\n  DEVICE   Polygon, 6 points\n",
      "geom before: Polygon, 5 points, x 0 to 10, y 0 to 10\n",
      "geom at the hub: Polygon, 5 points, x 0 to 10, y 0 to 17; 1 of 5 points moved, 7.0 m\n",
      "geom on the device: Polygon, 6 points, x 0 to 13, y 0 to 20; 6 points instead of 5\n",
    ] { #expect(shown.contains(words), "\(words) in \(shown)") }

    let json = try JSONValue.parse(Array(expedition.hub("conflicts", "show", id, "--json").out.utf8))
    let geometries = json["conflict"]?["geometries"]?["geom"]
    #expect(geometries?["unit"] == "metres")
    #expect(geometries?["base"]?["wkt"]?.stringValue == Self.square)
    #expect(geometries?["hub"]?["bounds"] == [.real(0), .real(0), .real(10), .real(17)])
    #expect(geometries?["hub"]?["moved"] == ["points": 1, "distance": .real(7)])
    #expect(geometries?["device"]?["type"] == "POLYGON" && geometries?["device"]?["points"] == 6)
    #expect(geometries?["device"]?["moved"] == nil)
    #expect(geometries?["row"]?["wkt"] == geometries?["hub"]?["wkt"])

    let csv = expedition.hub("conflicts", "export").out
    #expect(csv.contains(#""\#(Self.square)","POLYGON ((0 0,10 0,10 17,0 10,0 0))","#), "\(csv)")
    #expect(csv.contains("1 of 5 points moved, 7.0 m"))
    try expedition.bring(to: ["pad"])
    #expect(expedition.device("pad", "conflicts", "show", id).out.contains("1 of 5 points moved, 7.0 m"))
    let history = expedition.hub("history", "trees", "1").out
    #expect(history.contains("geom: Polygon, 5 points -> Polygon, 5 points"), "\(history)")
  }

  @Test("distances are in degrees if the layer's coordinates are")
  func degrees() throws {
    let survey = try Survey(["POINT (16.9 49.36)"], system: "EPSG:4326")
    try survey.found()
    let id = try survey.quarrel(
      "ST_GeomFromText('POINT (16.9 49.3612)', 4326)", "ST_GeomFromText('POINT (17 49.36)', 4326)")
    let shown = survey.expedition.hub("conflicts", "show", id).out
    #expect(shown.contains("at the hub: Point (16.9 49.3612); moved, 0.0012 degrees"), "\(shown)")
    #expect(shown.contains("on the device: Point (17 49.36); moved, 0.1 degrees"), "\(shown)")
  }

  @Test("a decision in well-known text is stored as GDAL stores it, on every file, with index and bounds")
  func decided() throws {
    let survey = try Survey(["POINT (1 1)", "POINT (2 2)"])
    try survey.found()
    let id = try survey.quarrel("ST_Translate(geom, 100, 0, 0)", "AsGPB(ST_Translate(geom, 0, 7, 0))")
    let expedition = survey.expedition
    let done = expedition.hub("conflicts", "resolve", id, "--set", "geom=point(7.25 -7)")
    #expect(done.code == 0, "\(done.error)")
    try expedition.bring(to: ["gps", "pad"])
    try survey.gdal(expedition.database("gps"), "UPDATE trees SET geom = geom WHERE fid = 2")
    for path in [expedition.office, expedition.database("gps"), expedition.database("pad")] {
      #expect(try survey.read(path) == ["POINT(7.25 -7)", "POINT(2 2)"])
      #expect(try survey.count(path, in: [7, -7.5, 7.5, -6.5]) == 1)
      #expect(try survey.count(path, in: [100, 0, 200, 2]) == 0)
      #expect(try Rtrees.faults(in: Database(path: path, mode: .readOnly)) == [])
      let stored = try expedition.rows(path, "SELECT hex(geom) FROM trees WHERE fid = 1")
      #expect(
        try stored == expedition.rows(":memory:", "SELECT '47500001797F000001010000000000000000001D400000000000001CC0'")
      )
    }
    #expect(
      try expedition.rows(expedition.office, "SELECT min_y < -6.9, max_x > 7 FROM gpkg_contents") == [
        "integer(1)|integer(1)"
      ])
  }

  @Test("a decision on a device widens the layer's bounds, and comes from a file in every format")
  func files() throws {
    let survey = try Survey([Self.square], kind: "POLYGON")
    try survey.found()
    _ = try survey.quarrel("ST_Translate(geom, 1, 0, 0)", "ST_Translate(geom, 2, 0, 0)")
    let expedition = survey.expedition
    try expedition.bring(to: ["pad"])
    let text = "POLYGON ((-5 0,10 0,10 10,-5 0))"
    let geometry = try Geometry(wellKnownText: text)
    let spatiaLite = try StockTool.ogrinfo(
      "-q", expedition.office, "-sql", "SELECT hex(ST_GeomFromText('\(text)', 32633)) AS h FROM trees",
      in: expedition.folder.path
    ).lines.compactMap { $0.components(separatedBy: "= ").dropFirst().first }.first
    let wanted = geometry.geoPackageBlob(referenceSystem: 32633)
    let formats: [(name: String, bytes: [UInt8])] = [
      ("text", Array((text + "\n").utf8)), ("wkb", geometry.wellKnownBinary), ("blob", wanted),
      ("unknown system", geometry.geoPackageBlob(referenceSystem: 0)),
      ("spatialite", try #require(Hexadecimal.bytes(of: (spatiaLite ?? "").lowercased()))),
    ]
    try FileManager.default.copyItem(atPath: expedition.folder("pad"), toPath: expedition.folder("before"))
    for format in formats {
      try FileManager.default.removeItem(atPath: expedition.folder("pad"))
      try FileManager.default.copyItem(atPath: expedition.folder("before"), toPath: expedition.folder("pad"))
      try expedition.folder.write(format.bytes, to: "given")
      let id = try #require(
        try JSONValue.parse(Array(expedition.device("pad", "conflicts", "--json").out.utf8))["conflicts"]?.arrayValue?
          .first?["id"]?
          .stringValue)
      let done = expedition.device("pad", "conflicts", "resolve", id, "--set", "geom=@\(expedition.folder("given"))")
      #expect(done.code == 0, "\(format.name): \(done.error)")
      let database = try Database(path: expedition.database("pad"), mode: .readOnly)
      let stored = try database.first("SELECT geom FROM trees") { $0.value(0) }
      #expect(stored == .blob(wanted), "\(format.name)")
      #expect(try expedition.rows(expedition.database("pad"), "SELECT min_x FROM gpkg_contents") == ["real(-5.0)"])
      #expect(try database.spatialIndexFaults(of: ["trees"]).isEmpty)
    }
  }

  @Test(
    "a geometry that a layer cannot have is refused by name, and nothing changes",
    arguments: [
      ("hello", "hello is no geometry: at character 1, hello is no kind of geometry."),
      ("POINT (7 7", "at character 11, expected , or )"), ("@nowhere.wkt", "nowhere.wkt"),
      ("POLYGON ((0 0,1 0,1 1,0 0))", "The layer trees takes POINT, and this is POLYGON."),
      ("POINT Z (1 2 3)", "The layer trees takes no Z values, and this geometry is Point Z."), ("x'00'", "no geometry"),
      ("x'0g'", "no geometry"), ("", "expected a geometry"),
      (
        "x'0101000020E6100000000000000000F03F000000000000F03F'",
        "has the reference system 4326, and the layer trees has 32633"
      ),
      ("x'47500001E610000001010000000000000000001D400000000000001CC0'", "has the reference system 4326"),
      ("x'0101000000000000000000F07F000000000000F03F'", "a coordinate that is no number"),
    ])
  func refused(words: String, message: String) throws {
    let survey = try Survey(["POINT (1 1)"])
    try survey.found()
    let id = try survey.quarrel("ST_Translate(geom, 100, 0, 0)", "ST_Translate(geom, 0, 7, 0)")
    let expedition = survey.expedition
    let before = try expedition.rows(expedition.office, "SELECT * FROM trees")
    let done = expedition.hub("conflicts", "resolve", id, "--set", "geom=\(words)")
    #expect(done.code == 1 && done.error.contains(message), "\(done.error)")
    #expect(try expedition.rows(expedition.office, "SELECT * FROM trees") == before)
    #expect(expedition.hub("conflicts").out.contains("open"))
  }

  @Test("bytes of the layer's own reference system are stored as they are, and NULL takes the geometry away")
  func literals() throws {
    let survey = try Survey(["POINT (1 1)"])
    try survey.found()
    let first = try survey.quarrel("ST_Translate(geom, 100, 0, 0)", "ST_Translate(geom, 0, 7, 0)")
    let expedition = survey.expedition
    // This blob has bounds. GDAL writes no bounds for a point.
    let blob =
      """
      47500003797F00000000000000001C400000000000001C400000000000001C400000000000001C400101000000000000\
      0000001C400000000000001C40
      """
    #expect(expedition.hub("conflicts", "resolve", first, "--set", "geom=x'\(blob)'").code == 0)
    #expect(try expedition.rows(expedition.office, "SELECT hex(geom) = '\(blob)' FROM trees") == ["integer(1)"])
    try expedition.bring(to: ["gps", "pad"])
    let second = try survey.quarrel("ST_Translate(geom, 100, 0, 0)", "ST_Translate(geom, 0, 7, 0)")
    #expect(expedition.hub("conflicts", "resolve", second, "--set", "geom=NULL").code == 0)
    #expect(try expedition.rows(expedition.office, "SELECT geom FROM trees") == ["null"])
    #expect(try expedition.rows(expedition.office, "SELECT count(*) FROM rtree_trees_geom") == ["integer(0)"])
  }

  @Test("a GeoPackage of conflicts has a layer for each side, is valid, and is read by GDAL without complaint")
  func package() throws {
    let survey = try Survey([Self.square], kind: "POLYGON")
    try survey.found()
    let id = try survey.quarrel("ST_Translate(geom, 3, 4, 0)", "ST_Translate(geom, 0, -7, 0)")
    let expedition = survey.expedition
    let path = expedition.folder("map.gpkg")
    let made = expedition.hub("conflicts", "export", "--gpkg", path, "--json")
    #expect(made.code == 0, "\(made.error)")
    let json = try JSONValue.parse(Array(made.out.utf8))
    #expect(json["layers"] == ["trees before", "trees hub", "trees device"] && json["features"] == 3)
    let valid = try StockTool.python3("-m", "osgeo_utils.samples.validate_gpkg", path, in: expedition.folder.path)
    #expect(valid.complaint.isEmpty, "\(valid.text)\(valid.complaint)")
    let read = try StockTool.ogrinfo("-ro", "-al", path, in: expedition.folder.path)
    #expect(read.complaint.isEmpty, "\(read.complaint)")
    for words in [
      "POLYGON ((0 0,10 0,10 10,0 10,0 0))", "POLYGON ((3 4,13 4,13 14,3 14,3 4))",
      "POLYGON ((0 -7,10 -7,10 3,0 3,0 -7))", "moved (String) = 5 of 5 points moved, 5.0 m", "device (String) = pad",
      "conflict (String) = \(id)", #"ID["EPSG",32633]"#,
    ] { #expect(read.text.contains(words), "\(words)") }

    let again = expedition.hub("conflicts", "export", "--gpkg", path)
    #expect(again.code == 1 && again.error.contains("There is something at \(path) already."))
    let files = try FileManager.default.contentsOfDirectory(atPath: expedition.folder.path)
    #expect(!files.contains { $0.hasPrefix(".satchel-") })
  }

  @Test("if no conflict has a geometry, no GeoPackage is written")
  func noPackage() throws {
    let survey = try Survey(["POINT (1 1)"])
    try survey.found()
    let path = survey.expedition.folder("map.gpkg")
    let made = survey.expedition.device("gps", "conflicts", "export", "--gpkg", path)
    #expect(made.code == 1 && made.error.contains("No conflict has a geometry"))
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
