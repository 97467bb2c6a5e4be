import SatchelJSON
import SatchelSQLite
import TestSupport
import Testing

/// Two devices and an office write transactions that do not change a total. Bundles are lost, repeated and delivered in
/// any order.
@Suite("A total that each transaction keeps is kept everywhere")
struct UnitHistoryTests {
  private let camp: CommandLineFixture
  private static let devices = ["a", "b"]
  private static let databases = ["a/data.sqlite", "b/data.sqlite", "office.sqlite"]

  init() throws { camp = try CommandLineFixture() }

  /// The random writes of a test, and the total that each transaction keeps.
  private struct Work {
    let schema: String
    /// The tables of the definition, in JSON.
    let tables: String
    /// A query for the total, and its only correct result at any time.
    let total: (query: String, answer: String)
    /// Queries for all rows, by which the test compares the replicas.
    let rows: [String]
    /// Makes the statements of one random transaction in a database.
    let transaction: (inout SplitMix64, _ database: String) -> [String]
  }

  private func write(
    _ work: Work, _ random: inout SplitMix64, marked isMarked: Bool, in database: String
  ) throws -> String {
    let mark = isMarked ? "INSERT INTO satchel_unit DEFAULT VALUES; " : ""
    let sql = "BEGIN; \(mark)\(work.transaction(&random, database).joined(separator: "; ")); COMMIT"
    // If the database refuses a write, for example by a CHECK, the write has no effect.
    do { try camp.sql(database, sql) } catch is SQLiteError { return "" }
    return "\(database): \(sql)"
  }

  private func check(_ work: Work, after story: [String], in databases: [String] = Self.databases) throws {
    for database in databases {
      let total = try camp.rows(database, work.total.query)
      #expect(total == work.total.answer, "\(database)\n\(story.joined(separator: "\n"))")
    }
  }

  private func play(_ work: Work, _ random: inout SplitMix64, marked isMarked: Bool) throws {
    try camp.open(work.schema, CommandLineFixture.definition(work.tables), devices: Self.devices)
    for name in Self.devices { try camp.answer(name) }
    var story: [String] = []
    var exports: [String] = []
    var emissions: [(device: String, file: String)] = []
    for _ in 0..<8 {
      for database in Self.databases {
        for _ in 0..<random.below(3) {
          story.append(try write(work, &random, marked: isMarked && database != "office.sqlite", in: database))
        }
      }
      for name in Self.devices where random.once(in: 2) {
        exports.append(try camp.export(name))
        story.append("\(name) exports")
      }
      if !exports.isEmpty, !random.once(in: 3) {
        let file = random.one(of: exports)
        camp.hub("import", file)
        story.append("hub imports \(file.split(separator: "/").last ?? "")")
        try check(work, after: story)
      }
      for name in Self.devices where random.once(in: 2) {
        emissions.append((name, try camp.emit(name, full: random.once(in: 5))))
        story.append("hub emits for \(name)")
      }
      if !emissions.isEmpty, !random.once(in: 3) {
        let (name, file) = random.one(of: emissions)
        camp.device(name, "import", file)
        story.append("\(name) imports \(file.split(separator: "/").last ?? "")")
        try check(work, after: story)
      }
    }
    for name in Self.devices + Self.devices {
      try camp.deliver(name)
      try camp.answer(name)
      try check(work, after: story)
    }
    try decideAll(work, &random, after: story)
  }

  /// Decides all waiting conflicts at random. Then checks that all replicas have the same rows.
  private func decideAll(_ work: Work, _ random: inout SplitMix64, after story: [String]) throws {
    for _ in 0..<40 {
      let waiting = try #require(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue)
      guard let id = waiting.first?["id"]?.stringValue else { break }
      let shown = try camp.hub("conflicts", "show", id, "--json").json["conflict"]
      let mark = try #require(shown?["row_mark"]?.stringValue)
      // Never keep the device's delete of a line that is already deleted: it would subtract the line's amount from the
      // total twice.
      let changes = shown?["changes"]?.arrayValue ?? []
      let deletesAgain = changes.contains { $0["operation"]?.stringValue == "delete" && $0["row"] == .null }
      if !deletesAgain, random.once(in: 2) { camp.hub("conflicts", "resolve", id, "--keep", "device", "--row", mark) }
      try check(work, after: story, in: ["office.sqlite"])
      camp.hub("conflicts", "resolve", id, "--keep", "hub", "--row", mark)
      try check(work, after: story, in: ["office.sqlite"])
    }
    for name in Self.devices + Self.devices {
      try camp.answer(name)
      try camp.deliver(name)
    }
    try check(work, after: story)
    for query in work.rows {
      let rows = try Self.databases.map { try camp.rows($0, query) }
      #expect(Set(rows).count == 1, "\(rows)\n\(story.joined(separator: "\n"))")
    }
  }

  /// Moves a part of the amount of one place to one or two other places.
  private static func stock(_ policy: String) -> Work {
    Work(
      schema: """
        CREATE TABLE stock (id INTEGER PRIMARY KEY, qty INTEGER CHECK (qty >= 0), note TEXT);
        INSERT INTO stock VALUES (1, 20, ''), (2, 10, ''), (3, 20, ''), (4, 0, ''), (5, 0, '');
        """,
      tables: #"{ "stock": { "unit": "transaction", "conflict": "\#(policy)", "columns": { "qty": "sum" } } }"#,
      total: ("SELECT sum(qty) FROM stock", "50"), rows: ["SELECT id, qty, note FROM stock ORDER BY id"]
    ) { random, _ in
      let from = random.below(5) + 1
      var to = [random.below(5) + 1]
      if random.once(in: 3) { to.append(random.below(5) + 1) }
      let count = random.below(5) + 1
      var statements = to.map { "UPDATE stock SET qty = qty + \(count) WHERE id = \($0)" }
      statements.insert(
        "UPDATE stock SET qty = qty - \(count * to.count) WHERE id = \(from)", at: random.below(to.count + 1))
      if random.once(in: 3) { statements.append("UPDATE stock SET note = '\(random.below(9))' WHERE id = \(to[0])") }
      return statements
    }
  }

  /// Adds a line to an order, changes a line, or removes or moves a line that the same database added. All databases
  /// may also remove the lines v and w, which are never changed. The hub must not subtract such a line from the total
  /// twice.
  private static func orders(_ policy: String) -> Work {
    Work(
      schema: """
        CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER, note TEXT);
        CREATE TABLE lines (
          id TEXT PRIMARY KEY, "order" INTEGER NOT NULL REFERENCES orders (id), amount INTEGER CHECK (amount <= 9));
        INSERT INTO orders VALUES (1, 7, ''), (2, 4, ''), (3, 0, '');
        INSERT INTO lines VALUES ('x', 1, 2), ('y', 1, 3), ('z', 2, 3), ('v', 1, 2), ('w', 2, 1);
        """,
      tables: """
        { "orders": { "conflict": "\(policy)", "columns": { "total": "sum" } },
          "lines": { "unit": "parent", "conflict": "\(policy)", "columns": { "amount": "sum" } } }
        """,
      total: (
        """
        SELECT orders.id
        FROM orders LEFT JOIN lines ON lines."order" = orders.id
        GROUP BY orders.id
        HAVING orders.total <> coalesce(sum(lines.amount), 0)
        """, ""
      ),
      rows: ["SELECT id, total, note FROM orders ORDER BY id", #"SELECT id, "order", amount FROM lines ORDER BY id"#]
    ) { random, database in
      let (order, amount) = (random.below(3) + 1, random.below(4) + 1)
      let own = "'\(database.prefix(1))\(random.below(4))'"
      let any = random.once(in: 3) ? own : "'\(random.one(of: ["x", "y", "z"]))'"
      func parent(_ line: String) -> String { "id = (SELECT \"order\" FROM lines WHERE id = \(line))" }
      func value(of line: String) -> String { "(SELECT amount FROM lines WHERE id = \(line))" }
      let old = value(of: own)
      let note = "UPDATE orders SET note = '\(random.below(9))' WHERE id = \(order)"
      switch random.below(4) {
      case 0:
        return [
          "UPDATE orders SET total = total + \(amount) WHERE id = \(order)",
          "INSERT INTO lines VALUES (\(own), \(order), \(amount))",
        ]
      case 1:
        return [
          "UPDATE orders SET total = total + \(amount) WHERE \(parent(any))",
          "UPDATE lines SET amount = amount + \(amount) WHERE id = \(any)", note,
        ]
      case 2:
        let removed = random.once(in: 2) ? own : "'\(random.one(of: ["v", "w"]))'"
        return [
          "UPDATE orders SET total = total - \(value(of: removed)) WHERE \(parent(removed))",
          "DELETE FROM lines WHERE id = \(removed)",
        ]
      default:
        return [
          "UPDATE orders SET total = total - \(old) WHERE \(parent(own))",
          "UPDATE orders SET total = total + coalesce(\(old), 0) WHERE id = \(order)",
          "UPDATE lines SET \"order\" = \(order) WHERE id = \(own)",
        ]
      }
    }
  }

  @Test(
    "no import, whatever comes when, takes a part of a transaction",
    arguments: ["manual", "hub", "newest", "device"], historySeeds(usually: 2, share: 20))
  func transactions(policy: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed &* 7_919 &+ UInt64(policy.utf8.count))
    try play(Self.stock(policy), &random, marked: seed % 2 == 0)
  }

  @Test(
    "no import, whatever comes when, takes a part of what belongs to an order",
    arguments: ["manual", "hub", "newest", "device"], historySeeds(usually: 2, share: 20))
  func families(policy: String, seed: UInt64) throws {
    var random = SplitMix64(seed: seed &* 7_927 &+ UInt64(policy.utf8.count))
    try play(Self.orders(policy), &random, marked: false)
  }
}
