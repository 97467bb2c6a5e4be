import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// Random histories with the real code, databases, bundle files and signatures. They follow the model in
/// docs/DESIGN.md, and must have the properties that it states.
@Suite struct ProtocolTests {
  /// The default number of histories. It is small: Tests/Simulation plays many seasons, but these tests check more.
  private static let usual = 4

  private static let seeds = historySeeds(usually: usual)

  private static let lanes = min(2, seeds.count)

  @Test("after any history and three clean rounds all have converged, and no value is lost", arguments: 0..<lanes)
  func histories(lane: Int) throws { try play(lane, .none) }

  @Test(
    "unseen writes are found and never lost, after any history with vandals in it",
    arguments: 0..<lanes)
  func vandals(lane: Int) throws { try play(lane, .vandals) }

  @Test(
    "a write that capture missed is kept as a conflict before a bundle writes over it", arguments: 0..<lanes)
  func sneaks(lane: Int) throws { try play(lane, .sneaks) }

  @Test(
    "a hub that comes back from backups and forgets its past costs time, and no value of a device",
    arguments: 0..<lanes)
  func losses(lane: Int) throws { try play(lane, .losses) }

  @Test(
    "the same while the dataset goes from version to version, and devices lag behind by many of them",
    arguments: 0..<lanes)
  func versions(lane: Int) throws {
    try play(lane, .versions)
    // In this history, a device inserts a row before it gets the columns whose values a migration computes.
    if lane == 0, Self.seeds.count == Self.usual { play(9, .versions, .primaryKey, in: try HistoryFixture()) }
  }

  @Test(
    "so it is with rows that a column names, while each replica gives them other local keys, and imports move none",
    arguments: 0..<lanes)
  func namedRows(lane: Int) throws {
    for fate in [History.Fate.none, .vandals, .losses] { try play(lane, fate, .column) }
    // A migration deletes a row and inserts another one. If SQLite makes the keys, the deleted row's local key is free
    // again.
    try play(lane, .versions, .columnBesideCount)
  }

  private func play(_ lane: Int, _ fate: History.Fate, _ names: RowNames = .primaryKey) throws {
    let folder = try HistoryFixture()
    // Histories with a fate take longer than others, so fewer of them are played.
    let lanes = Self.lanes * (Self.seeds.count >= Self.usual ? fate.share : 1) * (names == .primaryKey ? 1 : 2)
    let mine = Self.seeds.enumerated().filter { $0.offset % lanes == lane }.map(\.element)
    let began = Date()
    for seed in mine { play(seed, fate, names, in: folder) }
    let seconds = Date().timeIntervalSince(began)
    print("lane \(lane): \(mine.count) histories, \(Int(seconds * 1000 / Double(max(1, mine.count)))) ms each")
  }

  @Test("whichever replica gives which keys, each row exists once and refers to its own parent", arguments: keyRules)
  func keys(rule: String) throws { try play(rule, .none, Self.keySeeds) }

  @Test("a write that capture missed is kept, whichever rows get new keys", arguments: keyRules)
  func sneaksBesideKeys(rule: String) throws { try play(rule, .sneaks, Self.sneakSeeds) }

  private func play(_ rule: String, _ fate: History.Fate, _ seeds: [UInt64]) throws {
    let folder = try HistoryFixture()
    for seed in seeds {
      let place = folder.path(of: seed)
      defer { folder.remove(place) }
      do {
        let history = try KeyHistory(
          seed: seed, rule: rule, in: place, fate: fate, trace: Self.seeds.count == 1 ? { print($0) } : nil)
        try history.play()
        try history.check()
      } catch {
        Issue.record("history \(seed) with \(rule): \(error)\nTo see it again: make histories HISTORIES=1 SEED=\(seed)")
      }
    }
  }

  @Test("however a key is spelled, all replicas end with the same bytes, and nothing is lost", arguments: shapes)
  func spellings(shape: String) throws {
    let folder = try HistoryFixture()
    guard let shape = SpellingHistory.shapes.first(where: { $0.name == shape }) else { return }
    for seed in Self.seeds {
      let place = folder.path(of: seed)
      defer { folder.remove(place) }
      do {
        let history = try SpellingHistory(
          seed: seed, shape: shape, in: place, trace: Self.seeds.count == 1 ? { print($0) } : nil)
        try history.play()
        try history.check()
      } catch {
        Issue.record(
          "history \(seed) of \(shape.name): \(error)\nTo see it again: make histories HISTORIES=1 SEED=\(seed)")
      }
    }
  }

  private static let shapes = SpellingHistory.shapes.map(\.name)

  private static let keyRules = ["rekey", "blocks", "fold", "fold, named"]

  /// Three seeds that once found a fault, and a few of the other seeds. Rows with children test more in each history,
  /// so few are enough.
  private static let keySeeds: [UInt64] =
    seeds.count == 1 ? seeds : [41, 84, 124] + seeds.prefix(seeds.count == usual ? 1 : seeds.count)

  private static let sneakSeeds: [UInt64] = seeds.count == usual ? Array(seeds.prefix(2)) : seeds

  private func play(_ seed: UInt64, _ fate: History.Fate, _ names: RowNames, in folder: HistoryFixture) {
    let place = folder.path(of: seed)
    defer { folder.remove(place) }
    do {
      let history = try History(
        seed: seed, in: place, fate: fate, names: names, trace: Self.seeds.count == 1 ? { print($0) } : nil)
      try history.play()
      try history.check()
    } catch {
      Issue.record("history \(seed): \(error)\nTo see it again: make histories HISTORIES=1 SEED=\(seed)")
    }
  }
}
