import Foundation
import TestSupport

/// A random history in which each writer knew all earlier writes. So the rows at its end are the only correct rows.
/// They do not depend on what the hub forgets, or on the order in which the devices deliver again.
///
/// There are few keys and few values. So rows, values and elements of sets often come back after they were removed.
struct KnownHistory {
  private static let policies = ["manual", "hub", "device", "newest"]
  static let devices = ["a", "b", "c"]
  static let tables = ["things", "pairs", "numbers", "marks"]

  let seed: UInt64
  /// Which device wrote which statement, in the order of time.
  private(set) var writes: [(device: String, statement: String)] = []
  private let camp: CommandLineFixture
  private var random: SplitMix64
  /// The primary keys of all rows that were ever in `numbers`.
  private var made: Set<String> = ["1"]

  /// Makes a hub with first rows, and three devices that have these rows.
  init(seed: UInt64, in camp: CommandLineFixture) throws {
    (self.seed, self.camp, random) = (seed, camp, SplitMix64(seed: seed))
    let rules = #""conflict": "\#(random.one(of: Self.policies))", "merge": "\#(random.one(of: ["column", "row"]))""#
    let sets = rules.contains("row") ? "" : #", "columns": { "tags": "union", "n": "sum" }"#
    try camp.open(
      """
      CREATE TABLE things (id TEXT PRIMARY KEY, name TEXT, tags TEXT DEFAULT '[]', n INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE pairs (one TEXT, other TEXT, PRIMARY KEY (one, other));
      CREATE TABLE numbers (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE marks (id TEXT PRIMARY KEY, name TEXT, gone INTEGER);
      INSERT INTO things (id, name) VALUES ('x', 'p'), ('y', 'q');
      INSERT INTO pairs VALUES ('x', 'y');
      INSERT INTO numbers VALUES (1, 'p');
      INSERT INTO marks VALUES ('x', 'p', NULL);
      """,
      CommandLineFixture.definition(
        """
        { "things": { \(rules)\(sets) }, "pairs": { \(rules) }, "numbers": { \(rules), "keys": "rekey" },
          "marks": { \(rules), "delete": "soft", "deleted": "gone" } }
        """), devices: Self.devices)
    for device in Self.devices { try camp.carry(device, rounds: 2) }
  }

  /// In each turn, one device imports all earlier writes, writes once or twice, and delivers.
  mutating func write(times: Int) throws {
    for _ in 0..<times {
      let device = random.one(of: Self.devices)
      try camp.carry(device)
      camp.awaitLaterTime()
      let statement = try statement(at: device)
      try camp.sql("\(device)/data.sqlite", statement)
      writes.append((device, statement))
      try camp.carry(device)
      if random.once(in: 3) { try camp.carry(random.one(of: Self.devices)) }
    }
    for device in Self.devices { try camp.carry(device) }
  }

  /// The devices in a random order.
  mutating func order() -> [String] { Self.devices.shuffled(using: &random) }

  /// All rows of a database.
  func rows(_ database: String) throws -> String {
    try Self.tables.map { "\($0): " + (try camp.rows(database, "SELECT * FROM \($0) ORDER BY 1, 2")) }
      .joined(separator: "\n")
  }

  private mutating func statement(at device: String) throws -> String {
    let table = random.one(of: Self.tables)
    let key = table == "numbers" ? "\(random.below(4) + 1)" : "'\(random.one(of: ["x", "y"]))'"
    let other = random.one(of: ["x", "y"])
    let name = table == "pairs" ? "one = \(key) AND other = '\(other)'" : "id = \(key)"
    let value = random.one(of: ["'p'", "'q'", "NULL"])
    if table == "numbers", !made.contains(key) {
      made.insert(key)
      return "INSERT INTO numbers VALUES (\(key), \(value))"
    }
    let isThere = try camp.rows("\(device)/data.sqlite", "SELECT count(*) FROM \(table) WHERE \(name)") == "1"
    // A deleted row's key must not be used again in `numbers`: the hub that was set back cannot know that the new row's
    // maker knew the delete. It might assign another key.
    if !isThere, table == "numbers" { return try statement(at: device) }
    if !isThere {
      return table == "pairs"
        ? "INSERT INTO pairs VALUES (\(key), '\(other)')" : "INSERT INTO \(table) (id, name) VALUES (\(key), \(value))"
    }
    if table == "pairs" || random.once(in: 4) { return "DELETE FROM \(table) WHERE \(name)" }
    guard table == "things" else { return "UPDATE \(table) SET name = \(value) WHERE \(name)" }
    switch random.below(3) {
    case 0: return "UPDATE things SET name = \(value) WHERE \(name)"
    case 1: return "UPDATE things SET n = n + \(random.below(3) + 1) WHERE \(name)"
    default:
      return "UPDATE things SET tags = '\(random.one(of: ["[]", #"["r"]"#, #"["s"]"#, #"["r","s"]"#]))' WHERE \(name)"
    }
  }
}
