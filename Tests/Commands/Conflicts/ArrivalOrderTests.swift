import Testing

/// Two devices deliver in either order. In some tests a change waits at the hub while its device makes further changes.
@Suite("Both orders of arrival")
struct ArrivalOrderTests {
  private static let schema = """
    CREATE TABLE p (id TEXT PRIMARY KEY, name TEXT);
    CREATE TABLE c (id TEXT PRIMARY KEY, p TEXT REFERENCES p (id), name TEXT);
    CREATE TABLE u (id TEXT PRIMARY KEY, v TEXT UNIQUE);
    CREATE TABLE w (id TEXT PRIMARY KEY, u TEXT REFERENCES u (id));
    INSERT INTO p VALUES ('p1', 'one'), ('p2', 'two'), ('p3', 'three');
    INSERT INTO c VALUES ('c0', 'p2', 'old');
    INSERT INTO u VALUES ('u1', 'x'), ('u2', 'y');
    """
  private static let tables = ["p", "c", "u", "w"]
  private static let queries = tables.map { "SELECT * FROM \($0) ORDER BY id" }

  private func open(_ policy: String) throws -> TwoDeviceFixture {
    try TwoDeviceFixture(
      Self.schema, Self.tables.map { #""\#($0)": { "conflict": "\#(policy)" }"# }.joined(separator: ", "))
  }

  // MARK: changes that wait

  @Test("a change that waited does not overwrite what its device wrote later")
  func laterWrite() throws {
    let lab = try open("newest")
    try lab.sql("tablet", "UPDATE c SET p = 'p1', name = 'mine' WHERE id = 'c0'")
    try lab.sql("office", "DELETE FROM p WHERE id = 'p1'")
    try lab.cycle("tablet")
    lab.camp.awaitLaterTime()
    try lab.sql("tablet", "UPDATE c SET p = 'p3' WHERE id = 'c0'")
    try lab.cycle("tablet")
    try lab.sql("office", "INSERT INTO p VALUES ('p1', 'again')")
    try lab.peace(Self.queries)
    #expect(try lab.rows("office", "SELECT p, name FROM c WHERE id = 'c0'") == "p3|mine")
    let kept = try lab.rows("office", "SELECT state, winners, device_values FROM satchel_conflicts")
    #expect(kept == #"settled|{"p":"hub"}|{"p":"p1","name":"mine"}"#)
  }

  @Test(
    "a waiting new row enters when its device gives it a parent that exists",
    arguments: ["manual", "hub", "newest", "device"])
  func movedRow(policy: String) throws {
    let lab = try open(policy)
    try lab.sql("office", "DELETE FROM p WHERE id = 'p1'")
    try lab.sql("tablet", "INSERT INTO c VALUES ('n', 'p1', 'new')")
    try lab.deliver("tablet")
    #expect(try lab.rows("office", "SELECT state FROM satchel_conflicts") == "held")
    try lab.sql("tablet", "UPDATE c SET name = 'newer' WHERE id = 'n'")
    try lab.deliver("tablet")
    try lab.sql("tablet", "UPDATE c SET p = 'p2' WHERE id = 'n'")
    try lab.cycle("tablet")
    #expect(try lab.rows("office", "SELECT p, name FROM c WHERE id = 'n'") == "p2|newer")
    #expect(try lab.rows("tablet", "SELECT p, name FROM c WHERE id = 'n'") == "p2|newer")
    try lab.peace(Self.queries)
    for who in ["office", "tablet"] {
      #expect(try lab.rows(who, "SELECT DISTINCT state FROM satchel_conflicts") == "settled", "\(who)")
    }
  }

  @Test("a decision about a waiting new row takes its later changes along")
  func decidedWithLaterChanges() throws {
    let lab = try open("manual")
    try lab.sql("office", "DELETE FROM p WHERE id = 'p1'")
    try lab.sql("tablet", "INSERT INTO c VALUES ('n', 'p1', 'new')")
    try lab.deliver("tablet")
    try lab.sql("tablet", "UPDATE c SET name = 'newer' WHERE id = 'n'")
    try lab.deliver("tablet")
    let id = try lab.rows("office", "SELECT id FROM satchel_conflicts WHERE operation = 'insert'")
    #expect(lab.camp.hub("conflicts", "resolve", id, "--keep", "device").code == 1, "there is no parent")
    let decided = lab.camp.hub("conflicts", "resolve", id, "--set", "p=p2")
    #expect(decided.code == 0, "\(decided.error)")
    #expect(try lab.rows("office", "SELECT p, name FROM c WHERE id = 'n'") == "p2|newer")
    let left = "SELECT count(*) FROM satchel_conflicts WHERE state IN ('open', 'held')"
    #expect(try lab.rows("office", left) == "0")
    try lab.peace(Self.queries)
    #expect(try lab.rows("tablet", left) == "0")
  }

  // MARK: natural keys

  private enum Arrival: CaseIterable { case older, newer, olderThenAnswer, newerThenAnswer }

  /// One change of the tablet and one of the phone that give a row the same UNIQUE value. The phone's change is newer.
  struct Taking: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let tablet: String
    let phone: String
    let isSettled: Bool
  }

  static let takings = [
    Taking(
      testDescription: "new rows", tablet: "INSERT INTO u VALUES ('t', 'z')", phone: "INSERT INTO u VALUES ('f', 'z')",
      isSettled: true),
    Taking(
      testDescription: "a new row and an older row below which there is another",
      tablet: "INSERT INTO u VALUES ('t', 'z'); INSERT INTO w VALUES ('wt', 't')",
      phone: "INSERT INTO u VALUES ('f', 'z')", isSettled: false),
    Taking(
      testDescription: "rows with others below them",
      tablet: "INSERT INTO u VALUES ('t', 'z'); INSERT INTO w VALUES ('wt', 't')",
      phone: "INSERT INTO u VALUES ('f', 'z'); INSERT INTO w VALUES ('wf', 'f')", isSettled: false),
    Taking(
      testDescription: "a new row with a row below it, and an older row",
      tablet: "INSERT INTO u VALUES ('t', 'z')",
      phone: "INSERT INTO u VALUES ('f', 'z'); INSERT INTO w VALUES ('wf', 'f')", isSettled: true),
    Taking(
      testDescription: "updates", tablet: "UPDATE u SET v = 'z' WHERE id = 'u1'",
      phone: "UPDATE u SET v = 'z' WHERE id = 'u2'", isSettled: false),
    Taking(
      testDescription: "an update and a newer row", tablet: "UPDATE u SET v = 'z' WHERE id = 'u1'",
      phone: "INSERT INTO u VALUES ('f', 'z')", isSettled: false),
    Taking(
      testDescription: "a row and a newer update", tablet: "INSERT INTO u VALUES ('t', 'z')",
      phone: "UPDATE u SET v = 'z' WHERE id = 'u2'", isSettled: true),
  ]

  @Test(
    "under newest a UNIQUE value that two devices take ends alike in both orders, or a person decides in both",
    arguments: takings)
  func naturalKey(_ taking: Taking) throws {
    var ends: Set<String> = []
    for arrival in Arrival.allCases {
      let lab = try open("newest")
      try lab.sql("tablet", taking.tablet)
      lab.camp.awaitLaterTime()
      try lab.sql("phone", taking.phone)
      let isOlderFirst = arrival == .older || arrival == .olderThenAnswer
      let (first, second) = isOlderFirst ? ("tablet", "phone") : ("phone", "tablet")
      try lab.deliver(first)
      if arrival == .olderThenAnswer || arrival == .newerThenAnswer { try lab.answer(second) }
      try lab.deliver(second)
      try lab.peace(Self.queries)
      let state = try lab.rows("office", "SELECT state FROM satchel_conflicts WHERE kind = 'unique'")
      #expect(state == (taking.isSettled ? "settled" : "open"), "\(arrival)")
      for row in ["u1", "u2"] {
        #expect(try lab.rows("office", "SELECT count(*) FROM u WHERE id = '\(row)'") == "1", "\(arrival): \(row)")
      }
      ends.insert(try Self.queries.map { try lab.rows("office", $0) }.joined(separator: "\n--\n"))
    }
    if taking.isSettled { #expect(ends.count == 1, "\(ends.joined(separator: "\n====\n"))") }
  }
}
