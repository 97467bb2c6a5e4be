import SatchelJSON
import SatchelSQLite
import TestSupport
import Testing

/// A few rows that are connected by keys, references and UNIQUE values. Both sides change them at random.
@Suite("Rows that hang on each other")
struct TangledRowTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private static let schema = """
    CREATE TABLE groups (id TEXT PRIMARY KEY, name TEXT UNIQUE, mark TEXT);
    CREATE TABLE seats (
      id TEXT PRIMARY KEY, place TEXT REFERENCES groups (id) ON UPDATE CASCADE ON DELETE CASCADE, name TEXT,
      mark TEXT, upper_name TEXT GENERATED ALWAYS AS (upper(name)) STORED, UNIQUE (place, name));
    CREATE UNIQUE INDEX seats_by_name ON seats (lower(name) || ':' || place);
    INSERT INTO groups (id, name) VALUES ('0', 'a'), ('1', 'b'), ('2', 'c');
    INSERT INTO seats (id, place, name) VALUES ('0', '0', 'a'), ('1', '0', 'b'), ('2', '1', 'a'), ('3', '2', 'c');
    """

  private func write(_ random: inout SplitMix64, _ mark: String) -> String {
    let (id, other) = (random.below(5), random.below(5))
    let name = ["a", "b", "c", "d"][random.below(4)]
    switch random.below(12) {
    case 0: return "INSERT OR IGNORE INTO groups (id, name, mark) VALUES ('\(id)', '\(name)', '\(mark)')"
    case 1, 2:
      let word = random.once(in: 2) ? "IGNORE" : "REPLACE"
      return """
        INSERT OR \(word) INTO seats (id, place, name, mark) VALUES ('\(id)', '\(other)', '\(name)', '\(mark)')
        """
    case 3: return "DELETE FROM groups WHERE id = '\(id)'"
    case 4: return "DELETE FROM seats WHERE id = '\(id)'"
    case 5: return "UPDATE OR IGNORE groups SET name = '\(name)', mark = '\(mark)' WHERE id = '\(id)'"
    case 6: return "UPDATE OR IGNORE seats SET name = '\(name)', mark = '\(mark)' WHERE id = '\(id)'"
    case 7: return "UPDATE OR REPLACE seats SET place = '\(other)', mark = '\(mark)' WHERE id = '\(id)'"
    case 8: return "UPDATE OR REPLACE groups SET name = '\(name)', mark = '\(mark)' WHERE id = '\(id)'"
    // A row's primary key changes. Rows that refer to it follow.
    case 9: return "UPDATE OR IGNORE groups SET id = '\(other)' WHERE id = '\(id)'"
    case 10: return "UPDATE OR IGNORE seats SET id = '\(other)' WHERE id = '\(id)'"
    // Two rows trade their names or their primary keys.
    default:
      let column = random.once(in: 2) ? "name" : "id"
      return """
        BEGIN; UPDATE OR IGNORE seats SET \(column) = 'x' WHERE id = '\(id)';
        UPDATE OR IGNORE seats SET \(column) = (SELECT \(column) FROM seats WHERE id = '\(other)') WHERE id = '\(other)';
        UPDATE OR IGNORE groups SET name = 'x' WHERE id = '\(id)';
        UPDATE OR IGNORE groups SET name = (SELECT char(97 + \(id))) WHERE id = '\(other)';
        UPDATE OR IGNORE groups SET name = 'd' WHERE name = 'x'; COMMIT
        """
    }
  }

  private static let policies = ["manual", "device", "hub", "newest"]

  @Test(
    "random edits of keys, references and UNIQUE values stop no import, lose no write, and break no reference",
    arguments: policies, historySeeds(usually: 8, share: 20))
  func random(policy: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed &* 104_729 &+ UInt64(policy.utf8.count))
    var marks = WrittenMarks()
    let all = "SELECT mark FROM groups UNION ALL SELECT mark FROM seats"
    let rule = #""conflict": "\#(policy)""#
    try camp.open(
      Self.schema, CommandLineFixture.definition(#"{ "groups": { \#(rule) }, "seats": { \#(rule) } }"#),
      devices: ["tablet"])
    var story: [String] = []
    for _ in 0..<6 {
      for (place, database) in [("tablet", "tablet/data.sqlite"), ("office", "office.sqlite")] {
        for _ in 0..<random.below(4) {
          let sql = write(&random, marks.next())
          let before = try camp.rows(database, all)
          // If the database refuses a write, the write has no effect.
          do { try camp.sql(database, "PRAGMA foreign_keys = ON; \(sql)") } catch is SQLiteError { continue }
          marks.note(before: before, after: try camp.rows(database, all))
          story.append("\(place): \(sql)")
        }
      }
      if random.once(in: 2) { try camp.deliver("tablet") }
      if random.once(in: 2) { try camp.answer("tablet", full: random.once(in: 4)) }
    }
    for _ in 0..<4 {
      try camp.deliver("tablet")
      try camp.answer("tablet")
    }
    let words = "SATCHEL_SEED=\(seed)\n" + story.joined(separator: "\n")
    let lost = try marks.lost(in: camp, ["office.sqlite", "tablet/data.sqlite"], tables: ["groups", "seats"])
    #expect(lost.isEmpty, "\(lost)\n\(words)")
    for table in ["groups", "seats"] {
      let rows = "SELECT * FROM \(table) ORDER BY id"
      #expect(try camp.rows("tablet/data.sqlite", rows) == camp.rows("office.sqlite", rows), "\(table)\n\(words)")
    }
    for database in ["tablet/data.sqlite", "office.sqlite"] {
      #expect(try camp.rows(database, "PRAGMA foreign_key_check").isEmpty, "\(database)\n\(words)")
    }
  }
}
