import Foundation
import SatchelPlatform
import TestSupport
import Testing

/// Volumes of bundles that never become complete.
@Suite("Volumes that wait for others")
struct WaitingPartTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.makeFolder("stick")
  }

  /// Exports in volumes. Returns the volumes' paths.
  private func volumes(_ folder: String = "stick") throws -> [String] {
    try camp.sql(
      "tablet/data.sqlite",
      """
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 60)
      INSERT INTO reviews SELECT hex(randomblob(8)), 'lake', 'ann', 1, hex(randomblob(2000)) FROM n
      """)
    try camp.makeFolder(folder)
    let outcome = camp.device("tablet", "export", "--volume-size", "64K", "--to", camp.path(folder), "--json")
    #expect(outcome.code == 0, "\(outcome)")
    return try #require(try outcome.json["volumes"]?.arrayValue).compactMap(\.stringValue)
  }

  private var waiting: [String] {
    get throws {
      let parts = camp.path("hub/bundles/inbox/parts")
      return try HostFileSystem().kind(parts) == nil ? [] : HostFileSystem().list(parts)
    }
  }

  @Test("pieces to which nothing was added for 90 days go, by the next piece that comes or by compact")
  func old() throws {
    #expect(camp.hub("import", try volumes()[0]).code == 0)
    camp.platform = .still(clock: SetClock(camp.platform.clock.milliseconds() + 89 * 86_400_000))
    #expect(camp.hub("compact").code == 0)
    #expect(try waiting.count == 1)
    camp.platform = .still(clock: SetClock(camp.platform.clock.milliseconds() + 2 * 86_400_000))
    #expect(camp.hub("compact", "--dry-run").code == 0)
    #expect(try waiting.count == 1)
    #expect(camp.hub("compact").code == 0)
    #expect(try waiting == [])
  }

  @Test(
    "a device's pieces go when it is revoked, but for those of exports that still count", arguments: ["device", "keys"])
  func revoked(word: String) throws {
    #expect(camp.hub("import", try volumes()[0]).code == 0)
    #expect(camp.hub("import", try volumes("other")[0]).code == 0)
    #expect(try waiting.count == 2)
    #expect(camp.hub(word, "revoke", "tablet", "--from", "2", "--dry-run").code == 0)
    #expect(try waiting.count == 2)
    #expect(camp.hub(word, "revoke", "tablet", "--from", "2").code == 0)
    #expect(try waiting.count == 1 && waiting[0].hasPrefix("camp-tablet-hub-1~"))
    #expect(camp.hub(word, "revoke", "tablet").code == 0)
    #expect(try waiting == [])
  }

  @Test("of one device the pieces of eight bundles wait at most: those of a newer one take the place of the oldest")
  func eight() throws {
    for number in 1...10 { #expect(camp.hub("import", try volumes("stick-\(number)")[0]).code == 0) }
    let numbers = try waiting.compactMap { $0.split(separator: "~").first?.split(separator: "-").last }
    #expect(Set(numbers) == Set((3...10).map { Substring(String($0)) }))
    let oldest = camp.path("stick-1/camp-tablet-hub-1-")
    let name = try #require(try HostFileSystem().list(camp.path("stick-1")).first)
    #expect(oldest.hasSuffix("hub-1-") && name.hasPrefix("camp-tablet-hub-1-"))
    let refused = camp.hub("import", camp.path("stick-1/\(name)"))
    #expect(refused.code == 3 && refused.error.contains("no more room for pieces"), "\(refused)")
    // The newest bundle can still be completed.
    let last = try HostFileSystem().list(camp.path("stick-10")).map { camp.path("stick-10/\($0)") }
    #expect(camp.hubAnywhere(["-C", camp.path("hub"), "import"] + last).code == 0)
    #expect(try waiting == [])
  }

  @Test("a disk with little room keeps no more pieces, and says so")
  func room() throws {
    let volumes = try volumes()
    camp.platform = Platform(files: TroubledFiles(free: 1 << 29), clock: SystemClock(), random: SystemRandom())
    let refused = camp.hub("import", volumes[0])
    #expect(refused.code == 3 && refused.error.contains("no more room for pieces"), "\(refused)")
    #expect(try waiting == [])
  }
}
