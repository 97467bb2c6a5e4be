import Foundation
import Testing

@Suite("A workspace of release 0.1")
struct UpgradeTests: ReleasedStory {
  let camp: CommandLineFixture

  init() throws { camp = try Self.openCamp() }

  @Test(
    "after three rounds of sync all work is merged, each device has what its user may see, and the doctors find nothing"
  )
  func rounds() throws {
    try syncAll()
    try checkMerged()
    // Nothing is left to send, so a further round makes no bundle.
    let count = "SELECT count(*) FROM satchel_emissions"
    let before = try camp.rows(office, count)
    try syncAll(rounds: 1)
    #expect(try camp.rows(office, count) == before)
    // Files are delivered together with their rows.
    #expect(FileManager.default.fileExists(atPath: camp.path("hub/files/photos/oak.jpg")))
  }

  @Test("the same by export, import and emit, one file after the other")
  func files() throws {
    for _ in 0..<3 {
      for device in Self.devices {
        check(camp.device(device, "export"), "\(device) export")
        check(
          camp.hub("import", try camp.newestBundle(in: "\(device)/bundles/outbox", "camps-\(device)-hub-")),
          "hub import")
      }
      check(camp.hub("emit", "--all"), "emit")
      for device in Self.devices {
        let outcome = camp.device(
          device, "import", try camp.newestBundle(in: "hub/bundles/outbox", "camps-hub-\(device)-"))
        check(outcome, "\(device) import")
      }
    }
    try checkMerged()
  }

  @Test("a bundle that release 0.1 left in an outbox is taken as any other")
  func leftInOutbox() throws {
    for device in Self.devices {
      check(
        camp.hub("import", try camp.newestBundle(in: "\(device)/bundles/outbox", "camps-\(device)-hub-")), "hub import")
      let outcome = camp.device(
        device, "import", try camp.newestBundle(in: "hub/bundles/outbox", "camps-hub-\(device)-"))
      check(outcome, "\(device) import")
    }
    try syncAll()
    try checkMerged()
  }

  @Test("a rehearsal leaves every byte as release 0.1 made it")
  func rehearsal() throws {
    let before = try camp.everything()
    check(camp.hub("import", "--dry-run", camp.path("a/bundles/outbox/camps-a-hub-2.satchel")))
    check(camp.hub("emit", "--all", "--dry-run"))
    check(camp.device("a", "export", "--dry-run"))
    let after = try camp.everything()
    for (name, bytes) in before where after[name] != bytes {
      // A dry run may upgrade Satchel's own tables to this release. It changes no row and no other file.
      #expect(name.hasSuffix(".sqlite"), "\(name)")
    }
  }

  @Test("a device's database that is lost comes back from the bundles that release 0.1 kept", arguments: [false, true])
  func lostDatabase(isEmptied: Bool) throws {
    // Changes that are in no export are lost together with the database.
    check(camp.device("b", "export"), "export")
    let before = try rows("b/data.sqlite")
    try camp.remove("b/data.sqlite")
    if isEmptied { try camp.write("b/data.sqlite", "") }
    #expect(camp.device("b", "export").code == 1)
    check(camp.device("b", "doctor", "--repair"), "doctor --repair")
    #expect(try rows("b/data.sqlite") == before)
    try syncAll()
    try checkMerged()
  }

  @Test("a device that syncs without its database delivers what lay there, and is whole again after the next rounds")
  func lostBeforeSync() throws {
    check(camp.device("b", "export"), "export")
    try camp.remove("b/data.sqlite")
    try camp.makeFolder("stick")
    let stranded = camp.device("b", "sync", camp.path("stick"))
    #expect(stranded.code == 5 && stranded.out.contains("2 files that lay here"), "\(stranded.out)\(stranded.error)")
    check(camp.hub("sync", camp.path("stick")), "hub sync")
    try syncAll()
    try checkMerged()
  }

  @Test("a hub of release 0.1 that is restored in place gets everything delivered again, and collects what it had sent")
  func restoredInPlace() throws {
    try camp.copy("hub", to: "copy")
    try syncAll()
    // In the time that the hub will lose, the office writes a row. Devices receive this row.
    try camp.sql(
      office, "INSERT INTO camps VALUES ('c5', 'north', 'Elder'); UPDATE camps SET name = 'Oak of all' WHERE id = 'c1'")
    try camp.sql("a/data.sqlite", "UPDATE reviews SET note = 'later' WHERE id = 4")
    try syncAll(rounds: 2)
    try camp.remove("hub")
    try FileManager.default.moveItem(atPath: camp.path("copy"), toPath: camp.path("hub"))
    let outcome = camp.hub("restore", "--in-place")
    check(outcome, "restore --in-place")
    try syncAllAfterRestore()
    #expect(camp.hub("restore", "--finish").code == 1)
    #expect(try camp.rows(office, "SELECT name FROM camps WHERE id IN ('c1', 'c5') ORDER BY id") == "Oak of all\nElder")
    #expect(try camp.rows(office, "SELECT note FROM reviews WHERE id = 4") == "later")
    #expect(try camp.rows(office, "SELECT likes FROM reviews WHERE id = 2") == "2")
    #expect(
      try camp.rows("a/data.sqlite", "SELECT id, name FROM camps ORDER BY id") == "c1|Oak of all\nc4|New\nc5|Elder")
    let seen = try camp.rows(office, "SELECT * FROM reviews ORDER BY id")
    #expect(try camp.rows("b/data.sqlite", "SELECT * FROM reviews ORDER BY id") == seen)
    try checkHealth()
  }

  @Test("a hub of release 0.1 that was set back without a word finds it out, and says what to do")
  func setBack() throws {
    try syncAll(rounds: 1)
    try camp.copy("hub", to: "copy")
    try camp.sql("a/data.sqlite", "UPDATE reviews SET note = 'later' WHERE id = 4")
    try camp.sql(office, "UPDATE camps SET name = 'Oak of all' WHERE id = 'c1'")
    try syncAll(rounds: 2)
    try camp.remove("hub")
    try FileManager.default.moveItem(atPath: camp.path("copy"), toPath: camp.path("hub"))
    try camp.sql("a/data.sqlite", "UPDATE reviews SET stars = 3 WHERE id = 4")
    check(camp.device("a", "sync", camp.path("stick")))
    let outcome = camp.hub("sync", camp.path("stick"))
    #expect(outcome.code == 3 && outcome.error.contains("restore --in-place"), "\(outcome.out)\(outcome.error)")
    #expect(camp.hub("emit", "--all").code == 3)
    check(camp.hub("restore", "--in-place"))
    try syncAllAfterRestore()
    #expect(try camp.rows(office, "SELECT note, stars FROM reviews WHERE id = 4") == "later|3")
    #expect(try camp.rows(office, "SELECT name FROM camps WHERE id = 'c1'") == "Oak of all")
    try checkHealth()
  }
}
