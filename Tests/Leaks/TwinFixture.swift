import SatchelPlatform
import SatchelSQLite
import TestSupport

/// The common beginning of pairs of hubs: a dataset, rows, users and devices.
final class TwinFixture {
  let dataset: RandomDataset
  let twin: TwinHubs
  /// Makes further rows that both hubs have.
  let rows: RandomRows
  let markers: [String]
  /// The value of una's attribute `tier`, which rules read.
  let tier: Int64

  init(seed: UInt64, in folder: String) throws {
    var random = SplitMix64(seed: seed)
    dataset = RandomDataset(&random)
    tier = Int64(random.below(4))
    var rows = RandomRows(dataset, mark: "Common", areHidden: false, random: SplitMix64(seed: random.next()))
    let scratch = try Scratch(dataset)
    for table in dataset.tables {
      for _ in 0..<5 { if let sql = try rows.insert(into: table, scratch.keys) { try scratch.run(sql) } }
    }
    markers = rows.takeMarkers()
    self.rows = rows
    twin = try TwinHubs(folder, dataset, rows: scratch.made)
    _ = try twin.hub.importUsers([["user", "tier"], ["una", String(tier)], ["otto", "9"], ["ivy", "9"]])
    try twin.add(TwinHistory.una, of: "una")
    try twin.add(TwinHistory.otto, of: "otto")
    if random.once(in: 3) { try twin.add(TwinHistory.ivy, of: "ivy") }
  }
}

/// A database in memory, in which the first rows are tried.
private final class Scratch {
  private let database: Database
  private(set) var made = ""

  init(_ dataset: RandomDataset) throws {
    database = try Database(path: ":memory:", mode: .create)
    try database.execute(dataset.schema)
  }

  func keys(_ table: String) throws -> [String] {
    try database.all("SELECT quote(id) FROM \(table) ORDER BY id") { $0.text(0) }
  }

  func run(_ sql: String) throws {
    try database.execute(sql)
    made += sql + ";"
  }
}
