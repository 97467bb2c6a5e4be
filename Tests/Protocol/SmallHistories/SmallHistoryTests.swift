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
}
