import SatchelSQLite
import TestSupport
import Testing

/// The texts of `status` that say how far each device's rows are known to be current.
@Suite("Who is up to date")
struct StandingTests {
  @Test("status says in words which devices have the newest rows, and teaches sync")
  func words() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    func line(_ device: String) -> String {
      camp.hub("status").out.split(separator: "\n").first { $0.hasPrefix("\(device) ") }.map(String.init) ?? ""
    }
    #expect(line("phone").contains("up to date"), "\(camp.hub("status"))")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    camp.hub("emit", "--all")
    #expect(line("phone").contains("1 bundle behind"), "\(camp.hub("status"))")
    try camp.carry("tablet", rounds: 2)
    #expect(line("tablet").contains("up to date"), "\(camp.hub("status"))")
    #expect(camp.hub("status").out.contains("satchel-hub sync DIR"))
    camp.hub("user", "add", "cy")
    camp.hub("device", "provision", "new", "--user", "cy", "--into", camp.path("new"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(camp.device("tablet", "status").out.contains("satchel sync DIR"))
  }

  @Test("tables and layers with rows that the dataset does not name are named, and those of a format are not")
  func onlyHere() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    #expect(!camp.device("tablet", "status").out.contains("Only here"))
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY, data_type TEXT);
      CREATE TABLE pins (fid INTEGER PRIMARY KEY, words TEXT);
      CREATE TABLE drafts (id INTEGER PRIMARY KEY);
      CREATE TABLE empty (id INTEGER PRIMARY KEY);
      CREATE VIRTUAL TABLE rtree_pins USING rtree (id, minx, maxx);
      INSERT INTO gpkg_contents VALUES ('Pins', 'features');
      INSERT INTO pins VALUES (1, 'here'); INSERT INTO drafts VALUES (1); INSERT INTO rtree_pins VALUES (1, 0, 1);
      """)
    let out = camp.device("tablet", "status").out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(out.contains("Only here the rows of pins (a layer), drafts: no one else gets them"), "\(out)")
    let tables = try camp.device("tablet", "status", "--json").json["local_tables"]
    #expect(
      tables == .array([["table": "drafts", "layer": .bool(false)], ["table": "pins", "layer": .bool(true)]]),
      "\(String(describing: tables))")
  }

  @Test("many tables of an app are counted, and the first five are named")
  func manyOnlyHere() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    for number in 1...8 {
      try camp.sql("tablet/data.sqlite", "CREATE TABLE own\(number) (a); INSERT INTO own\(number) VALUES (1)")
    }
    let out = camp.device("tablet", "status").out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(
      out.contains("own4, own5, 3 more: no one else gets them, because the dataset does not name these"), "\(out)")
  }

  @Test("while an app writes, status answers, and does not say that the hub has everything")
  func whileWriting() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    let app = try Database(path: camp.path("tablet/data.sqlite"), mode: .readWrite)
    try app.execute("BEGIN IMMEDIATE; UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    let status = camp.device("tablet", "status")
    #expect(status.code == 0 && status.out.contains("another program is writing"), "\(status)")
    #expect(!status.out.contains("the hub has everything"))
    #expect(try camp.device("tablet", "status", "--json").json["busy"] == true)
    try app.execute("COMMIT")
    #expect(try camp.device("tablet", "status", "--json").json["busy"] == false)
  }

  @Test("while capture may have missed writes, status does not say that the hub has everything")
  func unsure() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    #expect(camp.device("tablet", "status").out.contains("nothing: the hub has everything"))
    try camp.sql("tablet/data.sqlite", CommandLineFixture.dropTriggers)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    let out = camp.device("tablet", "status").out
    #expect(out.contains("not known: see the warnings") && !out.contains("the hub has everything"), "\(out)")
  }
}
