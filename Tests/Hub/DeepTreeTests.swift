import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

/// Trees in which most rows have more ancestors than the SQL of a rule visits by itself. The results must equal those
/// of one SQL statement without this bound.
@Suite("Rows of deep trees")
struct DeepTreeTests {
  @Test(
    """
    over random trees with circles, hidden rows and two ways up, and random writes, a row is seen as if all rows \
    above it were asked
    """,
    arguments: TreeHistory.Rule.allCases, TreeHistory.Spelling.allCases)
  func randomTrees(_ rule: TreeHistory.Rule, _ spelling: TreeHistory.Spelling) throws {
    var total = TreeHistory.Tally()
    for seed in UInt64(0)..<12 {
      var history = try TreeHistory(seed: seed, rule, spelling)
      total += try history.play()
    }
    #expect(total.deepSeen > 40 && total.deepHidden > 80 && total.takenBack > 20, "\(total)")
  }

  @Test(
    "a long chain is read once, row by row, also while it is written and deleted",
    arguments: TreeHistory.Spelling.allCases)
  func chain(_ spelling: TreeHistory.Spelling) throws {
    let count = 2_000
    let read = try TreeHistory(seed: 1, .none, spelling).growAndFell(rows: count)
    // Each row is read about twice: when it is inserted, and before it is deleted. A quadratic cost would be some
    // millions.
    #expect(read > count / 2 && read < 4 * count, "\(read)")
  }

  @Test("a rule cannot call the function by which SQL asks about deep trees")
  func function() throws {
    #expect { try TreeHistory(seed: 1, .none).check(visible: "satchel_sees_in_tree(1, 1, id)") } throws: {
      "\($0)".contains("it calls satchel_sees_in_tree()")
    }
  }
}

/// A hub's database with a tree. Programs write to it in one transaction, while the test asks for the rows that a user
/// may see.
struct TreeHistory {
  enum Rule: String, CaseIterable, CustomTestStringConvertible {
    case none, ofRow, ofTree, ofOtherTable

    var testDescription: String { rawValue }

    var sql: String? {
      switch self {
      case .none: nil
      case .ofRow: "tier <= :tier"
      case .ofTree: "(SELECT count(*) FROM nodes AS others WHERE others.tier = nodes.tier) < 7"
      case .ofOtherTable: "tier <= (SELECT max(tier) FROM leaves) OR tier = :tier"
      }
    }
  }

  /// How a row names its parent.
  enum Spelling: String, CaseIterable, CustomTestStringConvertible {
    case exact, anyLetters

    var testDescription: String { rawValue }
  }

  struct Tally {
    /// The number of checked rows that have more ancestors than the bound.
    var deepSeen = 0
    var deepHidden = 0
    var takenBack = 0

    static func += (a: inout Tally, b: Tally) {
      a.deepSeen += b.deepSeen
      a.deepHidden += b.deepHidden
      a.takenBack += b.takenBack
    }
  }

  private static let bound = 2
  /// All keys that rows of these tables may have.
  private static let keys: [(table: Name, keys: [RowKey])] = [
    ("nodes", (0..<14).map { RowKey([.string("n\($0)")]) }), ("leaves", (1...5).map { RowKey([.integer($0)]) }),
  ]
  private let seed: UInt64
  private let spelling: Spelling
  private let folder: TemporaryFolder
  private let store: HubStore
  private var random: SplitMix64
  private let user = User(name: "ann", attributes: [Field("tier", .integer(3))])

  init(seed: UInt64, _ rule: Rule, _ spelling: Spelling = .exact) throws {
    (self.seed, self.spelling) = (seed, spelling)
    random = SplitMix64(seed: seed)
    folder = try TemporaryFolder()
    let database = try Database(path: folder("data.sqlite"), mode: .create)
    try database.execute(
      """
      PRAGMA synchronous = OFF;
      CREATE TABLE plots (id INTEGER PRIMARY KEY, tier INTEGER);
      CREATE TABLE nodes (
        id TEXT PRIMARY KEY \(spelling == .anyLetters ? "COLLATE NOCASE" : ""), up TEXT REFERENCES nodes,
        side TEXT REFERENCES nodes, plot INTEGER REFERENCES plots, tier INTEGER, words TEXT);
      CREATE TABLE leaves (id INTEGER PRIMARY KEY, node TEXT REFERENCES nodes, tier INTEGER);
      CREATE INDEX up ON nodes (up);
      INSERT INTO plots VALUES (1, 1), (2, 9), (3, 1);
      """)
    store = try HubStore.make(of: database, at: folder("data.sqlite"), Self.definition(visible: rule.sql))
    for (table, keys) in Self.keys {
      for key in keys { _ = try store.numbers[place(table)].assign(key, in: store.database) }
    }
  }

  private static func definition(visible rule: String?) -> String {
    let visible = rule.map { "\"visible\": \"\($0)\"" } ?? ""
    return """
      { "dataset": "d", "version": 1, "attributes": { "tier": "integer" },
        "tables": { "plots": { "visible": "tier <= :tier" }, "nodes": { \(visible) }, "leaves": {} } }
      """
  }

  /// Checks the tree's rule, as a hub does before it accepts a rule.
  func check(visible rule: String) throws {
    let definition = try DatasetDefinition(json: Array(Self.definition(visible: rule).utf8))
    let tables = try TrackedTable.find(definition, in: store.database)
    try ScopeRules(dataset: definition, tables: tables).check(in: store.database)
  }

  // MARK: random writes

  mutating func play() throws -> Tally {
    var tally = Tally()
    try store.writeTransaction(.commit) {
      let scope = ScopeStore(store, user: user, shallow: Self.bound)
      let whole = try WholeRules(store, user)
      for round in 0..<80 {
        if random.once(in: 6) {
          try takeBack(scope, whole, &tally)
        } else {
          try write()
        }
        for _ in 0..<4 { try look(scope, whole, &tally) }
        if round.isMultiple(of: 8) { try lookAtAll(whole) }
      }
    }
    return tally
  }

  private struct TakenBack: Error {}

  /// Asks for rows inside a savepoint, and then rolls the savepoint back. The savepoint may contain another one.
  private mutating func takeBack(_ scope: ScopeStore, _ whole: WholeRules, _ tally: inout Tally) throws {
    do {
      try store.database.savepoint {
        try write()
        try look(scope, whole, &tally)
        if random.once(in: 2) { try takeBack(scope, whole, &tally) }
        try write()
        try look(scope, whole, &tally)
        throw TakenBack()
      }
    } catch is TakenBack { tally.takenBack += 1 }
  }

  private mutating func write() throws {
    switch random.below(12) {
    case 0:
      try put("plots", Row([.integer(Int64(1 + random.below(3))), tier()]))
    case 1:
      try put("leaves", Row([.integer(Int64(1 + random.below(5))), node(), .integer(Int64(random.below(4)))]))
    case 2:
      let nodes = try place("nodes")
      let key = RowKey([name()])
      try store.rows[nodes].write(nil, over: store.rows[nodes].row(key), key: key)
    default: try writeNode()
    }
  }

  /// Writes a node. Most nodes have a parent, and most are open.
  private mutating func writeNode() throws {
    let name = name()
    let known = try store.rows[place("nodes")].row(RowKey([name]))
    var row = known ?? Row([name, node(), .null, .null, .integer(1), .null])
    switch random.below(6) {
    case 0: row[1] = node()
    case 1: row[2] = random.once(in: 3) ? node() : .null
    case 2: row[3] = random.once(in: 3) ? .integer(Int64(1 + random.below(3))) : .null
    case 3: row[4] = tier()
    default: row[5] = .integer(Int64(random.below(100)))
    }
    try put("nodes", row)
  }

  private mutating func put(_ table: Name, _ row: Row) throws {
    let rows = store.rows[try place(table)]
    let key = rows.schema.key(of: row)
    try rows.write(row, over: rows.row(key), key: key)
  }

  private func place(_ table: Name) throws -> Int { try #require(store.place(of: table)) }

  private mutating func name() -> Value { .string("n\(random.below(14))") }

  private mutating func tier() -> Value { .integer(random.once(in: 8) ? 5 : Int64(random.below(4))) }

  private mutating func node() -> Value {
    if random.once(in: 5) { return .null }
    return spelling == .anyLetters && random.once(in: 2) ? .string("N\(random.below(14))") : name()
  }

  // MARK: answers

  private mutating func look(_ scope: ScopeStore, _ whole: WholeRules, _ tally: inout Tally) throws {
    let (nodes, leaves) = (try place("nodes"), try place("leaves"))
    let key = RowKey([name()])
    let isSeen = try scope.maySee(key, in: nodes)
    #expect(try isSeen == whole.sees(key, in: nodes), "seed \(seed), \(key)")
    #expect(try scope.mayWrite(key, in: nodes) == isSeen, "seed \(seed), \(key)")
    let leaf = RowKey([.integer(Int64(1 + random.below(5)))])
    #expect(try scope.maySee(leaf, in: leaves) == whole.sees(leaf, in: leaves), "seed \(seed), leaf \(leaf)")
    guard try whole.depth(of: key) > Self.bound else { return }
    if isSeen { tally.deepSeen += 1 } else { tally.deepHidden += 1 }
  }

  /// Asks for all rows at once, in a new scope.
  private func lookAtAll(_ whole: WholeRules) throws {
    let scope = ScopeStore(store, user: user, shallow: Self.bound)
    for (table, keys) in Self.keys {
      let place = try place(table)
      let seen = try scope.visible(in: place)
      for key in keys {
        let number = try store.numbers[place].assign(key, in: store.database)
        #expect(try seen.contains(number) == whole.sees(key, in: place), "seed \(seed), \(key)")
      }
    }
  }

  // MARK: a long chain

  /// Inserts a chain from its top, and asks for each row when it is inserted. Then deletes the chain from its bottom.
  /// Returns the number of rows that were read beyond the bound.
  func growAndFell(rows count: Int) throws -> Int {
    let nodes = try place("nodes")
    let rows = store.rows[nodes]
    func key(_ number: Int) -> RowKey { RowKey([.string("c\(number)")]) }
    return try store.writeTransaction(.commit) {
      let scope = ScopeStore(store, user: user, shallow: Self.bound)
      for number in 0..<count {
        let up: Value = number == 0 ? .null : .string("\(spelling == .anyLetters ? "C" : "c")\(number - 1)")
        try rows.write(Row(key(number).values + [up, .null, .null, .integer(1), .null]), over: nil, key: key(number))
        #expect(try scope.maySee(key(number), in: nodes))
      }
      for number in (1..<count).reversed() {
        #expect(try scope.maySee(key(number), in: nodes))
        try rows.write(nil, over: rows.row(key(number)), key: key(number))
        #expect(try !scope.maySee(key(number), in: nodes))
      }
      return scope.rowsReadInTrees
    }
  }
}

/// Evaluates the rules without a bound.
private final class WholeRules {
  private let store: HubStore
  private let rules: ScopeRules
  private let user: User
  private var questions: [Int: KeptStatement] = [:]

  init(_ store: HubStore, _ user: User) throws {
    (self.store, self.user) = (store, user)
    rules = ScopeRules(dataset: store.dataset, tables: store.tables)
  }

  func sees(_ key: RowKey, in place: Int) throws -> Bool {
    let table = store.tables[place]
    let question =
      try questions[place] ?? KeptStatement(store.database.prepare(rules.ofRowSQL(table, rules.visible(table))))
    questions[place] = question
    defer { question.statement.reset() }
    for (part, value) in key.values.enumerated() { try question.statement.bind(value, to: "satchel_\(part + 1)") }
    for attribute in user.attributes { try question.statement.bind(attribute.value, to: attribute.name.text) }
    return try question.statement.step()
  }

  /// The number of ancestors of a node.
  func depth(of key: RowKey) throws -> Int64 {
    try store.database.first(
      """
      WITH RECURSIVE above (id) AS (
        VALUES (:key) UNION SELECT up FROM nodes JOIN above USING (id) UNION SELECT side FROM nodes JOIN above USING (id))
      SELECT count(DISTINCT nodes.id) - 1 FROM nodes JOIN above USING (id)
      """, ["key": key.values[0]]
    ) { $0.integer(0) } ?? 0
  }
}
