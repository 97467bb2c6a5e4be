import Foundation
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

@testable import SatchelHub

@Suite("Bundles for many devices, over one open database")
struct EmitterTests {
  private static let names = ["ann", "ben", "cem"]

  /// Makes a hub with three devices. Their users see different rows.
  private func world() throws -> ExchangeFixture {
    let world = try ExchangeFixture()
    for (tier, name) in Self.names.enumerated() { _ = try world.device(name, user: name, tier: 4 * tier + 1) }
    return world
  }

  private func write(_ sql: String, _ world: ExchangeFixture) throws { try world.write(sql, in: world.hub.folder) }

  /// A copy of the hub. All copies have the same time and the same random numbers.
  private func copy(_ hub: String, as name: String, in world: ExchangeFixture) throws -> HubWorkspace {
    try FileManager.default.copyItem(atPath: hub, toPath: world.folder(name))
    let platform = Platform(
      files: HostFileSystem(), clock: SetClock(world.clock.milliseconds()), random: SeededRandom(7))
    return try HubWorkspace.open(world.folder(name), platform: platform)
  }

  @Test("they are to the byte what they are one by one: full ones, and then deltas")
  func sameBytes() throws {
    let world = try world()
    var root = world.hub.folder.root
    let changes = [
      "SELECT 1",
      """
      UPDATE camps SET name = 'Big ' || name; UPDATE camps SET tier = 5 WHERE id = 2; DELETE FROM reviews WHERE camp \
      = 1
      """,
      "UPDATE camps SET tier = 0 WHERE id = 3; INSERT INTO reviews VALUES (3, 'ann', 1, 'new', NULL)",
      "UPDATE reviews SET words = 'seen'",
    ]
    for (round, change) in changes.enumerated() {
      world.clock.advance(by: 1000)
      try Database(path: "\(root)/data.sqlite", mode: .readWrite).execute(change)
      let alone = try copy(root, as: "alone-\(round)", in: world)
      let together = try copy(root, as: "together-\(round)", in: world)
      let one = try Self.names.map { try alone.emit(to: $0) }
      let many = try together.emitting { emitter in try Self.names.map { try emitter.emit(to: $0) } }
      for (one, many) in zip(one, many) {
        #expect(one.isNew && many.isNew && one.rows == many.rows && one.gone == many.gone, "\(round) \(one.device)")
        let bytes = try [one, many].map { try Data(contentsOf: URL(filePath: $0.file)) }
        #expect(bytes[0] == bytes[1], "\(round) \(one.device)")
      }
      root = together.folder.root
    }
  }

  @Test("a row written at the hub between two devices is in the second device's bundle")
  func writesBetween() throws {
    let world = try world()
    let (first, second) = try world.hub.emitting { emitter in
      let first = try emitter.emit(to: "cem")
      _ = try emitter.emit(to: "ben")
      try write("UPDATE camps SET name = 'Late' WHERE id = 1; CREATE TABLE notes (words TEXT)", world)
      return (first, try emitter.emit(to: "ben"))
    }
    #expect(first.number == EmissionNumber(1) && second.number == EmissionNumber(2))
    #expect(second.isNew && second.rows > 0)
  }

  @Test("bundles that only acknowledge get no answer, until there are so many that reading them takes long")
  func quietBundles() throws {
    let world = try ExchangeFixture()
    let (device, _) = try world.device("tablet", user: "ana", tier: 1)
    _ = try device.importBundle(world.emit(to: device))
    _ = try world.hub.importBundle(world.export(device))
    #expect(try !world.hub.emit(to: "tablet").isNew)
    let (files, archive) = (HostFileSystem(), world.hub.folder.archive)
    let prefix = "world-tablet-1-"
    let first = try #require(try files.list(archive).first { $0.hasPrefix(prefix) })
    for number in 2...101 {
      let name = "world-tablet-\(number)-\(first.dropFirst(prefix.count))"
      try files.copy(Paths.join(archive, first), to: Paths.join(archive, name), mode: 0o644)
    }
    #expect(try world.hub.emit(to: "tablet").isNew)
    #expect(try !world.hub.emit(to: "tablet").isNew)
  }

  @Test("where capture is damaged between two devices, nothing more is made, and when it is healed they are")
  func damagedBetween() throws {
    let world = try world()
    let error = #expect(throws: WorkspaceError.self) {
      try world.hub.emitting { emitter in
        _ = try emitter.emit(to: "ann")
        let triggers = try Database(path: world.hub.databasePath, mode: .readOnly).all(
          "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'camps'"
        ) { $0.text(0) }
        #expect(!triggers.isEmpty)
        for trigger in triggers { try write("DROP TRIGGER \"\(trigger)\"", world) }
        _ = try emitter.emit(to: "ben")
      }
    }
    #expect(error?.reason == "damaged", "\(String(describing: error))")
    func emitted() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: world.hub.folder.outbox).count { $0.contains("-ben-") }
    }
    let before = try emitted()
    _ = try world.hub.repair()
    _ = try world.hub.emit(to: "ben")
    #expect(try emitted() == before + 1)
  }

  @Test("a rehearsal for many leaves nothing behind, and says what the bundles would be")
  func rehearsal() throws {
    let world = try world()
    let rehearsed = try HubWorkspace.open(world.hub.folder.root, platform: world.platform, runMode: .dryRun)
    let would = try rehearsed.emitting { emitter in try Self.names.map { try emitter.emit(to: $0) } }
    #expect(would.allSatisfy { !FileManager.default.fileExists(atPath: $0.file) })
    let did = try world.hub.emitting { emitter in try Self.names.map { try emitter.emit(to: $0) } }
    #expect(would.map(\.rows) == did.map(\.rows) && would.map(\.number) == did.map(\.number))
  }
}
