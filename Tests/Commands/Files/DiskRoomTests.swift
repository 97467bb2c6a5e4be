import SatchelPlatform
import TestSupport
import Testing

/// Bundles whose content is much larger than their files.
@Suite("Room on the disks of hub and device")
struct DiskRoomTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  /// Exports a row with a text of so many bytes. Returns the path of the bundle.
  private func export(_ number: Int, bytes: Int) throws -> String {
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO reviews VALUES ('large-\(number)', 'lake', 'ann', 1, hex(zeroblob(\(bytes / 2))))")
    let outcome = camp.device("tablet", "export")
    #expect(outcome.code == 0, "\(outcome)")
    return camp.path("tablet/bundles/outbox/camp-tablet-hub-\(number).satchel")
  }

  private var count: String { get throws { try camp.rows("office.sqlite", "SELECT count(*) FROM reviews") } }

  @Test("a bundle with much content stays in its place while the hub's disk is nearly full, and a small one is taken")
  func content() throws {
    let usual = camp.platform
    camp.platform = Platform(files: TroubledFiles(free: 1 << 30), clock: SystemClock(), random: SystemRandom())
    #expect(camp.hub("import", try export(1, bytes: 1 << 20)).code == 0)
    let before = try count
    let large = try export(2, bytes: 20 << 20)
    let refused = camp.hub("import", large)
    #expect(refused.code == 3 && refused.error.contains("1 GiB must stay free"), "\(refused)")
    #expect(try count == before)
    #expect(try HostFileSystem().list(camp.path("hub/bundles/quarantine")).isEmpty)
    #expect(camp.hub("status").out.contains("camp-tablet-hub-2.satchel"))
    camp.platform = usual
    #expect(camp.hub("import", large).code == 0)
    #expect(try count != before)
  }

  @Test("a device leaves a bundle with much content in its place while its disk is nearly full, and writes nothing")
  func device() throws {
    try camp.sql(
      "office.sqlite", "INSERT INTO reviews VALUES ('large', 'lake', 'ann', 1, hex(zeroblob(\(17 << 19))))")
    let (bundle, usual) = (try camp.emit("tablet"), camp.platform)
    func countHere() throws -> String { try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM reviews") }
    func names(_ folder: String) throws -> [String] { try HostFileSystem().list(camp.path("tablet/bundles/\(folder)")) }
    let (before, kept) = (try countHere(), try names("archive"))
    camp.platform = Platform(files: TroubledFiles(free: 64 << 20), clock: SystemClock(), random: SystemRandom())
    let refused = camp.device("tablet", "import", bundle)
    #expect(refused.code == 3 && refused.error.contains("64 MiB must stay free"), "\(refused)")
    #expect(refused.error.contains("Then import this file again"), "\(refused)")
    #expect(try countHere() == before)
    #expect(try names("archive") == kept)
    #expect(try names("quarantine").isEmpty)
    #expect(try HostFileSystem().kind(bundle) == .file)
    #expect(camp.device("tablet", "status").out.contains(Paths.name(of: bundle)))
    camp.platform = usual
    #expect(camp.device("tablet", "import", bundle).code == 0)
    #expect(try countHere() != before)
  }
}
