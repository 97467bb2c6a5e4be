import Glibc
import SatchelCapture
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import Testing

@Suite("The rows below other rows")
struct RowsBelowTests {
  /// The rows below branches. A branch may grow from another branch.
  private let below: RowsBelow
  private let table: TrackedTable

  private static let count = 20_000

  /// Makes one branch with `count` children, and one grandchild.
  init() throws {
    let database = try Database(path: ":memory:", mode: .create)
    try database.execute("CREATE TABLE branches (id TEXT PRIMARY KEY, below TEXT REFERENCES branches (id))")
    let dataset = try DatasetDefinition(
      json: Array(#"{ "dataset": "trees", "version": 1, "tables": { "branches": {} } }"#.utf8))
    let tables = try TrackedTable.find(dataset, in: database)
    table = tables[0]
    var below = RowsBelow(among: tables, in: database)
    for number in 0..<Self.count { below.add(Self.branch("c\(number)", below: "trunk"), of: tables[0].name) }
    below.add(Self.branch("leaf", below: "c0"), of: tables[0].name)
    self.below = below
  }

  private static func branch(_ id: String, below parent: String?) -> Row {
    Row([.string(id), parent.map { .string($0) } ?? .null])
  }

  @Test("a search finds each row once, at any depth, also if its parents come one by one")
  func found() {
    let parents = ["leaf", "trunk", "c0", "trunk"].map { (row: Self.branch($0, below: nil), table: table.name) }
    var search = RowsBelow.Search()
    for parent in parents { below.find(below: [parent], in: &search) }
    #expect(search.found == Array(0...Self.count))
    #expect(below.find(below: parents).sorted() == search.found)
    #expect(below.find(below: [parents[0]]) == [])
  }

  @Test("very many parents with one key do not read its children again and again")
  func equalParents() {
    let trunk = (row: Self.branch("trunk", below: nil), table: table.name)
    var search = RowsBelow.Search()
    let before = Self.milliseconds
    for _ in 0..<Self.count { below.find(below: [trunk], in: &search) }
    #expect(search.found.count == Self.count + 1)
    // If the cost were quadratic, this would take several seconds.
    #expect(Self.milliseconds - before < 2_000)
  }

  /// The processor time of this thread.
  private static var milliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
