import Foundation
import SatchelCapture
import SatchelDataset
import SatchelSQLite
import SatchelValues
import TestSupport
import Testing

@testable import SatchelHub

/// The hub derives a user's visible rows from the earlier result and the changes since then. The tests compare this
/// with a full evaluation. SATCHEL_HISTORIES sets the number of histories, and SATCHEL_SEED the first seed.
@Suite struct ScopeChangeTests {
  private static func setting(_ name: String) -> Int? { ProcessInfo.processInfo.environment[name].flatMap { Int($0) } }

  @Test(
    "over random datasets and writes, sets derived from changes or table by table equal a full evaluation"
  )
  func randomHistories() throws {
    let count = Self.setting("SATCHEL_HISTORIES") ?? 100
    let first = Self.setting("SATCHEL_SEED") ?? 0
    var total = ScopeHistory.Tally()
    for seed in UInt64(first)..<UInt64(first + count) {
      var history = try ScopeHistory(seed: seed)
      let tally = try history.play()
      total.derived += tally.derived
      total.moved += tally.moved
      total.orphans += tally.orphans
    }
    // Without these cases the test would also pass, so they must have occurred.
    #expect(total.derived > 5 * count && total.moved > 2 * count && total.orphans > count, "\(total)")
  }
}

/// A hub's database to which programs write. Two users read it from time to time.
struct ScopeHistory {
  struct Tally {
    /// The number of derived sets, and the number of sets that differed from the set before.
    var derived = 0
    var moved = 0
    /// The number of rows that had to be hidden because they name no parent.
    var orphans = 0
  }

  /// The rows that a user saw last.
  private struct Sight {
    let sets: [RowSet]
    let cursor: Cursor
    let basis: String?
  }

  private let seed: UInt64
  private let folder: TemporaryFolder
  private var random: SplitMix64
  private let dataset: RandomDataset

  init(seed: UInt64) throws {
    self.seed = seed
    random = SplitMix64(seed: seed)
    dataset = RandomDataset(&random)
    folder = try TemporaryFolder()
  }

  mutating func play() throws -> Tally {
    var tally = Tally()
    let store = try open()
    var scopes = ["ann", "ben"].map { ScopeStore(store, user: user($0)) }
    var sights: [Sight?] = [nil, nil]
    for _ in 0..<7 {
      for _ in 0..<1 + random.below(5) { try? store.database.execute(dataset.write(&random)) }
      try store.writeTransaction(.commit) {
        _ = try store.logLocalWrites(user: "hub", at: 4_102_444_800_000)
        for place in scopes.indices {
          if random.once(in: 10) { scopes[place] = ScopeStore(store, user: user(scopes[place].user.name)) }
          let scope = scopes[place]
          let whole = try scope.visible()
          let fromAbove = try scope.visibleFromAbove()
          #expect(fromAbove == whole, "SATCHEL_SEED=\(seed)\n\(dataset.schema)\n\(dataset.definition)")
          for (place, orphans) in try hiddenOrphans(store).enumerated() {
            let seen = whole[place].intersection(orphans)
            #expect(seen.isEmpty, "SATCHEL_SEED=\(seed)\n\(dataset.schema)\n\(dataset.definition)")
            tally.orphans += orphans.count
          }
          let basis = try scope.basis()
          if let basis, let sight = sights[place], sight.basis == basis {
            let changes = try store.changed(after: sight.cursor, device: ReplicaID(unchecked: "none"))
            let derived = try scope.visible(after: sight.sets, changed: changes)
            #expect(derived == whole, "SATCHEL_SEED=\(seed)\n\(dataset.schema)\n\(dataset.definition)")
            tally.derived += 1
            if whole != sight.sets { tally.moved += 1 }
          }
          // The result is not kept each time, because a device may be away for long.
          if !random.once(in: 3) { sights[place] = Sight(sets: whole, cursor: try store.cursor(), basis: basis) }
        }
      }
    }
    return tally
  }

  /// For each table, the rows that name no parent and must be hidden by its rules. A row that is below a row with a
  /// parent in its own tree is not among them. The test finds them without the rules' SQL.
  private func hiddenOrphans(_ store: HubStore) throws -> [RowSet] {
    try store.tables.enumerated().map { place, table in
      var orphans = RowSet()
      let parents = table.parentKeys(in: store.dataset)
      guard table.rules.orphans == .hidden, !parents.isEmpty else { return orphans }
      let rows = try store.database.all(table.allRowsSQL) {
        Row($0.values(from: 0, count: table.schema.columns.count))
      }
      var named = rows.map { row in parents.contains { key in key.columns.allSatisfy { !row[$0].isNull } } }
      var isGrowing = true
      while isGrowing {
        isGrowing = false
        for child in rows.indices where !named[child] {
          named[child] = rows.indices.contains { named[$0] && Self.refers(rows[child], to: rows[$0], table) }
          if named[child] { isGrowing = true }
        }
      }
      for (row, isNamed) in zip(rows, named) where !isNamed {
        if let number = try store.numbers[place].number(of: table.schema.key(of: row)) { orphans.insert(number) }
      }
      return orphans
    }
  }

  /// Whether a row may refer to another row of its tree. SQLite treats some values as equal that are only similar.
  private static func refers(_ row: Row, to other: Row, _ table: TrackedTable) -> Bool {
    func text(_ value: Value) -> String {
      let text =
        switch value {
        case .integer(let number): String(number)
        case .text(let bytes): String(decoding: bytes, as: UTF8.self)
        default: "\(value)"
        }
      return String(text.lowercased().drop { $0 == "0" })
    }
    return table.treeKeys.contains { key in
      zip(key.columns, key.parentColumns).allSatisfy { own, parent in
        guard let parent = table.schema.position(of: parent) else { return false }
        return !row[own].isNull && !other[parent].isNull && text(row[own]) == text(other[parent])
      }
    }
  }

  private mutating func user(_ name: String) -> User {
    User(
      name: name,
      attributes: [Field("tier", .integer(Int64(random.below(6))))]
        + (random.once(in: 2) ? [Field("word", .string("a"))] : []))
  }

  private mutating func open() throws -> HubStore {
    let path = folder("data.sqlite")
    let database = try Database(path: path, mode: .create)
    try database.execute("PRAGMA synchronous = OFF; \(dataset.schema)")
    for _ in 0..<30 { try? database.execute(dataset.write(&random)) }
    try database.execute(dataset.deletionOfNameless)
    return try HubStore.make(of: database, at: path, dataset.definition)
  }
}
