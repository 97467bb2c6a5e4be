import Foundation
import Testing

/// Devices of a lost hub deliver the same rows to the next hub. One device makes further changes before the others
/// deliver.
@Suite("The same rows of several devices come to a new hub")
struct EqualRowsJoinTests {
  private let camp: CommandLineFixture
  private static let schema = """
    CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT, tags TEXT);
    CREATE TABLE boxes (id TEXT PRIMARY KEY, words TEXT);
    CREATE TABLE samples (id TEXT PRIMARY KEY, box TEXT REFERENCES boxes (id));
    """
  private static let devices = ["a", "b", "c"]

  /// All devices have the lost hub's rows, and the next hub's first bundle.
  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      \(Self.schema) INSERT INTO notes VALUES ('n', 'common', '[]'), ('m', 'common', '[]');
      INSERT INTO boxes VALUES ('x', 'common'); INSERT INTO samples VALUES ('s', 'x')
      """,
      CommandLineFixture.definition(
        """
        { "notes": { "conflict": "manual", "columns": { "tags": "union" } }, "boxes": { "conflict": "hub" },
          "samples": { "parents": ["boxes"] } }
        """), devices: Self.devices)
    try Self.beginNextHub(camp, Self.devices)
  }

  /// The hub is lost. The devices join the next hub.
  /// - Parameters:
  ///   - withKeys: whether the lost hub's keys were saved. The next hub then uses them.
  ///   - keep: is called after the next hub has enrolled a device, and before it emits for the device.
  private static func beginNextHub(
    _ camp: CommandLineFixture, _ devices: [String], withKeys: Bool = false, keep: () throws -> Void = {}
  ) throws {
    if withKeys { try camp.copy("hub/keys", to: "left-keys") }
    try camp.remove("hub")
    try camp.sql("next.sqlite", schema)
    camp.makeHub("hub", over: "next.sqlite")
    if withKeys {
      try camp.remove("hub/keys")
      try camp.copy("left-keys", to: "hub/keys")
    }
    camp.hub("user", "add", "ann")
    let key = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    for name in devices {
      let left = camp.device(name, "renew", "--hub", "--request", camp.path("request-\(name)"), "--json")
      let fingerprint = try #require(try left.json["fingerprint"]?.stringValue, "\(left.error)")
      #expect(camp.enrol(camp.path("request-\(name)"), fingerprint).code == 0)
      try keep()
      #expect(camp.device(name, "import", try camp.emit(name), "--fingerprint", key).code == 0)
    }
  }

  /// Device a delivers the common rows, and then each of its changes. Then the other devices deliver in this order.
  private func deliver(_ changes: String..., in order: [String]) throws {
    try camp.deliver("a")
    for change in changes {
      camp.awaitLaterTime()
      try camp.sql("a/data.sqlite", change)
      if change != changes.last { try camp.deliver("a") }
    }
    for name in order { try camp.deliver(name) }
    for name in Self.devices + Self.devices {
      try camp.answer(name)
      try camp.deliver(name)
    }
  }

  private func expectEverywhere(_ rows: String) throws {
    for database in ["next.sqlite"] + Self.devices.map({ "\($0)/data.sqlite" }) {
      let found = try camp.rows(database, "SELECT id, words, tags FROM notes ORDER BY id")
      #expect(found == rows, "\(database)")
    }
  }

  private func conflicts() throws -> String { try camp.rows("next.sqlite", "SELECT kind, key FROM satchel_conflicts") }

  @Test(
    "rows that others changed meanwhile are no disagreement, whichever device comes first",
    arguments: [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]])
  func changedMeanwhile(order: [String]) throws {
    try deliver(
      "UPDATE notes SET words = 'first' WHERE id = 'n'", "UPDATE notes SET words = 'second', tags = '[\"x\"]'",
      in: order)
    try expectEverywhere(#"m|second|["x"]"# + "\n" + #"n|second|["x"]"#)
    #expect(try conflicts() == "")
  }

  @Test(
    "a row that another device deleted meanwhile stays deleted, and is no disagreement, whichever device comes first",
    arguments: [["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]])
  func deletedMeanwhile(order: [String]) throws {
    try deliver(
      "UPDATE notes SET words = 'first' WHERE id = 'n'", "DELETE FROM notes WHERE id = 'n'", in: order)
    try expectEverywhere("m|common|[]")
    #expect(try conflicts() == "")
  }

  @Test(
    "a device goes on with a row that another device brought too, whether it delivered the row before",
    arguments: ["a b1 b2", "a b2", "b1 a b2"],
    [
      "UPDATE boxes SET words = 'of b'", "DELETE FROM boxes", "UPDATE notes SET words = 'of b'",
      "DELETE FROM notes WHERE id = 'n'",
    ])
  func goesOn(order: String, change: String) throws {
    _ = try camp.export("b")
    camp.awaitLaterTime()
    for step in order.split(separator: " ") {
      if step == "b2" { try camp.sql("b/data.sqlite", "DELETE FROM samples; \(change)") }
      try camp.deliver(String(step.prefix(1)))
    }
    let shown = try camp.rows("b/data.sqlite", Self.content)
    #expect(try camp.rows("next.sqlite", Self.content) == shown)
    #expect(try conflicts() == "")
    for name in Self.devices + Self.devices {
      try camp.answer(name)
      try camp.deliver(name)
    }
    for name in Self.devices { #expect(try camp.rows("\(name)/data.sqlite", Self.content) == shown, "\(name)") }
  }

  @Test("what another device writes after both brought the row is a disagreement", arguments: [false, true])
  func writtenLater(isDelivered: Bool) throws {
    try camp.deliver("a")
    if isDelivered { try camp.deliver("b") } else { _ = try camp.export("b") }
    try camp.sql("a/data.sqlite", "UPDATE notes SET words = 'of a' WHERE id = 'n'")
    try camp.deliver("a")
    camp.awaitLaterTime()
    try camp.sql("b/data.sqlite", "UPDATE notes SET words = 'of b'")
    try camp.deliver("b")
    #expect(try conflicts() == #"update/update|["n"]"#)
    #expect(try camp.rows("next.sqlite", "SELECT words FROM notes WHERE id = 'm'") == "of b")
  }

  @Test("if two devices make a row and count in it, each goes on with it")
  func counted() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE counts (id TEXT PRIMARY KEY, n INTEGER NOT NULL, words TEXT);",
      CommandLineFixture.definition(#"{ "counts": { "columns": { "n": "sum" }, "conflict": "hub" } }"#),
      devices: ["a", "b"])
    for device in ["a", "b"] {
      try camp.sql("\(device)/data.sqlite", "INSERT INTO counts VALUES ('birds', 2, 'east')")
      try camp.deliver(device)
    }
    try camp.sql("b/data.sqlite", "UPDATE counts SET n = n + 1, words = 'west'")
    try camp.deliver("b")
    #expect(try camp.rows("office.sqlite", "SELECT n, words FROM counts") == "5|west")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
  }

  @Test("a device brings no bundles of a hub that it has left, also if the next hub has the same keys")
  func formerHubsBundles() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      "\(Self.schema) INSERT INTO boxes VALUES ('x', '')",
      CommandLineFixture.definition(#"{ "boxes": {}, "notes": {}, "samples": {} }"#), devices: ["a"])
    for words in ["first", "second"] {
      try camp.sql("office.sqlite", "UPDATE boxes SET words = '\(words)'")
      try camp.answer("a")
    }
    // The next hub is set back to a time before its first bundle. So the device has no bundle that this hub knows.
    let files = ["hub": "kept", "next.sqlite": "kept.sqlite"]
    try Self.beginNextHub(camp, ["a"], withKeys: true) {
      for (name, kept) in files { try camp.copy(name, to: kept) }
    }
    for (name, kept) in files {
      try camp.remove(name)
      try camp.copy(kept, to: name)
    }
    #expect(camp.hub("restore", "--in-place").code == 0)
    try camp.carry("a", rounds: 3)
    #expect(try camp.rows("a/data.sqlite", "SELECT count(*) FROM satchel_brought_emissions") == "0")
    #expect(try camp.hub("status", "--json").json["recovery"] == .null)
    #expect(try camp.rows("next.sqlite", "SELECT * FROM boxes") == "x|second")
  }

  @Test("in a new epoch too, rows that another device changed meanwhile are no disagreement")
  func newEpoch() throws {
    try camp.deliver("a")
    camp.awaitLaterTime()
    try camp.sql("a/data.sqlite", "UPDATE notes SET words = 'of a' WHERE id = 'n'")
    try camp.deliver("a")
    #expect(camp.hub("restore", "--in-place").code == 0)
    for name in ["b", "c", "a"] { try camp.deliver(name) }
    for name in Self.devices + Self.devices { try camp.carry(name, rounds: 2) }
    try expectEverywhere("m|common|[]\nn|of a|[]")
    #expect(try conflicts() == "")
  }

  /// A query for the texts of all rows.
  private static let content = "SELECT id, words FROM notes UNION ALL SELECT id, words FROM boxes ORDER BY id"

  @Test("a row that differs from all versions of the hub's row is a disagreement")
  func otherVersion() throws {
    try camp.sql("b/data.sqlite", "UPDATE notes SET words = 'of b' WHERE id = 'n'")
    try deliver("UPDATE notes SET words = 'of a' WHERE id = 'n'", in: ["a", "b", "c"])
    #expect(try conflicts().contains(#"["n"]"#))
    #expect(try !conflicts().contains(#"["m"]"#))
  }

  @Test("a row that was made again with former values is a disagreement, if its device had the row")
  func madeAgain() throws {
    for name in Self.devices {
      try camp.deliver(name)
      try camp.answer(name)
    }
    try camp.sql("a/data.sqlite", "UPDATE notes SET words = 'of a' WHERE id = 'n'")
    try camp.deliver("a")
    try camp.sql("b/data.sqlite", "DELETE FROM notes WHERE id = 'n'")
    _ = try camp.export("b")
    try camp.sql("b/data.sqlite", "INSERT INTO notes VALUES ('n', 'common', '[]')")
    try camp.deliver("b")
    #expect(try conflicts().contains(#"["n"]"#))
  }

  /// Under `hub`, the policy undoes the delete, because the other device made the row too. Under `newest` and `device`,
  /// the delete wins. Then the parent comes back only because a row refers to it.
  @Test(
    "a row of another device comes in with its parent, which this device brought too and deleted since",
    arguments: ["hub", "newest", "device"])
  func deletedParent(policy: String) throws {
    let camp = try CommandLineFixture()
    let devices = ["a", "c"]
    try camp.open(
      "\(Self.schema) INSERT INTO boxes VALUES ('x', 'common'); INSERT INTO samples VALUES ('s', 'x')",
      CommandLineFixture.definition(
        #"{ "notes": {}, "boxes": { "conflict": "\#(policy)" }, "samples": { "parents": ["boxes"] } }"#),
      devices: devices)
    try Self.beginNextHub(camp, devices)
    try camp.sql("c/data.sqlite", "DELETE FROM samples")
    _ = try camp.export("c")
    camp.awaitLaterTime()
    try camp.sql("c/data.sqlite", "DELETE FROM boxes")
    try camp.deliver("a")
    try camp.answer("c")
    #expect(try camp.rows("c/data.sqlite", "PRAGMA foreign_key_check") == "")
    let rows = "SELECT box, boxes.id, words FROM samples LEFT JOIN boxes ON boxes.id = box"
    #expect(try camp.rows("c/data.sqlite", rows) == "x|x|common")
    for name in devices + devices {
      try camp.deliver(name)
      try camp.answer(name)
    }
    for database in ["next.sqlite", "a/data.sqlite", "c/data.sqlite"] {
      #expect(try camp.rows(database, rows) == "x|x|common", "\(database)")
    }
  }
}
