import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// Each bundle of a device reports the device's health to the hub.
@Suite("A device's health")
struct DeviceHealthTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func health() throws -> JSONValue? {
    try camp.hub("device", "show", "tablet", "--json").json["device"]?["health"]
  }

  /// The tablet writes a change and exports it. The hub imports this export by its number.
  private func deliver(_ number: Int, stars: Int) throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = \(stars) WHERE id = 'r1'")
    camp.deliver("tablet", number)
  }

  private func hasRecord() -> Bool { FileManager.default.fileExists(atPath: camp.path("tablet/doctor.json")) }

  @Test("each bundle brings version, free space, sizes and refused files, and device show prints them")
  func shown() throws {
    #expect(try health() == .null)
    #expect(camp.hub("device", "show", "tablet").out.contains("not known"))
    try camp.writeDamagedBundle("broken.satchel")
    camp.device("tablet", "import", camp.path("broken.satchel"))
    try deliver(1, stars: 1)
    let health = try #require(try health())
    #expect(health["quarantined"]?.integerValue == 1)
    #expect(health["satchel"]?.stringValue == "0.1.0" && health["doctor"] == .null)
    for name in ["database_bytes", "free_bytes"] { #expect(health[name]?.integerValue ?? 0 > 0, "\(name)") }
    let shown = camp.hub("device", "show", "tablet").out
    for words in ["tablet of the user ann", "version 0.1.0", "1 refused file", "never ran"] {
      #expect(shown.contains(words), "\(words): \(shown)")
    }
    let listed = try camp.hub("status", "--json").json["devices"]?.arrayValue?.first {
      $0["name"]?.stringValue == "tablet"
    }
    #expect(listed?["health"] == health)
    #expect(camp.hub("device", "show", "slate").code == 1)
  }

  @Test("the device's own status shows what its next bundle will say")
  func own() throws {
    try camp.writeDamagedBundle("broken.satchel")
    camp.device("tablet", "import", camp.path("broken.satchel"))
    #expect(camp.device("tablet", "doctor").code == 0)
    let own = try #require(try camp.device("tablet", "status", "--json").json["health"])
    #expect(own["doctor"]?["result"] == "well" && own["quarantined"] == 1, "\(own)")
    let words = camp.device("tablet", "status").out
    for part in ["Satchel 0.1.0, ", "of disk free, 1 refused file; doctor: all was well"] {
      #expect(words.contains(part), "\(words)")
    }
    try deliver(1, stars: 1)
    let sent = try health()
    for name in ["satchel", "quarantined", "doctor"] { #expect(own[name] == sent?[name], "\(name)") }
    camp.platform = Platform(files: TroubledFiles(free: 90 << 20), clock: SystemClock(), random: SystemRandom())
    #expect(camp.device("tablet", "status").out.contains("the disk of this device is nearly full"))
  }

  @Test("the console's overview names devices with a nearly full disk, and devices whose doctor found faults")
  func console() throws {
    camp.platform = Platform(files: TroubledFiles(free: 90 << 20), clock: SystemClock(), random: SystemRandom())
    try camp.write("tablet/doctor.json", #"{ "at": "2026-01-31T08:05:09Z", "result": "faults" }"#)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "export")
    camp.platform = .real
    #expect(camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")).code == 0)
    try camp.inBrowser { browser in
      let page = browser.get("/").text
      for words in [
        "nearly full: tablet.", "The doctor found faults there: tablet.",
        "its disk is nearly full; its doctor found faults",
      ] {
        #expect(page.contains(words), "\(words) in \(page)")
      }
      // The page shows each fault only once.
      #expect(page.components(separatedBy: "its disk is nearly full").count == 2, "\(page)")
    }
  }

  @Test("a nearly full disk is a warning in status and check, until a later bundle says otherwise")
  func fullDisk() throws {
    let real = camp.platform
    camp.platform = Platform(files: TroubledFiles(free: 90 << 20), clock: SystemClock(), random: SystemRandom())
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "export")
    camp.platform = Platform(files: TroubledFiles(free: 1 << 40), clock: SystemClock(), random: SystemRandom())
    camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel"))
    #expect(try health()?["disk_nearly_full"]?.boolValue == true)
    let check = camp.hub("check")
    #expect(check.code == 1 && check.out.contains("the disk is nearly full on: tablet"), "\(check)")
    let status = camp.hub("status").out
    #expect(status.contains("the disk of tablet is nearly full (90 MiB free"), "\(status)")
    try deliver(2, stars: 2)
    #expect(try health()?["free_bytes"]?.integerValue == 1 << 40)
    #expect(camp.hub("check").code == 0)
    camp.platform = real
  }

  @Test("the doctor's result comes with the next bundle: faults are a warning until they are repaired")
  func doctor() throws {
    try deliver(1, stars: 1)
    camp.answer("tablet", 2)
    try camp.sql("tablet/data.sqlite", CommandLineFixture.dropTriggers)
    #expect(camp.device("tablet", "doctor").code == 1)
    let record = try JSONValue.parse(camp.read("tablet/doctor.json"))
    #expect(record["result"]?.stringValue == "faults")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(try JSONValue.parse(camp.read("tablet/doctor.json"))["result"]?.stringValue == "repaired")
    // The file imitates a doctor that found faults and left them.
    try camp.write("tablet/doctor.json", #"{ "at": "2026-01-31T08:05:09Z", "result": "faults" }"#)
    try deliver(2, stars: 2)
    #expect(try health()?["doctor"]?["result"]?.stringValue == "faults")
    #expect(try health()?["doctor"]?["at"]?.stringValue == "2026-01-31T08:05:09Z")
    let check = camp.hub("check")
    #expect(check.code == 1 && check.out.contains("the doctor found faults on: tablet"), "\(check)")
    #expect(camp.hub("status").out.contains("the doctor of tablet found faults"))
    #expect(camp.device("tablet", "doctor").code == 0)
    try deliver(3, stars: 3)
    #expect(try health()?["doctor"]?["result"]?.stringValue == "well")
    #expect(camp.hub("check").code == 0)
    // A revoked device needs no attention, so its faults are no warning.
    try camp.write("tablet/doctor.json", #"{ "at": "2026-01-31T08:05:09Z", "result": "faults" }"#)
    try deliver(4, stars: 4)
    #expect(camp.hub("check").code == 1)
    camp.hub("device", "revoke", "tablet")
    #expect(camp.hub("check").code == 0)
  }

  @Test("a change of the health alone makes no new bundle")
  func nothingNew() throws {
    try deliver(1, stars: 1)
    try camp.writeDamagedBundle("broken.satchel")
    camp.device("tablet", "import", camp.path("broken.satchel"))
    try camp.write("tablet/doctor.json", #"{ "at": "2026-01-31T08:05:09Z", "result": "faults" }"#)
    let export = try camp.device("tablet", "export", "--json").json
    #expect(export["new"]?.boolValue == false && export["sequence"]?.integerValue == 1, "\(export)")
  }

  @Test("a rehearsal of doctor, export or import writes nothing of the health")
  func rehearsal() throws {
    #expect(camp.device("tablet", "doctor", "--dry-run").code == 0)
    #expect(!hasRecord())
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "export", "--dry-run")
    #expect(try health() == .null)
    camp.device("tablet", "export")
    let bundle = camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    #expect(camp.hub("import", "--dry-run", bundle).code == 0)
    #expect(try health() == .null)
    #expect(camp.hub("import", bundle).code == 0)
    #expect(try health()?["satchel"] == "0.1.0")
  }

  @Test("a damaged record of the doctor counts as none, and an export does not fail because of it")
  func damagedRecord() throws {
    try camp.write("tablet/doctor.json", #"{ "at": "soon", "result": "well" "#)
    try deliver(1, stars: 1)
    #expect(try health()?["doctor"] == .null)
    try camp.write("tablet/doctor.json", #"{ "at": "2026-01-31T08:05:09Z", "result": "splendid" }"#)
    try deliver(2, stars: 2)
    #expect(try health()?["doctor"] == .null)
  }

  @Test("an overtaken bundle does not bring back an older health")
  func overtaken() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "export")
    try camp.copy("tablet/bundles/outbox/camp-tablet-hub-1.satchel", to: "first.satchel")
    try camp.write("tablet/doctor.json", #"{ "at": "2026-01-31T08:05:09Z", "result": "repaired" }"#)
    try deliver(2, stars: 2)
    #expect(camp.hub("import", camp.path("first.satchel")).code == 0)
    #expect(try health()?["doctor"]?["result"]?.stringValue == "repaired")
  }
}
