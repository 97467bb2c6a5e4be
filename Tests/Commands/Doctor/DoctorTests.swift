import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// Apps and people change a database without capture. The tests check what the doctor reports and repairs.
@Suite("Nothing that went by unseen is lost")
struct DoctorTests {
  @Test("triggers are dropped, and then rows inserted, updated and deleted: the hub gets all of it")
  func triggersDropped() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", CommandLineFixture.dropTriggers + CommandLineFixture.writeUnseen)
    #expect(camp.device("tablet", "export").code == 1)
    camp.hub("emit", "--device", "tablet", "--full")
    let arrived = camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel"))
    #expect(arrived.code == 1, "an import would write over unseen changes")
    try camp.expectRepair(1, 1, 1)
    camp.deliver("tablet", 2)
    #expect(try camp.reviews() == "r1|unseen\nr3|steep")
  }

  @Test("a row that was exported, and written unseen before the hub acknowledged it, arrives as it is now")
  func unseenAfterExport() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'seen' WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    try camp.sql(
      "tablet/data.sqlite", CommandLineFixture.dropTriggers + "UPDATE reviews SET words = 'unseen' WHERE id = 'r1'")
    try camp.expectRepair(0, 1, 0)
    camp.deliver("tablet", 3)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "unseen")
    #expect(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.count == 0)
  }

  @Test("a row that an export brought to the hub, and that was deleted unseen, goes there too")
  func unseenDeleteAfterExport() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep')")
    camp.deliver("tablet", 2)
    #expect(try camp.reviews() == "r0|cold\nr1|quiet\nr3|steep")
    try camp.sql(
      "tablet/data.sqlite",
      CommandLineFixture.dropTriggers + "DROP TABLE satchel_before_reviews; DELETE FROM reviews WHERE id = 'r3'"
    )
    try camp.expectRepair(0, 0, 1)
    camp.deliver("tablet", 3)
    #expect(try camp.reviews() == "r0|cold\nr1|quiet")
  }

  @Test(
    "a table of pre-images is dropped: what was pending in it arrives all the same",
    arguments: [["before"], ["writes"], ["before", "writes"]])
  func savedDropped(kinds: [String]) throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", CommandLineFixture.writeUnseen)
    for kind in kinds { try camp.sql("tablet/data.sqlite", "DROP TABLE satchel_\(kind)_reviews") }
    if kinds.contains("writes") {
      #expect(throws: (any Error).self) { try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'x'") }
    }
    #expect(camp.device("tablet", "status").out.contains("satchel_\(kinds[0])_reviews"))
    try camp.expectRepair(1, 1, 1)
    camp.deliver("tablet", 2)
    #expect(try camp.reviews() == "r1|unseen\nr3|steep")
  }

  @Test("a hub that has no base gets one from a repair, and knows from then on")
  func newBase() throws {
    let camp = try CommandLineFixture.watched()
    let base = try camp.newestBundle(in: "hub/bundles/archive", "camp-hub-hub-v1-")
    try FileManager.default.removeItem(atPath: base)
    #expect(camp.hub("doctor").code == 1)
    try camp.sql("office.sqlite", "UPDATE reviews SET stars = 5 WHERE id = 'r1'")
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(!FileManager.default.fileExists(atPath: base))
    #expect(camp.hub("doctor").out == "All is well.\n")
    try camp.sql("office.sqlite", CommandLineFixture.dropTriggers + "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    #expect(camp.hub("doctor").out.contains("reviews: 0 inserted, 1 updated, 0 deleted unseen."))
  }

  @Test("what was written at the hub unseen reaches the devices")
  func atTheHub() throws {
    let camp = try CommandLineFixture.watched()
    #expect(camp.hub("doctor").out == "All is well.\n")
    try camp.sql("office.sqlite", "UPDATE reviews SET stars = 5 WHERE id = 'r1'")
    try camp.sql(
      "office.sqlite",
      CommandLineFixture.dropTriggers + CommandLineFixture.writeUnseen + "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(camp.hub("emit", "--all").code == 1)
    #expect(camp.hub("user", "add", "eve", "tier=1").code == 1)
    #expect(camp.hub("doctor").out.contains("reviews: 1 inserted, 0 updated, 1 deleted unseen."))
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hub("doctor").out == "All is well.\n")
    camp.answer("tablet", 3)
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT id, words, stars FROM reviews ORDER BY id")
        == "r1|unseen|1\nr3|steep|3")
    #expect(camp.hub("doctor").out == "All is well.\n")
  }

  @Test("a rehearsal of a repair, and a look, change nothing, but the result of the look is recorded")
  func rehearsal() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", CommandLineFixture.dropTriggers + CommandLineFixture.writeUnseen)
    try camp.write("tablet/bundles/inbox/.satchel-left", "x")
    let rest = { try camp.everything().filter { $0.key != "tablet/doctor.json" } }
    let before = try rest()
    let looked = camp.device("tablet", "doctor")
    #expect(looked.out.contains(".satchel-left"))
    #expect(looked.out.contains("Next: satchel doctor --repair"))
    let record = try camp.read("tablet/doctor.json")
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try rest() == before)
    #expect(try camp.read("tablet/doctor.json") == record)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet/bundles/inbox/.satchel-left")))
  }

  @Test("a secret key that others can read and rows that refer to nothing are found")
  func otherFindings() throws {
    let camp = try CommandLineFixture.watched()
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: camp.path("tablet/keys/own.key"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET site = 'nowhere' WHERE id = 'r1'")
    let findings = try camp.device("tablet", "doctor", "--json").json["findings"]?.arrayValue?.compactMap {
      $0["reason"]?.stringValue
    }
    #expect(findings == ["open-key", "foreign-keys"])
  }

  @Test("a change that lost against a whole row of a full bundle, after it was exported, is no unseen change")
  func lostWholeRow() throws {
    let camp = try CommandLineFixture()
    try camp.makeOffice()
    try camp.write(
      "camp.json",
      #"{ "dataset": "camp", "version": 1, "tables": { "sites": {}, "reviews": { "conflict": "newest", "merge": "row" } } }"#
    )
    camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann")
    camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "export")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    camp.hub("emit", "--device", "tablet", "--full")
    #expect(camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel")).code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT stars, words FROM reviews WHERE id = 'r1'") == "4|later")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    // The doctor also finds writes that were made without triggers.
    try camp.sql(
      "tablet/data.sqlite", CommandLineFixture.dropTriggers + CommandLineFixture.writeUnseen.split(separator: ";")[0])
    try camp.expectRepair(0, 1, 0)
  }
}
