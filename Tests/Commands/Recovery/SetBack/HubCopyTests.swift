import Foundation
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// Two copies of one hub are in use. Each has the hub's keys.
@Suite("A device between two copies of one hub")
struct HubCopyTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"
  private let tablet = "tablet/data.sqlite"

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.carry("tablet", rounds: 2)
    try camp.copy("hub", to: "copy")
    try camp.copy(office, to: "copy.sqlite")
    let settings = String(decoding: try camp.read("copy/satchel.json"), as: UTF8.self)
    try camp.write("copy/satchel.json", settings.replacing(office, with: "copy.sqlite"))
  }

  @discardableResult private func copy(_ words: String...) -> CommandLineFixture.Outcome {
    camp.hubAnywhere(["-C", camp.path("copy")] + words)
  }

  private func rename(_ database: String, to name: String) throws {
    try camp.sql(database, "UPDATE sites SET name = '\(name)' WHERE id = 'lake'")
  }

  private func name(_ database: String) throws -> String {
    try camp.rows(database, "SELECT name FROM sites WHERE id = 'lake'")
  }

  @Test(
    "a bundle with a known number from another copy of the hub is refused, and the next sync informs that copy")
  func sameNumber() throws {
    try rename(office, to: "by the hub")
    try rename("copy.sqlite", to: "by the copy")
    let own = try camp.emit("tablet")
    let other = try camp.emit("tablet", from: "copy")
    #expect(Paths.name(of: own) == Paths.name(of: other))
    #expect(camp.device("tablet", "import", own).code == 0)
    let refused = camp.device("tablet", "import", other)
    #expect(
      refused.code == 3 && refused.error.contains("two copies of it are at work"), "\(refused.out)\(refused.error)")
    #expect(try name(tablet) == "by the hub")
    #expect(camp.device("tablet", "status").out.contains("two copies of it are at work"))
    camp.device("tablet", "sync", try stick())
    #expect(copy("sync", try stick()).code == 3)
    #expect(try camp.rows("copy.sqlite", "SELECT count(*) FROM satchel_set_back") == "1")
    try rename(office, to: "later")
    try camp.carry("tablet", rounds: 2)
    #expect(try name(tablet) == "later")
    #expect(camp.device("tablet", "doctor").code == 0)
  }

  @Test("a bundle of another copy is refused if the device has a later bundle, even an earlier bundle")
  func passedNumber() throws {
    try rename("copy.sqlite", to: "by the copy")
    let other = try camp.emit("tablet", from: "copy")
    try rename(office, to: "by the hub")
    let lost = try camp.emit("tablet")
    #expect(Paths.name(of: lost) == Paths.name(of: other))
    let late = camp.path("late.satchel")
    try FileManager.default.copyItem(atPath: lost, toPath: late)
    try rename(office, to: "by the hub later")
    let next = try camp.emit("tablet", full: true)
    #expect(Paths.name(of: next) != Paths.name(of: lost))
    #expect(camp.device("tablet", "import", next).code == 0)
    let refused = camp.device("tablet", "import", other)
    #expect(
      refused.code == 3 && refused.error.contains("two copies of it are at work"), "\(refused.out)\(refused.error)")
    let known = camp.device("tablet", "import", late)
    #expect(known.code == 0, "\(known.error)")
    #expect(try name(tablet) == "by the hub later")
  }

  private func stick() throws -> String {
    try camp.makeFolder("stick")
    return camp.path("stick")
  }

  @Test(
    "a device that follows one copy into a new epoch takes nothing from the other until a person chooses")
  func twoEpochs() throws {
    #expect(camp.hub("restore", "--in-place").code == 0)
    #expect(copy("restore", "--in-place").code == 0)
    try camp.carry("tablet", rounds: 2)
    try camp.sql(tablet, "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'for the hub')")
    try rename(office, to: "by the hub")
    try camp.carry("tablet", rounds: 2)
    try rename("copy.sqlite", to: "by the copy")
    let other = try camp.emit("tablet", from: "copy")
    let before = try camp.rows(tablet, "SELECT epoch FROM satchel_device")
    let refused = camp.device("tablet", "import", other)
    #expect(refused.code == 3 && refused.error.contains("another copy of the hub"), "\(refused.out)\(refused.error)")
    #expect(try name(tablet) == "by the hub")
    #expect(try camp.rows(tablet, "SELECT epoch FROM satchel_device") == before)
    #expect(camp.device("tablet", "status").out.contains("another copy of the hub"))

    let fingerprint = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let confirmed = camp.device("tablet", "import", other, "--fingerprint", fingerprint)
    #expect(confirmed.code == 0, "\(confirmed.error)")
    #expect(confirmed.out.contains("You chose the copy of the hub that made this bundle."), "\(confirmed.out)")
    let status = camp.device("tablet", "status").out
    #expect(!status.contains("Other hub") && !status.contains("which copy continues"), "\(status)")
    // The retired copy acknowledged changes that the remaining hub does not have. When these changes arrive, they show
    // the hub that it was set back.
    camp.device("tablet", "sync", try stick())
    #expect(copy("sync", try stick()).error.contains("restore --in-place"))
    #expect(copy("restore", "--in-place").code == 0)
    for _ in 1...4 {
      copy("sync", try stick())
      camp.device("tablet", "sync", try stick())
    }
    #expect(try name(tablet) == name("copy.sqlite"))
    for database in ["copy.sqlite", tablet] {
      #expect(try camp.rows(database, "SELECT words FROM reviews WHERE id = 'n1'") == "for the hub")
    }
  }

  @Test("two copies that began their epochs in one second used the same numbers, and each gets what it lacks")
  func sameSecond() throws {
    camp.by(SetClock(camp.platform.clock.milliseconds())) {
      #expect(camp.hub("restore", "--in-place").code == 0)
      #expect(copy("restore", "--in-place").code == 0)
    }
    try camp.carry("tablet", rounds: 2)
    try rename(office, to: "by the hub")
    let lost = try camp.emit("tablet")
    #expect(camp.device("tablet", "import", lost).code == 0)
    var other = try camp.emit("tablet", from: "copy")
    while Paths.name(of: other) != Paths.name(of: lost) { other = try camp.emit("tablet", full: true, from: "copy") }
    let fingerprint = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    #expect(camp.device("tablet", "import", other, "--fingerprint", fingerprint).code == 0)
    camp.device("tablet", "sync", try stick())
    #expect(copy("sync", try stick()).code == 3)
    #expect(copy("restore", "--in-place").code == 0)
    for _ in 1...5 {
      camp.device("tablet", "sync", try stick())
      #expect(copy("sync", try stick()).code == 0)
    }
    // This copy ends its recovery without the phone.
    #expect(copy("restore", "--finish").code == 0)
    for _ in 1...2 {
      copy("sync", try stick())
      camp.device("tablet", "sync", try stick())
    }
    #expect(try name("copy.sqlite") == "by the hub")
    #expect(try name(tablet) == "by the hub")
    #expect(!camp.device("tablet", "status").out.contains("Brings back"))
  }

  @Test("a device that lost its database and some of its archive takes the other copy's bundle only from a person")
  func lostDatabase() throws {
    #expect(camp.hub("restore", "--in-place").code == 0)
    #expect(copy("restore", "--in-place").code == 0)
    try camp.carry("tablet", rounds: 2)
    // The tablet's archive has only deltas left. No database can be built from them alone.
    try rename(office, to: "by the hub")
    try camp.carry("tablet", rounds: 2)
    try camp.remove(tablet)
    let archive = "tablet/bundles/archive"
    let names = try HostFileSystem().list(camp.path(archive)).filter { $0.hasSuffix(".satchel") }
    let newest = try #require(names.max { ($0.utf8.count, $0) < ($1.utf8.count, $1) })
    for name in names where name != newest { try camp.remove("\(archive)/\(name)") }

    try rename("copy.sqlite", to: "by the copy")
    let other = try camp.emit("tablet", full: true, from: "copy")
    let refused = camp.device("tablet", "import", other, "--json")
    #expect(refused.code == 3)
    #expect(try refused.json["bundles"]?.arrayValue?.first?["error"]?["reason"] == "other-hub", "\(refused.out)")
    let fingerprint = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let confirmed = camp.device("tablet", "import", other, "--fingerprint", fingerprint)
    #expect(confirmed.code == 0, "\(confirmed.error)")
    #expect(try name(tablet) == "by the copy")
    let doctor = camp.device("tablet", "doctor")
    #expect(doctor.code == 0, "\(doctor.out)")
  }
}
