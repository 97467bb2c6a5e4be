import Foundation
import Testing

/// An app wrote rows in an old copy. These rows do not fit the rows of the newer database.
@Suite("A repaired copy has only rows that its tables allow")
struct OldCopyConstraintTests {
  @Test("a write of the copy that its table forbids is kept as a conflict, and the other writes are repeated")
  func kept() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE t (
        id TEXT PRIMARY KEY, code TEXT UNIQUE, n INTEGER DEFAULT 0, m INTEGER DEFAULT 0, kind TEXT, doc TEXT,
        CHECK (n + m < 10));
      CREATE INDEX ti ON t (CASE kind WHEN 'json' THEN json_extract(doc, '$.n') END);
      INSERT INTO t (id, code, doc)
      VALUES ('p', 1, '{}'), ('q', 2, '{}'), ('u', 3, '{}'), ('v', 4, '{}'), ('w', 5, '{}'), ('x', 6, '{}');
      """, CommandLineFixture.definition(#"{ "t": { "conflict": "manual" } }"#), devices: ["tablet"])
    try camp.copy("tablet/data.sqlite", to: "old.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE t SET m = 5 WHERE id = 'q'")
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    try camp.sql(
      "office.sqlite",
      """
      INSERT INTO t (id, code) VALUES ('n', 'blue'), ('o', 'red');
      UPDATE t SET m = 1 WHERE id = 'p';
      UPDATE t SET doc = 'words' WHERE id = 'w';
      UPDATE t SET m = 8 WHERE id = 'x';
      """)
    try camp.answer("tablet")
    try camp.remove("tablet/data.sqlite")
    try camp.copy("old.sqlite", to: "tablet/data.sqlite")
    camp.awaitLaterTime()
    // The writes, in their order: a new row, a trade of codes, and two rows. The second of these rows gets the former
    // code of the first. Then come writes that fit only the former values of their rows.
    try camp.sql(
      "tablet/data.sqlite",
      """
      INSERT INTO t (id, code) VALUES ('a', 'red');
      UPDATE t SET code = 'free' WHERE id = 'p';
      UPDATE t SET code = 1 WHERE id = 'q';
      UPDATE t SET code = 2 WHERE id = 'p';
      UPDATE t SET code = 'blue' WHERE id = 'u';
      UPDATE t SET code = 3 WHERE id = 'v';
      UPDATE t SET kind = 'json' WHERE id = 'w';
      UPDATE t SET n = 6 WHERE id = 'x';
      """)
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT key, kind, state FROM satchel_conflicts ORDER BY key")
        == """
        ["a"]|unique|open
        ["u"]|unique|open
        ["v"]|unique|open
        ["w"]|constraint|open
        ["x"]|constraint|open
        """)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.carry("tablet")
    for database in ["tablet/data.sqlite", "office.sqlite"] {
      #expect(
        try camp.rows(database, "SELECT id, code, n, m, ifnull(kind, '-'), ifnull(doc, '-') FROM t ORDER BY id")
          == """
          n|blue|0|0|-|-
          o|red|0|0|-|-
          p|2|0|1|-|{}
          q|1|0|5|-|{}
          u|3|0|0|-|{}
          v|4|0|0|-|{}
          w|5|0|0|-|words
          x|6|0|8|-|{}
          """, "\(database)")
    }
  }
}
