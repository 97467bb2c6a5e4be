import Testing

/// An app on a tablet may have a much older SQLite than this machine.
///
/// SQLite parses the whole schema when it opens a file. So one table with newer SQL would make the file unreadable for
/// the app. One trigger with a newer function would make each of the app's writes fail.
///
/// Android 9 has SQLite 3.22. This machine has only a newer SQLite, so the test examines the SQL of the schema. On
/// 2026-11-29, SQLite 3.23.1 without JSON was tried by hand: it wrote to, compacted and docked such databases.
@Suite("Programs with an older SQLite")
struct OlderProgramTests {
  /// The keywords of SQLite 3.22. In Satchel's SQL, keywords are in capitals and names are not.
  private static let keywords = Set(
    """
    AFTER ALL AND AS BEFORE BEGIN BETWEEN BINARY BLOB BY CASE CAST CHECK COLLATE CREATE DEFAULT DELETE DESC ELSE END \
    FROM GROUP HAVING IN INDEX INSERT INTEGER INTO IS KEY LIMIT NEW NOT NULL OLD ON OR ORDER PRIMARY REAL ROWID SELECT \
    SET TABLE TEXT THEN TRIGGER UNION UNIQUE UPDATE VALUES WHEN WHERE WITHOUT
    """.split(separator: " ").map(String.init))

  /// Functions that every build of SQLite 3.22 has. Builds for tablets often have no JSON and no mathematical
  /// functions.
  private static let functions: Set = [
    "avg", "coalesce", "count", "julianday", "last_insert_rowid", "length", "lower", "max", "min", "sum",
  ]

  /// The SQL of all of Satchel's objects in a database. Comments, texts and quoted names are removed.
  private static func schema(of database: String, in camp: CommandLineFixture) throws -> String {
    try camp.rows(database, "SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL AND name LIKE 'satchel%'")
      .replacing(#/--[^\n]*/#, with: "").replacing(#/'[^']*'/#, with: "''").replacing(#/"[^"]*"/#, with: "name")
  }

  /// The SQL without everything in parentheses.
  private static func withoutParentheses(_ sql: String) -> String {
    var (outside, depth) = ("", 0)
    for character in sql {
      if character == "(" { depth += 1 }
      if depth == 0 { outside.append(character) }
      if character == ")" { depth -= 1 }
    }
    return outside
  }

  @Test("Satchel's tables and triggers need no SQL that SQLite 3.22 lacks", arguments: ["tablet/data", "office"])
  func schema(database: String) throws {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE trees (id TEXT PRIMARY KEY, kind TEXT, height REAL, photo TEXT);
      CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT, tree TEXT REFERENCES trees (id), words TEXT, UNIQUE (tree, words));
      CREATE TABLE tags (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE);
      CREATE UNIQUE INDEX tags_name ON tags (lower(name)) WHERE name IS NOT NULL;
      CREATE TABLE pairs (a INTEGER, b TEXT, v, PRIMARY KEY (a, b)) WITHOUT ROWID
      """,
      CommandLineFixture.definition(
        """
        { "trees": { "conflict": "manual", "unit": "transaction", "attachments": ["photo"] },
          "notes": { "keys": "blocks", "block": 1000 }, "tags": { "keys": "rekey" }, "pairs": {} }
        """), devices: ["tablet"])
    let sql = try Self.schema(of: "\(database).sqlite", in: camp)
    let words = Set(sql.matches(of: #/\b[A-Z]+\b/#.wordBoundaryKind(.simple)).map { String($0.output) })
    #expect(words.isSubset(of: Self.keywords), "\(words.subtracting(Self.keywords).sorted())")
    #expect(words.contains("TRIGGER"), "the schema was read")
    let functions = Set(sql.matches(of: #/\b([a-z_]+)\(/#.wordBoundaryKind(.simple)).map { String($0.1) })
    #expect(functions.isSubset(of: Self.functions), "\(functions.subtracting(Self.functions).sorted())")
    #expect(!sql.contains("->"), "SQLite 3.38 and later")
    let outside = Self.withoutParentheses(sql)
    #expect(!outside.contains(#/UPDATE\s+\S+\s+SET[^;]*\sFROM\s/#), "UPDATE FROM: SQLite 3.33 and later")
  }
}
