import Foundation
import SatchelJSON
import TestSupport
import Testing

/// UNIQUE values of a device's pending rows depend on each other, and the hub edits the same rows. Such changes never
/// block an import.
@Suite("UNIQUE values in chains")
struct UniqueChainTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func open(_ policy: String, _ rows: String) throws {
    try camp.open(
      """
      CREATE TABLE seats (
        id TEXT PRIMARY KEY, name TEXT UNIQUE, note TEXT, mark TEXT,
        low TEXT GENERATED ALWAYS AS (lower(note)) VIRTUAL UNIQUE);
      CREATE UNIQUE INDEX seats_by_length ON seats (name || '!');
      \(rows)
      """, CommandLineFixture.definition(#"{ "seats": { "conflict": "\#(policy)" } }"#), devices: ["tablet"])
  }

  private func answer(full: Bool = false) throws { try camp.answer("tablet", full: full) }
  private func deliver() throws { try camp.deliver("tablet") }

  private func settle(_ story: String) throws {
    for _ in 0..<3 {
      try deliver()
      try answer()
    }
    let rows = "SELECT id, name, note FROM seats ORDER BY id"
    #expect(try camp.rows("tablet/data.sqlite", rows) == camp.rows("office.sqlite", rows), "\(story)")
  }

  /// On the tablet, the name of a deleted row goes to a second row, and the second row's name to a new row. The office
  /// changes the deleted row.
  private func openChain(_ policy: String) throws {
    try open(policy, "INSERT INTO seats (id, name, note) VALUES ('k1', 'n1', 'a'), ('k2', 'n2', 'b');")
    try camp.sql(
      "tablet/data.sqlite",
      """
      DELETE FROM seats WHERE id = 'k2'; UPDATE seats SET name = 'n2' WHERE id = 'k1';
      INSERT INTO seats (id, name, note) VALUES ('k4', 'n1', 'c')
      """)
    try camp.sql("office.sqlite", "UPDATE seats SET note = 'office' WHERE id = 'k2'")
  }

  private static let policies = ["manual", "device", "hub", "newest"]

  @Test("a chain through a deleted row and a new one comes apart", arguments: policies, [false, true])
  private func chain(policy: String, full: Bool) throws {
    try openChain(policy)
    try answer(full: full)
    try settle(policy)
  }

  @Test("a row that has to go back to a name finds it free", arguments: policies, [false, true])
  private func back(policy: String, full: Bool) throws {
    try open(policy, "INSERT INTO seats (id, name, note) VALUES ('1', 'x', 'a'), ('2', 'w11', 'b'), ('3', 'z', 'c');")
    try camp.sql(
      "tablet/data.sqlite", "UPDATE seats SET name = 'w4' WHERE id = '2'; UPDATE seats SET name = 'w11' WHERE id = '3'")
    try camp.sql("office.sqlite", "UPDATE seats SET name = 'w4' WHERE id = '1'")
    try answer(full: full)
    try settle(policy)
  }

  /// Renames a row to the first free name, so that both sides probably choose the same name. The row `next` gets the
  /// row's former name.
  private static func move(_ id: Int, mark: String, followedBy next: Int? = nil) -> String {
    let step = """
      CREATE TEMP TABLE former AS SELECT name FROM seats WHERE id = '\(id)';
      UPDATE seats SET mark = '\(mark)', name = (
        SELECT column1 FROM (VALUES ('a'), ('b'), ('c'), ('d'), ('e'), ('f'))
        WHERE column1 NOT IN (SELECT name FROM seats) ORDER BY 1)
      WHERE id = '\(id)'
      """
    guard let next else { return step }
    return "\(step); UPDATE OR IGNORE seats SET name = former.name FROM former WHERE id = '\(next)'"
  }

  @Test(
    "random edits of few rows and few names on both sides never stop an import, and no write is lost",
    arguments: policies, historySeeds(usually: 8, share: 20))
  private func random(policy: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed &* 7919 &+ UInt64(policy.utf8.count))
    var marks = WrittenMarks()
    try open(
      policy,
      "INSERT INTO seats (id, name, note) VALUES ('0', 'a', 'A'), ('1', 'b', 'B'), ('2', 'c', 'C'), ('3', 'd', 'D');")
    var story: [String] = []
    for _ in 0..<6 {
      for (place, database) in [("tablet", "tablet/data.sqlite"), ("office", "office.sqlite")] {
        for _ in 0..<random.below(4) {
          let (id, name) = (random.below(5), ["a", "b", "c", "d", "e", "f"][random.below(6)])
          let mark = marks.next()
          let sql =
            switch random.below(10) {
            case 5: Self.move(id, mark: mark)
            case 6...8: Self.move(id, mark: mark, followedBy: (id + 1 + random.below(4)) % 5)
            case 0: "DELETE FROM seats WHERE id = '\(id)'"
            case 1:
              """
              INSERT OR IGNORE INTO seats (id, name, note, mark)
              VALUES ('\(id)', '\(name)', '\(name)\(random.below(3))', '\(mark)')
              """
            case 2:
              "UPDATE OR IGNORE seats SET note = '\(name)\(random.below(3))', mark = '\(mark)' WHERE id = '\(id)'"
            case 3: "UPDATE OR REPLACE seats SET name = '\(name)', mark = '\(mark)' WHERE id = '\(id)'"
            default: "UPDATE OR IGNORE seats SET name = '\(name)', mark = '\(mark)' WHERE id = '\(id)'"
            }
          story.append("\(place): \(sql)")
          let before = try camp.rows(database, "SELECT mark FROM seats")
          try camp.sql(database, sql)
          marks.note(before: before, after: try camp.rows(database, "SELECT mark FROM seats"))
        }
      }
      if random.once(in: 2) { try deliver() }
      if random.once(in: 2) { try answer(full: random.once(in: 4)) }
    }
    try settle(story.joined(separator: "\n"))
    let lost = try marks.lost(in: camp, ["office.sqlite", "tablet/data.sqlite"], tables: ["seats"])
    #expect(lost.isEmpty, "\(lost), SATCHEL_SEED=\(seed)\n\(story.joined(separator: "\n"))")
  }

  @Test(
    "a row that goes back because its parent left finds its UNIQUE value free, and the row that had it is kept",
    arguments: policies, [false, true])
  private func orphan(policy: String, full: Bool) throws {
    let rule = #"{ "conflict": "\#(policy)" }"#
    try camp.open(
      """
      CREATE TABLE p (id TEXT PRIMARY KEY);
      CREATE TABLE seats (id TEXT PRIMARY KEY, p TEXT REFERENCES p (id), name TEXT UNIQUE, note TEXT);
      INSERT INTO p VALUES ('p1'), ('p2'); INSERT INTO seats VALUES ('c1', 'p1', 'n1', 'a')
      """, CommandLineFixture.definition(#"{ "p": \#(rule), "seats": \#(rule) }"#), devices: ["tablet"])
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE seats SET p = 'p2', name = 'n2' WHERE id = 'c1';
      INSERT INTO seats VALUES ('c9', 'p1', 'n1', 'new')
      """)
    try camp.sql("office.sqlite", "DELETE FROM p WHERE id = 'p2'")
    try answer(full: full)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT p, name FROM seats WHERE id = 'c1'") == "p1|n1")
    let kept = try camp.rows("tablet/data.sqlite", "SELECT key FROM satchel_conflicts ORDER BY key")
    #expect(kept == #"["c1"]"# + "\n" + #"["c9"]"#)
    try settle(policy)
  }

  @Test("a chain comes apart in a bundle of a new version too", arguments: policies)
  private func newVersion(policy: String) throws {
    try openChain(policy)
    try camp.write(
      "next.json",
      CommandLineFixture.definition(#"{ "seats": { "conflict": "\#(policy)" } }"#)
        .replacingOccurrences(of: #""version": 1"#, with: #""version": 2"#))
    try camp.write("next.sql", "ALTER TABLE seats ADD COLUMN size INTEGER DEFAULT 1")
    let applied = camp.hub("dataset", "apply", camp.path("next.json"), "--migration", camp.path("next.sql"))
    #expect(applied.code == 0, "\(applied.error)")
    try answer()
    try settle(policy)
  }

  /// `sql` gives the tablet's table a rule that values must differ. The office writes equal values, because its table
  /// has no such rule.
  private func demandMore(_ sql: String) throws {
    try camp.open(
      "CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT); INSERT INTO t VALUES ('x', 'one')",
      CommandLineFixture.definition(#"{ "t": {} }"#), devices: ["tablet"])
    try camp.sql("tablet/data.sqlite", sql)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try camp.sql("office.sqlite", "INSERT INTO t VALUES ('y', 'two'), ('z', 'two')")
  }

  @Test("an index that only this database has is named, with the way out, for as long as it keeps the hub's rows out")
  func ownIndex() throws {
    try demandMore("CREATE UNIQUE INDEX \"only here\" ON t (a)")
    for full in [false, true] {
      let refused = camp.device("tablet", "import", try camp.emit("tablet", full: full))
      #expect(refused.code == 3 && refused.error.contains(#"DROP INDEX "only here""#), "\(refused)")
      #expect(camp.device("tablet", "status").out.contains("in the UNIQUE index only here of this database"))
    }
    try camp.sql("tablet/data.sqlite", #"DROP INDEX "only here""#)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try answer(full: true)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM t") == "3")
    #expect(!camp.device("tablet", "status").out.contains("Failed"))
  }

  @Test("a UNIQUE column that only this database has is named too")
  func ownColumn() throws {
    try demandMore(
      """
      CREATE TABLE u (id TEXT PRIMARY KEY, a TEXT UNIQUE); INSERT INTO u SELECT * FROM t;
      DROP TABLE t; ALTER TABLE u RENAME TO t
      """)
    let refused = camp.device("tablet", "import", try camp.emit("tablet"))
    #expect(refused.code == 3 && refused.error.contains("in t.a, which is UNIQUE in this database"), "\(refused)")
  }

  @Test(
    "what both sides' columns make together, and the table forbids, is a conflict, and the app can write the row",
    arguments: policies,
    [
      "CHECK (a <> b))", "CHECK (a <> b)) STRICT", "g INTEGER AS (nullif(a, b)) STORED NOT NULL)",
      "g INTEGER AS (nullif(a, b)) NOT NULL) STRICT",
    ])
  private func forbidden(policy: String, rule: String) throws {
    try camp.open(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY, a INTEGER, b INTEGER, \(rule); INSERT INTO t (id, a, b) VALUES ('x', 2, 3)
      """,
      CommandLineFixture.definition(#"{ "t": { "conflict": "\#(policy)" } }"#), devices: ["tablet"])
    try camp.sql("tablet/data.sqlite", "UPDATE t SET a = 4")
    try camp.sql("office.sqlite", "UPDATE t SET b = 4")
    try answer()
    try camp.sql("tablet/data.sqlite", "UPDATE t SET a = a")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT a, b FROM t") == "2|4")
    let kept = "SELECT kind, state, json_extract(device_values, '$.a') FROM satchel_conflicts"
    #expect(try camp.rows("tablet/data.sqlite", kept) == "constraint|open|4")
    try deliver()
    #expect(try camp.rows("office.sqlite", kept) == "constraint|open|4")
  }
}
