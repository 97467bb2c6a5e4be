import SatchelJSON
import Testing

/// Decisions for the device's change of a row, although several other rows have its UNIQUE values.
@Suite("Decisions about a row whose UNIQUE values several rows have")
struct TakenValueTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  /// The side on which a decision is made.
  enum Side: String, CaseIterable {
    case hub, device

    var database: String { self == .hub ? "office.sqlite" : "tablet/data.sqlite" }
  }

  /// - Parameter visible: the visibility rule of the table, which selects the rows that the tablet's user may see.
  private func open(visible: String = "1") throws {
    try camp.open(
      """
      CREATE TABLE seats (id TEXT PRIMARY KEY, name TEXT UNIQUE, code TEXT UNIQUE);
      INSERT INTO seats VALUES ('1', 'a', 'A'), ('2', 'b', 'B'), ('3', 'c', 'C');
      """, CommandLineFixture.definition(#"{ "seats": { "conflict": "manual", "visible": "\#(visible)" } }"#),
      devices: ["tablet"])
    try camp.answer("tablet")
  }

  private func resolve(_ ids: String..., keep: String = "device", at side: Side) -> CommandLineFixture.Outcome {
    let words = ["conflicts", "resolve"] + ids + ["--keep", keep, "--json"]
    return side == .hub
      ? camp.hubAnywhere(["-C", camp.path("hub")] + words) : camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
  }

  private func rows(at side: Side) throws -> String {
    try camp.rows(side.database, "SELECT id, name, code FROM seats ORDER BY id").replacing("\n", with: " ")
  }

  /// The tablet delivers and imports the hub's answer. Returns the ids of the open conflicts in the order of their
  /// rows.
  private func carry(count: Int) throws -> [String] {
    try camp.deliver("tablet")
    try camp.answer("tablet")
    let ids = try camp.rows(
      "office.sqlite", "SELECT id FROM satchel_conflicts WHERE state = 'open' AND kind = 'unique' ORDER BY key"
    ).split(separator: "\n").map(String.init)
    try #require(ids.count == count)
    return ids
  }

  /// The tablet gives row 3 two UNIQUE values that the office has given to the rows 1 and 2.
  private func meetTwoRows() throws -> String {
    try open()
    try camp.sql("tablet/data.sqlite", "UPDATE seats SET name = 'x', code = 'X' WHERE id = '3'")
    try camp.sql(
      "office.sqlite", "UPDATE seats SET name = 'x' WHERE id = '1'; UPDATE seats SET code = 'X' WHERE id = '2'")
    return try carry(count: 1)[0]
  }

  @Test("the refusal names the rows that have the values, and is over when they are free", arguments: Side.allCases)
  func twoRows(at side: Side) throws {
    let id = try meetTwoRows()
    let refused = resolve(id, at: side)
    #expect(refused.code == 1, "\(refused)")
    let error = try refused.json["error"]
    #expect(error?["reason"]?.stringValue == "value-taken", "\(refused)")
    let message = error?["message"]?.stringValue ?? ""
    #expect(message.contains(#"seats ["1"], seats ["2"]"#), "\(refused)")
    #expect(try rows(at: side) == "1|x|A 2|b|X 3|c|C")
    try camp.sql(side.database, "UPDATE seats SET name = 'y' WHERE id = '1'; DELETE FROM seats WHERE id = '2'")
    let resolved = resolve(id, at: side)
    #expect(resolved.code == 0, "\(resolved)")
    #expect(try rows(at: side) == "1|y|A 3|x|X")
  }

  @Test("such a conflict is decided for the hub, because its row is as it was", arguments: Side.allCases)
  func forHub(at side: Side) throws {
    let resolved = resolve(try meetTwoRows(), keep: "hub", at: side)
    #expect(resolved.code == 0, "\(resolved)")
    #expect(try rows(at: side) == "1|x|A 2|b|X 3|c|C")
  }

  @Test("the conflict shows its own row at the hub")
  func shown() throws {
    let shown = try camp.hub("conflicts", "show", meetTwoRows(), "--json").json["conflict"]
    #expect(shown?["hub_values"]?["name"]?.stringValue == "c", "\(String(describing: shown))")
  }

  @Test("a conflict with a hidden row is decided on the device, because its own row is as it was")
  func hiddenRow() throws {
    try open(visible: "id <> '1'")
    try camp.sql("tablet/data.sqlite", "UPDATE seats SET name = 'x' WHERE id = '3'")
    try camp.sql("office.sqlite", "UPDATE seats SET name = 'x' WHERE id = '1'")
    let resolved = resolve(try carry(count: 1)[0], keep: "hub", at: .device)
    #expect(resolved.code == 0, "\(resolved)")
    #expect(try rows(at: .device) == "2|b|B 3|c|C")
  }

  @Test("traded rows that left their user's sight are taken together by a decision about all conflicts")
  func movedArea() throws {
    try open(visible: "code < 'g'")
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE seats SET name = 'away' WHERE id = '1'; UPDATE seats SET name = 'a' WHERE id = '2';
      UPDATE seats SET name = 'b' WHERE id = '1'
      """)
    try camp.sql("office.sqlite", "UPDATE seats SET code = 'gone' || id WHERE id < '3'")
    try camp.deliver("tablet")
    let kinds = try camp.rows("office.sqlite", "SELECT kind FROM satchel_conflicts ORDER BY key")
    #expect(kinds == "revoked\nrevoked")
    let decided = camp.hub("conflicts", "resolve", "--all", "--policy", "device", "--json")
    #expect(try decided.json["left"]?.arrayValue?.isEmpty == true, "\(decided)")
    #expect(try rows(at: .hub) == "1|b|gone1 2|a|gone2 3|c|C")
  }

  @Test("a second row that got a value since is named too, and stays")
  func secondRow() throws {
    try open()
    try camp.sql("tablet/data.sqlite", "UPDATE seats SET name = 'x', code = 'X' WHERE id = '3'")
    try camp.sql("office.sqlite", "UPDATE seats SET name = 'x' WHERE id = '1'")
    let id = try carry(count: 1)[0]
    try camp.sql("office.sqlite", "UPDATE seats SET code = 'X' WHERE id = '2'")
    let refused = resolve(id, at: .hub)
    #expect(refused.code == 1 && refused.out.contains(#"seats [\"2\"]"#), "\(refused)")
    #expect(try rows(at: .hub) == "1|x|A 2|b|X 3|c|C")
  }

  @Test("if the same device changed those rows, all of these conflicts are decided together", arguments: Side.allCases)
  func trades(at side: Side) throws {
    try open()
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE seats SET name = 'x' WHERE id = '1'; UPDATE seats SET code = 'X' WHERE id = '2';
      UPDATE seats SET name = 'a', code = 'B' WHERE id = '3'
      """)
    try camp.sql("office.sqlite", "INSERT INTO seats VALUES ('8', 'x', '8'), ('9', '9', 'X')")
    let ids = try carry(count: 3)
    let refused = resolve(ids[2], at: side)
    #expect(refused.code == 1, "\(refused)")
    let error = try refused.json["error"]
    #expect(error?["reason"]?.stringValue == "undecided-row", "\(refused)")
    let others = ids.prefix(2).map { String($0.prefix(8)) }
    let hint = error?["hint"]?.stringValue ?? ""
    #expect(others.allSatisfy { hint.contains($0) }, "\(hint)")
    let resolved = resolve(ids[2], ids[0], ids[1], at: side)
    #expect(resolved.code == 0, "\(resolved)")
    #expect(try rows(at: side) == "1|x|A 2|b|X 3|a|B")
  }
}
