import Foundation
import SatchelPlatform
import Testing

/// Sticks that report a larger size than their true size.
@Suite("A stick with a false size is found before anything is entrusted to it")
struct FalseSizeTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openBesideStick()
  }

  private static let mebibyte: Int64 = 1 << 20

  /// Plugs a stick in: the kernel's list of mounts then contains it with this file system.
  private func plugIn(_ fake: FakeStick, type: String = "vfat") throws {
    try camp.write(
      "mounts", "20 1 8:0 / / rw - ext4 /dev/sda rw\n21 1 8:1 / /media/ann/STICK rw shared:1 - \(type) /dev/sdb rw\n")
    var files = TroubledFiles()
    files.fake = fake
    files.instead = ["/proc/self/mountinfo": camp.path("mounts"), camp.path("stick"): "/media/ann/STICK"]
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
  }

  private func stick(
    said: Int64 = 512, real: Int64, _ manner: FakeStick.Manner = .drops, reserving: Bool = true, type: String = "vfat",
    cluster: Int64 = 64 << 10
  ) throws -> FakeStick {
    let fake = FakeStick(
      camp.path("stick"), said: said * Self.mebibyte, real: real * Self.mebibyte, manner, reserving: reserving,
      cluster: cluster)
    try plugIn(fake, type: type)
    return fake
  }

  private var bundles: [String] {
    get throws {
      let names = try FileManager.default.subpathsOfDirectory(atPath: camp.path("stick"))
      return names.filter { $0.hasSuffix(".satchel") }
    }
  }

  @Test(
    "sync refuses a stick that drops or wraps its writes, wherever its true size ends, and puts no bundle on it",
    arguments: [(32, .drops), (64, .wraps), (128, .wraps), (256, .wraps), (256, .drops), (450, .drops)]
      as [(Int64, FakeStick.Manner)])
  func refused(real: Int64, manner: FakeStick.Manner) throws {
    let fake = try stick(real: real, manner)
    let outcome = camp.device("tablet", "sync", camp.path("stick"))
    #expect(outcome.code == 1 && outcome.error.contains("has less room than it says"), "\(outcome)")
    #expect(outcome.out.contains("Not everything is on the stick"), "\(outcome)")
    #expect(!outcome.out.contains("safe to remove"))
    #expect(try bundles == [])
    // The test writes a limited number of bytes, and removes its files.
    #expect(fake.written < 80 * Self.mebibyte)
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: camp.path("stick")).allSatisfy { !$0.contains(".satchel-") })
    let json = camp.device("tablet", "sync", camp.path("stick"), "--json")
    #expect(try json.json["error"]?["reason"] == "false-size", "\(json)")
  }

  @Test("export and emit refuse such a stick before they make anything")
  func delivered() throws {
    _ = try stick(real: 64)
    for outcome in [
      camp.device("tablet", "export", "--to", camp.path("stick"), "--json"),
      camp.hub("emit", "--all", "--to", camp.path("stick"), "--json"),
    ] {
      #expect(try outcome.code == 1 && outcome.json["error"]?["reason"] == "false-size", "\(outcome)")
    }
    #expect(try !HostFileSystem().list(camp.path("tablet/bundles/outbox")).contains("camp-tablet-hub-1.satchel"))
    #expect(camp.device("tablet", "export", "--to", camp.path("stick"), "--trust-size").code == 0)
  }

  @Test("a sound stick is tested once, and the stick says so")
  func once() throws {
    let fake = try stick(real: 512)
    let first = camp.device("tablet", "sync", camp.path("stick"))
    #expect(first.code == 0 && first.out.contains("The stick was tested."), "\(first)")
    #expect(first.out.hasSuffix("Done: the stick is safe to remove.\n"))
    #expect(fake.written > 20 * Self.mebibyte)
    let written = fake.written
    #expect(try camp.read("stick/SATCHEL/checked.txt").starts(with: Array("Test data over ".utf8)))
    let second = camp.hub("sync", camp.path("stick"))
    #expect(second.code == 0 && !second.out.contains("The stick was tested."), "\(second)")
    #expect(fake.written - written < Self.mebibyte)
  }

  @Test("a stick that got its record in a copy of another stick's files is tested, and so is one without a size in it")
  func copied() throws {
    _ = try stick(real: 512)
    #expect(camp.device("tablet", "sync", camp.path("stick")).out.contains("The stick was tested."))
    _ = try stick(said: 400, real: 400)
    let second = camp.hub("sync", camp.path("stick"))
    #expect(second.code == 0 && second.out.contains("The stick was tested."), "\(second)")
    let record = String(decoding: try camp.read("stick/SATCHEL/checked.txt"), as: UTF8.self)
    #expect(record.contains("Size of the tested stick: \(400 * Self.mebibyte) bytes."), "\(record)")
    try camp.write("stick/SATCHEL/checked.txt", "Test data over 64 of 256 MiB of free room came back.\r\n")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine too' WHERE id = 'r1'")
    #expect(camp.device("tablet", "sync", camp.path("stick")).out.contains("The stick was tested."))
  }

  @Test("large clusters change neither the distances of the markers nor the end of the test")
  func largeClusters() throws {
    _ = try stick(real: 128, .wraps, type: "exfat", cluster: 8 * Self.mebibyte)
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 1)
    // The two markers of the test take almost all room of this stick.
    for reserving in [true, false] {
      _ = try stick(said: 80, real: 80, reserving: reserving, type: "exfat", cluster: 32 * Self.mebibyte)
      try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine \(reserving)' WHERE id = 'r1'")
      let outcome = camp.device("tablet", "sync", camp.path("stick"))
      #expect(outcome.code == 0, "\(outcome)")
    }
  }

  @Test("a file system that cannot reserve room is tested as far as a bounded number of bytes reaches")
  func filled() throws {
    let short = try stick(said: 256, real: 48, reserving: false)
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 1)
    #expect(short.written < 70 * Self.mebibyte)
    // The test does not examine the stick beyond these bytes. The stick's record says how far the test reached.
    _ = try stick(said: 256, real: 150, reserving: false)
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
    let record = String(decoding: try camp.read("stick/SATCHEL/checked.txt"), as: UTF8.self)
    #expect(record.hasPrefix("Test data over 64 of 256 MiB"), "\(record)")
  }

  @Test("other file systems, a rehearsal, a sync with nothing to put there, and --trust-size test nothing")
  func untested() throws {
    var fake = try stick(real: 64, type: "ext4")
    #expect(camp.device("tablet", "sync", camp.path("stick"), "--dry-run").code == 0)
    fake = try stick(real: 64)
    #expect(camp.device("tablet", "sync", camp.path("stick"), "--dry-run").code == 0)
    #expect(camp.device("tablet", "sync", camp.path("stick"), "--trust-size").code == 0)
    #expect(fake.written < Self.mebibyte)
    fake = try stick(real: 64, type: "ext4")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine too' WHERE id = 'r1'")
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
    #expect(fake.written < Self.mebibyte)
  }
}
