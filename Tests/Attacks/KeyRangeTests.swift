import SatchelDevice
import SatchelJSON
import TestSupport
import Testing

/// A device gives its new rows keys from its own ranges. In this fixture the ranges are: the hub 3 to 102, the attacker
/// 103 to 202, and the victim 203 to 302.
@Suite("Keys outside the ranges of their device")
struct KeyRangeTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private func visits(_ keys: [Int64], by owner: String = "ann", _ forger: Forger) -> [JSONValue] {
    keys.map { forger.insert("visits", .integer($0), ["id": .integer($0), "owner": .string(owner)]) }
  }

  /// Delivers new rows with these keys. Returns the keys of the rows that wait.
  private func deliver(_ keys: [Int64], changes: [JSONValue] = []) throws -> [String] {
    let forger = try lab.forger
    #expect(try lab.refusal(of: forger.bundle { $0.changes = changes + visits(keys, forger) }) == nil)
    return try lab.atHub(
      """
      SELECT key FROM satchel_conflicts
      WHERE kind = 'constraint' AND state = 'held'
      ORDER BY CAST(trim(key, '[]') AS INTEGER)
      """)
  }

  private func rows(above key: Int64 = 2) throws -> [String] {
    try lab.atHub("SELECT id FROM visits WHERE id > \(key) ORDER BY id")
  }

  @Test("a new row waits if its key is in the hub's range, in another device's, or above all, and enters in its own")
  func outside() throws {
    #expect(
      try deliver([50, 103, 150, 250, 403, 500, 900_000, 5_000_000]) == [
        "[50]", "[250]", "[403]", "[500]", "[900000]", "[5000000]",
      ])
    #expect(try rows() == ["103", "150"])
    // The other replicas are not affected: their next keys follow their earlier ones.
    try lab.write("INSERT INTO visits (owner) VALUES ('ben')", in: lab.victim.folder)
    try lab.write("INSERT INTO visits (owner) VALUES ('ben')", in: lab.hub.folder)
    lab.tick()
    _ = try lab.hub.importBundle(lab.victim.export().file)
    // SQLite at the hub has seen the key 150, above the hub's range. So the hub first took its next range, from 303 on.
    #expect(try rows() == ["103", "150", "203", "303"])
    lab.tick()
    _ = try lab.hub.emit(to: "victim")
    #expect(try lab.atHub("SELECT max(last_key) < 1000 FROM satchel_blocks") == ["1"])
  }

  @Test("a row that waits because of its key says what to do, and a person lets it in or drops it")
  func decided() throws {
    _ = try deliver([50, 250])
    let ids = try lab.atHub("SELECT id FROM satchel_conflicts ORDER BY key")
    try #require(ids.count == 2)
    #expect(lab.tool("conflicts", "show", ids[0]).out.contains("satchel-hub conflicts resolve lets it in"))
    // A later import does not let the row in.
    #expect(try lab.takesTheVictim() && rows() == [])
    #expect(lab.tool("conflicts", "resolve", ids[0], "--keep", "device").code == 0)
    #expect(lab.tool("conflicts", "resolve", ids[1], "--keep", "hub").code == 0)
    #expect(try rows().count == 1 && lab.takesTheVictim() && rows().count == 1)
    #expect(try lab.atHub("SELECT count(*) FROM satchel_conflicts WHERE state <> 'resolved'") == ["0"])
  }

  @Test("a range that is used up lets the device go on behind it, key by key, and no further")
  func usedUp() throws {
    let all = Array(Int64(103)...208)
    #expect(try deliver(all + [280]) == ["[280]"])
    #expect(try rows() == all.map(String.init))
    // The same holds in the next bundle.
    #expect(try deliver([209, 210, 600]) == ["[280]", "[600]"])
    #expect(try rows(above: 208) == ["209", "210"])
  }

  @Test("a range of which little is used does not end early")
  func notUsedUp() throws {
    #expect(try deliver([103, 104, 203]) == ["[203]"])
  }

  @Test("a row that says it was there before its device joined waits all the same, once the device has shown its range")
  func lateJoiner() throws {
    // Rows that existed before the device joined have no `first`. The forger's lines have none either.
    #expect(try deliver([7]) == ["[7]"])
  }

  @Test("keys that lines only name open no way behind them")
  func named() throws {
    let updates = try [202, 399].map {
      try lab.forger.update("visits", .integer($0), set: ["owner": "ann"], was: ["owner": "x"])
    }
    #expect(try deliver([103, 203, 400], changes: updates) == ["[203]", "[400]"])
    #expect(try deliver([104, 204, 401], changes: updates) == ["[203]", "[204]", "[400]", "[401]"])
  }

  @Test("rows behind a row that a person let in enter too: SQLite went on from it")
  func behindDecided() throws {
    #expect(try deliver([500, 501]) == ["[500]", "[501]"])
    let id = try #require(try lab.atHub("SELECT id FROM satchel_conflicts WHERE key = '[500]'").first)
    #expect(lab.tool("conflicts", "resolve", id, "--keep", "device").code == 0)
    #expect(try deliver([502, 600]) == ["[600]"])
    #expect(try rows() == ["500", "501", "502"])
  }

  @Test("a device's own decision about a conflict lets in no row behind another device's row")
  func behindOwnDecision() throws {
    try lab.write("INSERT INTO visits (owner) VALUES ('ben')", in: lab.victim.folder)
    lab.tick()
    _ = try lab.hub.importBundle(lab.victim.export().file)
    #expect(try rows() == ["203"])
    let report = try lab.forger.conflict("visits", 203, was: nil, now: ["id": 203, "owner": "ann"]) {
      $0.set("op", "insert")
      $0.set("kind", "constraint")
      $0.set("hub_values", nil)
    }
    #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [report] }) == nil)
    let id = try #require(try lab.atHub("SELECT id FROM satchel_conflicts WHERE key = '[203]'").first)
    let decision = try lab.forger.bundle { $0.resolutions = [try lab.forger.resolution(of: id, "device")] }
    #expect(try lab.refusal(of: decision) == nil)
    #expect(try lab.atHub("SELECT decision, decided_by FROM satchel_conflicts") == ["device|ann"])
    #expect(try deliver([204]) == ["[204]"])
  }

  @Test("a row that the device deleted comes back under its key")
  func deletedAndMadeAgain() throws {
    try lab.write("DELETE FROM visits WHERE id = 1", in: lab.evil.folder)
    lab.tick()
    _ = try lab.hub.importBundle(lab.evil.export().file)
    lab.tick()
    try lab.write("INSERT INTO visits VALUES (1, 'ann')", in: lab.evil.folder)
    lab.tick()
    _ = try lab.hub.importBundle(lab.evil.export().file)
    #expect(try lab.atHub("SELECT id FROM visits ORDER BY id") == ["1", "2"])
  }
}
