import SatchelRows
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

/// Satchel finds referring rows although the app's schema has no index for the reference.
@Suite("Indexes of references")
struct ReferenceIndexTests {
  @Test("a lookup without an index in the schema finds what SQL finds, after any writes and any that are taken back")
  func random() throws {
    var found = 0
    var absent = 0
    for seed in UInt64(0)..<10 {
      var history = try ReferenceHistory(seed: seed)
      try history.play()
      (found, absent) = (found + history.found, absent + history.absent)
    }
    #expect(found > 500 && absent > 500, "\(found), \(absent)")
  }

  @Test("an index of one transaction is not used in the next one, before which another program may have written")
  func nextTransaction() throws {
    var history = try ReferenceHistory(seed: 1)
    try history.play()
    try history.writeAsAnotherProgram()
    try history.play()
  }
}

/// A hub's database with references. A program writes to it, while the test looks for rows that refer to other rows.
struct ReferenceHistory {
  private let seed: UInt64
  private let folder: TemporaryFolder
  private let store: HubStore
  private var random: SplitMix64
  private(set) var found = 0
  private(set) var absent = 0

  init(seed: UInt64) throws {
    self.seed = seed
    random = SplitMix64(seed: seed)
    folder = try TemporaryFolder()
    let database = try Database(path: folder("data.sqlite"), mode: .create)
    try database.execute(
      """
      PRAGMA synchronous = OFF;
      CREATE TABLE plots (id TEXT PRIMARY KEY, code TEXT COLLATE NOCASE UNIQUE, number INTEGER UNIQUE);
      CREATE TABLE trees (
        id INTEGER PRIMARY KEY, plot TEXT REFERENCES plots, code TEXT REFERENCES plots (code),
        number INTEGER REFERENCES plots (number), next INTEGER REFERENCES trees);
      """)
    store = try HubStore.make(
      of: database, at: folder("data.sqlite"),
      #"{ "dataset": "d", "version": 1, "tables": { "plots": {}, "trees": {} } }"#)
  }

  mutating func play() throws {
    try store.writeTransaction(.commit) {
      for _ in 0..<2 * ReferenceLookup.lookupsBeforeIndex { try look() }
      for _ in 0..<150 {
        if random.once(in: 4) { try takeBack() } else { try write() }
        for _ in 0..<3 { try look() }
      }
    }
  }

  private struct TakenBack: Error {}

  private mutating func takeBack() throws {
    do {
      try store.database.savepoint {
        try write()
        try look()
        if random.once(in: 2) { try takeBack() }
        try write()
        try look()
        throw TakenBack()
      }
    } catch is TakenBack {}
  }

  func writeAsAnotherProgram() throws {
    let other = try Database(path: folder("data.sqlite"), mode: .readWrite)
    try other.execute("UPDATE trees SET plot = 'p' || (id % 5), code = 'A' || (id % 5), next = 1 + id % 7")
  }

  // MARK: writes

  private mutating func write() throws {
    if random.once(in: 4) { return try put("plots", plot()) }
    let tree = tree()
    if random.once(in: 5) { return try put("trees", nil, key: RowKey([tree.values[0]])) }
    try put("trees", tree)
  }

  private mutating func plot() -> Row {
    let number = random.below(5)
    return Row([.string("p\(number)"), .string("\(random.once(in: 2) ? "a" : "A")\(number)"), .integer(Int64(number))])
  }

  private mutating func tree() -> Row {
    let plot = random.below(5)
    let code: Value = random.once(in: 2) ? .null : .string("\(random.once(in: 2) ? "a" : "A")\(random.below(5))")
    let next: Value = random.once(in: 2) ? .null : .integer(Int64(1 + random.below(8)))
    return Row([
      .integer(Int64(1 + random.below(8))), random.once(in: 2) ? .null : .string("p\(plot)"), code,
      random.once(in: 2) ? .null : .integer(Int64(random.below(5))), next,
    ])
  }

  private func put(_ table: Name, _ row: Row) throws {
    try put(table, row, key: store.rows[place(table)].schema.key(of: row))
  }

  private func put(_ table: Name, _ row: Row?, key: RowKey) throws {
    let rows = store.rows[try place(table)]
    try rows.write(row, over: rows.row(key), key: key)
  }

  private func place(_ table: Name) throws -> Int { try #require(store.place(of: table)) }

  // MARK: lookups

  private mutating func look() throws {
    let (plot, tree) = (plot(), tree())
    try compare(
      "plots", plot,
      """
      SELECT 1 FROM trees WHERE plot = :first OR code = :second COLLATE NOCASE OR number = :third
      """)
    try compare("trees", tree, "SELECT 1 FROM trees WHERE next = :first AND id <> :first")
  }

  private mutating func compare(_ table: Name, _ row: Row, _ sql: String) throws {
    let isFound = try store.tableWithChildren(of: row, becoming: nil, in: place(table)) != nil
    let isThere = try store.database.first(
      sql, ["first": row.values[0], "second": row.values[1], "third": row.values[2]]
    ) { _ in true }
    #expect(isFound == (isThere != nil), "seed \(seed), \(table) \(row)")
    if isFound { found += 1 } else { absent += 1 }
  }
}
