import SatchelJSON
import Testing

/// A device changes a row again before it knows that the hub did not accept its earlier change of this row.
@Suite("Changes made on a change that was not taken")
struct EarlierChangeTests {
  /// How the device's two changes reach the hub. `twoExports`: the first export is lost, and the second export carries
  /// both changes.
  enum Delivery: CaseIterable { case twoBundles, twoExports, oneExport }

  private func deliver(_ lab: TwoDeviceFixture, _ first: String, _ second: String, as delivery: Delivery) throws {
    try lab.sql("tablet", first)
    switch delivery {
    case .twoBundles: try lab.deliver("tablet")
    case .twoExports: _ = try lab.export("tablet")
    case .oneExport: break
    }
    lab.camp.awaitLaterTime()
    try lab.sql("tablet", second)
    try lab.deliver("tablet")
  }

  // MARK: units

  private static let stock = """
    CREATE TABLE stock (id TEXT PRIMARY KEY NOT NULL, n INTEGER);
    CREATE TABLE line (id TEXT PRIMARY KEY NOT NULL, stock TEXT REFERENCES stock (id), amount INTEGER);
    INSERT INTO stock VALUES ('w', 10), ('y', 10), ('z', 10);
    INSERT INTO line VALUES ('w0', 'w', 10), ('y0', 'y', 10), ('z0', 'z', 10);
    """
  private static let stocks = "SELECT id, n FROM stock ORDER BY id"
  private static let halves = """
    SELECT id, n FROM stock WHERE n <> (SELECT sum(amount) FROM line WHERE stock = stock.id)
    """
  private static let officeChange = """
    BEGIN; UPDATE stock SET n = n + 5 WHERE id = 'z'; INSERT INTO line VALUES ('h', 'z', 5); COMMIT
    """

  private static func transfer(_ name: String, _ from: String, _ to: String, _ amount: Int) -> String {
    """
    BEGIN;
    INSERT INTO satchel_unit DEFAULT VALUES;
    UPDATE stock SET n = n - \(amount) WHERE id = '\(from)';
    UPDATE stock SET n = n + \(amount) WHERE id = '\(to)';
    INSERT INTO line VALUES ('\(name)-', '\(from)', -\(amount)), ('\(name)+', '\(to)', \(amount));
    COMMIT
    """
  }

  private func openStock(_ policy: String, _ rule: String = "") throws -> TwoDeviceFixture {
    let unit = #""unit": "transaction", "conflict": "\#(policy)""#
    return try TwoDeviceFixture(Self.stock, #""stock": { \#(unit)\#(rule) }, "line": { \#(unit) }"#)
  }

  private func twoTransfers(_ lab: TwoDeviceFixture, _ delivery: Delivery) throws {
    try lab.sql("office", Self.officeChange)
    try deliver(lab, Self.transfer("t1", "y", "z", 1), Self.transfer("t2", "y", "w", 2), as: delivery)
  }

  @Test(
    "a transfer on the result of a transfer that was not taken is not taken either", arguments: Delivery.allCases,
    ["manual", "hub"])
  func units(delivery: Delivery, policy: String) throws {
    for rule in ["", #", "merge": "row""#] {
      let lab = try openStock(policy, rule)
      try twoTransfers(lab, delivery)
      #expect(try lab.rows("office", Self.stocks) == "w|10\ny|10\nz|15")
      try lab.peace([Self.stocks, "SELECT * FROM line ORDER BY id"])
      #expect(try lab.rows("office", Self.halves) == "")
      let states = try lab.rows("office", "SELECT DISTINCT state FROM satchel_conflicts")
      #expect(states == (policy == "hub" ? "settled" : "open"))
      #expect(try lab.rows("office", "SELECT count(*) FROM satchel_conflicts WHERE key LIKE '%t2%'") == "2")
    }
  }

  @Test(
    "a change on a unit that waited and then entered is taken, whichever side learns it first",
    arguments: [false, true])
  func afterWaiting(importsFirst: Bool) throws {
    let unit = #"{ "unit": "transaction", "conflict": "device" }"#
    let lab = try TwoDeviceFixture(
      """
      CREATE TABLE parents (id TEXT PRIMARY KEY);
      CREATE TABLE r (id TEXT PRIMARY KEY, c INTEGER);
      CREATE TABLE s (id TEXT PRIMARY KEY, p TEXT REFERENCES parents (id));
      INSERT INTO parents VALUES ('p');
      INSERT INTO r VALUES ('r', 0);
      """, #""parents": {}, "r": \#(unit), "s": \#(unit)"#)
    for name in ["tablet", "phone"] { try lab.answer(name) }
    try lab.sql(
      "tablet",
      """
      BEGIN;
      INSERT INTO satchel_unit DEFAULT VALUES;
      UPDATE r SET c = 1;
      INSERT INTO s VALUES ('s', 'p');
      COMMIT
      """)
    try lab.sql("office", "DELETE FROM parents")
    try lab.deliver("tablet")
    #expect(try lab.rows("office", "SELECT DISTINCT state FROM satchel_conflicts") == "held")
    // The office writes the value that the tablet wrote, and inserts the missing parent.
    try lab.sql("office", "UPDATE r SET c = 1; INSERT INTO parents VALUES ('p')")
    try lab.deliver("phone")
    #expect(try lab.rows("office", "SELECT DISTINCT state, winner FROM satchel_conflicts") == "settled|device")
    try lab.sql("tablet", "UPDATE r SET c = 2")
    if importsFirst { try lab.answer("tablet") }
    try lab.deliver("tablet")
    #expect(try lab.rows("office", "SELECT c FROM r") == "2")
    try lab.peace(["SELECT * FROM r", "SELECT * FROM s"])
  }

  @Test("a transfer after a bundle with the result is taken")
  func resultIsKnown() throws {
    let lab = try openStock("manual")
    try lab.sql("office", Self.officeChange)
    try lab.sql("tablet", Self.transfer("t1", "y", "z", 1))
    try lab.cycle("tablet")
    try lab.sql("tablet", Self.transfer("t2", "y", "w", 2))
    try lab.deliver("tablet")
    #expect(try lab.rows("office", Self.stocks) == "w|12\ny|8\nz|15")
    #expect(try lab.rows("office", Self.halves) == "")
  }

  @Test("a device that imports between the two transfers does not keep a half of them", arguments: ["manual", "hub"])
  func importBetween(policy: String) throws {
    let lab = try openStock(policy)
    try lab.sql("office", Self.officeChange)
    try lab.sql("tablet", Self.transfer("t1", "y", "z", 1))
    try lab.deliver("tablet")
    try lab.sql("tablet", Self.transfer("t2", "y", "w", 2))
    try lab.answer("tablet")
    #expect(try lab.rows("tablet", Self.halves) == "")
    try lab.peace([Self.stocks, "SELECT * FROM line ORDER BY id"])
    #expect(try lab.rows("office", Self.stocks) == "w|10\ny|10\nz|15")
    let states = try lab.rows("office", "SELECT DISTINCT state FROM satchel_conflicts")
    #expect(states == (policy == "hub" ? "settled" : "open"))
  }

  /// The ids of the two units' first conflicts. The earlier unit is first.
  private func heads(_ lab: TwoDeviceFixture) throws -> [String] {
    try lab.rows("office", "SELECT unit FROM satchel_conflicts GROUP BY unit ORDER BY min(generation)")
      .split(separator: "\n").map(String.init)
  }

  private func resolve(_ lab: TwoDeviceFixture, _ words: String...) -> CommandLineFixture.Outcome {
    lab.camp.hubAnywhere(["-C", lab.camp.path("hub"), "conflicts", "resolve"] + words)
  }

  @Test(
    "the later transfer is decided for the device only after the earlier one",
    arguments: [Delivery.twoBundles, .twoExports])
  func decisions(delivery: Delivery) throws {
    let lab = try openStock("manual")
    try twoTransfers(lab, delivery)
    let units = try heads(lab)
    #expect(units.count == 2)
    let tooEarly = resolve(lab, units[1], "--keep", "device")
    #expect(tooEarly.code == 1 && tooEarly.error.contains("earlier unit"), "\(tooEarly.error)")
    #expect(resolve(lab, units[0], "--keep", "hub").code == 0)
    let tooLate = resolve(lab, units[1], "--keep", "device")
    #expect(tooLate.code == 1 && tooLate.error.contains("reopen"), "\(tooLate.error)")
    #expect(resolve(lab, units[1], "--keep", "hub").code == 0)
    try lab.peace([Self.stocks])
    #expect(try lab.rows("office", Self.stocks) == "w|10\ny|10\nz|15")
  }

  @Test(
    "all transfers are decided for the device in their order", arguments: [Delivery.twoBundles, .twoExports])
  func decidedInOrder(delivery: Delivery) throws {
    let lab = try openStock("manual")
    try twoTransfers(lab, delivery)
    let outcome = resolve(lab, "--all", "--policy", "device")
    #expect(outcome.code == 0, "\(outcome.error)")
    try expectBothTransfers(lab)
  }

  @Test(
    "a transfer can be decided for the device after the earlier one, without --row",
    arguments: [Delivery.twoBundles, .twoExports])
  func decidedOneByOne(delivery: Delivery) throws {
    let lab = try openStock("manual")
    try twoTransfers(lab, delivery)
    for unit in try heads(lab) {
      let outcome = resolve(lab, unit, "--keep", "device")
      #expect(outcome.code == 0, "\(outcome.error)")
    }
    try expectBothTransfers(lab)
  }

  /// Expects that the hub has accepted both transfers of `twoTransfers`.
  private func expectBothTransfers(_ lab: TwoDeviceFixture, _ place: SourceLocation = #_sourceLocation) throws {
    let stocks = try lab.rows("office", "SELECT n FROM stock WHERE id IN ('w', 'y') ORDER BY id")
    #expect(stocks == "12\n7", sourceLocation: place)
    let lines = try lab.rows("office", "SELECT count(*) FROM line WHERE id LIKE 't%'")
    #expect(lines == "4", sourceLocation: place)
  }

  @Test("all changes of a whole row are decided for the device in their order")
  func wholeRowInOrder() throws {
    let lab = try TwoDeviceFixture(
      "CREATE TABLE dose (id TEXT PRIMARY KEY NOT NULL, a, b); INSERT INTO dose VALUES ('o', 'a0', 'b0')",
      #""dose": { "merge": "row", "conflict": "manual" }"#)
    try lab.sql("office", "UPDATE dose SET b = 'hub'")
    try deliver(lab, "UPDATE dose SET a = 'a1', b = 'b1'", "UPDATE dose SET a = 'a2'", as: .twoBundles)
    #expect(resolve(lab, "--all", "--policy", "device").code == 0)
    #expect(try lab.rows("office", "SELECT a, b FROM dose") == "a2|b1")
    #expect(try lab.rows("office", "SELECT count(*) FROM satchel_conflicts WHERE state IN ('open', 'held')") == "0")
  }

  @Test("a decision for the device leaves the newer value of a column without a disagreement")
  func otherColumns() throws {
    let lab = try TwoDeviceFixture(
      "CREATE TABLE note (id TEXT PRIMARY KEY NOT NULL, a, b); INSERT INTO note VALUES ('o', 'a0', 'b0')",
      #""note": { "conflict": "manual" }"#)
    try lab.sql("office", "UPDATE note SET b = 'hub'")
    try deliver(lab, "UPDATE note SET a = 'a1', b = 'b1'", "UPDATE note SET a = 'a2'", as: .twoBundles)
    #expect(resolve(lab, "--all", "--policy", "device").code == 0)
    #expect(try lab.rows("office", "SELECT a, b FROM note") == "a2|b1")
    try lab.peace(["SELECT a, b FROM note"])
  }

  @Test("the policy newest does not take the later of two transfers alone")
  func newest() throws {
    let lab = try openStock("manual")
    try lab.sql("tablet", Self.transfer("t1", "y", "z", 1))
    _ = try lab.export("tablet")
    lab.camp.awaitLaterTime()
    try lab.sql(
      "office",
      "BEGIN; UPDATE stock SET n = n + 7 WHERE id = 'y'; INSERT INTO line VALUES ('h', 'y', 7); COMMIT")
    lab.camp.awaitLaterTime()
    try lab.sql("tablet", Self.transfer("t2", "y", "w", 2))
    try lab.deliver("tablet")
    _ = resolve(lab, "--all", "--policy", "newest")
    #expect(try lab.rows("office", Self.halves) == "")
    #expect(try lab.rows("office", "SELECT DISTINCT state FROM satchel_conflicts ORDER BY state") == "open\nresolved")
  }

  // MARK: whole rows

  private static let doses = """
    CREATE TABLE p (id TEXT PRIMARY KEY NOT NULL);
    CREATE TABLE dose (id TEXT PRIMARY KEY NOT NULL, label TEXT UNIQUE, amount INTEGER, unit TEXT,
      p TEXT REFERENCES p (id));
    INSERT INTO p VALUES ('p1'), ('p2');
    INSERT INTO dose VALUES ('d', 'L', 1, 'g', 'p1');
    """
  private static let dose = "SELECT amount, unit FROM dose WHERE id = 'd'"

  /// Why the hub does not accept the device's first change.
  struct Refusal: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let office: String
    let first: String
    var rule = ""
  }

  static let refusals = [
    Refusal(
      testDescription: "unique", office: "INSERT INTO dose VALUES ('e', 'X', 9, 'ml', 'p1')",
      first: "UPDATE dose SET label = 'X', amount = 500, unit = 'mg' WHERE id = 'd'"),
    Refusal(
      testDescription: "parent", office: "DELETE FROM p WHERE id = 'p2'",
      first: "UPDATE dose SET p = 'p2', amount = 500, unit = 'mg' WHERE id = 'd'"),
    Refusal(
      testDescription: "forbidden", office: "UPDATE p SET id = id",
      first: "UPDATE dose SET amount = 500, unit = 'mg' WHERE id = 'd'", rule: #", "write": "unit <> 'mg'""#),
  ]

  private func twoDoses(_ refusal: Refusal, _ policy: String, _ delivery: Delivery) throws -> TwoDeviceFixture {
    let lab = try TwoDeviceFixture(
      Self.doses, #""p": {}, "dose": { "merge": "row", "conflict": "\#(policy)"\#(refusal.rule) }"#)
    try lab.sql("office", refusal.office)
    lab.camp.awaitLaterTime()
    try deliver(lab, refusal.first, "UPDATE dose SET amount = 600 WHERE id = 'd'", as: delivery)
    return lab
  }

  @Test(
    "a row that counts as a whole never gets a part of two changes", arguments: refusals,
    ["manual", "hub", "newest", "device"])
  func wholeRows(_ refusal: Refusal, policy: String) throws {
    var ends: Set<String> = []
    for delivery in Delivery.allCases {
      let lab = try twoDoses(refusal, policy, delivery)
      try lab.peace(["SELECT * FROM dose ORDER BY id"])
      ends.insert(try lab.rows("office", Self.dose))
    }
    #expect(ends.count == 1 && ends.isSubset(of: ["1|g", "600|mg"]), "\(ends)")
  }

  @Test("a decision takes the later row whole", arguments: Delivery.allCases)
  func decidedWhole(delivery: Delivery) throws {
    let lab = try twoDoses(Self.refusals[2], "manual", delivery)
    let last = try lab.rows("office", "SELECT id FROM satchel_conflicts ORDER BY generation DESC LIMIT 1")
    let outcome = resolve(lab, last, "--keep", "device")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try lab.rows("office", Self.dose) == "600|mg")
  }

  @Test("a later change that makes the whole row possible is taken with the earlier one", arguments: Delivery.allCases)
  func takenWhole(delivery: Delivery) throws {
    let lab = try TwoDeviceFixture(Self.doses, #""p": {}, "dose": { "merge": "row" }"#)
    try lab.sql("office", Self.refusals[0].office)
    try deliver(
      lab, Self.refusals[0].first, "UPDATE dose SET label = 'Z', amount = 600 WHERE id = 'd'", as: delivery)
    #expect(try lab.rows("office", "SELECT label, amount, unit FROM dose WHERE id = 'd'") == "Z|600|mg")
    #expect(try lab.rows("office", "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == "0")
  }

  @Test("after a decision for the hub, values that the hub has are in no disagreement")
  func movedBack() throws {
    let refusal = Self.refusals[2]
    let lab = try TwoDeviceFixture(Self.doses, #""p": {}, "dose": { "merge": "row"\#(refusal.rule) }"#)
    try lab.sql("tablet", refusal.first)
    try lab.deliver("tablet")
    #expect(resolve(lab, try lab.rows("office", "SELECT id FROM satchel_conflicts"), "--keep", "hub").code == 0)
    lab.camp.awaitLaterTime()
    try lab.sql("tablet", "UPDATE dose SET amount = 600, unit = 'g' WHERE id = 'd'")
    try lab.deliver("tablet")
    let open = try lab.rows("office", "SELECT winners FROM satchel_conflicts WHERE state = 'open'")
    #expect(open.contains("amount") && !open.contains("unit"), "\(open)")
  }
}
