import SatchelJSON
import Testing

/// Changes that no policy can accept: each kind of conflict under each policy. MergeTests test changes that can be
/// merged, and NaturalKeyTests test natural keys.
@Suite("A change that cannot be taken, whatever the policy")
struct KindTests {
  struct Case: CustomTestStringConvertible {
    let kind: String
    /// The tablet's statements run first, and then the office's.
    let tablet: String
    let office: String
    /// The conflict's state under each policy, in this order: hub, device, newest, manual.
    let states: [String]
    let rows: String
    var user: [String] = []

    /// The text that `conflicts show` prints for this kind.
    var explained: String {
      switch kind {
      case "foreign key": "a row to which it refers is missing"
      case "constraint": "the database does not allow"
      case "revoked": "may no longer see the row"
      default: "the user may not make this change"
      }
    }

    var testDescription: String { "\(kind): \(tablet)" }
  }

  static let held = ["held", "held", "held", "held"]
  static let open = ["open", "open", "open", "open"]
  static let kept = "a|1|1|1|x\nb|1|1|1|y"

  static let cases = [
    Case(
      kind: "foreign key", tablet: "INSERT INTO rows VALUES ('n', 9, 1, 1, 'new')", office: "", states: held, rows: kept
    ),
    Case(
      kind: "foreign key", tablet: "UPDATE rows SET parent = 9, words = 'z' WHERE id = 'a'", office: "", states: held,
      rows: kept),
    Case(
      kind: "foreign key", tablet: "DELETE FROM rows; DELETE FROM parents",
      office: "INSERT INTO rows VALUES ('o', 1, 1, 1, 'late')",
      states: open, rows: "o|1|1|1|late"),
    Case(
      kind: "constraint",
      tablet: "PRAGMA ignore_check_constraints = ON; UPDATE rows SET small = 99, words = 'z' WHERE id = 'a'",
      office: "", states: held, rows: kept),
    Case(
      kind: "constraint",
      tablet: "PRAGMA ignore_check_constraints = ON; INSERT INTO rows VALUES ('n', 1, 99, 1, 'new')",
      office: "",
      states: held, rows: kept),
    Case(
      kind: "forbidden", tablet: "UPDATE rows SET tier = 2, words = 'z' WHERE id = 'a'", office: "", states: held,
      rows: kept),
    Case(
      kind: "forbidden", tablet: "INSERT INTO rows VALUES ('n', 1, 1, 2, 'new')", office: "", states: held, rows: kept),
    Case(
      kind: "revoked", tablet: "UPDATE rows SET words = 'z' WHERE id = 'a'",
      office: "UPDATE rows SET tier = 5 WHERE id = 'a'",
      states: ["settled", "open", "open", "open"], rows: "a|1|1|5|x\nb|1|1|1|y"),
    Case(
      kind: "revoked", tablet: "UPDATE rows SET words = 'z', small = 2 WHERE id = 'a'", office: "", states: open,
      rows: "a|1|1|1|x\nb|1|1|1|y", user: ["tier=0"]),
  ]

  @Test(
    "it is kept with its values, and the device has the row as it is", arguments: cases,
    ["hub", "device", "newest", "manual"])
  func kinds(_ test: Case, policy: String) throws {
    let camp = try CommandLineFixture()
    try camp.sql(
      "office.sqlite",
      """
      CREATE TABLE parents (id INTEGER PRIMARY KEY);
      CREATE TABLE rows (
        id TEXT PRIMARY KEY, parent INTEGER REFERENCES parents (id), small INTEGER CHECK (small < 10), tier INTEGER, words TEXT);
      INSERT INTO parents VALUES (1);
      INSERT INTO rows VALUES ('a', 1, 1, 1, 'x'), ('b', 1, 1, 1, 'y');
      """)
    try camp.write(
      "camp.json",
      """
      { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
        "tables": { "parents": {}, "rows": { "visible": "tier <= :tier", "write": "tier <= :tier", "conflict": "\(policy)" } } }
      """)
    camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann", "tier=1")
    camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    try camp.sql("tablet/data.sqlite", test.tablet)
    try camp.sql("office.sqlite", test.office)
    try camp.sql("office.sqlite", "UPDATE satchel_writes_rows SET satchel_written = satchel_written + 0.0001")
    for word in test.user { #expect(camp.hub("user", "set", "ann", word).code == 0) }
    camp.deliver("tablet", 1)
    let found = try #require(try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.first)
    let place = try #require(["hub", "device", "newest", "manual"].firstIndex(of: policy))
    var state = test.states[place]
    // Only the device wrote this row, so under `newest` the device's value is the newest. Under `hub`, the hub wins.
    if test.kind == "revoked", !test.user.isEmpty, policy == "hub" { state = "settled" }
    #expect(found["kind"]?.stringValue == test.kind && found["state"]?.stringValue == state)
    #expect(try camp.rows("office.sqlite", "SELECT * FROM rows ORDER BY id") == test.rows)
    camp.answer("tablet", 2)
    let seen = "SELECT * FROM rows WHERE tier <= \(test.user.isEmpty ? 1 : 0) ORDER BY id"
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM rows ORDER BY id") == camp.rows("office.sqlite", seen))
    // The device's user sees the conflict with the values that the user wrote. The user does not learn whether a hidden
    // row still exists.
    let told = try camp.device("tablet", "conflicts", "--all", "--json").json["conflicts"]?.arrayValue ?? []
    #expect(
      told.contains {
        $0["id"] == found["id"] && $0["kind"]?.stringValue == (test.kind == "revoked" ? "update/delete" : test.kind)
      })
    let id = try #require(found["id"]?.stringValue)
    #expect(camp.hub("conflicts", "show", id).out.contains(test.explained))
  }
}
