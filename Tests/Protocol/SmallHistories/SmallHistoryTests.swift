import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// All small histories of two devices, one row and two columns: they find for certain what random histories find by
/// chance.
@Suite("Small histories, all of them")
struct SmallHistoryTests {
  /// The most writes and ways of a stick in an order. `make histories DEPTH=7` plays longer ones.
  private static let depth = ProcessInfo.processInfo.environment["SATCHEL_DEPTH"].flatMap { Int($0) } ?? 3

  /// Rows stay in the database, and a world with many rows is slow.
  private static let schedulesInWorld = 8

  @Test("all replicas have the same row, and no value is lost", arguments: [0, 1])
  func all(half: Int) throws {
    let folder = try HistoryFixture()
    var world: SmallHistoryFixture?
    var wrong: [String] = []
    let schedules = SmallSchedule.troubled + (2...Self.depth).flatMap { SmallSchedule.all(depth: $0) }
    let own = schedules.indices.filter { $0 % 2 == half }.map { schedules[$0] }
    for (number, schedule) in own.enumerated() {
      let place = folder.path(of: UInt64(number / Self.schedulesInWorld))
      if number % Self.schedulesInWorld == 0 {
        world = nil
        if number > 0 { folder.remove(folder.path(of: UInt64(number / Self.schedulesInWorld - 1))) }
      }
      let present = try world ?? SmallHistoryFixture(in: place)
      world = present
      wrong += try present.play(schedule)
      if wrong.count > 20 { break }
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(20).joined(separator: "\n"))")
  }

  /// All sequences of these words that contain `a` and `b`, with up to two words fewer than the depth has. They are few
  /// at the usual depth, so `some` come first.
  private static func sequences(of words: [String], after some: [String]) -> [String] {
    var (all, last): ([String], [[String]]) = ([], [[]])
    for _ in 0..<max(0, depth - 2) {
      last = last.flatMap { sequence in words.filter { $0 != sequence.last || $0.count == 1 }.map { sequence + [$0] } }
      all += last.filter { $0.contains("a") && $0.contains("b") }.map { $0.joined(separator: " ") }
    }
    return some + all.filter { !some.contains($0) }
  }

  /// Plays each sequence of writes with two endings. Returns the outcomes that differ, but for those that `isEqual`
  /// accepts.
  private func differences(
    after sequences: [String], _ endings: [String],
    butFor isEqual: (SmallHistoryFixture.Outcome, SmallHistoryFixture.Outcome) -> Bool = { _, _ in false }
  ) throws -> [String] {
    let folder = try HistoryFixture()
    var world: SmallHistoryFixture?
    var wrong: [String] = []
    for (number, writes) in sequences.enumerated() {
      let place = folder.path(of: UInt64(number / Self.schedulesInWorld))
      if number % Self.schedulesInWorld == 0 {
        world = nil
        if number > 0 { folder.remove(folder.path(of: UInt64(number / Self.schedulesInWorld - 1))) }
      }
      let present = try world ?? SmallHistoryFixture(in: place)
      world = present
      wrong += try differences(endings.map { "\(writes) \($0)" }, in: present, butFor: isEqual)
      if wrong.count > 100 { break }
    }
    return wrong
  }

  private func differences(
    _ orders: [String], in world: SmallHistoryFixture,
    butFor isEqual: (SmallHistoryFixture.Outcome, SmallHistoryFixture.Outcome) -> Bool
  ) throws -> [String] {
    let outcomes = try orders.map { order in
      let wrong = try world.play(SmallSchedule("order", words: order))
      #expect(wrong.isEmpty, "\(wrong.prefix(5).joined(separator: "\n"))")
      return try world.outcomes()
    }
    #expect(!outcomes[0].isEmpty && outcomes[0].keys == outcomes[1].keys)
    return outcomes[0].sorted { $0.key < $1.key }.compactMap { name, first in
      guard let second = outcomes[1][name], first != second, !isEqual(first, second) else { return nil }
      return "\(orders[0]), \(name): \(first); \(orders[1]): \(second)"
    }
  }

  @Test("a device that imports before it delivers ends with the same row and the same conflicts")
  func importedFirst() throws {
    let sequences = Self.sequences(
      of: ["a", "a-", "b", "b-", "UB"],
      after: ["b UB a", "b b UB a", "b UB a a", "b b UB a a", "b UB a b", "a b UB b-"])
    let wrong = try differences(after: sequences.map { "\($0) UB" }, ["UA DA", "DA UA"])
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(20).joined(separator: "\n"))")
  }

  @Test("under newest both orders of arrival end with the same row, or a person decides in both")
  func arrival() throws {
    let sequences = Self.sequences(of: ["a", "a-", "b", "b-"], after: ["a b", "a a b", "a b b", "a b a b"])
    let wrong = try differences(after: sequences, ["UA UB DA DB", "UB UA DA DB"]) { first, second in
      first.row == second.row || first.isMarkedDeleted && second.isMarkedDeleted || first.isOpen && second.isOpen
    }.filter { $0.contains(", newest_") }
    #expect(wrong.isEmpty, "\(wrong.count): \(wrong.prefix(20).joined(separator: "\n"))")
  }
}
