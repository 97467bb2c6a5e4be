import Testing

/// A unit that waits at the hub, and whose rows trade a UNIQUE value.
@Suite("Waiting units that trade UNIQUE values")
struct WaitingUnitTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE seats (id TEXT PRIMARY KEY, holder TEXT UNIQUE, qty INTEGER CHECK (qty >= 0));
      INSERT INTO seats VALUES ('s1', 'ann', 5), ('s2', 'ben', 0), ('s3', 'cat', 4);
      """,
      CommandLineFixture.definition(
        #"{ "seats": { "unit": "transaction", "conflict": "manual", "columns": { "qty": "sum" } } }"#), devices: ["a"])
    try camp.answer("a")
  }

  private func seats() throws -> String { try camp.rows("office.sqlite", "SELECT * FROM seats ORDER BY id") }

  /// In one unit, the tablet moves the holders to other seats and takes four pieces from a seat. At this seat the
  /// office leaves only two pieces.
  private func trade(_ holders: [(seat: String, holder: String)]) throws {
    let updates = holders.map { "UPDATE seats SET holder = '\($0.holder)' WHERE id = '\($0.seat)';" }.joined()
    try camp.sql(
      "a/data.sqlite",
      "BEGIN; UPDATE seats SET holder = NULL; \(updates) UPDATE seats SET qty = qty - 4 WHERE id = 's1'; COMMIT")
    try camp.sql("office.sqlite", "UPDATE seats SET qty = qty - 3 WHERE id = 's1'")
    try camp.deliver("a")
    #expect(try seats() == "s1|ann|2\ns2|ben|0\ns3|cat|4")
    #expect(try camp.rows("office.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "held")
  }

  @Test("it enters as a whole when it can, whether two rows trade or three")
  func enters() throws {
    try trade([("s1", "ben"), ("s2", "cat"), ("s3", "ann")])
    try camp.answer("a")
    try camp.sql("office.sqlite", "UPDATE seats SET qty = qty + 9 WHERE id = 's1'")
    try camp.answer("a")
    #expect(try seats() == "s1|ben|7\ns2|cat|0\ns3|ann|4")
    #expect(try camp.rows("a/data.sqlite", "SELECT * FROM seats ORDER BY id") == seats())
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE state = 'held'") == "0")
    for outcome in [camp.hub("doctor"), camp.device("a", "doctor")] { #expect(outcome.code == 0, "\(outcome.out)") }
  }

  @Test("if another row has taken one of the values meanwhile, no part of it enters, and all rows stay")
  func taken() throws {
    try trade([("s1", "dan"), ("s2", "ann"), ("s3", "cat")])
    try camp.sql(
      "office.sqlite", "INSERT INTO seats VALUES ('s4', 'dan', 1); UPDATE seats SET qty = qty + 9 WHERE id = 's1'")
    try camp.answer("a")
    #expect(try seats() == "s1|ann|11\ns2|ben|0\ns3|cat|4\ns4|dan|1")
    #expect(try camp.rows("office.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "open")
  }
}
