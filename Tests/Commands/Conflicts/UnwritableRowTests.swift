import SatchelJSON
import Testing

/// The hub sends a row that only the device's database refuses, because the device's table has one more rule.
@Suite("Rows from the hub that only a device's database refuses")
struct UnwritableRowTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY, doc TEXT, n INTEGER CHECK (abs(n) < 9), m AS (length(doc)));
      INSERT INTO t (id, doc, n) VALUES ('x', '{"n":1}', 1), ('y', '{"n":2}', 2);
      """, CommandLineFixture.definition(#"{ "t": {} }"#), devices: ["tablet"])
  }

  /// A rule that only the device's table has.
  enum Rule: CaseIterable {
    case index, partialIndex, generatedColumn, notNull

    /// The value of the office that the device's rule does not allow.
    var value: String { self == .notNull ? "NULL" : "'words'" }

    var cause: String {
      switch self {
      case .index, .partialIndex: "the index own cannot be computed from it (malformed JSON)."
      case .generatedColumn: "the generated column m cannot be computed from it (malformed JSON)."
      case .notNull: "NOT NULL constraint failed: t.doc."
      }
    }
  }

  private func replace(_ text: String, by other: String) throws {
    try camp.sql(
      "tablet/data.sqlite",
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, '\(text)', '\(other)') WHERE name IN ('t', 'own');
      PRAGMA writable_schema = OFF
      """)
  }

  private func add(_ rule: Rule) throws {
    switch rule {
    case .index: try camp.sql("tablet/data.sqlite", "CREATE INDEX own ON t (json_extract(doc, '$.n'))")
    case .partialIndex: try camp.sql("tablet/data.sqlite", "CREATE INDEX own ON t (n) WHERE doc ->> '$.n' > 0")
    case .generatedColumn: try replace("length(doc)", by: "json_extract(doc, ''$.n'')")
    case .notNull: try replace("doc TEXT", by: "doc TEXT NOT NULL")
    }
  }

  private func remove(_ rule: Rule) throws {
    switch rule {
    case .index, .partialIndex: try camp.sql("tablet/data.sqlite", "DROP INDEX own")
    case .generatedColumn: try replace("json_extract(doc, ''$.n'')", by: "length(doc)")
    case .notNull: try replace("doc TEXT NOT NULL", by: "doc TEXT")
    }
  }

  private func rows(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, doc, n FROM t ORDER BY id")
  }

  /// The failed import that the device's `status` shows; nil: it shows none.
  private func failure() throws -> JSONValue? {
    try camp.device("tablet", "status", "--json").json["failed_imports"]?.arrayValue?.first
  }

  /// The office writes a value that the device's rule does not allow, and the device's import fails. Returns the
  /// bundle's path.
  private func fail(by rule: Rule) throws -> String {
    try add(rule)
    try camp.sql("office.sqlite", "UPDATE t SET doc = \(rule.value) WHERE id = 'x'; UPDATE t SET n = 5 WHERE id = 'y'")
    let file = try camp.emit("tablet")
    #expect(camp.device("tablet", "import", file).code == 3)
    #expect(try rows("tablet/data.sqlite") == "x|{\"n\":1}|1\ny|{\"n\":2}|2", "nothing is changed")
    return file
  }

  @Test("status names the row and the rule, until the rule is gone", arguments: Rule.allCases)
  func named(rule: Rule) throws {
    let file = try fail(by: rule)
    let message = try failure()?["message"]?.stringValue
    #expect(message?.hasPrefix(#"The row t ["x"] that the hub sent cannot be written"#) == true, "\(message ?? "")")
    #expect(message?.hasSuffix(": \(rule.cause)") == true, "\(message ?? "")")
    if rule == .index { #expect(try failure()?["hint"]?.stringValue?.contains("DROP INDEX \"own\"") == true) }
    try remove(rule)
    #expect(camp.device("tablet", "import", file).code == 0)
    #expect(try failure() == nil)
    #expect(try rows("tablet/data.sqlite") == rows("office.sqlite"))
  }

  @Test("the next bundle comes in after the row was changed at the hub", arguments: Rule.allCases)
  func changed(rule: Rule) throws {
    _ = try fail(by: rule)
    try camp.sql("office.sqlite", "UPDATE t SET doc = '{}' WHERE id = 'x'")
    try camp.answer("tablet")
    #expect(try failure() == nil)
    #expect(try rows("tablet/data.sqlite") == "x|{}|1\ny|{\"n\":2}|5")
  }

  @Test("if an index needs a function that only the app has, status names the table and the index")
  func functionOfTheApp() throws {
    try camp.sql("tablet/data.sqlite", "CREATE INDEX own ON t (abs(n))")
    try replace("abs(n))", by: "theirs(n))")
    try camp.sql("office.sqlite", "UPDATE t SET n = 5 WHERE id = 'y'")
    let file = try camp.emit("tablet")
    #expect(camp.device("tablet", "import", file).code == 1)
    #expect(
      try failure()?["message"]
        == "Rows of t cannot be written here, because the index own needs theirs, which only the app has.")
    try camp.sql("tablet/data.sqlite", "DROP INDEX own")
    #expect(camp.device("tablet", "import", file).code == 0)
    #expect(try rows("tablet/data.sqlite") == rows("office.sqlite"))
  }

  @Test("if a CHECK needs a function that only the app has, the hub's change comes in beside a pending change")
  func checkOfTheApp() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE t SET n = 3 WHERE id = 'x'")
    try replace("abs(n) < 9", by: "theirs(n) < 9")
    try camp.sql("office.sqlite", "UPDATE t SET doc = '{}' WHERE id = 'x'")
    try camp.answer("tablet")
    #expect(try rows("tablet/data.sqlite") == "x|{}|3\ny|{\"n\":2}|2")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
  }

  @Test("if a CHECK needs a function that only the app has, an export carries the changes without a snapshot")
  func exportWithCheckOfTheApp() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE t SET n = 3 WHERE id = 'x'")
    try replace("abs(n) < 9", by: "theirs(n) < 9")
    let refused = camp.device("tablet", "export", "--snapshot")
    #expect(refused.code == 1)
    #expect(refused.error.contains("because a table needs theirs, which only the app has"), "\(refused.error)")
    #expect(camp.hub("import", try camp.export("tablet")).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT n FROM t WHERE id = 'x'") == "3")
  }
}
