import SatchelJSON
import Testing

/// Rows that only the hub or only the device has, because capture did not record a write on the device.
@Suite("Rows that only the hub or only the device has")
struct OneSidedRowTests {
  private let camp: CommandLineFixture
  private static let asTheHub = "a|both\nb|of the hub"
  private static let asTheDevice = "a|both\nc|of the device"

  /// A tablet that deleted the row `b` and made the row `c` while its triggers were off.
  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT);
      INSERT INTO notes VALUES ('a', 'both'), ('b', 'of the hub')
      """,
      CommandLineFixture.definition(#"{ "notes": {} }"#), devices: ["tablet", "phone"])
    for name in ["tablet", "phone"] { try camp.carry(name, rounds: 2) }
    try camp.writeUnseen(
      "tablet/data.sqlite", "DELETE FROM notes WHERE id = 'b'; INSERT INTO notes VALUES ('c', 'of the device')")
  }

  /// The tablet sends digests of its rows. The hub requests the rows whose digests differ, and the tablet names these
  /// rows.
  private func nameDifferences() throws {
    try prove()
    let asked = camp.hub("compare", "tablet").out
    #expect(asked == "The next bundle for tablet asks which rows differ: satchel-hub emit --device tablet\n")
    try camp.carry("tablet", rounds: 2)
  }

  private func prove() throws {
    #expect(camp.device("tablet", "export", "--prove").code == 0)
    try camp.carry("tablet")
  }

  private func compared() throws -> JSONValue { try camp.hub("compare", "tablet", "--json").json }

  private func expectEverywhere(_ notes: String) throws {
    for database in ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT id, words FROM notes ORDER BY id") == notes, "\(database)")
    }
  }

  /// Expects one conflict for each of the two rows, at the hub and on the tablet. Each conflict has the values that
  /// only one side had.
  private func expectKept() throws {
    for outcome in [camp.hub("conflicts", "--json"), camp.device("tablet", "conflicts", "--json")] {
      let conflicts = try outcome.json["conflicts"]?.arrayValue ?? []
      #expect(conflicts.map { $0["kind"]?.stringValue } == ["unseen", "unseen"], "\(conflicts)")
      #expect(conflicts.allSatisfy { $0["state"]?.stringValue == "open" }, "\(conflicts)")
      let made = try #require(conflicts.first { $0["key"] == ["c"] }, "\(conflicts)")
      #expect(made["operation"]?.stringValue == "insert")
      #expect(made["device_values"] == ["id": "c", "words": "of the device"] && made["hub_values"] == .null)
      let deleted = try #require(conflicts.first { $0["key"] == ["b"] }, "\(conflicts)")
      #expect(deleted["operation"]?.stringValue == "delete")
      #expect(deleted["hub_values"] == ["id": "b", "words": "of the hub"] && deleted["device_values"] == .null)
    }
  }

  @Test("compare names a row that only the hub has, and a row that only the device has")
  func named() throws {
    try nameDifferences()
    #expect(
      camp.hub("compare", "tablet").out == """
        TABLE  ROW  WHERE
        notes  b    only at the hub
        notes  c    only on the device
        To send these rows again: satchel-hub compare tablet --repair

        """)
    let found = try compared()
    #expect(found["proof"]?["result"]?.stringValue == "differs")
    #expect(
      found["rows"] == [
        ["table": "notes", "key": ["b"], "kind": "only-at-hub"],
        ["table": "notes", "key": ["c"], "kind": "only-on-device"],
      ])
    #expect(found["repaired"] == .null)
  }

  @Test("looking at the differences, or repairing them in a dry run, changes no row and no record")
  func looked() throws {
    try nameDifferences()
    let found = try compared()
    #expect(camp.hub("compare", "tablet", "--repair", "--dry-run").code == 0)
    try camp.carry("tablet", rounds: 2)
    #expect(try compared()["rows"] == found["rows"])
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id, words FROM notes ORDER BY id") == Self.asTheDevice)
    #expect(try camp.rows("office.sqlite", "SELECT id, words FROM notes ORDER BY id") == Self.asTheHub)
  }

  @Test(
    "compare --repair makes all replicas equal, keeps what only the device had as conflicts, and a decision ends them",
    arguments: [("hub", Self.asTheHub), ("device", Self.asTheDevice)])
  func repaired(winner: String, notes: String) throws {
    try nameDifferences()
    #expect(try camp.hub("compare", "tablet", "--repair", "--json").json["repaired"]?.integerValue == 2)
    try camp.carry("tablet", rounds: 2)
    try camp.carry("phone")
    try expectEverywhere(Self.asTheHub)
    try expectKept()

    try prove()
    #expect(camp.hub("compare", "tablet").out == "The hub knows no row of tablet that differs.\n")
    let found = try compared()
    #expect(found["rows"] == [] && found["proof"]?["result"]?.stringValue == "verified", "\(found)")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_log") == "0", "the hub's rows never changed")

    for conflict in try camp.listedConflicts() {
      let id = try #require(conflict["id"]?.stringValue)
      #expect(camp.hub("conflicts", "resolve", id, "--keep", winner).code == 0)
    }
    for name in ["tablet", "phone"] { try camp.carry(name, rounds: 2) }
    try expectEverywhere(notes)
    for outcome in [camp.hub("doctor"), camp.device("tablet", "doctor"), camp.device("phone", "doctor")] {
      #expect(outcome.out == "All is well.\n", "\(outcome.out)")
    }
  }
}
