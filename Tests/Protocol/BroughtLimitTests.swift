import Foundation
import SatchelPlatform
import SatchelSQLite
import SatchelWorkspace
import TestSupport
import Testing

@testable import SatchelDevice
@testable import SatchelHub

/// A hub has lost more of its own bundles than one export of a device can name.
@Suite("More bundles of a lost time than one export names")
struct BroughtLimitTests {
  private let world: ExchangeFixture
  private let hub: HubWorkspace
  private let tablet: DeviceWorkspace
  private static let mostBrought = 2

  init() throws {
    world = try ExchangeFixture()
    var (hub, tablet) = (world.hub, try world.device("tablet", user: "ana", tier: 1).device)
    (hub.mostBrought, tablet.mostBrought) = (Self.mostBrought, Self.mostBrought)
    (self.hub, self.tablet) = (hub, tablet)
    _ = try tablet.importBundle(world.emit(to: tablet))
    _ = try hub.importBundle(world.export(tablet))
  }

  /// The office makes rows, and the hub sends each row in its own bundle. Then the hub is set back, and a new epoch
  /// begins.
  private func loseRows(_ numbers: ClosedRange<Int>) throws {
    try FileManager.default.copyItem(atPath: hub.folder.root, toPath: world.folder("kept"))
    for number in numbers {
      try world.write(
        "INSERT INTO camps (id, name, tier) VALUES (\(100 + number), 'lost', 1)", in: hub.folder)
      #expect(try tablet.importBundle(world.emit(to: tablet)).verdict == .imported)
    }
    try FileManager.default.removeItem(atPath: hub.folder.root)
    try FileManager.default.copyItem(atPath: world.folder("kept"), toPath: hub.folder.root)
    world.tick()
    _ = try hub.restoreInPlace()
    try answer()
  }

  private func answer() throws {
    world.tick()
    let emitted = try hub.emit(to: "tablet")
    if emitted.isNew { _ = try tablet.importBundle(emitted.file) }
  }

  /// The tablet delivers its export, after the files that must be delivered before it. Returns the number of these
  /// files.
  private func deliver() throws -> Int {
    world.tick()
    let export = try tablet.export().file
    let before = try tablet.carriedBefore().filter { $0 != export }
    for file in before { _ = try hub.importBundle(file, from: .stick, lostTime: .later) }
    _ = try hub.mergeLostTime()
    _ = try hub.importBundle(export)
    return before.count
  }

  private func lostRows(in folder: WorkspaceFolder) throws -> Int64? {
    try Database(path: folder.path("data.sqlite"), mode: .readOnly)
      .first("SELECT count(*) FROM camps WHERE name = 'lost'") { $0.integer(0) }
  }

  @Test("later exports bring the rest, and the hub merges nothing before it has all", arguments: [3, 4, 5])
  func rest(count: Int) throws {
    try loseRows(1...count)
    #expect(try tablet.status().current?.brought == count)
    var left = count
    while left > 0 {
      #expect(try lostRows(in: hub.folder) == 0)
      let brought = try deliver()
      try #require(brought == min(left, Self.mostBrought))
      left -= brought
      try answer()
      #expect(try tablet.status().current?.brought == left)
    }
    // If the last export named the greatest possible number, only the next export shows that there are no more.
    for _ in 1...2 {
      _ = try deliver()
      try answer()
    }
    for folder in [hub.folder, tablet.folder] { #expect(try lostRows(in: folder) == Int64(count)) }
    #expect(try !hub.store().isRecovering())
    world.tick()
    #expect(try !tablet.export().isNew)
  }

  @Test("a device stops to bring what the hub had before a further epoch, although no list has room for all of it")
  func furtherEpoch() throws {
    try loseRows(1...5)
    for _ in 1...2 {
      _ = try deliver()
      try answer()
    }
    world.tick()
    _ = try hub.restoreInPlace()
    try answer()
    for _ in 1...8 where try tablet.status().current?.brought != 0 {
      _ = try deliver()
      try answer()
    }
    #expect(try tablet.status().current?.brought == 0)
    for folder in [hub.folder, tablet.folder] { #expect(try lostRows(in: folder) == 5) }
  }
}
