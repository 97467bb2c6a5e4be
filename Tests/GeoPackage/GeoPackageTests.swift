import Foundation
import SatchelSQLite
import TestSupport
import Testing

/// GIS tools have made the features and their R-trees, and edit them. Satchel carries the features between three
/// GeoPackages.
@Suite("GeoPackages that others made", .enabled(if: Shared.isThere, Shared.absence))
struct GeoPackageTests {
  /// Makes the office's file, a template without rows, a hub, and two devices of the same user.
  private func open(_ file: String) throws -> (expedition: GeoPackageFixture, tables: [String]) {
    let expedition = try GeoPackageFixture()
    try Shared.copy(file, to: expedition.office)
    try Shared.copy(file, to: expedition.folder("empty.gpkg"))
    let tables = try Database(path: expedition.office, mode: .readOnly).all(
      "SELECT table_name FROM gpkg_contents WHERE data_type IN ('features', 'attributes') ORDER BY 1"
    ) { $0.text(0) }
    // SQLite needs no geometry functions for a delete.
    try StockTool.sqlite3(
      "-bail", "empty.gpkg", tables.map { "DELETE FROM \(quoted($0))" }.joined(separator: ";"),
      in: expedition.folder.path)
    let made = try expedition.found(tables)
    try #require(made.code == 0, "\(made.error)")
    expedition.hub("user", "add", "ann")
    for device in ["gps", "pad"] {
      let made = expedition.provision(device, template: "empty.gpkg")
      try #require(made.code == 0, "\(made.error)")
    }
    return (expedition, tables)
  }

  /// Checks everything that must always hold for a GeoPackage. For example, GDAL must read it without a warning.
  private func check(_ path: String, _ tables: [String], in expedition: GeoPackageFixture) throws {
    #expect(try Rtrees.faults(in: Database(path: path, mode: .readOnly)) == [], "\(path)")
    #expect(try expedition.rows(path, "PRAGMA integrity_check") == expedition.rows(":memory:", "SELECT 'ok'"))
    #expect(try expedition.rows(path, "PRAGMA application_id") == expedition.rows(":memory:", "SELECT \(0x4750_4b47)"))
    let read = try StockTool.ogrinfo(["-ro", path] + tables, in: expedition.folder.path)
    #expect(read.complaint.isEmpty, "\(read.complaint)")
    let counts = try tables.map { table in
      try Database(path: path, mode: .readOnly).first("SELECT count(*) FROM \(quoted(table))") { $0.integer(0) } ?? -1
    }
    #expect(read.lines.filter { $0.hasPrefix("Feature Count: ") } == counts.map { "Feature Count: \($0)" })
    #expect(read.lines.count { $0.hasPrefix("OGRFeature(") } == Int(counts.reduce(0, +)))
  }

  private func checkAll(_ expedition: GeoPackageFixture, _ tables: [String]) throws {
    for table in tables {
      let query = "SELECT * FROM \(quoted(table)) ORDER BY 1"
      let wanted = try expedition.rows(expedition.office, query)
      for device in ["gps", "pad"] {
        #expect(try expedition.rows(expedition.database(device), query) == wanted, "\(device): \(table)")
      }
    }
    for path in [expedition.office, expedition.database("gps"), expedition.database("pad")] {
      try check(path, tables, in: expedition)
    }
  }

  @Test(
    "writes of GDAL and sqlite3 on a device arrive at the hub and on the other device: features, R-trees, counts",
    arguments: Shared.all)
  func carried(file: String) throws {
    let (expedition, tables) = try open(file)
    let version = try expedition.rows(expedition.office, "PRAGMA user_version")
    try checkAll(expedition, tables)

    for (place, table) in tables.enumerated() {
      let info = try #require(try Database(path: expedition.office, mode: .readOnly).tableInfo(.init(table)))
      let columns = info.schema.columns.filter { $0 != "fid" }
      // Plain SQLite deletes one feature. GDAL copies the first feature and changes the last one.
      try StockTool.sqlite3(
        expedition.database("gps"),
        "DELETE FROM \(quoted(table)) WHERE fid = (SELECT min(fid) + 1 FROM \(quoted(table)))",
        in: expedition.folder.path)
      var edits: [String] = []
      if columns.isEmpty {
        edits.append("INSERT INTO \(quoted(table)) DEFAULT VALUES")
      } else {
        let list = quotedList(columns)
        edits.append("INSERT INTO \(quoted(table)) (\(list)) SELECT \(list) FROM \(quoted(table)) ORDER BY fid LIMIT 1")
        let sources = columns.map {
          "\(quoted($0)) = (SELECT \(quoted($0)) FROM \(quoted(table)) ORDER BY fid LIMIT 1)"
        }
        edits.append(
          """
          UPDATE \(quoted(table)) SET \(sources.joined(separator: ", ")) WHERE fid = (SELECT max(fid) - 1 FROM \
          \(quoted(table)))
          """
        )
      }
      // Each edit needs a start of GDAL, which is slow. So only one table gets both edits, and each other table gets
      // one.
      for edit in place == 0 ? edits : [edits[place % edits.count]] {
        let done = try StockTool.ogrinfo("-q", expedition.database("gps"), "-sql", edit, in: expedition.folder.path)
        #expect(done.complaint.isEmpty, "\(edit): \(done.complaint)")
      }
    }
    let shapes = try ["gps", "pad"].map { try expedition.shape(expedition.database($0)) }
    try expedition.round(from: "gps", to: ["gps", "pad"])
    try checkAll(expedition, tables)
    #expect(try ["gps", "pad"].map { try expedition.shape(expedition.database($0)) } == shapes)
    for path in [expedition.office, expedition.database("gps"), expedition.database("pad")] {
      #expect(try expedition.rows(path, "PRAGMA user_version") == version)
    }
  }

  @Test(
    "features that ogr2ogr adds or moves at the office reach the devices by a delta and by a full bundle"
  )
  func fromTheOffice() throws {
    let (expedition, tables) = try open("base.gpkg")
    let point =
      #"{"type":"Feature","properties":{"name":"far"},"geometry":{"type":"Point","coordinates":[100.5,-45.25]}}"#
    try expedition.folder.write(Array(point.utf8), to: "far.geojson")
    try StockTool.ogr2ogr("-append", expedition.office, "far.geojson", "-nln", "simple", in: expedition.folder.path)
    try StockTool.ogrinfo(
      "-q", expedition.office, "-sql",
      "UPDATE simple SET geometry = (SELECT geometry FROM simple WHERE name = 'far') WHERE fid = 1",
      in: expedition.folder.path)
    try expedition.bring(to: ["gps"])
    try expedition.bring(to: ["pad"], "--full")
    try checkAll(expedition, tables)
    for device in ["gps", "pad"] {
      let path = expedition.database(device)
      #expect(
        try expedition.rows(path, "SELECT max_x, min_y FROM gpkg_contents")
          == expedition.rows(":memory:", "SELECT 100.5, -45.25")
      )
      let found = try StockTool.ogrinfo(
        "-ro", "-so", path, "simple", "-spat", "100", "-46", "101", "-45", in: expedition.folder.path)
      #expect(found.lines.contains("Feature Count: 2"))
      let extent = try #require(found.lines.first { $0.hasPrefix("Extent:") })
      #expect(extent.hasSuffix("(100.500000, 0.562244)") && extent.contains("-45.250000)"))
    }
  }

  @Test("a conflict about a geometry is decided, and the R-tree has the chosen geometry")
  func decided() throws {
    let (expedition, tables) = try open("base.gpkg")
    for (device, source) in [("gps", 2), ("pad", 3)] {
      try expedition.sql(
        expedition.database(device),
        "UPDATE simple SET geometry = (SELECT geometry FROM simple WHERE fid = \(source)) WHERE fid = 1")
    }
    try expedition.round(from: "gps", to: ["gps"])
    try expedition.round(from: "pad", to: ["pad"])
    let id =
      try Database(path: expedition.office, mode: .readOnly).first("SELECT id FROM satchel_conflicts") { $0.text(0) }
      ?? ""
    #expect(expedition.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    try check(expedition.office, tables, in: expedition)
    try expedition.bring(to: ["gps", "pad"])
    try checkAll(expedition, tables)
    let same = "SELECT count(*) FROM simple AS a JOIN simple AS b USING (geometry) WHERE a.fid = 1 AND b.fid = 3"
    #expect(try expedition.rows(expedition.database("gps"), same) == expedition.rows(":memory:", "SELECT 1"))
  }

  @Test("the triggers of newer GeoPackages, which change an entry in its place, see each row as it was and as it is")
  func newerTriggers() throws {
    let expedition = try GeoPackageFixture()
    let files = [expedition.office, expedition.folder("empty.gpkg")]
    for path in files {
      try Shared.copy("base.gpkg", to: path)
      try expedition.sql(path, Self.newer)
    }
    try expedition.sql(files[1], "DELETE FROM simple")
    #expect(try expedition.found(["simple"]).code == 0)
    expedition.hub("user", "add", "ann")
    for device in ["gps", "pad"] { #expect(expedition.provision(device, template: "empty.gpkg").code == 0) }
    let empty = "X'4750001100000000" + "0101000000000000000000f87f000000000000f87f'"
    for edit in [
      "UPDATE simple SET geometry = (SELECT geometry FROM simple WHERE fid = 3) WHERE fid = 1",
      "UPDATE simple SET geometry = NULL WHERE fid = 2",
      "UPDATE simple SET geometry = (SELECT geometry FROM simple WHERE fid = 3) WHERE fid = 2",
      "UPDATE simple SET geometry = \(empty) WHERE fid = 3", "UPDATE simple SET name = 'x'",
      "UPDATE simple SET fid = 9 WHERE fid = 1",
    ] {
      try expedition.sql(expedition.database("gps"), edit)
      try expedition.round(from: "gps", to: ["gps", "pad"])
      try checkAll(expedition, ["simple"])
    }
  }

  /// The triggers that the standard has since version 1.4, in place of `update1` and `update3`.
  private static let newer = """
    DROP TRIGGER rtree_simple_geometry_update1;
    DROP TRIGGER rtree_simple_geometry_update3;
    CREATE TRIGGER rtree_simple_geometry_update6 AFTER UPDATE OF geometry ON simple
    WHEN OLD.fid = NEW.fid AND (NEW.geometry NOTNULL AND NOT ST_IsEmpty(NEW.geometry))
      AND (OLD.geometry NOTNULL AND NOT ST_IsEmpty(OLD.geometry))
    BEGIN
      UPDATE rtree_simple_geometry
      SET minx = ST_MinX(NEW.geometry), maxx = ST_MaxX(NEW.geometry), miny = ST_MinY(NEW.geometry), maxy = ST_MaxY(NEW.geometry)
      WHERE id = NEW.fid;
    END;
    CREATE TRIGGER rtree_simple_geometry_update7 AFTER UPDATE OF geometry ON simple
    WHEN OLD.fid = NEW.fid AND (NEW.geometry NOTNULL AND NOT ST_IsEmpty(NEW.geometry))
      AND (OLD.geometry ISNULL OR ST_IsEmpty(OLD.geometry))
    BEGIN
      INSERT INTO rtree_simple_geometry
      VALUES (NEW.fid, ST_MinX(NEW.geometry), ST_MaxX(NEW.geometry), ST_MinY(NEW.geometry), ST_MaxY(NEW.geometry));
    END;
    CREATE TRIGGER rtree_simple_geometry_update5 AFTER UPDATE ON simple
    WHEN OLD.fid != NEW.fid AND (NEW.geometry NOTNULL AND NOT ST_IsEmpty(NEW.geometry))
    BEGIN
      DELETE FROM rtree_simple_geometry WHERE id = OLD.fid;
      INSERT OR REPLACE INTO rtree_simple_geometry
      VALUES (NEW.fid, ST_MinX(NEW.geometry), ST_MaxX(NEW.geometry), ST_MinY(NEW.geometry), ST_MaxY(NEW.geometry));
    END;
    """

  @Test("a rehearsal of an import leaves a GeoPackage as it is, byte for byte")
  func rehearsal() throws {
    let (expedition, _) = try open("base3.gpkg")
    try expedition.sql(expedition.office, "DELETE FROM poly; UPDATE simple SET name = 'x'")
    expedition.hub("emit", "--device", "gps")
    let before = try Data(contentsOf: URL(filePath: expedition.database("gps")))
    let bundle = expedition.folder("hub/bundles/outbox/land-hub-gps-2.satchel")
    #expect(expedition.device("gps", "import", bundle, "--dry-run").code == 0)
    #expect(try Data(contentsOf: URL(filePath: expedition.database("gps"))) == before)
    #expect(expedition.device("gps", "import", bundle).code == 0)
    #expect(try Data(contentsOf: URL(filePath: expedition.database("gps"))) != before)

    try expedition.sql(expedition.database("gps"), "DELETE FROM line; UPDATE simple SET name = 'y'")
    expedition.device("gps", "export")
    let office = try Data(contentsOf: URL(filePath: expedition.office))
    let export = expedition.folder("gps/bundles/outbox/land-gps-hub-1.satchel")
    #expect(expedition.hub("import", export, "--dry-run").code == 0)
    #expect(try Data(contentsOf: URL(filePath: expedition.office)) == office)
    #expect(expedition.hub("import", export).code == 0)
    #expect(try Rtrees.faults(in: Database(path: expedition.office, mode: .readOnly)) == [])
  }

  @Test("provisioning a device without a template warns that its file will be no GeoPackage")
  func withoutTemplate() throws {
    let expedition = try GeoPackageFixture()
    try Shared.copy("base.gpkg", to: expedition.office)
    #expect(try expedition.found(["simple"]).code == 0)
    expedition.hub("user", "add", "ann")
    let outcome = expedition.hub("device", "provision", "bare", "--user", "ann", "--into", expedition.folder("bare"))
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("GIS tools will not open it") && outcome.error.contains("--template FILE"))
    #expect(
      expedition.hub("device", "provision", "b", "--user", "ann", "--into", expedition.folder("b"), "-q").code == 0)
  }

  @Test("a rule may ask where a feature is")
  func rules() throws {
    let expedition = try GeoPackageFixture()
    try Shared.copy("base.gpkg", to: expedition.office)
    #expect(try expedition.found(["simple"], rules: ["visible": "ST_MinX(geometry) < -0.9"]).code == 0)
    expedition.hub("user", "add", "ann")
    expedition.hub("device", "provision", "pad", "--user", "ann", "--into", expedition.folder("pad"))
    let seen = try expedition.rows(expedition.folder("pad/data.sqlite"), "SELECT fid FROM simple ORDER BY fid")
    #expect(
      try seen
        == expedition.rows(expedition.office, "SELECT fid FROM simple WHERE ST_MinX(geometry) < -0.9 ORDER BY fid"))
    #expect(seen.count == 1)
  }

  @Test("a table that each GIS tool keeps by itself is refused in a dataset, with the reason")
  func derivedTables() throws {
    for (table, words) in [
      ("rtree_simple_geometry", "virtual table"), ("rtree_simple_geometry_node", "virtual table"),
      ("gpkg_ogr_contents", "count"),
    ] {
      let expedition = try GeoPackageFixture()
      try Shared.copy("base.gpkg", to: expedition.office)
      let before = try Data(contentsOf: URL(filePath: expedition.office))
      let made = try expedition.found(["simple", table])
      #expect(made.code == 1)
      #expect(made.error.contains("tables.\(table)") && made.error.contains(words), "\(made.error)")
      #expect(try Data(contentsOf: URL(filePath: expedition.office)) == before)
    }
  }
}
