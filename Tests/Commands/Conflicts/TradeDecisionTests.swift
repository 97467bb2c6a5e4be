import SatchelJSON
import Testing

/// On the device, rows traded UNIQUE values. The hub did not accept the trade, and a person decides about it.
@Suite("Decisions about rows that traded UNIQUE values")
struct TradeDecisionTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  /// The side on which a decision is made.
  enum Side: String, CaseIterable { case hub, device }

  private func open(_ rules: String) throws {
    try camp.open(
      """
      CREATE TABLE seats (id TEXT PRIMARY KEY, name TEXT UNIQUE, note TEXT);
      INSERT INTO seats VALUES ('1', 'a', 'n'), ('2', 'b', 'n');
      """, CommandLineFixture.definition(#"{ "seats": { "conflict": "manual", \#(rules) } }"#), devices: ["tablet"])
    try camp.answer("tablet")
  }

  private static let trade = """
    UPDATE seats SET name = 'away' WHERE id = '1'; UPDATE seats SET name = 'a' WHERE id = '2';
    UPDATE seats SET name = 'b' WHERE id = '1';
    """

  /// Two seats trade names on the tablet. The user has no right to change one of them, so both changes are open
  /// conflicts.
  private func refuseTrade() throws -> [String] {
    try open(#""write": "note <> 'secret'""#)
    try camp.sql("tablet/data.sqlite", Self.trade + "UPDATE seats SET note = 'secret' WHERE id = '1'")
    return try deliver(count: 2)
  }

  /// Seat 1 gets the name of seat 2, and seat 2 gets a new name. The office has already given this new name to another
  /// seat.
  private func refuseChain() throws -> [String] {
    try open(#""delete": "hard""#)
    try camp.sql(
      "tablet/data.sqlite",
      "UPDATE seats SET name = 'x' WHERE id = '2'; UPDATE seats SET name = 'b' WHERE id = '1'")
    try camp.sql("office.sqlite", "INSERT INTO seats VALUES ('8', 'x', 'office')")
    return try deliver(count: 2)
  }

  /// The tablet delivers. Returns the ids of the open conflicts in the order of their rows.
  private func deliver(count: Int) throws -> [String] {
    try camp.deliver("tablet")
    try camp.answer("tablet")
    let ids = try camp.rows(
      "office.sqlite", "SELECT id FROM satchel_conflicts WHERE state = 'open' AND kind = 'unique' ORDER BY key"
    ).split(separator: "\n").map(String.init)
    try #require(ids.count == count)
    return ids
  }

  private func keepDevice(_ ids: [String], at side: Side) -> CommandLineFixture.Outcome {
    switch (side, ids.count) {
    case (.hub, 1): camp.hub("conflicts", "resolve", ids[0], "--keep", "device")
    case (.device, 1): camp.device("tablet", "conflicts", "resolve", ids[0], "--keep", "device")
    case (.hub, _): camp.hub("conflicts", "resolve", ids[0], ids[1], "--keep", "device")
    case (.device, _): camp.device("tablet", "conflicts", "resolve", ids[0], ids[1], "--keep", "device")
    }
  }

  private func names(at side: Side) throws -> String {
    try camp.rows(side == .hub ? "office.sqlite" : "tablet/data.sqlite", "SELECT id, name FROM seats ORDER BY id")
  }

  @Test("a decision about one of two traded rows deletes neither, and names the other row", arguments: Side.allCases)
  func alone(at side: Side) throws {
    let ids = try refuseTrade()
    for (id, other, row) in [(ids[0], ids[1], "2"), (ids[1], ids[0], "1")] {
      let refused = keepDevice([id], at: side)
      #expect(refused.code == 1, "\(refused)")
      #expect(refused.error.contains(#"seats ["\#(row)"]"#) && refused.error.contains(other.prefix(8)), "\(refused)")
    }
    #expect(try names(at: side) == "1|a\n2|b")
  }

  @Test("both rows are decided together", arguments: Side.allCases)
  func together(at side: Side) throws {
    let ids = try refuseTrade()
    let resolved = keepDevice(ids, at: side)
    #expect(resolved.code == 0, "\(resolved)")
    #expect(try names(at: side) == "1|b\n2|a")
    let open = side == .hub ? camp.hub("conflicts", "--json") : camp.device("tablet", "conflicts", "--json")
    #expect(try open.json["conflicts"]?.arrayValue?.isEmpty == true)
    if side == .hub {
      try camp.answer("tablet")
      #expect(try names(at: .device) == "1|b\n2|a")
    }
  }

  @Test("triggers of the app see the rows of a joint decision change, and see no row go or come")
  func triggers() throws {
    let ids = try refuseTrade()
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE seen (event TEXT, id TEXT, names TEXT);
      CREATE TRIGGER went AFTER DELETE ON seats BEGIN INSERT INTO seen VALUES ('went', OLD.id, OLD.name); END;
      CREATE TRIGGER came AFTER INSERT ON seats BEGIN INSERT INTO seen VALUES ('came', NEW.id, NEW.name); END;
      CREATE TRIGGER renamed AFTER UPDATE OF name ON seats BEGIN
        INSERT INTO seen VALUES ('renamed', NEW.id, OLD.name || NEW.name);
        UPDATE seats SET note = NEW.note || '!' WHERE id = NEW.id;
      END
      """)
    let resolved = keepDevice(ids, at: .device)
    #expect(resolved.code == 0, "\(resolved)")
    let seen = try camp.rows("tablet/data.sqlite", "SELECT event, id, names FROM seen ORDER BY id, event")
    #expect(seen == "renamed|1|ab\nrenamed|2|ba")
    let rows = try camp.rows("tablet/data.sqlite", "SELECT id, name, note FROM seats ORDER BY id")
    #expect(rows == "1|b|secret!\n2|a|n!", "what a trigger wrote stays")
    try camp.deliver("tablet")
    #expect(try names(at: .hub) == "1|b\n2|a")
  }

  @Test("several conflicts get one side's values, and no marks or values of their own")
  func usage() throws {
    let ids = try refuseTrade()
    #expect(camp.hub("conflicts", "resolve", ids[0], ids[1], "--set", "name=c").code == 2)
    #expect(camp.hub("conflicts", "resolve", ids[0], ids[1], "--keep", "hub", "--row", "gone").code == 2)
    #expect(camp.hub("conflicts", "resolve", ids[0], ids[1], "--keep", "hub").code == 0)
    #expect(try names(at: .hub) == "1|a\n2|b")
  }

  @Test("a decision about all conflicts decides traded rows together", arguments: Side.allCases)
  func all(at side: Side) throws {
    _ = try refuseChain()
    let words = ["conflicts", "resolve", "--all", "--policy", "device"]
    let resolved =
      side == .hub
      ? camp.hub(words[0], words[1], words[2], words[3], words[4])
      : camp.device("tablet", words[0], words[1], words[2], words[3], words[4])
    #expect(resolved.code == 0, "\(resolved)")
    #expect(try names(at: side) == "1|b\n2|x")
  }

  @Test("a row that no longer has the value stays")
  func freeRival() throws {
    let ids = try refuseChain()
    #expect(keepDevice([ids[1]], at: .hub).code == 0)
    #expect(try names(at: .hub) == "1|a\n2|x")
    let shown = try camp.hub("conflicts", "show", ids[0], "--json").json["conflict"]
    let mark = try #require(shown?["row_mark"]?.stringValue)
    let resolved = camp.hub("conflicts", "resolve", ids[0], "--keep", "device", "--row", mark)
    #expect(resolved.code == 0, "\(resolved)")
    #expect(try names(at: .hub) == "1|b\n2|x")
  }

  private func reopen(_ id: String) -> CommandLineFixture.Outcome { camp.hub("conflicts", "reopen", id, "--json") }

  @Test("rows that were decided together go back together, and are decided again", arguments: [0, 1])
  func reopened(number: Int) throws {
    let ids = try refuseTrade()
    #expect(keepDevice(ids, at: .hub).code == 0)
    let trial = camp.hub("conflicts", "reopen", ids[number], "--dry-run")
    #expect(trial.out.contains("decided together") && trial.out.contains(ids[1 - number].prefix(8)), "\(trial)")
    #expect(try names(at: .hub) == "1|b\n2|a")
    let report = try reopen(ids[number]).json
    #expect(Set(report["reopened"]?.arrayValue?.compactMap(\.stringValue) ?? []) == Set(ids), "\(report)")
    #expect(report["left"]?.integerValue == 0, "\(report)")
    #expect(try names(at: .hub) == "1|a\n2|b")
    let open = "SELECT count(*) FROM satchel_conflicts WHERE state = 'open' AND kind = 'unique'"
    #expect(try camp.rows("office.sqlite", open) == "2")
    #expect(keepDevice(ids, at: .hub).code == 0)
    #expect(try names(at: .hub) == "1|b\n2|a")
  }

  @Test("a chain that was decided together goes back together, with the row that was deleted", arguments: [0, 1])
  func reopenedChain(number: Int) throws {
    let ids = try refuseChain()
    #expect(keepDevice(ids, at: .hub).code == 0)
    #expect(try names(at: .hub) == "1|b\n2|x")
    let report = try reopen(ids[number]).json
    #expect(report["reopened"]?.arrayValue?.count == 2, "\(report)")
    #expect(try names(at: .hub) == "1|a\n2|b\n8|x")
  }

  @Test("two decisions by one command about rows that traded nothing are taken back one by one")
  func reopenedAlone() throws {
    try open(#""delete": "hard""#)
    try camp.sql("tablet/data.sqlite", "UPDATE seats SET note = 'tablet'")
    try camp.sql("office.sqlite", "UPDATE seats SET note = 'office'")
    try camp.deliver("tablet")
    let ids = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts ORDER BY key")
      .split(separator: "\n").map(String.init)
    try #require(ids.count == 2)
    #expect(keepDevice(ids, at: .hub).code == 0)
    #expect(try reopen(ids[0]).json["reopened"]?.arrayValue?.count == 1)
    #expect(try camp.rows("office.sqlite", "SELECT note FROM seats ORDER BY id") == "office\ntablet")
  }

  @Test("a row whose former name a later decision gave to another row goes back after that decision")
  func reopenedInOrder() throws {
    let ids = try refuseChain()
    #expect(keepDevice([ids[1]], at: .hub).code == 0)
    let mark = try camp.hub("conflicts", "show", ids[0], "--json").json["conflict"]?["row_mark"]?.stringValue
    camp.awaitLaterTime()
    let second = camp.hub("conflicts", "resolve", ids[0], "--keep", "device", "--row", try #require(mark))
    #expect(second.code == 0, "\(second)")
    #expect(try names(at: .hub) == "1|b\n2|x")
    let refused = reopen(ids[1])
    #expect(refused.code == 1, "\(refused)")
    #expect(try refused.json["error"]?["reason"]?.stringValue == "value-taken", "\(refused)")
    #expect(refused.out.contains("conflicts reopen \(ids[0].prefix(8))"), "\(refused)")
    #expect(try names(at: .hub) == "1|b\n2|x")
    for id in ids { #expect(reopen(id).code == 0) }
    #expect(try names(at: .hub) == "1|a\n2|b\n8|x")
  }

  @Test("a unit that trades is taken whole by a decision for the device, and no row goes", arguments: Side.allCases)
  func unit(at side: Side) throws {
    try open(#""unit": "transaction""#)
    try camp.sql("tablet/data.sqlite", "BEGIN; \(Self.trade) UPDATE seats SET note = 't' WHERE id = '1'; COMMIT")
    try camp.sql("office.sqlite", "UPDATE seats SET note = 'office' WHERE id = '1'")
    try camp.deliver("tablet")
    try camp.answer("tablet")
    #expect(try names(at: side) == "1|a\n2|b")
    let head = try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE id = unit")
    let resolved = keepDevice([head], at: side)
    #expect(resolved.code == 0, "\(resolved)")
    #expect(try names(at: side) == "1|b\n2|a")
    try camp.deliver("tablet")
    #expect(try names(at: .hub) == "1|b\n2|a")
  }
}
