import Foundation
import SatchelJSON
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

/// An office with a layer of trees that GDAL made, and two devices of one user, who edits this layer.
struct Survey {
  let expedition: GeoPackageFixture

  /// - Parameters:
  ///   - features: the features as well-known text, one text for each.
  ///   - kind: the type of the layer.
  init(_ features: [String], kind: String = "POINT", system: String = "EPSG:32633") throws {
    expedition = try GeoPackageFixture()
    let lines = ["WKT;name"] + features.enumerated().map { "\($1);tree \($0 + 1)" }
    try expedition.folder.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: "trees.csv")
    try StockTool.ogr2ogr(
      "-f", "GPKG", "office.gpkg", "trees.csv", "-oo", "GEOM_POSSIBLE_NAMES=WKT", "-oo", "KEEP_GEOM_COLUMNS=NO",
      "-a_srs", system, "-lco", "GEOMETRY_NAME=geom", "-nlt", kind, in: expedition.folder.path)
    try FileManager.default.copyItem(atPath: expedition.office, toPath: expedition.folder("empty.gpkg"))
    try StockTool.sqlite3("empty.gpkg", "DELETE FROM trees", in: expedition.folder.path)
  }

  /// Creates the hub and its devices.
  func found(_ rules: JSONValue = ["conflict": "manual", "keys": "blocks"]) throws {
    let made = try expedition.found(["trees"], rules: rules)
    try #require(made.code == 0, "\(made.error)")
    expedition.hub("user", "add", "ann")
    for device in ["gps", "pad"] {
      let made = expedition.provision(device, template: "empty.gpkg")
      try #require(made.code == 0, "\(made.error)")
    }
  }

  /// Edits like a person who uses GDAL's spatial SQL.
  func gdal(_ path: String, _ sql: String) throws {
    let done = try StockTool.ogrinfo("-q", path, "-sql", sql, in: expedition.folder.path)
    try #require(done.complaint.isEmpty, "\(done.complaint)")
  }

  /// Both devices set the geometry of the first tree by these SQL expressions, and deliver. Returns the conflict's id.
  func quarrel(_ gps: String, _ pad: String) throws -> String {
    for (device, geometry) in [("gps", gps), ("pad", pad)] {
      try gdal(expedition.database(device), "UPDATE trees SET geom = \(geometry) WHERE fid = 1")
    }
    for device in ["gps", "pad"] {
      let file = try JSONValue.parse(Array(expedition.device(device, "export", "--json").out.utf8))["file"]?.stringValue
      let taken = expedition.hub("import", file ?? "")
      try #require(taken.code == 0, "\(taken.error)")
    }
    let list = try JSONValue.parse(Array(expedition.hub("conflicts", "--json").out.utf8))["conflicts"]?.arrayValue
    return try #require(list?.first?["id"]?.stringValue)
  }

  /// The layer as GDAL reads it: well-known text, one line for each feature.
  func read(_ path: String) throws -> [String] {
    try StockTool.ogrinfo(
      "-q", path, "-sql", "SELECT AsText(geom) AS t FROM trees ORDER BY fid", in: expedition.folder.path
    )
    .lines.compactMap { $0.components(separatedBy: "t (String) = ").dropFirst().first }
  }

  /// The number of features that GDAL finds in a box by the R-tree.
  func count(_ path: String, in box: [Double]) throws -> Int {
    let found = try StockTool.ogrinfo(
      ["-ro", "-so", path, "trees", "-spat"] + box.map { "\($0)" }, in: expedition.folder.path)
    return found.lines.compactMap { $0.hasPrefix("Feature Count: ") ? Int($0.dropFirst(15)) : nil }.first ?? -1
  }
}
