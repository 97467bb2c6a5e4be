import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import TestSupport
import Testing

/// A device has delivered bundles for years.
struct ThousandTests {
  #if DEBUG
    private static let bundles = 100
  #else
    private static let bundles = 1_000
  #endif

  private func count(_ folder: String, _ files: any FileSystem) throws -> Int {
    try files.list(folder).count { $0.hasSuffix(".satchel") }
  }

  private func rows(_ world: ExchangeFixture, _ place: String, _ sql: String) throws -> Int64? {
    try Database(path: world.folder("\(place)/data.sqlite"), mode: .readOnly).first(sql) { $0.integer(0) }
  }

  @Test(
    """
    a thousand bundles later, files, pre-images, sets and logs have the size that the design says; compact brings \
    them back
    """
  )
  func sizes() throws {
    let world = try ExchangeFixture()
    let (device, _) = try world.device("tablet", user: "ana", tier: 1)
    _ = try device.importBundle(world.emit(to: device))
    for number in 1...Self.bundles {
      try world.write("UPDATE camps SET name = 'Oak \(number)' WHERE id = 1", in: device.folder)
      let file = try world.export(device)
      // Four of five sticks are lost. The fifth stick also carries the content of the lost ones.
      if number.isMultiple(of: 5) { _ = try world.hub.importBundle(file) }
      if number.isMultiple(of: 10) { _ = try device.importBundle(world.emit(to: device)) }
    }
    let files = world.platform.files
    // The database no longer contains acknowledged changes. But the device keeps every export, because the hub may have
    // to be restored.
    #expect(
      try rows(world, "tablet", "SELECT count(*) FROM satchel_before_camps WHERE satchel_generation < \(Self.bundles)")
        == 0)
    #expect(try rows(world, "tablet", "SELECT count(*) FROM satchel_writes_camps") == 1)
    #expect(try count(device.folder.sent, files) == Self.bundles)
    #expect(try count(device.folder.outbox, files) == 0)
    #expect(try rows(world, "tablet", "SELECT count(*) FROM satchel_exports") == Int64(Self.bundles))
    // The hub keeps the list of rows only for the proved emission and later emissions.
    #expect(try rows(world, "hub", "SELECT count(*) FROM satchel_emissions") == 2)
    #expect(try rows(world, "hub", "SELECT count(*) FROM satchel_log") == Int64(Self.bundles))
    #expect(try count(world.hub.folder.archive, files) == Self.bundles / 5 + 1)

    #expect(try device.compact().exports == 0, "they are young")
    for _ in 1...4 {
      world.clock.advance(by: 100 * 86_400_000)
      _ = try world.hub.emit(to: device.configuration.name)
    }
    let unbacked = try device.compact()
    #expect(unbacked.exports == 0 && unbacked.unbacked == Self.bundles - 1, "no backup has them")
    _ = try world.hub.backup(to: world.folder("backup.satchel"))
    try world.write("UPDATE camps SET name = 'Oak' WHERE id = 1", in: device.folder)
    _ = try world.hub.importBundle(world.export(device))
    _ = try device.importBundle(world.emit(to: device))
    let rehearsed = try DeviceWorkspace.open(device.folder.root, platform: world.platform, runMode: .dryRun).compact()
    let compacted = try device.compact(shrinking: true)
    #expect(compacted.exports == Self.bundles && rehearsed.exports == compacted.exports)
    #expect(compacted.bytes > 0)
    #expect(try count(device.folder.sent, files) == 1)
    #expect(try rows(world, "tablet", "SELECT count(*) FROM satchel_exports") == 1)
    #expect(try rows(world, "tablet", "SELECT count(*) FROM satchel_ledger") ?? 0 > Int64(Self.bundles))
    try world.write("UPDATE camps SET name = 'Fir' WHERE id = 1", in: device.folder)
    _ = try world.hub.importBundle(world.export(device))
    let report = try world.hub.compact(olderThan: 365, shrinking: true)
    #expect(report.logEntries >= Int64(Self.bundles))
    #expect(report.bundles == Self.bundles / 5)
    #expect(report.sent >= Self.bundles / 10)
    #expect(report.database.after < report.database.before)

    // The device can still exchange bundles.
    _ = try device.importBundle(world.emit(to: device))
    #expect(try rows(world, "hub", "SELECT name = 'Fir' FROM camps WHERE id = 1") == 1)
    #expect(try world.hub.examine().isWell)
    #expect(try device.examine().isWell)
  }
}
