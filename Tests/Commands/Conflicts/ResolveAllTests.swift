import SatchelJSON
import Testing

/// One decision about all conflicts. The rows of these conflicts depend on each other.
@Suite("Decisions about all conflicts")
struct ResolveAllTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE nodes (id TEXT PRIMARY KEY, up TEXT REFERENCES nodes (id), note TEXT);
      INSERT INTO nodes VALUES
        ('0', NULL, 'n'), ('1', '0', 'n'), ('2', '1', 'n'), ('3', '2', 'n'), ('4', '3', 'n'), ('5', '4', 'n');
      """, CommandLineFixture.definition(#"{ "nodes": { "conflict": "manual" } }"#), devices: ["tablet"])
    try camp.answer("tablet")
  }

  /// The side on which a decision is made.
  enum Side: String, CaseIterable {
    case hub, device

    var database: String { self == .hub ? "office.sqlite" : "tablet/data.sqlite" }
  }

  private func decideAll(at side: Side) -> CommandLineFixture.Outcome {
    side == .hub
      ? camp.hub("conflicts", "resolve", "--all", "--policy", "device", "--json")
      : camp.device("tablet", "conflicts", "resolve", "--all", "--policy", "device", "--json")
  }

  private func expectOpen(_ count: Int, at side: Side) throws {
    let open = try camp.rows(side.database, "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'")
    try #require(open == String(count))
  }

  @Test("a tree is deleted from its leaves on", arguments: Side.allCases)
  func tree(at side: Side) throws {
    try camp.sql("tablet/data.sqlite", "DELETE FROM nodes")
    try camp.sql("office.sqlite", "UPDATE nodes SET note = 'office'")
    try camp.deliver("tablet")
    try camp.answer("tablet")
    try expectOpen(6, at: side)
    let decided = decideAll(at: side)
    #expect(try decided.json["left"]?.arrayValue?.isEmpty == true, "\(decided)")
    #expect(try decided.json["resolved"]?.arrayValue?.count == 6, "\(decided)")
    #expect(try camp.rows(side.database, "SELECT count(*) FROM nodes") == "0")
  }

  @Test("the changes of a row are decided in their order", arguments: Side.allCases)
  func generations(at side: Side) throws {
    for note in ["first", "second"] {
      try camp.sql("tablet/data.sqlite", "UPDATE nodes SET note = '\(note)'")
      _ = try camp.export("tablet")
    }
    try camp.sql("office.sqlite", "UPDATE nodes SET note = 'office'")
    try camp.deliver("tablet")
    try camp.answer("tablet")
    try expectOpen(12, at: side)
    let decided = decideAll(at: side)
    #expect(try decided.json["left"]?.arrayValue?.isEmpty == true, "\(decided)")
    #expect(try camp.rows(side.database, "SELECT DISTINCT note FROM nodes") == "second")
  }
}
