import Foundation
import SatchelJSON
import SatchelSQLite
import TestSupport
import Testing

/// Tables whose rows are named by a UNIQUE column. Their INTEGER PRIMARY KEY is a local key of each replica. Other
/// programs use it to find rows, so a row must keep its local key.
@Suite("Rows that other columns name than the PRIMARY KEY")
struct NamedKeyTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private static let schema = """
    CREATE TABLE plots (fid INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, size REAL);
    CREATE TABLE trees (
      fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, plot TEXT REFERENCES plots (code) ON DELETE CASCADE,
      label TEXT UNIQUE, height INTEGER CHECK (height < 100));
    INSERT INTO plots VALUES (10, 'p1', 1.5), (20, 'p2', 2.5);
    INSERT INTO trees VALUES (10, 't1', 'p1', 'a', 1), (20, 't2', 'p1', 'b', 2), (30, 't3', 'p2', 'c', 3);
    """
  private static let carried = [
    "plots": "SELECT code, size FROM plots ORDER BY code",
    "trees": "SELECT uuid, plot, label, height FROM trees ORDER BY uuid",
  ]

  /// Makes a hub and devices whose rows have other local keys on each replica.
  private func open(
    _ devices: [String] = ["tablet"], plots: String = "", trees: String = "", counting: Bool = false
  ) throws {
    let schema = counting ? Self.schema.replacing("PRIMARY KEY,", with: "PRIMARY KEY AUTOINCREMENT,") : Self.schema
    try camp.open(
      schema,
      CommandLineFixture.definition(
        #"{ "plots": { "key": ["code"]\#(plots) }, "trees": { "key": ["uuid"]\#(trees) } }"#),
      devices: devices)
    for (number, device) in devices.enumerated() {
      try camp.sql(
        "\(device)/data.sqlite",
        "UPDATE plots SET fid = fid + 100; UPDATE trees SET fid = -fid; UPDATE trees SET fid = -fid * 10 + \(number)")
    }
  }

  private func localKeys(_ database: String) throws -> [String: Int64] {
    let connection = try Database(path: camp.path(database), mode: .readOnly)
    let rows = try connection.all("SELECT uuid, fid FROM trees UNION ALL SELECT code, fid FROM plots") {
      ($0.text(0), $0.integer(1))
    }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  /// Expects that `body` does not change the local key of any row that still exists.
  private func keepingLocalKeys(_ databases: [String], _ words: String = "", _ body: () throws -> Void) throws {
    let before = try databases.map(localKeys)
    try body()
    for (database, old) in zip(databases, before) {
      let new = try localKeys(database)
      for (row, key) in old { #expect(new[row] == nil || new[row] == key, "\(row) in \(database)\n\(words)") }
    }
  }

  private func expectSame(_ databases: [String], _ words: String = "") throws {
    for query in Self.carried.values {
      for database in databases {
        #expect(try camp.rows(database, query) == camp.rows("office.sqlite", query), "\(database)\n\(words)")
      }
    }
  }

  private func expectQuiet() throws {
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"] == [])
    #expect(camp.hub("doctor").out == "All is well.\n")
    #expect(camp.hub("audit").code == 0)
  }

  @Test("two devices add rows under one local key, and both are everywhere", arguments: [false, true])
  func added(counting: Bool) throws {
    try open(["tablet", "phone"], counting: counting)
    for name in ["tablet", "phone"] {
      try camp.sql("\(name)/data.sqlite", "INSERT INTO trees VALUES (500, '\(name)', 'p1', '\(name)', 5)")
    }
    try camp.round(["tablet", "phone", "tablet"])
    try expectSame(["tablet/data.sqlite", "phone/data.sqlite"])
    for name in ["tablet", "phone"] {
      #expect(try camp.rows("\(name)/data.sqlite", "SELECT uuid FROM trees WHERE fid = 500") == name)
    }
    try expectQuiet()
  }

  @Test("another local key alone is no change, and is in no bundle")
  func localAlone() throws {
    try open()
    let exported = try camp.device("tablet", "export", "--json").json
    #expect(exported["changes"] == .object([]), "\(exported)")
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET height = 9, fid = 4711 WHERE uuid = 't1'")
    let file = try camp.export("tablet")
    let unpacked = try StockTool.tar("--zstd", "-xOf", file, "changes.jsonl", in: camp.root).text
    #expect(!unpacked.contains("4711") && !unpacked.contains("fid"), "\(unpacked)")
    #expect(unpacked.contains(#""key":["t1"]"#), "\(unpacked)")
    let manifest = try StockTool.tar("--zstd", "-xOf", file, "manifest.json", in: camp.root).output
    let critical = try #require(try JSONValue.parse(manifest)["critical"]?.arrayValue)
    #expect(critical.contains("names"), "a reader that takes the key for the PRIMARY KEY refuses the bundle")
  }

  @Test("rows that trade UNIQUE values keep their local keys on both sides", arguments: [false, true])
  func trade(full: Bool) throws {
    try open()
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE trees SET label = 'x' WHERE uuid = 't1'; UPDATE trees SET label = 'a' WHERE uuid = 't2';
      UPDATE trees SET label = 'b' WHERE uuid = 't1'; INSERT INTO trees (uuid, label) VALUES ('t0', 'new')
      """)
    try keepingLocalKeys(["office.sqlite"]) { try camp.deliver("tablet") }
    try camp.sql(
      "office.sqlite",
      """
      UPDATE trees SET label = 'x' WHERE uuid = 't3'; UPDATE trees SET label = 'c' WHERE uuid = 't2';
      UPDATE trees SET label = 'a' WHERE uuid = 't3'; INSERT INTO trees (uuid, label) VALUES ('s0', 'other')
      """)
    try keepingLocalKeys(["tablet/data.sqlite"]) { try camp.answer("tablet", full: full) }
    try expectSame(["tablet/data.sqlite"])
    try expectQuiet()
  }

  @Test("a new row takes no local key of a row that is out at the moment", arguments: [false, true])
  func newBesideTrade(full: Bool) throws {
    try open()
    try camp.sql("office.sqlite", "INSERT INTO trees (uuid, label) VALUES ('t4', 'd')")
    try camp.answer("tablet")
    // The trees t4 and t3 get the greatest local keys. While t3 is out of the table, SQLite would give its key to the
    // next new row.
    try camp.sql(
      "tablet/data.sqlite", "UPDATE trees SET fid = 200 WHERE uuid = 't4'; UPDATE trees SET fid = 201 WHERE uuid = 't3'"
    )
    // The new tree a0 needs the label of t3, and t3 needs the label of t4. So t3 is out of the table while a0 is
    // inserted.
    try camp.sql(
      "office.sqlite",
      """
      UPDATE trees SET label = 'e' WHERE uuid = 't4'; UPDATE trees SET label = 'd' WHERE uuid = 't3';
      INSERT INTO trees (uuid, label) VALUES ('a0', 'c')
      """)
    try keepingLocalKeys(["tablet/data.sqlite"]) { try camp.answer("tablet", full: full) }
    try expectSame(["tablet/data.sqlite"])
  }

  @Test("rows that a refused delete took along come back under their local keys")
  func family() throws {
    try open()
    let before = try localKeys("tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "PRAGMA foreign_keys = ON; DELETE FROM plots WHERE code = 'p1'")
    try camp.sql("office.sqlite", "UPDATE trees SET height = 50 WHERE uuid = 't1'")
    try keepingLocalKeys(["office.sqlite"]) { try camp.deliver("tablet") }
    try camp.answer("tablet")
    try expectSame(["tablet/data.sqlite"])
    #expect(try localKeys("tablet/data.sqlite").keys.sorted() == before.keys.sorted())
  }

  @Test("pending changes are put on the hub's rows without another local key", arguments: [false, true])
  func rebased(full: Bool) throws {
    try open()
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET height = 7, label = 'mine' WHERE uuid = 't1'")
    try camp.sql(
      "office.sqlite",
      "UPDATE trees SET label = 'mine' WHERE uuid = 't2'; UPDATE trees SET plot = 'p2' WHERE uuid = 't1'")
    try keepingLocalKeys(["tablet/data.sqlite", "office.sqlite"]) {
      try camp.answer("tablet", full: full)
      for _ in 0..<3 {
        try camp.deliver("tablet")
        try camp.answer("tablet")
      }
    }
    try expectSame(["tablet/data.sqlite"])
  }

  @Test("a device that goes to another user keeps the local keys of rows that both see")
  func handover() throws {
    try open()
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET height = 8; INSERT INTO trees (uuid, label) VALUES ('n', 'n')")
    camp.hub("user", "add", "ben")
    #expect(camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    try keepingLocalKeys(["tablet/data.sqlite", "office.sqlite"]) { try camp.round(["tablet", "tablet"]) }
    try expectSame(["tablet/data.sqlite"])
  }

  @Test("an unseen write is repaired, and SQLite gives a key to a row that was put back", arguments: ["tablet", "hub"])
  func repaired(place: String) throws {
    try open()
    let database = place == "hub" ? "office.sqlite" : "tablet/data.sqlite"
    try camp.round(["tablet"])
    let triggers = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'trees'"
    for name in try camp.rows(database, triggers).split(separator: "\n") {
      try camp.sql(database, "DROP TRIGGER \"\(name)\"")
    }
    try camp.sql(
      database, "UPDATE trees SET height = 33 WHERE uuid = 't1'; UPDATE trees SET fid = 900 WHERE uuid = 't2'")
    try keepingLocalKeys([database]) {
      let repaired = place == "hub" ? camp.hub("doctor", "--repair") : camp.device("tablet", "doctor", "--repair")
      #expect(
        repaired.code == 0 && repaired.out.contains("1 updated, 0 deleted unseen"), "\(repaired.out)\(repaired.error)")
    }
    try camp.round(["tablet", "tablet"])
    try expectSame(["tablet/data.sqlite"])
    #expect(try camp.rows(database, "SELECT fid FROM trees WHERE uuid = 't2'") == "900")
    try expectQuiet()
  }

  @Test("a table loaded again with other local keys is no change but what changed", arguments: ["tablet", "hub"])
  func reloaded(place: String) throws {
    try open()
    try camp.round(["tablet"])
    let database = place == "hub" ? "office.sqlite" : "tablet/data.sqlite"
    let other = place == "hub" ? "tablet/data.sqlite" : "office.sqlite"
    try camp.sql(other, "UPDATE trees SET height = 44 WHERE uuid = 't1'")
    try camp.sql(
      database,
      """
      BEGIN; CREATE TEMP TABLE kept AS SELECT * FROM trees; DROP TABLE trees;
      \(Self.schema.split(separator: ";")[1]);
      INSERT INTO trees SELECT 100 - fid, uuid, plot, label, height + (uuid = 't2') FROM kept; COMMIT
      """)
    let looked = place == "hub" ? camp.hub("doctor") : camp.device("tablet", "doctor")
    #expect(
      looked.out.contains("the table trees was created again") && looked.out.contains("1 updated, 0 deleted unseen"),
      "\(looked.out)")
    try keepingLocalKeys([database, other]) {
      let repaired = place == "hub" ? camp.hub("doctor", "--repair") : camp.device("tablet", "doctor", "--repair")
      #expect(repaired.code == 0, "\(repaired.error)")
      try camp.round(["tablet", "tablet"])
    }
    try expectSame(["tablet/data.sqlite"])
    #expect(try camp.rows("office.sqlite", "SELECT height FROM trees ORDER BY uuid") == "44\n3\n3")
    try expectQuiet()
  }

  @Test("a table that can no longer name its rows is named, with the way out, and nothing is exported")
  func lostName() throws {
    try open()
    try camp.sql(
      "tablet/data.sqlite",
      """
      BEGIN; CREATE TABLE n (fid INTEGER PRIMARY KEY, uuid TEXT, plot TEXT, label TEXT UNIQUE, height INTEGER);
      INSERT INTO n SELECT * FROM trees; DROP TABLE trees; ALTER TABLE n RENAME TO trees; COMMIT
      """)
    let status = camp.device("tablet", "status")
    #expect(status.out.contains("the column uuid may be NULL"), "\(status.out)")
    #expect(camp.device("tablet", "export").code == 1)
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 1 && (repaired.out + repaired.error).contains("Declare it NOT NULL"), "\(repaired.error)")
  }

  @Test("a row that a decision brings back, and a row that goes and comes with rights, are new rows here")
  func broughtBack() throws {
    try open(trees: #", "visible": "height < 90""#)
    try camp.sql("tablet/data.sqlite", "DELETE FROM trees WHERE uuid = 't1'")
    try camp.sql(
      "office.sqlite", "UPDATE trees SET height = 60 WHERE uuid = 't1'; UPDATE trees SET height = 95 WHERE uuid = 't3'")
    try camp.round(["tablet", "tablet"])
    #expect(try camp.rows("tablet/data.sqlite", "SELECT uuid FROM trees ORDER BY 1") == "t1\nt2")
    try camp.sql("office.sqlite", "UPDATE trees SET height = 5 WHERE uuid = 't3'")
    try camp.round(["tablet"])
    try expectSame(["tablet/data.sqlite"])
    let id = try #require(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue)
    #expect(camp.hub("conflicts", "show", id).out.contains("t1"))
    try keepingLocalKeys(["tablet/data.sqlite", "office.sqlite"]) {
      #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
      try camp.round(["tablet", "tablet"])
    }
    try expectSame(["tablet/data.sqlite"])
  }

  @Test("rows that two devices made twice become one, and keep a local key of theirs")
  func folded() throws {
    try open(["tablet", "phone"], trees: #", "unique": "fold""#)
    for (name, uuid) in [("tablet", "m1"), ("phone", "m2")] {
      try camp.sql(
        "\(name)/data.sqlite", "INSERT INTO trees VALUES (700, '\(uuid)', 'p1', 'same', 1)")
    }
    try camp.round(["tablet", "phone", "tablet", "phone"])
    try expectSame(["tablet/data.sqlite", "phone/data.sqlite"])
    for name in ["tablet", "phone"] {
      let made = try camp.rows("\(name)/data.sqlite", "SELECT fid, uuid FROM trees WHERE label = 'same'")
      #expect(made == "700|m1", "\(name)")
    }
    #expect(camp.hub("doctor").out == "All is well.\n")
  }

  @Test("a reference that only the dataset declares leads to the name, and visibility goes along it")
  func declaredReference() throws {
    try camp.open(
      """
      CREATE TABLE trees (fid INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, tier INT);
      CREATE TABLE visits (fid INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tree TEXT, words TEXT);
      INSERT INTO trees VALUES (5, 'low', 1), (6, 'high', 9);
      INSERT INTO visits VALUES (5, 'v1', 'low', ''), (6, 'v2', 'high', '');
      """,
      """
      { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": {
        "trees": { "key": ["uuid"], "visible": "tier <= :tier", "write": "1" },
        "visits": { "key": ["id"], "references": { "tree": "trees" } } } }
      """)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM visits") == "v1")
    // A visit waits at the hub if its tree comes later.
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO visits (id, tree) VALUES ('v3', 'new'); INSERT INTO trees (uuid, tier) VALUES ('new', 1)")
    try camp.round(["tablet"])
    #expect(try camp.rows("office.sqlite", "SELECT id FROM visits ORDER BY id") == "v1\nv2\nv3")
    try camp.sql("office.sqlite", "UPDATE trees SET tier = 1 - tier / 9 + 8 * (uuid = 'low')")
    try camp.round(["tablet"])
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM visits ORDER BY id") == "v2\nv3")
    try expectQuiet()
  }

  @Test("people call a row by its name: history, scope explain, conflicts, compare")
  func words() throws {
    try open(["tablet", "phone"])
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET height = 20 WHERE uuid = 't1'")
    try camp.sql("phone/data.sqlite", "UPDATE trees SET height = 30 WHERE uuid = 't1'")
    try camp.round(["tablet", "phone"])
    #expect(camp.hub("history", "trees", "t1").out.contains("trees [t1]"))
    #expect(camp.hub("scope", "explain", "ann", "trees", "t1").out.contains("trees [t1] is to be seen by ann"))
    #expect(camp.hub("history", "trees", "10").code == 1)
    #expect(camp.hub("conflicts").out.contains("t1"))
    #expect(camp.hub("compare", "phone").code == 0)
    for words in [camp.hub("history", "trees", "t1").out, camp.hub("conflicts").out] { #expect(!words.contains("fid")) }
  }

  @Test("a site with rows and local keys of its own joins")
  func joins() throws {
    try open()
    let asked = camp.deviceAnywhere(
      "init", camp.path("site"), "--dataset", "camp", "--name", "site", "--request", camp.path("request"), "--json")
    let print = try #require(try asked.json["fingerprint"]?.stringValue)
    camp.hub("device", "enrol", camp.path("request"), "--user", "ann", "--fingerprint", print)
    try camp.sql(
      "site/data.sqlite",
      Self.schema + """
        UPDATE trees SET fid = fid + 300, height = height + (uuid = 't3');
        INSERT INTO trees VALUES (1, 'own', 'p1', 'own', 9)
        """)
    let fingerprint = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    try keepingLocalKeys(["site/data.sqlite"]) {
      let joined = camp.device("site", "import", try camp.emit("site"), "--fingerprint", fingerprint)
      #expect(joined.code == 0, "\(joined.error)")
      try camp.round(["site", "site"])
    }
    try expectSame(["site/data.sqlite"])
    #expect(try camp.rows("site/data.sqlite", "SELECT fid FROM trees WHERE uuid = 'own'") == "1")
  }

  @Test(
    "random edits never stop an import, all ends alike, and no local key moves",
    arguments: ["manual", "device", "hub", "newest"], historySeeds(usually: 6, share: 20))
  func random(policy: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed &* 65_537 &+ UInt64(policy.utf8.count))
    let rule = #", "conflict": "\#(policy)""#
    try open(plots: rule, trees: rule + (seed % 3 == 0 ? #", "unique": "fold""# : ""), counting: seed % 2 == 0)
    var story: [String] = []
    let databases = ["tablet/data.sqlite", "office.sqlite"]
    func exchange(_ body: () throws -> Void) throws {
      try keepingLocalKeys(databases, story.joined(separator: "\n"), body)
    }
    for _ in 0..<6 {
      for database in databases {
        for _ in 0..<random.below(5) {
          let sql = Self.write(&random)
          do { try camp.sql(database, "PRAGMA foreign_keys = ON; \(sql)") } catch is SQLiteError { continue }
          story.append("\(database): \(sql)")
        }
      }
      if random.once(in: 2) { try exchange { try camp.deliver("tablet") } }
      if random.once(in: 2) { try exchange { try camp.answer("tablet", full: random.once(in: 4)) } }
    }
    for _ in 0..<4 {
      try exchange { try camp.deliver("tablet") }
      try exchange { try camp.answer("tablet") }
    }
    try expectSame(["tablet/data.sqlite"], story.joined(separator: "\n"))
    for database in databases { #expect(try camp.rows(database, "PRAGMA foreign_key_check").isEmpty, "\(story)") }
  }

  private static func write(_ random: inout SplitMix64) -> String {
    let (row, other, fid) = (random.below(5), random.below(5), [1, 2, 10, 11, 20, 30, 31][random.below(7)])
    let label = ["a", "b", "c", "d"][random.below(4)]
    switch random.below(14) {
    case 0:
      return "INSERT INTO plots (code, size) VALUES ('p\(row)', \(other)) ON CONFLICT (code) DO UPDATE SET size = 9"
    case 1: return "INSERT OR IGNORE INTO trees (uuid, plot, label) VALUES ('t\(row)', 'p\(other)', '\(label)')"
    case 2: return "INSERT OR REPLACE INTO trees (fid, uuid, plot, label) VALUES (\(fid), 't\(row)', 'p1', '\(label)')"
    case 3: return "DELETE FROM plots WHERE code = 'p\(row)'"
    case 4: return "DELETE FROM trees WHERE uuid = 't\(row)'"
    case 5: return "UPDATE OR REPLACE trees SET fid = \(fid) WHERE uuid = 't\(row)'"
    case 6: return "UPDATE OR REPLACE trees SET label = '\(label)' WHERE uuid = 't\(row)'"
    case 7: return "UPDATE OR IGNORE trees SET plot = 'p\(other)' WHERE uuid = 't\(row)'"
    case 8: return "UPDATE OR IGNORE trees SET uuid = 't\(other)' WHERE uuid = 't\(row)'"
    case 9: return "UPDATE OR REPLACE plots SET fid = \(fid), size = size + 1 WHERE code = 'p\(row)'"
    case 10:
      return """
        INSERT INTO trees (fid, uuid) VALUES (\(fid), 't\(row)')
        ON CONFLICT (fid) DO UPDATE SET uuid = excluded.uuid ON CONFLICT DO NOTHING
        """
    case 11: return "UPDATE trees SET height = \(row) WHERE uuid <> 't\(other)'"
    default:
      return """
        BEGIN; UPDATE OR IGNORE trees SET label = 'x' WHERE uuid = 't\(row)';
        UPDATE OR IGNORE trees SET label = (SELECT char(97 + \(row))) WHERE uuid = 't\(other)';
        UPDATE OR IGNORE trees SET label = 'd' WHERE label = 'x'; COMMIT
        """
    }
  }
}
