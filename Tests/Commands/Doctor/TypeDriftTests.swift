import Foundation
import SatchelJSON
import Testing

/// A table is created again, and its columns have other types.
@Suite("A changed type or collation is named")
struct TypeDriftTests {
  private static let schema = """
    CREATE TABLE t (id TEXT PRIMARY KEY, code TEXT, size REAL);
    INSERT INTO t VALUES ('007', '007', 1.5), ('8', '1e3', 2);
    """

  private func camp() throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(
      Self.schema, #"{ "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": { "t": {} } }"#)
    return camp
  }

  private func file(_ place: String) -> String { place == "hub" ? "office.sqlite" : "tablet/data.sqlite" }

  private func run(_ camp: CommandLineFixture, _ place: String, _ words: String...) -> CommandLineFixture.Outcome {
    place == "hub"
      ? camp.hubAnywhere(["-C", camp.path("hub")] + words) : camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
  }

  /// Creates the table again and then its triggers, as some tools do.
  private func remake(_ camp: CommandLineFixture, _ database: String, _ columns: String) throws {
    let triggers = try camp.rows(
      database, "SELECT sql || ';' FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 't'")
    try camp.sql(
      database,
      "CREATE TABLE u (\(columns)); INSERT INTO u SELECT * FROM t; DROP TABLE t; ALTER TABLE u RENAME TO t;" + triggers)
  }

  @Test(
    "of a key: nothing is exported or repaired, for its rows have other keys", arguments: ["tablet", "hub"],
    [
      ("id INTEGER PRIMARY KEY", "id is INTEGER now, was TEXT"),
      ("id TEXT COLLATE NOCASE PRIMARY KEY", "id is compared by NOCASE now"),
    ])
  func key(place: String, column: (declared: String, words: String)) throws {
    let camp = try camp()
    try remake(camp, file(place), "\(column.declared), code TEXT, size REAL")
    #expect(run(camp, place, "status").out.contains("the key of the table t was changed: \(column.words)"))
    #expect(try run(camp, place, "doctor", "--json").json["findings"]?.arrayValue?.first?["reason"] == "schema-drift")
    let repaired = run(camp, place, "doctor", "--repair")
    #expect(repaired.code == 1)
    #expect(repaired.error.contains(column.words) && repaired.error.contains("Give the table its old key back"))
    #expect(repaired.error.contains("copy the rows into it"), "a way that the hub has, too")
    #expect(run(camp, place, place == "hub" ? "emit" : "export").code != 0)
    try remake(camp, file(place), "id TEXT PRIMARY KEY, code TEXT, size REAL")
    #expect(run(camp, place, "doctor", "--repair").code == 0)
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM t WHERE id = '007'") == "1", "the row is put back")
  }

  @Test(
    "of a key that SQLite numbers no more, or numbers now: new rows would have no key, or another one",
    arguments: ["tablet", "hub"], [("INTEGER", "INT"), ("INT", "INTEGER")])
  private func numbering(place: String, types: (before: String, now: String)) throws {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE t (id \(types.before) PRIMARY KEY, code TEXT); INSERT INTO t VALUES (7, 'x')",
      #"{ "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": { "t": {} } }"#)
    try remake(camp, file(place), "id \(types.now) PRIMARY KEY, code TEXT")
    let words = "the key of the table t was changed: id is \(types.now) now, was \(types.before)"
    #expect(run(camp, place, "status").out.contains(words))
    let repaired = run(camp, place, "doctor", "--repair")
    #expect(repaired.code == 1 && repaired.error.contains(words), "\(repaired)")
    try remake(camp, file(place), "id \(types.before) PRIMARY KEY, code TEXT")
    #expect(run(camp, place, "doctor", "--repair").code == 0)
    #expect(run(camp, place, "doctor").out == "All is well.\n")
  }

  @Test(
    "of another column: it is named as it is and as it was, and capture follows", arguments: ["tablet", "hub"],
    [
      ("code INTEGER", "code is INTEGER now, was TEXT"),
      ("code TEXT COLLATE NOCASE", "code is compared by NOCASE now, was by BINARY"),
    ])
  func column(place: String, column: (declared: String, words: String)) throws {
    let camp = try camp()
    try remake(camp, file(place), "id TEXT PRIMARY KEY, \(column.declared), size REAL")
    let words = "the table t was created again and changed a column: \(column.words)"
    #expect(run(camp, place, "status").out.contains(words))
    #expect(try run(camp, place, "status", "--json").json["damage"]?.arrayValue == [.string(words)])
    #expect(run(camp, place, "doctor").out.contains(words))
    #expect(run(camp, place, "doctor", "--repair").code == 0)
    #expect(run(camp, place, "doctor").out == "All is well.\n")
  }

  @Test(
    "a declaration that only an editor of the schema changed is named, and is no damage to the file",
    arguments: ["tablet", "hub"])
  func edited(place: String) throws {
    let camp = try camp()
    try camp.sql(
      file(place),
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'size REAL', 'size TEXT') WHERE name = 't';
      PRAGMA writable_schema = RESET;
      """)
    #expect(run(camp, place, "status").out.contains("the table t changed a column: size is TEXT now, was REAL"))
    let looked = run(camp, place, "doctor")
    #expect(!looked.out.contains("damaged"), "\(looked.out)")
    #expect(run(camp, place, "doctor", "--repair").code == 0)
  }

  @Test("another name for the same type is none", arguments: ["id VARCHAR(9) PRIMARY KEY, code CLOB, size DOUBLE"])
  func sameType(columns: String) throws {
    let camp = try camp()
    try remake(camp, "tablet/data.sqlite", columns)
    let status = camp.device("tablet", "status").out
    #expect(status.contains("the table t was created again:") && !status.contains("now, was"))
  }

  @Test("a migration may change a type: nothing is named afterwards")
  func migrated() throws {
    let camp = try camp()
    try camp.write(
      "two.json", #"{ "dataset": "camp", "version": 2, "attributes": { "tier": "integer" }, "tables": { "t": {} } }"#)
    try camp.write(
      "two.sql",
      """
      CREATE TABLE u (id TEXT PRIMARY KEY, code TEXT, size INTEGER); INSERT INTO u SELECT * FROM t; DROP TABLE t; \
      ALTER TABLE u RENAME TO t;
      """
    )
    let applied = camp.hub("dataset", "apply", camp.path("two.json"), "--migration", camp.path("two.sql"))
    #expect(applied.code == 0, "\(applied.out)\(applied.error)")
    #expect(camp.hub("doctor").out == "All is well.\n")
    try camp.carry("tablet", rounds: 2)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }
}
