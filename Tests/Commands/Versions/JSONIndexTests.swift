import SatchelJSON
import Testing

/// Indexes and generated columns that use SQLite's JSON functions. SQLite 3.40 treats these functions as unsafe in
/// files from elsewhere.
@Suite("Indexes and generated columns over JSON")
struct JSONIndexTests {
  static let schemas = [
    "CREATE TABLE t (id TEXT PRIMARY KEY, doc TEXT, n TEXT AS (json_extract(doc, '$.n')));",
    "CREATE TABLE t (id TEXT PRIMARY KEY, doc TEXT); CREATE INDEX ti ON t (json_extract(doc, '$.n'));",
    "CREATE TABLE t (id TEXT PRIMARY KEY, doc TEXT); CREATE UNIQUE INDEX ti ON t (json_extract(doc, '$.n'));",
    "CREATE TABLE t (id TEXT PRIMARY KEY, doc TEXT); CREATE UNIQUE INDEX ti ON t (doc ->> '$.n');",
    "CREATE TABLE t (id TEXT PRIMARY KEY, doc TEXT); CREATE INDEX ti ON t (doc) WHERE json_type(doc) = 'object';",
  ]

  @Test("devices are made, and full bundles in both directions are imported", arguments: schemas)
  func full(schema: String) throws {
    let camp = try CommandLineFixture()
    try camp.open(
      schema + #"INSERT INTO t (id, doc) VALUES ('x', '{"n":1}');"#, CommandLineFixture.definition(#"{ "t": {} }"#),
      devices: ["a"])
    try camp.sql("a/data.sqlite", #"INSERT INTO t (id, doc) VALUES ('y', '{"n":2}')"#)
    let whole = try #require(try camp.device("a", "export", "--snapshot", "--json").json["file"]?.stringValue)
    let outcome = camp.hub("import", whole)
    #expect(outcome.code == 0, "\(outcome.error)")
    try camp.answer("a", full: true)
    #expect(try camp.rows("a/data.sqlite", "SELECT id, doc ->> '$.n' FROM t ORDER BY id") == "x|1\ny|2")
    #expect(camp.hub("doctor").code == 0 && camp.device("a", "doctor").code == 0)
  }
}
