import Foundation
import SatchelJSON
import Testing

/// A device joins with the app's own database file, which is outside the workspace. The file has rows before the first
/// bundle.
@Suite("Joining a hub with the app's own file")
struct JoiningFileTests {
  /// The expected result for a row that both sides made with different values.
  struct Settlement: Sendable {
    let policy: String
    let state: String
    let depth: Int
    /// The rows whose changes the device must send.
    let sent: [String]
  }

  private static let settlements = [
    Settlement(policy: "manual", state: "open", depth: 20, sent: ["w3"]),
    Settlement(policy: "hub", state: "settled", depth: 20, sent: ["w3"]),
    Settlement(policy: "device", state: "settled", depth: 99, sent: ["w2", "w3"]),
    Settlement(policy: "newest", state: "settled", depth: 99, sent: ["w2", "w3"]),
  ]

  private let camp: CommandLineFixture
  private static let table = "CREATE TABLE wells (id TEXT PRIMARY KEY, depth INTEGER);"

  init() throws { camp = try CommandLineFixture() }

  /// Makes a hub with a phone, and a site. The site's file has a row that equals the hub's, a row that differs, and a
  /// row of its own.
  private func open(_ policy: String) throws {
    try camp.open(
      "\(Self.table) INSERT INTO wells VALUES ('w1', 10), ('w2', 20), ('w4', 40)",
      CommandLineFixture.definition(#"{ "wells": { "conflict": "\#(policy)" } }"#), devices: ["phone"])
    try camp.sql(
      "field.sqlite",
      """
      \(Self.table) INSERT INTO wells VALUES ('w1', 10), ('w2', 99), ('w3', 30);
      CREATE TABLE settings (name TEXT); INSERT INTO settings VALUES ('dark');
      """)
    let made = camp.deviceAnywhere(
      "init", camp.path("site"), "--dataset", "camp", "--name", "site", "--database", camp.path("field.sqlite"),
      "--request", camp.path("site.request"), "--json")
    let fingerprint = try #require(try made.json["fingerprint"]?.stringValue, "\(made.error)")
    #expect(camp.enrol(camp.path("site.request"), fingerprint).code == 0)
  }

  /// The site imports the hub's first bundle. Returns the command's report about this bundle.
  private func join() throws -> JSONValue {
    let fingerprint = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let joined = camp.device("site", "import", try camp.emit("site"), "--fingerprint", fingerprint, "--json")
    #expect(joined.code == 0, "\(joined.error)")
    return try #require(try joined.json["bundles"]?.arrayValue?.first, "\(joined.out)")
  }

  /// Carries a stick to the site and to the phone until nothing is new.
  private func carryAll() throws { for name in ["site", "phone", "site"] { try camp.carry(name, rounds: 2) } }

  private func wells(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, depth FROM wells ORDER BY id")
  }

  private func expectEverywhere(_ depths: [Int]) throws {
    let wells = zip(["w1", "w2", "w3", "w4"], depths).map { "\($0)|\($1)" }.joined(separator: "\n")
    for database in ["office.sqlite", "field.sqlite", "phone/data.sqlite"] {
      #expect(try self.wells(database) == wells, "\(database)")
    }
    for outcome in [camp.hub("doctor"), camp.device("site", "doctor"), camp.device("phone", "doctor")] {
      #expect(outcome.out == "All is well.\n", "\(outcome.out)")
    }
  }

  @Test(
    """
    different rows under one key are an insert/insert conflict under each policy, equal rows are nothing, and the \
    file's own rows reach the hub and its devices
    """, arguments: Self.settlements)
  func rows(expected: Settlement) throws {
    try open(expected.policy)
    let joined = try join()
    #expect(joined["joined"] == ["wells": .integer(Int64(expected.sent.count))], "\(joined)")
    #expect(joined["conflicts"] == 1, "\(joined)")
    #expect(try wells("field.sqlite") == "w1|10\nw2|\(expected.depth)\nw3|30\nw4|40")

    let exported = try camp.device("site", "export", "--json").json
    #expect(exported["changes"] == ["wells": .integer(Int64(expected.sent.count))], "\(exported)")
    #expect(exported["conflicts"] == 1, "\(exported)")
    try carryAll()
    try expectEverywhere([10, expected.depth, 30, 40])
    let changed = try camp.rows("office.sqlite", "SELECT key FROM satchel_log ORDER BY key")
    #expect(changed == expected.sent.map { "[\"\($0)\"]" }.joined(separator: "\n"), "equal rows are no changes")
    try expectConflict(expected.state)

    #expect(!FileManager.default.fileExists(atPath: camp.path("site/data.sqlite")))
    #expect(try camp.rows("field.sqlite", "SELECT name FROM settings") == "dark")
  }

  /// Expects one conflict in this state at the hub and on the site. Both must show the values of both sides.
  private func expectConflict(_ state: String) throws {
    for outcome in [camp.hub("conflicts", "--all", "--json"), camp.device("site", "conflicts", "--all", "--json")] {
      let conflicts = try outcome.json["conflicts"]?.arrayValue ?? []
      #expect(conflicts.map { $0["kind"]?.stringValue } == ["insert/insert"], "\(conflicts)")
      #expect(conflicts.first?["state"]?.stringValue == state)
      #expect(conflicts.first?["key"] == ["w2"])
      #expect(conflicts.first?["hub_values"]?["depth"] == 20)
      #expect(conflicts.first?["device_values"]?["depth"] == 99)
    }
  }

  @Test("a decision for the file's row writes that row everywhere")
  func decided() throws {
    try open("manual")
    _ = try join()
    try carryAll()
    let conflict = try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first
    let id = try #require(conflict?["id"]?.stringValue)
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    try carryAll()
    try expectEverywhere([10, 99, 30, 40])
  }

  @Test("under newest, a row that the office changed after the site joined stays, and the file's row is kept")
  func changedLater() throws {
    try open("newest")
    _ = try join()
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", "UPDATE wells SET depth = 21 WHERE id = 'w2'")
    try carryAll()
    try expectEverywhere([10, 21, 30, 40])
    let conflicts = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue ?? []
    #expect(conflicts.count == 2, "\(conflicts)")
    #expect(conflicts.allSatisfy { $0["state"]?.stringValue == "settled" && $0["key"] == ["w2"] }, "\(conflicts)")
    #expect(conflicts.allSatisfy { $0["device_values"]?["depth"] == 99 }, "\(conflicts)")
    #expect(conflicts.compactMap { $0["hub_values"]?["depth"]?.integerValue }.sorted() == [20, 21], "\(conflicts)")
  }

  @Test("a dry run of the first import changes no byte of the app's own file")
  func rehearsal() throws {
    try open("manual")
    let (file, before) = (try camp.emit("site"), try camp.read("field.sqlite"))
    let fingerprint = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let outcome = camp.device("site", "import", file, "--fingerprint", fingerprint, "--dry-run", "--json")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try outcome.json["bundles"]?.arrayValue?.first?["joined"] == ["wells": 1], "\(outcome.out)")
    #expect(try camp.read("field.sqlite") == before)
    #expect(try join()["joined"] == ["wells": 1])
  }
}
