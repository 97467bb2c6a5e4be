import Foundation
import TestSupport
import Testing

/// Test data is beside the checkout, and never a part of it.
private let package = PackageFolder.data("geopackage/base_fk.gpkg")

@Suite(
  "Trees in a GeoPackage",
  .enabled(
    if: FileManager.default.fileExists(atPath: package.path), "shared/data/geopackage is not beside the checkout"))
struct GeoPackageKeyTests {
  @Test(
    "surveyors who number trees and species alike keep all of them, each tree with its own species",
    arguments: ["rekey", "blocks"])
  func trees(rule: String) throws {
    let camp = try CommandLineFixture()
    try FileManager.default.copyItem(atPath: package.path, toPath: camp.path("office.sqlite"))
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: camp.path("office.sqlite"))
    // The triggers of the spatial index need functions that only a GIS has. This test is about keys, so it drops them.
    try camp.sql(
      "office.sqlite",
      camp.rows(
        "office.sqlite",
        "SELECT 'DROP TRIGGER \"' || name || '\";' FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'trees'"))
    try camp.write(
      "camp.json",
      #"{ "dataset": "camp", "version": 1, "tables": { "species": { "keys": "\#(rule)" }, "trees": { "keys": "\#(rule)" } } }"#
    )
    let made = camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    #expect(made.code == 0, "\(made.error)")
    camp.hub("user", "add", "ann")
    let names = ["tablet", "phone"]
    for name in names { camp.hub("device", "provision", name, "--user", "ann", "--into", camp.path(name)) }
    let before = try camp.rows("office.sqlite", "SELECT count(*) FROM trees")
    for name in names {
      try camp.sql(
        "\(name)/data.sqlite",
        """
        INSERT INTO species (kind) VALUES ('\(name)');
        INSERT INTO trees (geometry, name, specie) SELECT x'47500001', '\(name)', max(fid) FROM species;
        """)
    }
    for name in names { camp.deliver(name, 1) }
    for name in names { camp.answer(name, 2) }
    let pairs =
      """
      SELECT t.name, s.kind FROM trees AS t JOIN species AS s ON s.fid = t.specie WHERE t.name IN ('phone', 'tablet') \
      ORDER BY 1
      """
    for database in ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try camp.rows(database, pairs) == "phone|phone\ntablet|tablet")
      #expect(try camp.rows(database, "SELECT count(*) - 2 FROM trees") == before)
    }
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_rekeyed") == (rule == "rekey" ? "2" : "0"))
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"] == [])
  }
}
