import Testing

/// The hub has a row that is too large for a bundle. Only one user may see this row.
@Suite("A row that is too large for a bundle")
struct LargeRowTests {
  private let pair: TwoDeviceFixture

  init() throws {
    pair = try TwoDeviceFixture(
      "CREATE TABLE notes (id TEXT PRIMARY KEY, owner TEXT, words TEXT)",
      #""notes": { "visible": "owner = :user" }"#)
    try pair.sql(
      "office",
      """
      INSERT INTO notes VALUES ('n1', 'ann', 'x'), ('n2', 'ben', 'y');
      UPDATE notes SET words = zeroblob(70000000) WHERE id = 'n1'
      """)
  }

  @Test("sync still makes the bundles for other devices, and names the row")
  func sync() throws {
    try pair.camp.makeFolder("stick")
    let synced = pair.camp.hub("sync", pair.camp.path("stick"))
    #expect(synced.code != 0)
    #expect(synced.error.contains(#"notes ["n1"]"#), "\(synced.error)")
    pair.camp.device("phone", "sync", pair.camp.path("stick"))
    #expect(try pair.rows("phone", "SELECT words FROM notes") == "y")
  }

  @Test("emit --all still makes the bundles for other devices; for one device, it fails")
  func all() throws {
    let emitted = pair.camp.hub("emit", "--all", "--json")
    #expect(emitted.code == 5, "\(emitted.code)")
    #expect(try emitted.json["emissions"]?.arrayValue?.count == 1)
    #expect(try emitted.json["error"]?["reason"]?.stringValue == "row-too-large")
    #expect(try emitted.json["failed"]?.arrayValue?.map { $0["device"]?.stringValue } == ["tablet"])
    let alone = pair.camp.hub("emit", "--device", "tablet")
    #expect(alone.code == 1 && alone.error.contains(#"notes ["n1"]"#), "\(alone.error)")
  }
}
