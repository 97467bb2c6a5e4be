import Foundation
import SatchelSQLite
import TestSupport
import Testing

/// A layer whose features a uuid identifies. GDAL and QGIS use `fid`, which is different in each file.
@Suite("Features that a uuid identifies")
struct NamedFeatureTests {
  private static let layer = """
    <OGRVRTDataSource><OGRVRTLayer name="trees">
      <SrcDataSource>SOURCE.csv</SrcDataSource><SrcLayer>SOURCE</SrcLayer><GeometryType>wkbPoint</GeometryType>
      <GeometryField encoding="WKT" field="WKT"/>
      <Field name="uuid" type="String" nullable="false" unique="true"/><Field name="kind" type="String"/>
    </OGRVRTLayer></OGRVRTDataSource>
    """
  private static let features = "SELECT uuid, kind, hex(geom) FROM trees ORDER BY uuid"
  private static let devices = ["gps", "pad"]

  private let expedition: GeoPackageFixture

  init() throws { expedition = try GeoPackageFixture() }

  /// Writes features in this order into a source that GDAL reads. The uuid has the given constraints.
  private func write(_ numbers: [Int], to source: String) throws {
    let rows = numbers.map { "POINT (\($0) \($0 * 2)),u\($0),oak\n" }
    try expedition.folder.write(Array(("WKT,uuid,kind\n" + rows.joined()).utf8), to: "\(source).csv")
    try expedition.folder.write(
      Array(Self.layer.replacing("SOURCE", with: source).utf8), to: "\(source).vrt")
  }

  private func load(_ source: String, _ options: String...) throws {
    try StockTool.ogr2ogr(
      options + [expedition.office, "\(source).vrt", "trees", "-a_srs", "EPSG:32633", "-lco", "GEOMETRY_NAME=geom"],
      in: expedition.folder.path)
  }

  /// Makes a hub with five features, and two devices that began with the emptied file. In the devices' files, a table
  /// of the app refers to features by `fid`.
  private func open() throws {
    try write([1, 2, 3, 4, 5], to: "first")
    try load("first", "-f", "GPKG")
    try FileManager.default.copyItem(atPath: expedition.office, toPath: expedition.folder("empty.gpkg"))
    try StockTool.sqlite3(
      "-bail", "empty.gpkg",
      "DELETE FROM trees; CREATE TABLE seen (tree INTEGER REFERENCES trees (fid), words TEXT)",
      in: expedition.folder.path)
    let made = try expedition.found(["trees"], rules: ["key": ["uuid"]])
    try #require(made.code == 0, "\(made.error)")
    expedition.hub("user", "add", "ann")
    for device in Self.devices {
      let made = expedition.provision(device, template: "empty.gpkg")
      try #require(made.code == 0, "\(made.error)")
    }
  }

  /// Edits like a GIS, which has the functions of the R-tree.
  private func edit(_ path: String, _ sql: String) throws {
    let done = try StockTool.ogrinfo("-q", path, "-sql", sql, in: expedition.folder.path)
    #expect(done.complaint.isEmpty, "\(sql): \(done.complaint)")
  }

  private func fids(_ path: String) throws -> [String: Int64] {
    let rows = try Database(path: path, mode: .readOnly).all("SELECT uuid, fid FROM trees") {
      ($0.text(0), $0.integer(1))
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  private func checkAll() throws {
    let wanted = try expedition.rows(expedition.office, Self.features)
    for path in [expedition.office] + Self.devices.map(expedition.database) {
      #expect(try expedition.rows(path, Self.features) == wanted, "\(path)")
      #expect(try Rtrees.faults(in: Database(path: path, mode: .readOnly)) == [], "\(path)")
      #expect(
        try expedition.rows(path, "SELECT feature_count FROM gpkg_ogr_contents")
          == expedition.rows(path, "SELECT count(*) FROM trees"))
      let read = try StockTool.ogrinfo(["-ro", "-q", path, "trees"], in: expedition.folder.path)
      #expect(
        read.complaint.isEmpty && read.lines.count { $0.hasPrefix("OGRFeature(") } == wanted.count, "\(read.text)")
    }
  }

  @Test("features that two devices add under one fid are both everywhere, with indexes and counts right")
  func added() throws {
    try open()
    for (number, name) in Self.devices.enumerated() {
      let point = "SELECT geom FROM trees WHERE uuid = 'u\(number + 1)'"
      try edit(
        expedition.database(name), "INSERT INTO trees (fid, uuid, kind, geom) VALUES (99, '\(name)', 'new', (\(point)))"
      )
    }
    for name in Self.devices { try expedition.round(from: name, to: Self.devices) }
    try checkAll()
    let conflicts = expedition.hub("conflicts", "--all")
    #expect(conflicts.code == 0 && conflicts.out.contains("No conflict"), "\(conflicts.out)")
    for name in Self.devices { #expect(try fids(expedition.database(name))[name] == 99) }
  }

  @Test(
    "a layer that ogr2ogr loads again in another order is no change but what changed, and an edit lands on its feature")
  func overwritten() throws {
    try open()
    try edit(expedition.database("gps"), "UPDATE trees SET kind = 'seen' WHERE uuid = 'u1'")
    try StockTool.sqlite3(
      "gps/data.gpkg", "INSERT INTO seen SELECT fid, uuid FROM trees", in: expedition.folder.path)
    let before = try fids(expedition.database("gps"))
    // One feature is missing in the new source, one is new, and all features have other numbers.
    try write([6, 5, 4, 2, 1], to: "second")
    try load("second", "-update", "-overwrite")
    #expect(expedition.hub("status").out.contains("the table trees was created again"))
    let repaired = expedition.hub("doctor", "--repair", "--deleted")
    #expect(repaired.out.contains("1 inserted, 0 updated, 1 deleted unseen. Taken up."), "\(repaired.out)")
    try expedition.round(from: "gps", to: Self.devices)
    try checkAll()
    #expect(try expedition.rows(expedition.office, "SELECT uuid FROM trees WHERE kind = 'seen'").count == 1)
    #expect(
      try expedition.rows(expedition.office, "SELECT 1 FROM trees WHERE kind = 'seen' AND uuid = 'u1'").count == 1)
    for (uuid, fid) in try fids(expedition.database("gps")) where uuid != "u6" { #expect(before[uuid] == fid) }
    let strays = "SELECT * FROM seen JOIN trees ON fid = tree WHERE uuid <> words"
    #expect(try expedition.rows(expedition.database("gps"), strays).isEmpty)
    let conflicts = expedition.hub("conflicts", "--all")
    #expect(conflicts.out.contains("No conflict"), "\(conflicts.out)")
  }

  @Test("a layer that lost what makes its uuid a name stops the hub, which says what is missing")
  func withoutName() throws {
    try open()
    try write([1, 2, 3, 4, 5], to: "second")
    try StockTool.ogr2ogr(
      "-update", "-overwrite", expedition.office, "second.csv", "-nln", "trees", "-oo", "GEOM_POSSIBLE_NAMES=WKT",
      "-lco", "GEOMETRY_NAME=geom", in: expedition.folder.path)
    let status = expedition.hub("status")
    #expect(status.out.contains("the column uuid may be NULL"), "\(status.out)")
    #expect(expedition.hub("emit", "--all").code == 1)
    #expect(expedition.hub("doctor", "--repair").code == 1)
    // The layer is loaded again from a source with the constraints. Then everything works as before.
    try load("second", "-update", "-overwrite")
    #expect(expedition.hub("doctor", "--repair").code == 0)
    #expect(expedition.hub("doctor").out == "All is well.\n")
  }

  @Test(
    "an import that moves features and trades their values leaves index, counts and fids right, by a delta and in full")
  func traded() throws {
    try open()
    let before = try Self.devices.map { try fids(expedition.database($0)) }
    try edit(
      expedition.office,
      """
      UPDATE trees SET geom = (SELECT t.geom FROM trees AS t WHERE t.uuid = CASE trees.uuid WHEN 'u1' THEN 'u2' ELSE \
      'u1' END) WHERE uuid IN ('u1', 'u2')
      """
    )
    try edit(expedition.office, "DELETE FROM trees WHERE uuid = 'u5'")
    try edit(expedition.database("gps"), "UPDATE trees SET kind = 'mine' WHERE uuid = 'u1'")
    try expedition.bring(to: ["gps"])
    try expedition.bring(to: ["pad"], "--full")
    try expedition.round(from: "gps", to: Self.devices)
    try checkAll()
    for (name, old) in zip(Self.devices, before) {
      for (uuid, fid) in try fids(expedition.database(name)) { #expect(old[uuid] == fid, "\(name) \(uuid)") }
    }
  }
}
