import SatchelJSON
import Testing

@Suite("Deleted rows stay deleted, unless a person decides otherwise")
struct DeleteTests {
  let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func open(_ rules: String) throws {
    try camp.open(
      """
      CREATE TABLE camps (id TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE notes (id TEXT PRIMARY KEY, camp TEXT REFERENCES camps (id), words TEXT, gone INTEGER);
      INSERT INTO camps VALUES ('c', 'Lake');
      INSERT INTO notes VALUES ('n', 'c', 'first', 0);
      """, CommandLineFixture.definition(#"{ "camps": {}, "notes": { \#(rules) } }"#), devices: ["tablet", "phone"])
  }

  private func notes(_ database: String = "office.sqlite") throws -> String {
    try camp.rows(database, "SELECT id, words, gone FROM notes ORDER BY id")
  }

  private func kinds() throws -> [String] {
    try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.compactMap { $0["kind"]?.stringValue }
      ?? []
  }

  @Test(
    "a row that a device deleted comes back to it with an office row that refers to it, and the deletion is a conflict"
  )
  func deletedParent() throws {
    try open("")
    try camp.sql("tablet/data.sqlite", "DELETE FROM notes; DELETE FROM camps")
    try camp.sql("office.sqlite", "INSERT INTO notes VALUES ('m', 'c', 'meanwhile', 0)")
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM camps") == "c")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM pragma_foreign_key_check") == "0")
    // The device's delete of the note n stays, because no change contradicts it.
    #expect(try notes("tablet/data.sqlite") == "m|meanwhile|0")
    let conflicts = try camp.listedConflicts(of: "tablet")
    #expect(conflicts.map { $0["kind"]?.stringValue } == ["foreign key"])
    #expect(conflicts.map { $0["table"]?.stringValue } == ["camps"])
    try camp.carry("tablet", rounds: 2)
    #expect(try notes() == "m|meanwhile|0")
    #expect(try camp.rows("office.sqlite", "SELECT id FROM camps") == "c")
    #expect(try kinds() == ["foreign key"])
  }

  @Test("what the app left hanging on nothing stays the app's affair")
  func leftHanging() throws {
    try open("")
    try camp.sql("tablet/data.sqlite", "PRAGMA foreign_keys = OFF; DELETE FROM camps")
    try camp.sql("office.sqlite", "UPDATE notes SET words = 'second'")
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM camps") == "0")
    #expect(try camp.device("tablet", "conflicts", "--json").json["conflicts"]?.arrayValue?.isEmpty == true)
  }

  @Test(
    "a late update, an insert of the same key, a delete and an insert: none brings back what the office deleted",
    arguments: [
      "UPDATE notes SET words = 'late'", "INSERT OR REPLACE INTO notes VALUES ('n', 'c', 'late', 0)",
      "DELETE FROM notes; INSERT INTO notes VALUES ('n', 'c', 'late', 0)",
    ], ["hub", "device", "newest", "manual"])
  func late(_ sql: String, policy: String) throws {
    try open(#""conflict": "\#(policy)""#)
    // The tablet sends its change in an export that is lost, and again in each later export. Meanwhile the office
    // deletes the row, and the other replicas exchange bundles.
    try camp.sql("tablet/data.sqlite", sql)
    camp.device("tablet", "export")
    try camp.sql("office.sqlite", "DELETE FROM notes")
    for round in 2...4 {
      try camp.sql("phone/data.sqlite", "UPDATE camps SET name = 'Round \(round)'")
      camp.deliver("phone", round - 1)
      camp.answer("phone", round)
    }
    try camp.sql("tablet/data.sqlite", "INSERT INTO camps VALUES ('d', 'Hill')")
    camp.deliver("tablet", 2)
    #expect(try notes() == "")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM camps") == "2")
    camp.answer("tablet", 2)
    #expect(try notes("tablet/data.sqlite") == "")
    // The conflict keeps the tablet's values, so that a person can restore them.
    let found = try #require(
      try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.first {
        $0["device_values"]?["words"] == "late"
      })
    let resolved = camp.hub("conflicts", "resolve", try #require(found["id"]?.stringValue), "--keep", "device")
    #expect(resolved.code == 0, "\(resolved.error)")
    camp.answer("tablet", 3)
    for database in ["office.sqlite", "tablet/data.sqlite"] { #expect(try notes(database) == "n|late|0") }
  }

  @Test("hard: a delete takes the row, everywhere")
  func hard() throws {
    try open(#""delete": "hard""#)
    try camp.sql("tablet/data.sqlite", "DELETE FROM notes")
    camp.deliver("tablet", 1)
    camp.answer("phone", 2)
    for database in ["office.sqlite", "phone/data.sqlite"] { #expect(try notes(database) == "") }
  }

  @Test(
    "soft: a row that a device deletes is marked, like a row that it marks itself",
    arguments: [
      "DELETE FROM notes", "UPDATE notes SET gone = 1",
    ])
  func soft(_ sql: String) throws {
    try open(#""delete": "soft", "deleted": "gone""#)
    try camp.sql("tablet/data.sqlite", sql)
    camp.deliver("tablet", 1)
    for name in ["tablet", "phone"] { camp.answer(name, 2) }
    for database in ["office.sqlite", "phone/data.sqlite", "tablet/data.sqlite"] {
      #expect(try notes(database) == "n|first|1")
    }
    // The phone updated the row without knowing the mark. The update does not remove the mark.
    #expect(try kinds() == [])
  }

  @Test(
    "soft: a device whose delete wins gets the marked row, without a conflict of its own",
    arguments: ["device", "newest"])
  func softWon(policy: String) throws {
    try open(#""conflict": "\#(policy)", "delete": "soft", "deleted": "gone""#)
    // The row that the device deletes is not the row that the hub has.
    try camp.writeUnseen("tablet/data.sqlite", "UPDATE notes SET words = 'unseen'")
    try camp.sql("tablet/data.sqlite", "DELETE FROM notes")
    camp.deliver("tablet", 1)
    #expect(try kinds() == ["delete/update"])
    camp.answer("tablet", 2)
    for database in ["office.sqlite", "tablet/data.sqlite"] { #expect(try notes(database) == "n|first|1") }
    camp.deliver("tablet", 2)
    #expect(try kinds() == ["delete/update"])
  }

  @Test("soft: a decision for a device's delete marks the row, on either side", arguments: [true, false])
  func softDecided(atTheHub: Bool) throws {
    try open(#""conflict": "manual", "delete": "soft", "deleted": "gone""#)
    try camp.sql("tablet/data.sqlite", "DELETE FROM notes")
    try camp.sql("office.sqlite", "UPDATE notes SET words = 'second'")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    #expect(try kinds() == ["delete/update"])
    for database in ["office.sqlite", "tablet/data.sqlite"] { #expect(try notes(database) == "n|second|0") }
    let id = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts")
    let decided =
      atTheHub
      ? camp.hub("conflicts", "resolve", id, "--keep", "device")
      : camp.device("tablet", "conflicts", "resolve", id, "--keep", "device")
    #expect(decided.code == 0, "\(decided.error)")
    #expect(try notes(atTheHub ? "office.sqlite" : "tablet/data.sqlite") == "n|second|1")
    try camp.carry("tablet")
    for database in ["office.sqlite", "tablet/data.sqlite"] { #expect(try notes(database) == "n|second|1") }
  }

  @Test("never: a delete is forbidden, and the device gets its row back")
  func never() throws {
    try open(#""delete": "never""#)
    try camp.sql("tablet/data.sqlite", "DELETE FROM notes")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    for database in ["office.sqlite", "tablet/data.sqlite"] { #expect(try notes(database) == "n|first|0") }
    #expect(try kinds() == ["forbidden"])
    #expect(camp.device("tablet", "conflicts", "--all").out.contains("forbidden"))
  }
}
