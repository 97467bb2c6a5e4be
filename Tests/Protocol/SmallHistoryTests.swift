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

  @Test("all replicas have the same row, and no value is lost", arguments: SmallHistoryFixture.rules)
  func all(rules: String) throws {
    let folder = try HistoryFixture()
    var world: SmallHistoryFixture?
    var wrong: [String] = []
    let schedules = SmallSchedule.troubled + (2...Self.depth).flatMap { SmallSchedule.all(depth: $0) }
    for (number, schedule) in schedules.enumerated() {
      // Rows stay in the database; a world with many rows is slow.
      let place = folder.path(of: UInt64(number / 20))
      if number % 20 == 0 {
        world = nil
        if number > 0 { folder.remove(folder.path(of: UInt64(number / 20 - 1))) }
      }
      let present = try world ?? SmallHistoryFixture(rules: rules, in: place)
      world = present
      wrong += try present.play(schedule)
      if wrong.count > 20 { break }
    }
    #expect(wrong.isEmpty, "\(wrong.prefix(20).joined(separator: "\n"))")
  }
}
