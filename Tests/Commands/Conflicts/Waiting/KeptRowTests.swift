import Foundation
import SatchelJSON
import Testing

/// Two users make a person with the same PIN, and children of these persons. The hub accepts only the first person.
@Suite("Rows that another row keeps out")
struct KeptRowTests {
  private static let schema = """
    CREATE TABLE people (id TEXT PRIMARY KEY, tier INTEGER, pin TEXT UNIQUE, name TEXT);
    CREATE TABLE children (id TEXT PRIMARY KEY, parent TEXT REFERENCES people (id), name TEXT);
    """
  static let queries = ["SELECT * FROM people ORDER BY id", "SELECT * FROM children ORDER BY id"]

  /// - Parameters:
  ///   - isRivalSeen: whether ben sees ann's person.
  ///   - policy: the conflict policy for people.
  func open(isRivalSeen: Bool, policy: String = "manual") throws -> CommandLineFixture {
    let rule = isRivalSeen ? "1" : "tier = :tier"
    let quarrel = try TwoDeviceFixture(
      Self.schema, #""people": { "visible": "\#(rule)", "conflict": "\#(policy)" }, "children": {}"#)
    quarrel.camp.hub("user", "set", "ben", "tier=2")
    try quarrel.camp.answer("phone")
    try quarrel.sql("tablet", "INSERT INTO people VALUES ('ua', 1, '7', 'Ada')")
    try quarrel.sql(
      "phone", "INSERT INTO people VALUES ('ub', 2, '7', 'Bea'); INSERT INTO children VALUES ('cb', 'ub', 'Bo')")
    return quarrel.camp
  }

  func phone(_ camp: CommandLineFixture) throws -> [String] {
    try Self.queries.map { try camp.rows("phone/data.sqlite", $0) }
  }

  /// The id of the conflict about ben's person.
  private func id(_ camp: CommandLineFixture) throws -> String {
    try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE kind = 'unique'")
  }

  /// Expects that hub and phone have the same rows, that each doctor reports no fault, and that nothing is left to
  /// deliver.
  func expectPeace(_ camp: CommandLineFixture, _ place: SourceLocation = #_sourceLocation) throws {
    for _ in 0..<2 {
      #expect(camp.device("phone", "export", "--prove").code == 0, sourceLocation: place)
      try camp.deliver("phone")
      try camp.answer("phone")
    }
    #expect(camp.hub("compare", "phone").out == "The hub knows no row of phone that differs.\n", sourceLocation: place)
    let status = try camp.hub("status", "--json").json
    let proof = status["devices"]?.arrayValue?.first { $0["name"] == "phone" }?["proof"]
    #expect(proof?["result"] == "verified", "\(String(describing: proof))", sourceLocation: place)
    #expect(camp.device("phone", "doctor").code == 0, sourceLocation: place)
    #expect(camp.hub("doctor").code == 0, sourceLocation: place)
    #expect(try camp.device("phone", "status", "--json").json["pending"] == .object([]), sourceLocation: place)
  }

  @Test(
    """
    they leave the device if the other row is seen there: the import names them, status until it is decided, and they \
    come back with their children
    """,
    arguments: [false, true])
  func seen(importsFirst: Bool) throws {
    let camp = try open(isRivalSeen: true)
    try camp.deliver("tablet")
    if !importsFirst { try camp.deliver("phone") }
    let imported = camp.device("phone", "import", try camp.emit("phone"))
    #expect(
      imported.out.contains(
        """
        2 rows of yours left the tables. The values are kept: satchel conflicts
          people [ub] 7, Bea: another row has a value that only one row may have
          children [cb] Bo:
        """)
        || imported.out.contains("  children [cb] Bo:") && imported.out.contains("  people [ub] 7, Bea: another row"),
      "\(imported.out)")
    #expect(try phone(camp) == ["ua|1|7|Ada", ""])
    #expect(camp.device("phone", "doctor").code == 0)
    let states = try camp.rows("phone/data.sqlite", "SELECT state FROM satchel_conflicts WHERE table_name = 'children'")
    #expect(states == "held", "the child waits for its parent")
    if importsFirst {
      try camp.deliver("phone")
      try camp.answer("phone")
    }
    let status = camp.device("phone", "status")
    #expect(
      status.out.contains("not in the tables until you decide") && status.out.contains("people [ub] 7, Bea"))
    let kept = try camp.device("phone", "status", "--json").json["kept"]?.arrayValue ?? []
    #expect(Set(kept.compactMap { $0["label"]?.stringValue }) == ["7, Bea", "Bo"])
    let shown = camp.device("phone", "conflicts", "show", try id(camp))
    #expect(shown.out.contains("come back with it:\n  children [cb]: id=cb parent=ub name=Bo"), "\(shown.out)")
    let decided = camp.hub("conflicts", "resolve", try id(camp), "--keep", "device")
    #expect(decided.code == 0, "\(decided.error)")
    try camp.answer("phone")
    #expect(try phone(camp) == ["ub|2|7|Bea", "cb|ub|Bo"])
    try expectPeace(camp)
    #expect(!camp.device("phone", "status").out.contains("Kept"))
  }

  @Test(
    "they stay where the other row is not seen, marked, and hub, doctor and digests agree", arguments: [false, true])
  func hidden(full: Bool) throws {
    let camp = try open(isRivalSeen: false)
    try camp.deliver("tablet")
    try camp.deliver("phone")
    let imported = camp.device("phone", "import", try camp.emit("phone", full: full))
    #expect(imported.out.contains("2 rows of yours stayed here, and the hub's operator decides"), "\(imported.out)")
    #expect(try phone(camp) == ["ub|2|7|Bea", "cb|ub|Bo"])
    #expect(camp.device("phone", "status").out.contains("until the hub's operator decides: people [ub] 7, Bea"))
    #expect(
      try camp.rows("phone/data.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE hub_values IS NOT NULL") == "0")
    try expectPeace(camp)
    try camp.answer("phone", full: true)
    try expectPeace(camp)
    #expect(try phone(camp) == ["ub|2|7|Bea", "cb|ub|Bo"])
    let refused = camp.device("phone", "conflicts", "resolve", try id(camp), "--keep", "hub")
    #expect(refused.code == 1 && refused.error.contains("waits for the hub's operator"), "\(refused.error)")
    #expect(try camp.rows("office.sqlite", "SELECT id FROM people") == "ua")
  }

  /// Each entry names what happens to the waiting person, and has ben's people and children afterwards.
  static let ends: [(String, [String])] = [
    ("hub", ["", ""]), ("device", ["ub|2|7|Beate", "cb|ub|Bo\ncc|ub|Cy"]),
    ("set", ["ub|2|8|Beate", "cb|ub|Bo\ncc|ub|Cy"]), ("corrected", ["ub|2|9|Beate", "cb|ub|Bo\ncc|ub|Cy"]),
    ("corrected in one bundle", ["ub|2|9|Beate", "cb|ub|Bo\ncc|ub|Cy"]),
    ("deleted", ["", ""]), ("seen", ["ua|2|7|Ada", ""]),
  ]

  @Test("later changes follow the row, and every end leaves hub and device alike", arguments: ends)
  func ended(end: (what: String, then: [String])) throws {
    let camp = try open(isRivalSeen: false)
    try camp.deliver("tablet")
    try camp.deliver("phone")
    try camp.answer("phone")
    try camp.sql(
      "phone/data.sqlite",
      "UPDATE people SET name = 'Beate' WHERE id = 'ub'; INSERT INTO children VALUES ('cc', 'ub', 'Cy')")
    if end.what == "corrected in one bundle" {
      _ = try camp.export("phone")
    } else {
      try camp.deliver("phone")
      try camp.answer("phone")
    }
    #expect(try phone(camp) == ["ub|2|7|Beate", "cb|ub|Bo\ncc|ub|Cy"])
    switch end.what {
    case "corrected", "corrected in one bundle":
      try camp.sql("phone/data.sqlite", "UPDATE people SET pin = '9' WHERE id = 'ub'")
    case "deleted": try camp.sql("phone/data.sqlite", "DELETE FROM children; DELETE FROM people WHERE id = 'ub'")
    case "seen": try camp.sql("office.sqlite", "UPDATE people SET tier = 2 WHERE id = 'ua'")
    case "set": #expect(camp.hub("conflicts", "resolve", try id(camp), "--set", "pin=8").code == 0)
    case let side: #expect(camp.hub("conflicts", "resolve", try id(camp), "--keep", side).code == 0)
    }
    try camp.deliver("phone")
    try camp.answer("phone")
    try expectPeace(camp)
    #expect(try phone(camp) == end.then)
    let atHub = try camp.rows("office.sqlite", "SELECT * FROM people WHERE tier = 2")
    #expect(atHub == end.then[0])
    #expect(try camp.rows("office.sqlite", Self.queries[1]) == end.then[1])
  }

  /// `full`: the hub's row comes in a full bundle. `waited`: an earlier bundle had already left ben's person waiting.
  static let arrivals: [(full: Bool, waited: Bool)] = [(false, false), (false, true), (true, false), (true, true)]

  /// The result must not depend on the policy. Under `manual`, the hub's row would stay until a person decides. Under
  /// `device`, the policy would prefer the phone's row, and hub and phone would differ.
  @Test(
    """
    a row that the hub has under the same key replaces the row here, whose values are in the conflict, also if the \
    policy prefers the device
    """,
    arguments: arrivals, ["manual", "device"])
  func sameKey(arrival: (full: Bool, waited: Bool), policy: String) throws {
    let camp = try open(isRivalSeen: false, policy: policy)
    try camp.deliver("tablet")
    try camp.deliver("phone")
    if arrival.waited { try camp.answer("phone") }
    try camp.sql("office.sqlite", "INSERT INTO people VALUES ('ub', 2, '9', 'Ben')")
    try camp.answer("phone", full: arrival.full)
    #expect(try phone(camp) == ["ub|2|9|Ben", "cb|ub|Bo"])
    try expectPeace(camp)
    let conflict = try camp.device("phone", "conflicts", "show", id(camp), "--json").json["conflict"]
    #expect(conflict?["state"] == "open" && conflict?["device_values"]?["name"] == "Bea")
    #expect(!camp.device("phone", "status").out.contains("people [ub]"))
    #expect(camp.hub("conflicts", "resolve", try id(camp), "--set", "pin=8").code == 0)
    try camp.answer("phone")
    #expect(try phone(camp) == ["ub|2|8|Ben", "cb|ub|Bo"])
    try expectPeace(camp)
  }

  @Test("a rebuilt database has them too")
  func lostDatabase() throws {
    let camp = try open(isRivalSeen: false)
    try camp.deliver("tablet")
    try camp.deliver("phone")
    try camp.answer("phone")
    try camp.remove("phone/data.sqlite")
    #expect(camp.device("phone", "doctor", "--repair").code == 0)
    #expect(try phone(camp) == ["ub|2|7|Bea", "cb|ub|Bo"])
    try expectPeace(camp)
  }

  // MARK: decisions after which the user may not see the row

  static let endsOutOfSight = ["set", "moved before", "moved after", "deleted", "another row"]

  @Test("a decision takes the row off its device if the user does not get the row", arguments: endsOutOfSight)
  func outOfSight(end: String) throws {
    let camp = try open(isRivalSeen: false)
    try camp.sql("phone/data.sqlite", "DELETE FROM children")
    try camp.deliver("tablet")
    try camp.deliver("phone")
    try camp.answer("phone")
    #expect(try phone(camp) == ["ub|2|7|Bea", ""])
    // With this export the phone proves that it has the hub's bundle. So only the decision can make the hub send the
    // row again.
    try camp.deliver("phone")
    if end == "moved before" { #expect(camp.hub("user", "set", "ben", "tier=5", "--yes").code == 0) }
    if end == "another row" {
      try camp.sql("tablet/data.sqlite", "INSERT INTO people VALUES ('ub', 1, '9', 'Abe')")
      try camp.deliver("tablet")
    }
    let decision =
      switch end {
      case "set": ["--set", "pin=8", "--set", "tier=3"]
      case "another row": ["--keep", "hub"]
      default: ["--keep", "device"]
      }
    let words = ["-C", camp.path("hub"), "conflicts", "resolve", try id(camp)] + decision
    let decided = camp.hubAnywhere(words)
    #expect(decided.code == 0, "\(decided.error)")
    if end == "moved after" { #expect(camp.hub("user", "set", "ben", "tier=5", "--yes").code == 0) }
    if end == "deleted" { try camp.sql("office.sqlite", "DELETE FROM people WHERE id = 'ub'") }
    try camp.answer("phone")
    #expect(try phone(camp) == ["", ""])
    let kept = try camp.rows("phone/data.sqlite", "SELECT state, device_values FROM satchel_conflicts")
    #expect(kept == #"resolved|{"id":"ub","tier":2,"pin":"7","name":"Bea"}"#)
    try expectPeace(camp)
  }

  @Test("a change that the hub lacks is kept as a conflict when a decision takes the row off its device")
  func outOfSightPending() throws {
    let camp = try open(isRivalSeen: false)
    try camp.sql("phone/data.sqlite", "DELETE FROM children")
    try camp.deliver("tablet")
    try camp.deliver("phone")
    try camp.answer("phone")
    try camp.sql("phone/data.sqlite", "UPDATE people SET name = 'Beate' WHERE id = 'ub'")
    let decided = camp.hub("conflicts", "resolve", try id(camp), "--set", "pin=8", "--set", "tier=3")
    #expect(decided.code == 0, "\(decided.error)")
    try camp.answer("phone")
    #expect(try phone(camp) == ["", ""])
    let kept = try camp.rows(
      "phone/data.sqlite", "SELECT device_values FROM satchel_conflicts WHERE operation = 'update'")
    #expect(kept == #"{"name":"Beate"}"#)
  }
}
