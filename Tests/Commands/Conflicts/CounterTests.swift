import Foundation
import SatchelJSON
import Testing

/// Counters and sets, for which the hub adds up the changes. A decision removes no addition. Two rows without a common
/// earlier value are not added up.
@Suite("Counters and sets that people decide about")
struct CounterTests {
  private let camp: CommandLineFixture
  private static let schema = "CREATE TABLE t (id TEXT PRIMARY KEY, open INTEGER, n INTEGER, tags TEXT, words TEXT);"

  init() throws {
    camp = try CommandLineFixture()
    try camp.write(
      "camp.json",
      CommandLineFixture.definition(
        """
        { "t": {
          "write": "open = 1 OR :user = 'boss'", "conflict": "manual", "columns": { "n": "sum", "tags": "union" } } }
        """))
  }

  private func open(_ hub: String, _ rows: String) throws {
    try camp.sql("\(hub).sqlite", Self.schema + rows)
    camp.makeHub(hub, over: "\(hub).sqlite")
    for user in ["ann", "boss"] { camp.hubAnywhere("-C", camp.path(hub), "user", "add", user) }
  }

  private func answer(_ name: String, from hub: String = "hub", isFirst: Bool = false) throws {
    let file = try camp.emit(name, from: hub)
    let fingerprint =
      try camp.hubAnywhere("-C", camp.path(hub), "status", "--json").json["fingerprint"]?.stringValue ?? ""
    let outcome =
      isFirst ? camp.device(name, "import", file, "--fingerprint", fingerprint) : camp.device(name, "import", file)
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  private func enrol(_ name: String, at hub: String, _ made: CommandLineFixture.Outcome) throws {
    let fingerprint = try #require(try made.json["fingerprint"]?.stringValue, "\(made.error)")
    let request = camp.path("\(name).request")
    let enrolled = camp.hubAnywhere(
      "-C", camp.path(hub), "device", "enrol", request, "--user", "ann", "--fingerprint", fingerprint)
    #expect(enrolled.code == 0, "\(enrolled.error)")
  }

  @Test("deciding for a device adds what the device added")
  func decided() throws {
    try open("hub", "INSERT INTO t VALUES ('x', 1, 0, '[]', '')")
    camp.provision("a")
    camp.provision("b", for: "boss")
    try camp.sql("a/data.sqlite", "UPDATE t SET n = n + 5, tags = '[\"ann\"]'")
    try camp.sql("b/data.sqlite", "UPDATE t SET n = n + 100, tags = '[\"boss\"]'")
    try camp.deliver("b")
    // From now on ann may not write the row.
    try camp.sql("hub.sqlite", "UPDATE t SET open = 0")
    try camp.deliver("a")
    let id = try camp.rows("hub.sqlite", "SELECT id FROM satchel_conflicts")
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    #expect(try camp.rows("hub.sqlite", "SELECT n FROM t") == "105")
    #expect(try camp.rows("hub.sqlite", "SELECT value FROM t, json_each(tags) ORDER BY 1") == "ann\nboss")
  }

  @Test("two sites that join with other numbers are not added up: a person decides")
  func joined() throws {
    try open("hub", "")
    for (name, n) in [("north", 12), ("south", 14)] {
      try enrol(
        name, at: "hub",
        camp.deviceAnywhere(
          "init", camp.path(name), "--dataset", "camp", "--name", name, "--request", camp.path("\(name).request"),
          "--json"))
      try camp.sql(
        "\(name)/data.sqlite", Self.schema + "INSERT INTO t VALUES ('x', 1, \(n), '[]', ''), ('y', 1, 7, '[]', '')")
      // Each device gets its first bundle while the hub has no rows.
      try answer(name, from: "hub", isFirst: true)
    }
    for name in ["north", "south"] { try camp.deliver(name) }
    #expect(try camp.rows("hub.sqlite", "SELECT id, n FROM t ORDER BY id") == "x|12\ny|7")
    #expect(
      try camp.rows("hub.sqlite", "SELECT kind, state, key, hub_values FROM satchel_conflicts")
        == #"insert/insert|open|["x"]|{"n":12}"#)
  }

  @Test(
    """
    what a lost hub had taken, and an older copy of its rows has not, is in a conflict, whatever else of the row is \
    pending
    """
  )
  func renewed() throws {
    try open("hub", "INSERT INTO t VALUES ('x', 1, 10, '[]', 'old'), ('y', 1, 10, '[]', 'old')")
    camp.provision("a")
    try camp.sql("a/data.sqlite", "UPDATE t SET words = 'by a', n = n + 100")
    try camp.deliver("a")
    try answer("a")
    try camp.sql("a/data.sqlite", "UPDATE t SET tags = '[\"late\"]' WHERE id = 'x'")
    try open("next", "INSERT INTO t VALUES ('x', 1, 10, '[]', 'old'), ('y', 1, 10, '[]', 'old')")
    try enrol("a", at: "next", camp.device("a", "renew", "--hub", "--request", camp.path("a.request"), "--json"))
    try answer("a", from: "next", isFirst: true)
    try camp.deliver("a", to: "next")
    try answer("a", from: "next")
    #expect(
      try camp.rows("next.sqlite", "SELECT id, n, tags, words FROM t ORDER BY id") == #"x|10|["late"]|old"#
        + "\ny|10|[]|old")
    let kept =
      "SELECT json_extract(device_values, '$.n'), json_extract(device_values, '$.words') FROM satchel_conflicts"
    #expect(try camp.rows("next.sqlite", kept) == "110|by a\n110|by a")
  }

  @Test("a deletion of the lost time that loses against a later write is kept")
  func deletedInTheLostTime() throws {
    try open("hub", "INSERT INTO t VALUES ('x', 1, 0, '[]', 'old')")
    for name in ["a", "b"] { camp.provision(name, for: "boss") }
    try camp.copy("hub.sqlite", to: "before.sqlite")
    try camp.sql("a/data.sqlite", "DELETE FROM t")
    camp.awaitLaterTime()
    try camp.sql("hub.sqlite", "UPDATE t SET words = 'by the office'")
    try camp.round(["b"])
    try camp.remove("hub.sqlite")
    try camp.copy("before.sqlite", to: "hub.sqlite")
    for _ in 0..<4 { try camp.round(["b", "a"]) }
    #expect(camp.hub("restore", "--in-place").code == 0)
    for _ in 0..<5 { try camp.round(["a", "b"]) }
    #expect(try camp.rows("hub.sqlite", "SELECT words FROM t") == "by the office")
    let kept = try camp.rows("hub.sqlite", "SELECT kind, state, note FROM satchel_conflicts")
    #expect(kept.hasPrefix("delete/update|open|") && kept.contains("older deletion"), "\(kept)")
  }
}
