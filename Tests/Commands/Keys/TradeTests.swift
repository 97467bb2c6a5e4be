import Testing

/// Rows of one bundle trade UNIQUE values. Other rows of the bundle are in conflict or cannot be merged.
@Suite("Rows that trade UNIQUE values")
struct TradeTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func open(_ rules: String, index: String = "name", in camp: CommandLineFixture) throws {
    try camp.open(
      """
      CREATE TABLE places (id TEXT PRIMARY KEY);
      CREATE TABLE seats (id TEXT PRIMARY KEY, name TEXT, note TEXT, place TEXT REFERENCES places (id));
      CREATE UNIQUE INDEX seats_by_name ON seats (\(index));
      INSERT INTO places VALUES ('p'), ('q');
      INSERT INTO seats VALUES ('1', 'a', 'n', 'p'), ('2', 'b', 'n', 'p'), ('3', 'c', 'n', 'p'), ('4', 'd', 'n', 'p');
      """, CommandLineFixture.definition(#"{ "places": {}, "seats": { \#(rules) } }"#), devices: ["tablet"])
    try camp.answer("tablet")
  }

  /// The tablet renames seats one after the other, so that no two seats have the same name at any time.
  private func trade(
    _ names: [(seat: String, name: String)], and more: String = "", in camp: CommandLineFixture
  ) throws {
    let away = names.map { "UPDATE seats SET name = 'away \($0.seat)' WHERE id = '\($0.seat)';" }.joined()
    let back = names.map { "UPDATE seats SET name = '\($0.name)' WHERE id = '\($0.seat)';" }.joined()
    try camp.sql("tablet/data.sqlite", "BEGIN; \(away) \(back) \(more); COMMIT")
  }

  private func names(in camp: CommandLineFixture) throws -> String {
    try camp.rows("office.sqlite", "SELECT id, name FROM seats ORDER BY id")
  }

  // MARK: delivered first or imported first

  enum Shape: String, CaseIterable {
    /// Two seats trade names on the tablet. The office changed the note of one of them.
    case otherColumn
    /// Three seats pass their names on to each other. The office renamed two of them.
    case sameNames
    /// Two seats trade names. The tablet also makes a seat whose name the office has given to another seat.
    case besideContested
  }

  private static let policies = [
    #""newest""#, #""hub""#, #""manual""#, #""device""#, #""newest", "merge": "row""#,
  ]

  private func write(_ shape: Shape, in camp: CommandLineFixture) throws {
    let office =
      switch shape {
      case .otherColumn: "UPDATE seats SET note = 'office' WHERE id = '1'"
      case .sameNames: "UPDATE seats SET name = 'e' WHERE id = '3'; UPDATE seats SET name = 'c' WHERE id = '1'"
      case .besideContested: "INSERT INTO seats VALUES ('8', 'x', 'office', 'p')"
      }
    try camp.sql("office.sqlite", office)
    camp.hub("emit", "--all")
    camp.awaitLaterTime()
    switch shape {
    case .otherColumn: try trade([("1", "b"), ("2", "a")], and: "UPDATE seats SET note = 't' WHERE id = '1'", in: camp)
    case .sameNames: try trade([("1", "b"), ("2", "c"), ("3", "a")], in: camp)
    case .besideContested:
      try trade([("1", "b"), ("2", "a")], and: "INSERT INTO seats VALUES ('9', 'x', 'tablet', 'p')", in: camp)
    }
  }

  /// The rows and the conflicts of both sides. They must be the same on both sides.
  private func outcome(_ shape: Shape, _ policy: String, importsFirst: Bool) throws -> String {
    let camp = try CommandLineFixture()
    try open(#""conflict": \#(policy)"#, in: camp)
    try write(shape, in: camp)
    if importsFirst { try camp.answer("tablet") }
    for _ in 0..<3 {
      try camp.deliver("tablet")
      try camp.answer("tablet")
    }
    let rows = try camp.rows("office.sqlite", "SELECT * FROM seats ORDER BY id")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM seats ORDER BY id") == rows)
    if shape != .sameNames {
      #expect(try names(in: camp).hasPrefix("1|b\n2|a\n"), "the trade is taken in every order")
    }
    let conflicts = try camp.rows("office.sqlite", "SELECT key, kind, state FROM satchel_conflicts ORDER BY key, kind")
    return "\(rows)\n\(conflicts)"
  }

  @Test("a trade ends alike whether it is delivered first or imported first", arguments: Shape.allCases, policies)
  func alike(_ shape: Shape, _ policy: String) throws {
    #expect(try outcome(shape, policy, importsFirst: true) == outcome(shape, policy, importsFirst: false))
  }

  // MARK: beside rows that cannot be merged

  private static let toMissingPlace = "UPDATE seats SET place = 'q' WHERE id = '3'"

  @Test("a trade that must wait holds no other trade back", arguments: ["name", "name || '!'"])
  func besideWaiting(index: String) throws {
    try open(#""conflict": "manual""#, index: index, in: camp)
    try trade([("1", "b"), ("2", "a"), ("3", "d"), ("4", "c")], and: Self.toMissingPlace, in: camp)
    try camp.sql("office.sqlite", "DELETE FROM places WHERE id = 'q'")
    try camp.deliver("tablet")
    #expect(try names(in: camp) == "1|b\n2|a\n3|c\n4|d")
    let found = try camp.rows("office.sqlite", "SELECT key, kind, state FROM satchel_conflicts ORDER BY key")
    #expect(found == #"["3"]|foreign key|held"# + "\n" + #"["4"]|unique|open"#)
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("a row that waits for a trade enters after it, whatever else must wait")
  func afterTrade() throws {
    try camp.open(
      """
      CREATE TABLE places (id TEXT PRIMARY KEY);
      CREATE TABLE seats (
        id TEXT PRIMARY KEY, name TEXT UNIQUE, code TEXT UNIQUE, place TEXT REFERENCES places (id));
      INSERT INTO places VALUES ('q'); INSERT INTO seats VALUES ('1', 'a', 'x', NULL), ('2', 'b', 'y', NULL);
      """, CommandLineFixture.definition(#"{ "places": {}, "seats": {} }"#), devices: ["tablet"])
    try camp.answer("tablet")
    try trade(
      [("1", "b"), ("2", "a")],
      and: """
        UPDATE seats SET code = 'z' WHERE id = '1';
        INSERT INTO seats VALUES ('0', 'c', 'x', NULL), ('3', 'd', 'w', 'q');
        """, in: camp)
    try camp.sql("office.sqlite", "DELETE FROM places WHERE id = 'q'")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT id, name, code FROM seats ORDER BY id") == "0|c|x\n1|b|z\n2|a|y")
  }

  @Test("a parent that gets another key enters with its children, whatever else must wait")
  func parent() throws {
    try camp.open(
      """
      CREATE TABLE rooms (id TEXT PRIMARY KEY, name TEXT UNIQUE);
      CREATE TABLE guests (id TEXT PRIMARY KEY, room TEXT REFERENCES rooms (id));
      INSERT INTO rooms VALUES ('r', 'Blue'), ('q', 'Red'); INSERT INTO guests VALUES ('g', 'r'), ('h', 'r');
      """, CommandLineFixture.definition(#"{ "rooms": {}, "guests": {} }"#), devices: ["tablet"])
    try camp.answer("tablet")
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE rooms SET id = 'new' WHERE id = 'r'; UPDATE guests SET room = 'new' WHERE room = 'r';
      INSERT INTO guests VALUES ('i', 'q')
      """)
    try camp.sql("office.sqlite", "DELETE FROM rooms WHERE id = 'q'")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT * FROM rooms") == "new|Blue")
    #expect(try camp.rows("office.sqlite", "SELECT * FROM guests ORDER BY id") == "g|new\nh|new")
    #expect(try camp.rows("office.sqlite", "SELECT key FROM satchel_conflicts") == #"["i"]"#)
  }

  @Test("a parent whose key gets another spelling keeps its children, whatever else must wait")
  func spelling() throws {
    try camp.open(
      """
      CREATE TABLE marks (id TEXT COLLATE NOCASE PRIMARY KEY NOT NULL);
      CREATE TABLE links (id TEXT PRIMARY KEY, mark REFERENCES marks (id));
      INSERT INTO marks VALUES ('k'), ('q'); INSERT INTO links VALUES ('l', 'k');
      """, CommandLineFixture.definition(#"{ "marks": {}, "links": {} }"#), devices: ["tablet"])
    try camp.answer("tablet")
    try camp.sql(
      "tablet/data.sqlite", "UPDATE marks SET id = 'K' WHERE id = 'k'; INSERT INTO links VALUES ('m', 'q')")
    try camp.sql("office.sqlite", "DELETE FROM marks WHERE id = 'q'")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT id FROM marks") == "K")
    #expect(try camp.rows("office.sqlite", "SELECT key FROM satchel_conflicts") == #"["m"]"#)
  }

  // MARK: units

  @Test("a unit that trades is one conflict if one of its values is disputed")
  func disputedUnit() throws {
    try open(#""conflict": "manual", "unit": "transaction""#, in: camp)
    try trade([("1", "b"), ("2", "a")], and: "UPDATE seats SET note = 't' WHERE id = '1'", in: camp)
    try camp.sql("office.sqlite", "UPDATE seats SET note = 'office' WHERE id = '1'")
    try camp.deliver("tablet")
    #expect(try names(in: camp) == "1|a\n2|b\n3|c\n4|d")
    #expect(try camp.rows("office.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "open")
  }

  @Test("a part of a unit never trades without the rest of the unit")
  func wholeUnit() throws {
    try open(#""conflict": "manual", "unit": "transaction""#, in: camp)
    try trade([("1", "b"), ("2", "a")], and: Self.toMissingPlace, in: camp)
    try camp.sql("office.sqlite", "DELETE FROM places WHERE id = 'q'")
    try camp.deliver("tablet")
    #expect(try names(in: camp) == "1|a\n2|b\n3|c\n4|d")
    #expect(try camp.rows("office.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "held")
  }
}
