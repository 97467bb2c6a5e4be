import Foundation
import Testing

/// A row that was written in an old copy does not fit the rows of the newer database.
@Suite("A repaired copy has only rows that its tables allow")
struct OldCopyConstraintTests {
  private let camp: CommandLineFixture
  private let query = "SELECT id, code, n, m, kind, doc FROM t ORDER BY id"

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE t (
        id TEXT PRIMARY KEY, code TEXT UNIQUE, n INTEGER, m INTEGER, kind TEXT, doc TEXT, CHECK (n + m < 10));
      CREATE INDEX ti ON t (CASE kind WHEN 'json' THEN json_extract(doc, '$.n') END);
      INSERT INTO t VALUES ('x', 'blue', 0, 0, 'text', '{}'), ('y', 'green', 0, 0, 'text', '{}');
      """, CommandLineFixture.definition(#"{ "t": { "conflict": "manual" } }"#), devices: ["tablet"])
  }

  /// A write of the newer database's office, and a write of the copy, with the rows of both that remain.
  struct Meeting: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let office: String
    let copy: String
    let rows: String
    let conflicts: String
  }

  static let meetings = [
    Meeting(
      testDescription: "another row has the UNIQUE value of a new row",
      office: "INSERT INTO t VALUES ('o', 'red', 1, 1, 'text', '{}')",
      copy: "INSERT INTO t VALUES ('a', 'red', 2, 2, 'text', '{}')",
      rows: "o|red|1|1|text|{}\nx|blue|0|0|text|{}\ny|green|0|5|text|{}", conflicts: #"["a"]|unique|open"#),
    Meeting(
      testDescription: "another row has the UNIQUE value that a row got",
      office: "INSERT INTO t VALUES ('o', 'red', 1, 1, 'text', '{}')",
      copy: "UPDATE t SET code = 'red' WHERE id = 'x'; UPDATE t SET code = 'blue' WHERE id = 'y'",
      rows: "o|red|1|1|text|{}\nx|blue|0|0|text|{}\ny|green|0|5|text|{}",
      conflicts: "[\"x\"]|unique|open\n[\"y\"]|unique|open"),
    Meeting(
      testDescription: "both writes together break a CHECK",
      office: "UPDATE t SET m = 8 WHERE id = 'x'", copy: "UPDATE t SET n = 6 WHERE id = 'x'",
      rows: "x|blue|0|8|text|{}\ny|green|0|5|text|{}", conflicts: #"["x"]|constraint|open"#),
    Meeting(
      testDescription: "the index cannot be computed from both writes together",
      office: "UPDATE t SET doc = 'words' WHERE id = 'x'", copy: "UPDATE t SET kind = 'json' WHERE id = 'x'",
      rows: "x|blue|0|0|text|words\ny|green|0|5|text|{}", conflicts: #"["x"]|constraint|open"#),
    Meeting(
      testDescription: "rows of the copy trade a UNIQUE value",
      office: "UPDATE t SET m = 8 WHERE id = 'x'",
      copy: """
        UPDATE t SET code = 'other' WHERE id = 'x'; UPDATE t SET code = 'blue' WHERE id = 'y';
        UPDATE t SET code = 'green' WHERE id = 'x'
        """,
      rows: "x|green|0|8|text|{}\ny|blue|0|5|text|{}", conflicts: ""),
  ]

  @Test("a write of the copy that its table forbids is kept as a conflict", arguments: meetings)
  func kept(_ meeting: Meeting) throws {
    try camp.copy("tablet/data.sqlite", to: "old.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE t SET m = 5 WHERE id = 'y'")
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    try camp.sql("office.sqlite", meeting.office)
    try camp.answer("tablet")
    try camp.remove("tablet/data.sqlite")
    try camp.copy("old.sqlite", to: "tablet/data.sqlite")
    camp.awaitLaterTime()
    try camp.sql("tablet/data.sqlite", meeting.copy)
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(try camp.rows("tablet/data.sqlite", query) == meeting.rows)
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT key, kind, state FROM satchel_conflicts ORDER BY key")
        == meeting.conflicts)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.carry("tablet")
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, query) == meeting.rows, "\(database)")
    }
  }
}
