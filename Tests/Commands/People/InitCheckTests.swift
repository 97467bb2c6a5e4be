import Foundation
import SatchelJSON
import TestSupport
import Testing

/// `init` reports properties of databases and definitions that would cause trouble later.
@Suite("Init looks before it leaps")
struct InitCheckTests {
  private func start(_ schema: String, _ tables: String, _ words: String...) throws -> (
    camp: CommandLineFixture, outcome: CommandLineFixture.Outcome
  ) {
    let camp = try CommandLineFixture()
    try camp.sql("office.sqlite", schema)
    try camp.write("camp.json", "{ \"dataset\": \"camp\", \"version\": 1, \"tables\": { \(tables) } }")
    let outcome = camp.hubAnywhere(
      ["init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite")] + words)
    return (camp, outcome)
  }

  @Test("all tables without a key are named at once, with how to give them one")
  func keyless() throws {
    let (_, outcome) = try start(
      "CREATE TABLE a (x); CREATE TABLE b (y); CREATE TABLE c (id PRIMARY KEY)", #""b": {}, "c": {}, "a": {}"#)
    #expect(outcome.code == 1)
    #expect(outcome.error.contains("these tables have no PRIMARY KEY:"))
    for name in [" a", " b"] { #expect(outcome.error.contains(name)) }
    #expect(outcome.error.contains("ALTER TABLE cannot do it"))
  }

  @Test("a circle of references is named with a way out of it, and that is one")
  func circle() throws {
    let schema = """
      CREATE TABLE store (id INTEGER PRIMARY KEY, manager REFERENCES staff (id));
      CREATE TABLE staff (id INTEGER PRIMARY KEY, store REFERENCES store (id));
      """
    let (_, outcome) = try start(schema, #""store": {}, "staff": {}"#)
    #expect(outcome.code == 1)
    #expect(outcome.error.contains("visibility goes in a circle") && outcome.error.contains("\"parents\": []"))
    #expect(try start(schema, #""store": { "parents": [] }, "staff": {}"#).outcome.code == 0)
  }

  @Test(
    "a database whose pages contradict each other, or that is none, is refused with what to do, and nothing is made")
  func damaged() throws {
    for isNone in [false, true] {
      let camp = try CommandLineFixture()
      try camp.sql(
        "office.sqlite",
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE other (b);
        WITH RECURSIVE c (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 500) INSERT INTO other SELECT hex(zeroblob(40)) FROM c;
        """)
      var bytes = try camp.read("office.sqlite")
      for place in isNone ? 0..<bytes.count : bytes.count - 4096..<bytes.count { bytes[place] = 0x5a }
      try Data(bytes).write(to: URL(fileURLWithPath: camp.path("office.sqlite")))
      try camp.write("camp.json", #"{ "dataset": "camp", "version": 1, "tables": { "t": {} } }"#)
      let outcome = camp.hubAnywhere(
        "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"),
        "--json")
      #expect(outcome.code == 1)
      let error = try outcome.json["error"]
      #expect(error?["reason"]?.stringValue == (isNone ? "not-a-database" : "corrupt"))
      let hint = error?["hint"]?.stringValue ?? ""
      #expect(hint.contains(isNone ? "that your app writes" : ".recover") && !hint.contains("doctor"))
      #expect(!FileManager.default.fileExists(atPath: camp.path("hub")))
      #expect(try camp.read("office.sqlite") == bytes)
      if !isNone { try mend(hint, camp) }
    }
  }

  /// Makes a new database from the readable parts of the damaged one, as the hint says.
  private func mend(_ hint: String, _ camp: CommandLineFixture) throws {
    let way = "sqlite3 OLD .dump | sed 's/^ROLLBACK.*/COMMIT;/' | sqlite3 NEW"
    #expect(hint.contains(way), "\(hint)")
    let command = way.replacing("OLD", with: "office.sqlite").replacing("NEW", with: "mended.sqlite")
    try StockTool.bash("-euc", command, in: camp.root)
    #expect(try Int(camp.rows("mended.sqlite", "SELECT count(*) FROM other")) ?? 0 > 100)
    let begun = camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("mended.sqlite"))
    #expect(begun.code == 0, "\(begun.error)")
  }

  @Test("a trigger that cannot run is named at init, and by status and doctor if it comes later")
  func brokenTrigger() throws {
    let schema = "CREATE TABLE t (id TEXT PRIMARY KEY, a); CREATE TABLE z (x);"
    let triggers = """
      CREATE TRIGGER good AFTER INSERT ON t BEGIN INSERT INTO z VALUES (NEW.id); END;
      CREATE TRIGGER bad AFTER UPDATE ON t BEGIN INSERT INTO nowhere VALUES (NEW.id); END;
      """
    let (_, refused) = try start(schema + triggers, #""t": {}"#)
    #expect(refused.code == 1)
    #expect(refused.error.contains("The trigger bad of the table t cannot run here: no such table: main.nowhere."))
    #expect(refused.error.contains("Mend or drop it"))

    let (camp, made) = try start(schema, #""t": {}"#)
    #expect(made.code == 0)
    camp.hub("user", "add", "ann")
    camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    try camp.sql("office.sqlite", triggers)
    try camp.sql("tablet/data.sqlite", "CREATE TABLE z (x); " + triggers)
    for outcome in [
      camp.hub("status"), camp.hub("doctor"), camp.device("tablet", "status"), camp.device("tablet", "doctor"),
    ] { #expect(outcome.out.contains("The trigger bad of the table t cannot run here"), "\(outcome.out)") }
    #expect(try camp.hub("status", "--json").json["trigger"]?.stringValue?.contains("bad") == true)
  }

  @Test("all triggers that cannot run are named in one answer")
  func brokenTriggers() throws {
    let (_, refused) = try start(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY, a);
      CREATE TRIGGER one AFTER INSERT ON t BEGIN INSERT INTO nowhere VALUES (NEW.id); END;
      CREATE TRIGGER two AFTER UPDATE ON t BEGIN INSERT INTO elsewhere VALUES (NEW.id); END;
      CREATE TRIGGER three AFTER DELETE ON t BEGIN INSERT INTO gone VALUES (OLD.id); END;
      """, #""t": {}"#)
    for name in ["one", "two", "three"] {
      #expect(refused.error.contains("The trigger \(name) of the table t cannot run here"), "\(refused.error)")
    }
    #expect(refused.error.contains("Mend or drop them"))
  }

  @Test("a trigger that sets off one which cannot run is not blamed for it")
  func nestedTrigger() throws {
    let (_, refused) = try start(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY); CREATE TABLE z (x);
      CREATE TRIGGER first AFTER INSERT ON t BEGIN INSERT INTO z VALUES (NEW.id); END;
      CREATE TRIGGER second AFTER INSERT ON z BEGIN SELECT NEW.y; END;
      """, #""t": {}"#)
    #expect(refused.error.contains("The trigger second of the table z cannot run here"), "\(refused.error)")
  }

  @Test("a trigger of a view is not blamed because the view takes no other writes")
  func viewTrigger() throws {
    let (_, refused) = try start(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY); CREATE TABLE z (x); CREATE VIEW v AS SELECT id FROM t;
      CREATE TRIGGER first INSTEAD OF INSERT ON v BEGIN INSERT INTO t VALUES (NEW.id); END;
      CREATE TRIGGER second AFTER INSERT ON t BEGIN INSERT INTO z SELECT z.lost FROM z; END;
      """, #""t": {}"#)
    #expect(refused.error.contains("The trigger second of the table t cannot run here"), "\(refused.error)")
    #expect(!refused.error.contains("The trigger first"), "\(refused.error)")
  }

  @Test(
    "findings that people will meet are shown: triggers with functions of the app, outward references, counted keys"
  )
  func warnings() throws {
    let (camp, made) = try start(
      """
      CREATE TABLE orders (id INTEGER PRIMARY KEY, product REFERENCES products (id));
      CREATE TABLE products (id TEXT PRIMARY KEY);
      CREATE TABLE texts (id TEXT PRIMARY KEY);
      CREATE TABLE z (x);
      CREATE TRIGGER kept AFTER INSERT ON texts BEGIN INSERT INTO z VALUES (theirs(NEW.id)); END;
      CREATE TRIGGER asleep AFTER INSERT ON texts WHEN theirs(1) BEGIN INSERT INTO orders (product) VALUES (NEW.id); END;
      """, #""orders": {}, "texts": {}"#)
    #expect(made.code == 0, "\(made.error)")
    for words in [
      "The trigger kept of the table texts cannot run here: no such function: theirs.", "Drop it, and rebuild",
      "orders refers to products, which the dataset does not have", "SQLite counts the keys of orders:", "\"rekey\"",
    ] { #expect(made.out.contains(words), "\(words)") }
    #expect(!made.out.contains("asleep"))
    let rehearsed = camp.hubAnywhere(
      "init", camp.path("other"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"),
      "--dry-run")
    #expect(rehearsed.code == 1, "it belongs to a hub by now")
    camp.hub("user", "add", "ann")
    camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    try camp.sql("tablet/data.sqlite", "INSERT INTO orders VALUES (1, 'p')")
    #expect(
      camp.device("tablet", "doctor").out == "All is well.\n", "references that leave the dataset are not its to count")
  }

  @Test("a dataset without trouble has no findings; a rehearsal reports the same")
  func quiet() throws {
    let schema = """
      CREATE TABLE a (id TEXT PRIMARY KEY); CREATE TABLE b (id INTEGER PRIMARY KEY REFERENCES c (id)); CREATE TABLE c (id INTEGER PRIMARY KEY);
      CREATE TABLE d (id INTEGER PRIMARY KEY);
      """
    let tables = #""a": {}, "b": {}, "c": { "keys": "rekey" }, "d": { "write": "none" }"#
    #expect(try start(schema, tables, "--json").outcome.json["warnings"] == [])
    let outward = try start(schema, #""b": {}"#, "--dry-run", "--json").outcome
    #expect(try outward.json["warnings"]?.arrayValue?.first?["reason"] == "reference-out")
  }

  private static let typedColumns = """
    CREATE TABLE t (
      id TEXT PRIMARY KEY, tags INTEGER, seen REAL, photo BLOB, hits BLOB, words TEXT, list JSON, plain, n INTEGER,
      day TEXT);
    """
  private static let policies = """
    { "columns": {
        "tags": "union", "seen": "union", "photo": "max", "hits": "sum", "words": "union", "list": "union",
        "plain": "union", "n": "sum", "day": "max" } }
    """

  @Test("a policy that cannot combine the values of its column's type is named, and a policy that can is not")
  func policiesOfTypes() throws {
    let (camp, rehearsed) = try start(Self.typedColumns, "\"t\": \(Self.policies)", "--dry-run", "--json")
    let warnings = try #require(try rehearsed.json["warnings"])
    let found = try #require(warnings.arrayValue)
    let reasons = found.compactMap { $0["reason"]?.stringValue }
    #expect(reasons == ["policy-type", "policy-type", "policy-type", "policy-type"], "\(found)")
    for (warning, words) in zip(
      found,
      [
        #""union" of t.tags needs texts with JSON arrays, and the type of the column is INTEGER."#,
        #""union" of t.seen needs texts with JSON arrays, and the type of the column is REAL."#,
        #""max" of t.photo needs numbers or texts, and the type of the column is BLOB."#,
        #""sum" of t.hits needs numbers, and the type of the column is BLOB."#,
      ])
    { #expect(warning["message"]?.stringValue?.contains(words) == true, "\(warning)") }
    let checked = camp.hubAnywhere("dataset", "check", camp.path("camp.json"), camp.path("office.sqlite"), "--json")
    #expect(try checked.json["warnings"] == warnings)
  }

  @Test("a new version whose policy cannot combine the values of its column's type says so")
  func policiesOfNewVersion() throws {
    let (camp, made) = try start(Self.typedColumns, #""t": {}"#)
    #expect(made.code == 0 && !made.out.contains("The policy"), "\(made)")
    try camp.write("two.json", "{ \"dataset\": \"camp\", \"version\": 2, \"tables\": { \"t\": \(Self.policies) } }")
    let applied = camp.hub("dataset", "apply", camp.path("two.json"))
    #expect(applied.code == 0 && applied.out.contains(#"Note: The policy "union" of t.tags needs texts"#), "\(applied)")
  }

  @Test("a new version does not begin to sum texts, and a hub that already does works on")
  func sumOfTexts() throws {
    let (camp, made) = try start(
      "CREATE TABLE t (id TEXT PRIMARY KEY, words TEXT, n INTEGER)", #""t": { "columns": { "words": "max" } }"#)
    #expect(made.code == 0, "\(made.error)")
    func apply(_ policies: String) throws -> CommandLineFixture.Outcome {
      try camp.write(
        "two.json", "{ \"dataset\": \"camp\", \"version\": 2, \"tables\": { \"t\": { \"columns\": \(policies) } } }")
      return camp.hub("dataset", "apply", camp.path("two.json"))
    }
    let refused = try apply(#"{ "words": "sum" }"#)
    #expect(refused.code == 1 && refused.error.contains("at tables.t.columns.words: a sum needs numbers"), "\(refused)")
    // Hubs of release 0.1 can have such a definition.
    for table in ["satchel_hub", "satchel_versions"] {
      try camp.sql("office.sqlite", #"UPDATE \#(table) SET definition = replace(definition, '"max"', '"sum"')"#)
    }
    #expect(camp.hub("status").code == 0)
    let applied = try apply(#"{ "words": "sum", "n": "sum" }"#)
    #expect(applied.code == 0, "\(applied.error)")
    #expect(applied.out.contains(#"The policy "sum" of t.words needs numbers, and the type of the column is TEXT."#))
  }

  @Test("what only the app knows, in a table of the dataset, is named with its table")
  func appsOwn() throws {
    for (schema, words) in [
      (
        "t (id TEXT PRIMARY KEY, n TEXT COLLATE NOCASE)",
        "its column n is compared by the collation unicase, which only the app knows"
      ),
      ("t (id TEXT PRIMARY KEY, n TEXT CHECK (lower(n) > 'a'))", "its rows cannot be written here: "),
    ] {
      let (_, outcome) = try start(
        """
        CREATE TABLE \(schema);
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(replace(sql, 'NOCASE', 'unicase'), 'lower', 'appfn');
        """, #""t": {}"#)
      #expect(outcome.code == 1)
      #expect(outcome.error.contains("at tables.t: \(words)"), "\(outcome.error)")
    }
  }
}
