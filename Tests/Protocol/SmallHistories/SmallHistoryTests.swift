import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// All small histories of two devices, one row and two columns. Random histories find a fault only by chance. These
/// histories find every small fault.
@Suite("Small histories, all of them")
struct SmallHistoryTests {
  /// The greatest number of writes and trips of a stick in an order. `make histories DEPTH=7` plays longer orders.
  private static let depth = ProcessInfo.processInfo.environment["SATCHEL_DEPTH"].flatMap { Int($0) } ?? 3

  /// A run ends after so many faults.
  private static let mostFaults = 20

  @Test("all replicas have the same row, and no value is lost", arguments: [0, 1])
  func all(half: Int) throws {
    let schedules = SmallSchedule.troubled + (2...Self.depth).flatMap { SmallSchedule.all(depth: $0) }
    let own = schedules.indices.filter { $0 % 2 == half }.map { schedules[$0] }
    let wrong = try Self.faults(of: own) { world, schedule in try world.play(schedule) }
    #expect(wrong.isEmpty, "\(wrong.prefix(Self.mostFaults).joined(separator: "\n"))")
  }

  /// The faults that `play` returns for all items, up to the limit. Each item has its own fixture, because rows and
  /// conflicts stay in the databases, and a device reads all open conflicts at each export.
  private static func faults<Item>(
    of items: [Item], _ play: (SmallHistoryFixture, Item) throws -> [String]
  ) throws -> [String] {
    let folder = try HistoryFixture()
    var wrong: [String] = []
    for (number, item) in items.enumerated() where wrong.count <= mostFaults {
      let place = folder.path(of: UInt64(number))
      defer { folder.remove(place) }
      wrong += try play(SmallHistoryFixture(in: place), item)
    }
    return wrong
  }

  /// All sequences of these words that contain `a` and `b`. They have at most two words fewer than the depth. With the
  /// usual depth there are few sequences, so `some` are added before them.
  private static func sequences(of words: [String], after some: [String]) -> [String] {
    var (all, last): ([String], [[String]]) = ([], [[]])
    for _ in 0..<max(0, depth - 2) {
      last = last.flatMap { sequence in words.filter { $0 != sequence.last || $0.count == 1 }.map { sequence + [$0] } }
      all += last.filter { $0.contains("a") && $0.contains("b") }.map { $0.joined(separator: " ") }
    }
    return some + all.filter { !some.contains($0) }
  }

  /// Plays each sequence of writes with each of two endings. Returns the outcomes that differ. Differences that
  /// `isEqual` accepts are left out.
  /// - Parameter policy: only tables with this policy count; empty: all tables.
  private func differences(
    after sequences: [String], _ endings: [String], under policy: String = "",
    butFor isEqual: (SmallHistoryFixture.Outcome, SmallHistoryFixture.Outcome) -> Bool = { _, _ in false }
  ) throws -> [String] {
    try Self.faults(of: sequences) { world, writes in
      try differences(endings.map { "\(writes) \($0)" }, in: world, under: policy, butFor: isEqual)
    }
  }

  private func differences(
    _ orders: [String], in world: SmallHistoryFixture, under policy: String,
    butFor isEqual: (SmallHistoryFixture.Outcome, SmallHistoryFixture.Outcome) -> Bool
  ) throws -> [String] {
    let outcomes = try orders.map { order in
      let wrong = try world.play(SmallSchedule("order", words: order))
      #expect(wrong.isEmpty, "\(wrong.prefix(5).joined(separator: "\n"))")
      return try world.outcomes()
    }
    #expect(!outcomes[0].isEmpty && outcomes[0].keys == outcomes[1].keys)
    return outcomes[0].sorted { $0.key < $1.key }.compactMap { name, first in
      guard name.hasPrefix(policy), let second = outcomes[1][name], first != second, !isEqual(first, second)
      else { return nil }
      return "\(orders[0]), \(name): \(first); \(orders[1]): \(second)"
    }
  }

  @Test("a device that imports before it delivers ends with the same row and the same conflicts")
  func importedFirst() throws {
    let sequences = Self.sequences(
      of: ["a", "a-", "b", "b-", "UB"],
      after: ["b UB a", "b b UB a", "b UB a a", "b b UB a a", "b UB a b", "a b UB b-"])
    let wrong = try differences(after: sequences.map { "\($0) UB" }, ["UA DA", "DA UA"])
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(Self.mostFaults).joined(separator: "\n"))")
  }

  @Test("under newest both orders of arrival end with the same row, or a person decides in both")
  func arrival() throws {
    let sequences = Self.sequences(of: ["a", "a-", "b", "b-"], after: ["a b", "a a b", "a b b", "a b a b"])
    let wrong = try differences(after: sequences, ["UA UB DA DB", "UB UA DA DB"], under: "newest_") { first, second in
      first.row == second.row || first.isMarkedDeleted && second.isMarkedDeleted || first.isOpen && second.isOpen
    }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(Self.mostFaults).joined(separator: "\n"))")
  }
}
