import Foundation
import SatchelGeometry
import SatchelJSON
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@Suite("The R-tree of a layer")
struct SpatialIndexTests {
  @Test("spatial SQL that stores SpatiaLite's blobs moves features on every replica, and index and bounds follow")
  func spatiaLite() throws {
    let survey = try Survey(["POINT (1 1)", "POINT (2 2)"])
    try survey.found()
    let expedition = survey.expedition
    try survey.gdal(
      expedition.database("gps"),
      """
      UPDATE trees
      SET geom = CASE fid WHEN 1 THEN ST_Translate(geom, 100, 0, 0) ELSE TinyPointEncode(ST_Translate(geom, 100, 0, 0)) END
      """
    )
    #expect(
      try expedition.rows(expedition.database("gps"), "SELECT DISTINCT hex(substr(geom, 1, 1)) FROM trees").count == 1)
    try expedition.round(from: "gps", to: ["gps", "pad"])
    for path in [expedition.office, expedition.database("pad")] {
      #expect(try survey.count(path, in: [100, 0, 110, 10]) == 2)
      #expect(try survey.count(path, in: [0, 0, 10, 10]) == 0)
      #expect(try expedition.rows(path, "SELECT max_x FROM gpkg_contents") == ["real(102.0)"])
      #expect(try Rtrees.faults(in: Database(path: path, mode: .readOnly)) == [])
    }
    for outcome in [expedition.hub("doctor"), expedition.device("pad", "doctor")] {
      #expect(outcome.out == "All is well.\n")
    }
  }

  @Test("a rule sees where a feature is that spatial SQL has moved")
  func rules() throws {
    let survey = try Survey(["POINT (1 1)", "POINT (2 2)"])
    try survey.found(["visible": "ST_MinX(geom) >= 0", "keys": "blocks"])
    let expedition = survey.expedition
    try survey.gdal(expedition.database("gps"), "UPDATE trees SET geom = ST_Translate(geom, 100, 0, 0)")
    try expedition.round(from: "gps", to: ["gps", "pad"])
    #expect(try survey.read(expedition.database("pad")) == ["POINT(101 1)", "POINT(102 2)"])
    #expect(expedition.hub("conflicts", "--all").out == "No conflict waits for a decision.\n")
    try survey.gdal(expedition.office, "UPDATE trees SET geom = ST_Translate(geom, -500, 0, 0) WHERE fid = 1")
    try expedition.bring(to: ["pad"])
    #expect(try survey.read(expedition.database("pad")) == ["POINT(102 2)"])
  }

  @Test("doctor names an R-tree that lacks features, has too many or other boxes; --repair mends those entries alone")
  func damaged() throws {
    let survey = try Survey((1...5).map { "POINT (\($0) \($0))" })
    try survey.found()
    let expedition = survey.expedition
    let wrong = """
      DELETE FROM rtree_trees_geom WHERE id = 2; INSERT INTO rtree_trees_geom VALUES (99, 1, 1, 1, 1);
      UPDATE rtree_trees_geom SET maxx = 70 WHERE id = 3; UPDATE gpkg_contents SET max_x = 1;
      """
    for (path, tool) in [(expedition.office, expedition.hub), (expedition.database("pad"), padTool(expedition))] {
      try expedition.sql(path, wrong)
      let words = """
        The spatial index of the layer trees is wrong: 1 feature is not in it, 1 entry has no geometry, 1 feature is elsewhere.
        """
      let found = tool("doctor")
      #expect(found.code == 1 && found.out.contains(words) && found.out.contains("doctor --repair"), "\(found.out)")
      #expect(tool("doctor", "--json").out.contains("\"spatial-index\""))
      let rehearsed = tool("doctor", "--repair", "--dry-run")
      #expect(rehearsed.code == 0 && rehearsed.out.contains("Mended."))
      #expect(tool("doctor").out.contains(words))
      let mended = tool("doctor", "--repair")
      #expect(mended.code == 0 && mended.out.contains("Mended."), "\(mended.out)")
      #expect(tool("doctor").out == "All is well.\n")
      #expect(try Rtrees.faults(in: Database(path: path, mode: .readOnly)) == [])
      // The bounds cover only the two features that had wrong entries: 2 and 3.
      #expect(try expedition.rows(path, "SELECT max_x FROM gpkg_contents") == ["real(3.0)"])
    }
  }

  @Test("a layer that is made again gets the triggers of its R-tree, and then a GIS keeps the R-tree right")
  func withoutTriggers() throws {
    let survey = try Survey((1...4).map { "POINT (\($0) \($0))" })
    try survey.found()
    let expedition = survey.expedition
    let path = expedition.database("pad")
    try expedition.sql(path, "DROP TABLE trees")
    let words = "The spatial index of the layer trees has no triggers."
    let repaired = expedition.device("pad", "doctor", "--repair", "--tables")
    #expect(repaired.code == 0 && repaired.out.contains(words), "\(repaired.out)\(repaired.error)")
    for change in [
      "UPDATE trees SET geom = ST_Translate(geom, 10, 0, 0) WHERE fid = 1", "UPDATE trees SET fid = 9 WHERE fid = 1",
      "INSERT INTO trees (geom) SELECT geom FROM trees WHERE fid = 9", "DELETE FROM trees WHERE fid = 2",
      "UPDATE trees SET geom = NULL WHERE fid = 3",
      "UPDATE trees SET geom = (SELECT geom FROM trees WHERE fid = 9) WHERE fid = 3",
      "UPDATE trees SET fid = 8, geom = NULL WHERE fid = 9",
    ] {
      try survey.gdal(path, change)
      // GDAL has no stored count of this layer any more, so it counts the features itself.
      let faults = try Rtrees.faults(in: Database(path: path, mode: .readOnly)).filter { $0 != "trees: the count" }
      #expect(faults == [], "\(change)")
    }
    let counted = try StockTool.ogrinfo("-so", path, "trees", in: expedition.folder.path).text
    #expect(counted.contains("Feature Count: 4"), "\(counted)")
    #expect(try expedition.rows(path, "SELECT count(*) FROM rtree_trees_geom") == ["integer(3)"])
    #expect(expedition.device("pad", "doctor").out == "All is well.\n")
    // At the hub, a person removed the triggers of the R-tree.
    let triggers = try Database(path: expedition.office, mode: .readOnly).all(
      "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'rtree%'"
    ) { $0.text(0) }
    try expedition.sql(expedition.office, triggers.map { "DROP TRIGGER \"\($0)\";" }.joined())
    #expect(expedition.hub("doctor").out.contains(words))
    #expect(expedition.hub("doctor", "--repair").code == 0)
    #expect(expedition.hub("doctor").out == "All is well.\n")
  }

  private func padTool(_ expedition: GeoPackageFixture) -> (String...) -> GeoPackageFixture.Outcome {
    { words in
      switch words.count {
      case 1: expedition.device("pad", words[0])
      case 2: expedition.device("pad", words[0], words[1])
      default: expedition.device("pad", words[0], words[1], words[2])
      }
    }
  }

  @Test(
    """
    an R-tree that contradicts itself is named with the way to rebuild it, which works; everything else is still \
    checked
    """
  )
  func unreadable() throws {
    let survey = try Survey(["POINT (1 1)", "POINT (2 2)"])
    try survey.found()
    let expedition = survey.expedition
    try StockTool.sqlite3(
      expedition.office, "UPDATE rtree_trees_geom_node SET data = zeroblob(length(data))", in: expedition.folder.path)
    let found = expedition.hub("doctor")
    #expect(
      found.code == 1 && found.out.contains("The spatial index of the layer trees contradicts itself:"), "\(found.out)")
    let repaired = expedition.hub("doctor", "--repair")
    #expect(repaired.code == 1 && !repaired.out.contains("Mended"), "\(repaired.out)")
    #expect(found.out.contains(#"SELECT CreateSpatialIndex('trees', 'geom')"#))
    for function in ["DisableSpatialIndex", "CreateSpatialIndex"] {
      try survey.gdal(expedition.office, "SELECT \(function)('trees', 'geom')")
    }
    #expect(expedition.hub("doctor").out == "All is well.\n")
  }

  @Test("text in place of a geometry is named, with the way to find it")
  func text() throws {
    let survey = try Survey(["POINT (1 1)"])
    try survey.found()
    let expedition = survey.expedition
    try expedition.sql(expedition.office, "UPDATE trees SET geom = 'POINT (7 7)'")
    let found = expedition.hub("doctor")
    #expect(found.out.contains("1 feature has text in place of a geometry in the layer trees"), "\(found.out)")
    #expect(found.out.contains(#"typeof("geom") NOT IN ('blob', 'null')"#))
  }

  @Test("a box is compared as SQLite's R-tree rounds it: no number of any size is taken for a wrong one")
  func rounding() throws {
    let folder = try TemporaryFolder()
    let database = try Database(path: folder("a.gpkg"), mode: .create)
    try database.execute(
      """
      CREATE TABLE gpkg_spatial_ref_sys (srs_name, srs_id, organization, organization_coordsys_id, definition);
      CREATE TABLE gpkg_geometry_columns (table_name, column_name, geometry_type_name, srs_id, z, m);
      INSERT INTO gpkg_geometry_columns VALUES ('t', 'g', 'GEOMETRY', 0, 0, 0);
      CREATE TABLE t (fid INTEGER PRIMARY KEY, g BLOB);
      CREATE VIRTUAL TABLE rtree_t_g USING rtree(id, minx, maxx, miny, maxy);
      """)
    var random = SplitMix64(seed: 5)
    func number() -> Double {
      let magnitude = [1e-300, 1e-40, 1e-3, 1, 180, 5e5, 16_777_217, 1e12, 1e38, 1e39, 1e300][random.below(11)]
      return (random.fraction() * 2 - 1) * magnitude
    }
    try database.writeTransaction {
      for fid in Int64(1)...4000 {
        let (a, b) = (Position(x: number(), y: number()), Position(x: number(), y: number()))
        let blob = Geometry(.lineString, .xy, .positions([a, b])).geoPackageBlob(referenceSystem: 0)
        try database.run("INSERT INTO t VALUES (:fid, :g)", ["fid": .integer(fid), "g": .blob(blob)])
      }
      try database.execute("INSERT INTO rtree_t_g SELECT fid, ST_MinX(g), ST_MaxX(g), ST_MinY(g), ST_MaxY(g) FROM t")
    }
    #expect(try database.spatialIndexFaults(of: ["t"]).isEmpty)
    // The change is larger than the rounding, so the check must find it.
    try database.execute(
      "UPDATE rtree_t_g SET maxx = maxx + abs(maxx) / 1e6 + 1e-20 WHERE abs(maxx) < 1e30 AND id < 200")
    let changed = Int(database.changes)
    #expect(changed > 50)
    #expect(try database.spatialIndexFaults(of: ["t"]).first?.otherBoxes == changed)
  }

  @Test("a blob that is no geometry known here is not judged, with or without an entry")
  func unknown() throws {
    let survey = try Survey(["POINT (1 1)", "POINT (2 2)"])
    let database = try Database(path: survey.expedition.office, mode: .readWrite)
    try database.execute("UPDATE trees SET geom = x'4750002100000000AABB'")
    #expect(try database.spatialIndexFaults(of: ["trees"]).isEmpty)
    try database.execute("DELETE FROM rtree_trees_geom")
    #expect(try database.spatialIndexFaults(of: ["trees"]).isEmpty)
    #expect(try database.mendSpatialIndexes(of: ["trees"], among: ["trees"]).isEmpty)
  }
}
