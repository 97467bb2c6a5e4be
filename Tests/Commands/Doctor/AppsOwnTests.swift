import Foundation
import SatchelJSON
import Testing

/// Databases in which an app uses its own collations and functions. They are in tables outside the dataset.
@Suite("The app's own objects outside the dataset disturb no import")
struct AppsOwnTests {
  /// SQL with a schema as the app's connection would have stored it.
  private static let kinds = [
    "a collation": """
    CREATE TABLE x (n TEXT COLLATE NOCASE CHECK (n <> ''), g AS (length(n)) STORED); CREATE UNIQUE INDEX y ON x (n);
    INSERT INTO x (n) VALUES ('B'), ('a'), ('D'), ('c');
    PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'unicase') WHERE name = 'x';
    """,
    "a collation that sorts both ways": """
    CREATE TABLE x (n TEXT COLLATE NOCASE); CREATE UNIQUE INDEX y ON x (n); CREATE INDEX z ON x (n DESC);
    INSERT INTO x VALUES ('B'), ('a'), ('D'), ('c');
    PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'unicase') WHERE name = 'x';
    """,
    "a function": """
    CREATE TABLE x (n TEXT CHECK (lower(n) <> 'q')); CREATE INDEX y ON x (lower(n));
    INSERT INTO x VALUES ('B'), ('a'), ('D'), ('c');
    PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'lower', 'appfn') WHERE name IN ('x', 'y');
    """,
    "a generated column with a CHECK": """
    CREATE TABLE x (n TEXT CHECK (n <> ''), g AS (n || 'x') STORED, h AS (n || 'y')); CREATE INDEX y ON x (h);
    INSERT INTO x (n) VALUES ('B'), ('a'), ('D'), ('c');
    """,
    "a module": """
    CREATE TABLE x (n);
    PRAGMA writable_schema = ON;
    INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING appmodule(a)');
    """,
    "a reference that leads nowhere": """
    CREATE TABLE p (n TEXT); CREATE TABLE x (n TEXT REFERENCES p (n), m REFERENCES nowhere); INSERT INTO x VALUES ('a', 1);
    """,
  ]

  @Test("doctor, repair, backup, restore, compact and templates work", arguments: kinds.keys.sorted())
  func all(kind: String) throws {
    let camp = try CommandLineFixture()
    try camp.open()
    let own = try #require(Self.kinds[kind])
    try camp.sql("office.sqlite", own)
    try camp.makeOffice("template.db")
    try camp.sql("template.db", "DELETE FROM reviews; DELETE FROM sites; \(own)")
    func expect(_ outcome: CommandLineFixture.Outcome) { #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)") }
    expect(camp.hub("doctor"))
    expect(
      camp.hub(
        "device", "provision", "third", "--user", "ann", "--into", camp.path("third"), "--template",
        camp.path("template.db")))
    expect(camp.device("third", "doctor"))
    for database in ["office.sqlite", "third/data.db"] {
      try camp.sql(
        database, "DROP TRIGGER \"satchel_before_update:reviews\"; UPDATE reviews SET words = 'unseen' WHERE id = 'r1'")
    }
    expect(camp.hub("doctor", "--repair"))
    expect(camp.device("third", "doctor", "--repair"))
    let shrunk = camp.hub("compact", "--shrink")
    expect(shrunk)
    #expect(shrunk.out.contains("keeps its size") == (kind.hasPrefix("a collation") || kind == "a function"))
    expect(camp.device("third", "compact", "--shrink"))
    expect(camp.hub("backup", camp.path("monday.satchel")))
    expect(
      camp.hubAnywhere("restore", camp.path("monday.satchel"), camp.path("again"), "--keys", camp.path("hub/keys")))
    expect(camp.hubAnywhere("-C", camp.path("again"), "doctor"))
    try camp.answer("third", full: true)
    for database in ["third/data.db", "again/office.sqlite"] {
      #expect(try soundness(of: database, in: camp) == "ok", "\(database)")
    }
  }

  /// SQLite's integrity check of the app's table, as the app would see its file. In the checked copy, SQLite's own
  /// collation and function replace those of the app.
  private func soundness(of database: String, in camp: CommandLineFixture) throws -> String {
    try camp.removeIfThere("seen.db")
    try camp.copy(database, to: "seen.db")
    try camp.sql(
      "seen.db",
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(replace(sql, 'unicase', 'NOCASE'), 'appfn', 'lower')
      WHERE name IN ('x', 'y', 'z');
      """)
    return try camp.rows("seen.db", "PRAGMA integrity_check(x)")
  }

  @Test(
    "writes are delivered whatever an app's own function says in the place of SQLite's clock",
    arguments: ["NULL", "1e12", "-1e12", "'noon'"])
  func clock(time: String) throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql(
      "phone/data.sqlite",
      """
      UPDATE reviews SET words = 'first' WHERE id = 'r2';
      UPDATE satchel_writes_reviews SET satchel_written = \(time) WHERE satchel_number > 0;
      """)
    try camp.deliver("phone")
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET words = 'second' WHERE id = 'r2'")
    try camp.deliver("phone")
    try camp.answer("phone")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r2'") == "second")
    #expect(camp.device("phone", "doctor").code == 0)
  }
}
