import SatchelJSON
import Testing

/// A room and a day can be booked once. The office and a tablet make the same booking under different ids. The dataset
/// does not fold the two rows.
@Suite("Two rows with one natural key")
struct NaturalKeyTests {
  let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func open(_ rules: String) throws {
    try camp.open(
      """
      CREATE TABLE bookings (id TEXT PRIMARY KEY, room TEXT, day INTEGER, guest TEXT, UNIQUE (room, day));
      CREATE TABLE wishes (id TEXT PRIMARY KEY, booking TEXT REFERENCES bookings (id));
      INSERT INTO bookings VALUES ('old', 'blue', 1, 'Ada');
      """, CommandLineFixture.definition(#"{ "bookings": { \#(rules) }, "wishes": {} }"#), devices: ["tablet"])
  }

  /// The tablet and the office write. `later` says which of them writes later.
  private func book(_ tablet: String, _ office: String, laterIs later: String) throws {
    try camp.sql("tablet/data.sqlite", tablet)
    try camp.sql("office.sqlite", office)
    try camp.sql(later, "UPDATE satchel_writes_bookings SET satchel_written = satchel_written + 0.0001")
  }

  private static let theirs = "INSERT INTO bookings VALUES ('t', 'red', 7, 'Tess')"
  private static let ours = "INSERT INTO bookings VALUES ('o', 'red', 7, 'Olga')"

  private func deliver() throws { try camp.deliver("tablet") }
  private func answer() throws { try camp.answer("tablet") }

  private func conflicts() throws -> [JSONValue] {
    try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue ?? []
  }

  private func red(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, guest FROM bookings WHERE room = 'red' ORDER BY id")
  }

  /// Expects that both sides have the same rows and have nothing left to send, whatever was decided.
  private func expectPeace() throws {
    for _ in 0..<2 {
      try deliver()
      try answer()
    }
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT * FROM bookings ORDER BY id")
        == camp.rows("office.sqlite", "SELECT * FROM bookings ORDER BY id"))
    #expect(try camp.device("tablet", "status", "--json").json["pending"] == .object([]))
    #expect(camp.device("tablet", "doctor").code == 0)
    #expect(camp.hub("doctor").code == 0)
  }

  struct Case: CustomTestStringConvertible {
    let policy: String
    let later: String
    let stands: String
    let state: String

    var testDescription: String { "\(policy), \(later) later: \(stands) \(state)" }
  }

  static let cases = [
    Case(policy: "hub", later: "tablet/data.sqlite", stands: "o|Olga", state: "settled"),
    Case(policy: "device", later: "office.sqlite", stands: "t|Tess", state: "settled"),
    Case(policy: "newest", later: "tablet/data.sqlite", stands: "t|Tess", state: "settled"),
    Case(policy: "newest", later: "office.sqlite", stands: "o|Olga", state: "settled"),
    Case(policy: "manual", later: "tablet/data.sqlite", stands: "o|Olga", state: "open"),
  ]

  @Test("the policy decides which of them stays, and the other one is kept", arguments: cases, [true, false])
  func policies(_ test: Case, hubHearsFirst: Bool) throws {
    try open(#""conflict": "\#(test.policy)""#)
    try book(Self.theirs, Self.ours, laterIs: test.later)
    if !hubHearsFirst {
      try answer()
      #expect(try red("tablet/data.sqlite") == test.stands)
    }
    try expectPeace()
    #expect(try red("office.sqlite") == test.stands)
    let found = try conflicts()
    #expect(found.map { $0["kind"]?.stringValue } == ["unique"] && found.first?["state"]?.stringValue == test.state)
    #expect(found.first?["hub_values"]?["guest"] == "Olga" && found.first?["device_values"]?["guest"] == "Tess")
  }

  @Test("an edit that takes another row's natural key is decided by the same policy", arguments: cases, [true, false])
  func edits(_ test: Case, hubHearsFirst: Bool) throws {
    try open(#""conflict": "\#(test.policy)""#)
    try book("UPDATE bookings SET room = 'red', day = 7 WHERE id = 'old'", Self.ours, laterIs: test.later)
    if !hubHearsFirst { try answer() }
    try expectPeace()
    let deviceWins = test.stands == "t|Tess"
    #expect(try red("office.sqlite") == (deviceWins ? "old|Ada" : "o|Olga"))
    #expect(
      try camp.rows("office.sqlite", "SELECT room FROM bookings WHERE id = 'old'") == (deviceWins ? "red" : "blue"))
    // By its stamp, only a new row can lose. With `newest` and the office as winner, the old row would have to go, so a
    // person decides.
    let state = test.policy == "newest" && !deviceWins ? "open" : test.state
    #expect(try conflicts().map { $0["state"]?.stringValue } == [state])
  }

  @Test("a row that other rows refer to is not deleted for another row: a person decides", arguments: [true, false])
  func children(hubHearsFirst: Bool) throws {
    try open(#""conflict": "device""#)
    try book(Self.theirs, Self.ours + "; INSERT INTO wishes VALUES ('w', 'o')", laterIs: "tablet/data.sqlite")
    if !hubHearsFirst { try answer() }
    try expectPeace()
    #expect(try red("office.sqlite") == "o|Olga")
    #expect(try conflicts().map { $0["state"]?.stringValue } == ["open"])
    let id = try #require(try conflicts().first?["id"]?.stringValue)
    let refused = camp.hub("conflicts", "resolve", id, "--keep", "device")
    #expect(refused.code == 1 && refused.error.contains("There are rows of wishes that refer to it"))
    #expect(try red("office.sqlite") == "o|Olga")
  }

  @Test(
    "rows that may not be deleted, or are only marked, do not go either",
    arguments: [
      #""delete": "never""#, #""delete": "soft", "deleted": "guest""#,
    ])
  func notDeleted(_ rule: String) throws {
    try open(#""conflict": "device", \#(rule)"#)
    try book(Self.theirs, "INSERT INTO bookings VALUES ('o', 'red', 7, NULL)", laterIs: "tablet/data.sqlite")
    try expectPeace()
    #expect(try red("office.sqlite") == "o|NULL")
    #expect(try conflicts().map { $0["state"]?.stringValue } == ["open"])
  }

  @Test(
    "both rows are shown side by side, and a decision for the device's lets the hub's go, on either side",
    arguments: [true, false])
  func decided(atTheHub: Bool) throws {
    try open(#""conflict": "manual""#)
    try book(Self.theirs, Self.ours, laterIs: "office.sqlite")
    try deliver()
    try answer()
    let id = try #require(try conflicts().first?["id"]?.stringValue)
    let shown = camp.hub("conflicts", "show", id).out
    #expect(shown.contains("Olga") && shown.contains("Tess"))
    #expect(camp.device("tablet", "conflicts", "show", id).out.contains("Olga"))
    let resolved =
      atTheHub
      ? camp.hub("conflicts", "resolve", id, "--keep", "device")
      : camp.device("tablet", "conflicts", "resolve", id, "--keep", "device")
    #expect(resolved.code == 0, "\(resolved.error)")
    try expectPeace()
    #expect(try red("office.sqlite") == "t|Tess")
    #expect(try conflicts().map { $0["state"]?.stringValue } == ["resolved"])
  }

  @Test("what a policy gave to the device can be given back to the hub's row")
  func givenBack() throws {
    try open(#""conflict": "device""#)
    try book(Self.theirs, Self.ours, laterIs: "office.sqlite")
    try expectPeace()
    let id = try #require(try conflicts().first?["id"]?.stringValue)
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "hub").code == 0)
    try expectPeace()
    #expect(try red("tablet/data.sqlite") == "o|Olga")
  }

  @Test("a decision with another value lets both rows stay")
  func both() throws {
    try open(#""conflict": "manual""#)
    try book(Self.theirs, Self.ours, laterIs: "office.sqlite")
    try deliver()
    let id = try #require(try conflicts().first?["id"]?.stringValue)
    #expect(camp.hub("conflicts", "resolve", id, "--set", "day=8").code == 0)
    try expectPeace()
    #expect(try red("tablet/data.sqlite") == "o|Olga\nt|Tess")
  }

  /// When the parent of the tablet's row is deleted: before or after the tablet receives the office's row.
  private enum ParentGoes: CaseIterable { case before, afterwards }

  @Test(
    "the office's row does not go for a row of the tablet's that does not get in: one of the two is always there",
    arguments: ["device", "newest"])
  func keptOutForNothing(policy: String) throws {
    for goes in ParentGoes.allCases {
      let camp = try CommandLineFixture()
      try camp.open(
        """
        CREATE TABLE rooms (id TEXT PRIMARY KEY);
        CREATE TABLE beds (id TEXT PRIMARY KEY, room TEXT REFERENCES rooms (id), number INTEGER UNIQUE, words TEXT);
        INSERT INTO rooms VALUES ('blue');
        """,
        CommandLineFixture.definition(#"{ "rooms": { "conflict": "hub" }, "beds": { "conflict": "\#(policy)" } }"#),
        devices: ["tablet"])
      try camp.sql("office.sqlite", "INSERT INTO beds VALUES ('o', NULL, 7, 'Olga')")
      camp.awaitLaterTime()
      try camp.sql("tablet/data.sqlite", "INSERT INTO beds VALUES ('t', 'blue', 7, 'Tess')")
      if goes == .before { try camp.sql("office.sqlite", "DELETE FROM rooms") }
      try camp.answer("tablet")
      if goes == .afterwards { try camp.sql("office.sqlite", "DELETE FROM rooms") }
      for _ in 0..<3 {
        try camp.deliver("tablet")
        try camp.answer("tablet")
      }
      let query = "SELECT id, words FROM beds"
      #expect(try camp.rows("office.sqlite", query) == "o|Olga", "\(goes)")
      #expect(try camp.rows("tablet/data.sqlite", query) == "o|Olga", "\(goes)")
      let kept = try camp.rows(
        "office.sqlite", "SELECT state, device_values ->> 'words' FROM satchel_conflicts WHERE state <> 'settled'")
      #expect(["open|Tess", "held|Tess"].contains(kept), "\(goes): \(kept)")
      #expect(try camp.device("tablet", "status", "--json").json["pending"] == .object([]))
      #expect(camp.device("tablet", "doctor").code == 0)
    }
  }

  @Test("a decision about a row that was changed since is refused, and shows both")
  func changedSince() throws {
    try open(#""conflict": "manual""#)
    try book(Self.theirs, Self.ours, laterIs: "office.sqlite")
    try deliver()
    try camp.sql("office.sqlite", "UPDATE bookings SET guest = 'Otto' WHERE id = 'o'")
    let id = try #require(try conflicts().first?["id"]?.stringValue)
    let refused = camp.hub("conflicts", "resolve", id, "--keep", "device")
    #expect(refused.code == 1 && refused.error.contains("Olga") && refused.error.contains("Otto"))
  }
}
