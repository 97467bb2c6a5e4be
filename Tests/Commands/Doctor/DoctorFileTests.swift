import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// Wrong database files of a device: old copies, files that an app saved again, files of other devices.
@Suite("Another file lies where the database was, and nothing is lost")
struct DoctorFileTests {
  @Test("another device's database is named, and nothing of it is touched")
  func otherDevice() throws {
    let camp = try CommandLineFixture.watched()
    try Data(camp.read("phone/data.sqlite")).write(to: URL(fileURLWithPath: camp.path("tablet/data.sqlite")))
    let before = try camp.read("tablet/data.sqlite")
    let outcome = camp.device("tablet", "doctor")
    #expect(outcome.code == 1)
    #expect(outcome.out.contains("belongs to the device phone"))
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    #expect(try camp.read("tablet/data.sqlite") == before)
  }

  @Test("an old copy is brought to where the newer file was, and what was written into it comes on top")
  func oldCopy() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'on the way' WHERE id = 'r0'")
    let copy = try camp.read("tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'one' WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    try camp.sql("office.sqlite", "UPDATE reviews SET stars = 9 WHERE id = 'r0'")
    camp.answer("tablet", 3)
    try camp.sql(
      "tablet/data.sqlite",
      "UPDATE reviews SET words = 'two' WHERE id = 'r0'; INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'three')")
    camp.device("tablet", "export")

    try Data(copy).write(to: URL(fileURLWithPath: camp.path("tablet/data.sqlite")))
    try camp.sql(
      "tablet/data.sqlite",
      "UPDATE reviews SET stars = 1 WHERE id = 'r1'; INSERT INTO reviews VALUES ('r4', 'lake', 'ann', 4, 'own')")
    #expect(camp.device("tablet", "status").out.contains("was replaced by an older copy"))
    #expect(camp.device("tablet", "export").code == 1)
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1)
    #expect(looked.out.contains("Next: satchel doctor --repair"))
    let old = try camp.read("tablet/data.sqlite")
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try camp.read("tablet/data.sqlite") == old)
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    let all = "r0|two|9\nr1|one|1\nr3|three|3\nr4|own|4"
    let query = "SELECT id, words, stars FROM reviews WHERE author = 'ann' ORDER BY id"
    #expect(try camp.rows("tablet/data.sqlite", query) == all)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")

    camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-3.satchel"))
    camp.deliver("tablet", 4)
    #expect(try camp.rows("office.sqlite", query) == all)
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.count == 0)
    camp.answer("tablet", 4)
    #expect(try camp.rows("tablet/data.sqlite", query) == all)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("an old copy of an older version of the dataset is kept aside, and another database is made without it")
  func oldCopyOfOlderVersion() throws {
    let camp = try CommandLineFixture.watched()
    let copy = try camp.read("tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'delivered' WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    try camp.exportAfterMigration()

    try Data(copy).write(to: URL(fileURLWithPath: camp.path("tablet/data.sqlite")))
    let refused = camp.device("tablet", "doctor", "--repair")
    #expect(refused.code == 1 && refused.error.contains("move this one out of the way"), "\(refused.error)")
    #expect(try camp.read("tablet/data.sqlite") == copy)
    try camp.copy("tablet/data.sqlite", to: "kept.sqlite")
    try camp.remove("tablet/data.sqlite")
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    let query = "SELECT id, words, \"more\" FROM reviews WHERE author = 'ann' ORDER BY id"
    #expect(try camp.rows("tablet/data.sqlite", query) == "r0|cold|exported\nr1|delivered|NULL")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-3.satchel"))
    #expect(try camp.rows("office.sqlite", query) == "r0|cold|exported\nr1|delivered|NULL")
  }

  @Test("an old copy from before an epoch of the hub is kept aside, and another database is made without it")
  func oldCopyOfEarlierEpoch() throws {
    let camp = try CommandLineFixture.watched()
    let copy = try camp.read("tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'delivered' WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    #expect(camp.hub("restore", "--in-place").code == 0)
    #expect(camp.hub("emit", "--device", "tablet").code == 0)
    let file = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    #expect(camp.device("tablet", "import", file).code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'exported' WHERE id = 'r0'")
    camp.device("tablet", "export")

    try Data(copy).write(to: URL(fileURLWithPath: camp.path("tablet/data.sqlite")))
    for words in [["doctor", "--repair"], ["doctor", "--repair", "--dry-run"]] {
      let refused = camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
      #expect(refused.code == 1 && refused.error.contains("move this one out of the way"), "\(refused)")
    }
    #expect(try camp.read("tablet/data.sqlite") == copy)
    try camp.remove("tablet/data.sqlite")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    let query = "SELECT id, words FROM reviews WHERE author = 'ann' ORDER BY id"
    #expect(try camp.rows("tablet/data.sqlite", query) == "r0|exported\nr1|delivered")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    camp.hub("import", try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-"))
    #expect(try camp.rows("office.sqlite", query) == "r0|exported\nr1|delivered")
  }

  /// A fixture whose tablet has an old copy of its database. The hub has a later change of the tablet.
  /// - Parameter isOfLongAgo: whether a full bundle came since. Then no bundle shows the former rows of the copy.
  private func withOldCopy(isOfLongAgo: Bool = false) throws -> CommandLineFixture {
    let camp = try CommandLineFixture.watched()
    let copy = try camp.read("tablet/data.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'one' WHERE id = 'r1'")
    camp.deliver("tablet", 2)
    if isOfLongAgo {
      camp.hub("emit", "--device", "tablet", "--full")
      camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel"))
    }
    try Data(copy).write(to: URL(fileURLWithPath: camp.path("tablet/data.sqlite")))
    return camp
  }

  @Test(
    "an old copy whose triggers are gone too is brought to where the newer file was, with what went by unseen in it")
  func damagedOldCopy() throws {
    let camp = try withOldCopy()
    try camp.sql("tablet/data.sqlite", CommandLineFixture.dropTriggers + "UPDATE reviews SET stars = 3 WHERE id = 'r0'")
    let before = try camp.read("tablet/data.sqlite")
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1)
    #expect(
      looked.out.contains("was replaced by an older copy")
        && looked.out.contains("reviews: 0 inserted, 1 updated, 0 deleted unseen."))
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try camp.read("tablet/data.sqlite") == before)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    camp.deliver("tablet", 3)
    let query = "SELECT id, words, stars FROM reviews WHERE author = 'ann' ORDER BY id"
    #expect(try camp.rows("office.sqlite", query) == "r0|cold|3\nr1|one|4")
    #expect(try camp.rows("tablet/data.sqlite", query) == "r0|cold|3\nr1|one|4")
  }

  @Test("writes that no trigger recorded in an old copy are taken up too, although its triggers are whole again")
  func unseenInOldCopy() throws {
    let camp = try withOldCopy()
    try camp.writeUnseen(
      "tablet/data.sqlite",
      "UPDATE reviews SET stars = 3 WHERE id = 'r0'; INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep')")
    let before = try camp.read("tablet/data.sqlite")
    let unseen = "reviews: 1 inserted, 1 updated, 0 deleted unseen."
    let looked = camp.device("tablet", "doctor").out
    #expect(looked.contains("was replaced by an older copy") && looked.contains(unseen), "\(looked)")
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").out.contains(unseen))
    #expect(try camp.read("tablet/data.sqlite") == before)
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0 && repaired.out.contains("\(unseen) Taken up."), "\(repaired)")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    camp.deliver("tablet", 3)
    let query = "SELECT id, words, stars FROM reviews WHERE author = 'ann' ORDER BY id"
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, query) == "r0|cold|3\nr1|one|4\nr3|steep|3")
    }
  }

  @Test("if no bundle shows the former rows of an old copy, the repair keeps the copy and names it")
  func unseenInOldCopyOfLongAgo() throws {
    let camp = try withOldCopy(isOfLongAgo: true)
    try camp.writeUnseen("tablet/data.sqlite", "UPDATE reviews SET stars = 3 WHERE id = 'r0'")
    #expect(camp.device("tablet", "doctor").out.contains("A repair keeps it"))
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired)")
    let folder = "tablet/bundles/archive/former"
    let kept = try FileManager.default.contentsOfDirectory(atPath: camp.path(folder))
      .filter { $0.hasPrefix("data-before-repair-") && $0.hasSuffix(".sqlite") }
    #expect(kept.count == 1 && kept.allSatisfy { repaired.out.contains($0) }, "\(repaired)")
    let query = "SELECT words, stars FROM reviews WHERE id IN ('r0', 'r1') ORDER BY id"
    for name in kept { #expect(try camp.rows("\(folder)/\(name)", query) == "cold|3\nquiet|4") }
    #expect(try camp.rows("tablet/data.sqlite", query) == "cold|1\none|4")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("an old copy without triggers, from a time without any bundle, is not touched")
  func damagedOldCopyOfLongAgo() throws {
    let camp = try withOldCopy(isOfLongAgo: true)
    try camp.sql("tablet/data.sqlite", CommandLineFixture.dropTriggers)
    let before = try camp.read("tablet/data.sqlite")
    #expect(camp.device("tablet", "doctor").out.contains("Keep this old database in another folder"))
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    #expect(try camp.read("tablet/data.sqlite") == before)
  }

  @Test(
    "a file that the app saved again becomes the device's file, and writes made meanwhile reach the hub",
    arguments: [true, false])
  func replaced(deleted: Bool) throws {
    let camp = try CommandLineFixture.watched()
    // The tablet has an exported row r5, an exported change of r1, and a later change of r5 that is not exported.
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO reviews VALUES ('r5', 'hill', 'ann', 5, 'told'); UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    camp.device("tablet", "export")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'never told' WHERE id = 'r5'")
    try camp.replaceFile(CommandLineFixture.writeUnseen)
    let before = try camp.read("tablet/data.sqlite")

    let status = camp.device("tablet", "status").out
    #expect(status.contains("in the place of its database. The new file has no tables of Satchel."), "\(status)")
    #expect(try camp.device("tablet", "status", "--json").json["state"] == "replaced")
    #expect(camp.device("tablet", "export").code == 1)
    let looked = camp.device("tablet", "doctor")
    #expect(looked.code == 1)
    #expect(looked.out.contains("reviews: 1 row known but missing"))
    #expect(looked.out.contains("Next: satchel doctor --repair"))
    #expect(camp.device("tablet", "doctor", "--repair", "--dry-run").code == 0)
    #expect(try camp.read("tablet/data.sqlite") == before)

    let repaired =
      deleted ? camp.device("tablet", "doctor", "--repair", "--deleted") : camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM settings") == "0")
    camp.hub("import", camp.path("tablet/bundles/sent/camp-tablet-hub-2.satchel"))
    camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel"))
    camp.deliver("tablet", 3)
    let all = (deleted ? "" : "r0|cold|1\n") + "r1|unseen|2\nr3|steep|3\nr5|never told|5"
    let query = "SELECT id, words, stars FROM reviews WHERE author = 'ann' ORDER BY id"
    #expect(try camp.rows("office.sqlite", query) == all)
    #expect(try camp.rows("tablet/data.sqlite", query) == all)
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.count == 0)
    camp.answer("tablet", 3)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("an app that begins with an empty file loses nothing: all rows are put back")
  func replacedByEmptyFile() throws {
    let camp = try CommandLineFixture.watched()
    let rows = try camp.rows("tablet/data.sqlite", "SELECT * FROM reviews ORDER BY id")
    try camp.replaceFile("DELETE FROM reviews; DELETE FROM sites;")
    #expect(camp.device("tablet", "doctor", "--repair").out.contains("sites: put back 2 rows that the table lacked."))
    #expect(try camp.rows("tablet/data.sqlite", "SELECT * FROM reviews ORDER BY id") == rows)
    // The export carries digests of all rows, but no changes.
    #expect(camp.device("tablet", "export").out.hasPrefix("Export 2: 0 changes."))
    #expect(camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel")).code == 0)
    #expect(try camp.hub("compare", "tablet", "--json").json["proof"]?["result"]?.stringValue == "verified")
  }

  @Test(
    "rows whose delete was exported are not put back into a file that the app made again", arguments: [true, false])
  func deletedBeforeReplaced(isDelivered: Bool) throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews WHERE id = 'r0'")
    camp.device("tablet", "export")
    try camp.replaceFile("DELETE FROM reviews; DELETE FROM sites;")
    if isDelivered { camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel")) }
    #expect(try camp.device("tablet", "doctor", "--json").json["restored"]?["reviews"]?.integerValue == 1)
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(try camp.reviews("tablet/data.sqlite") == "r1|quiet")
    #expect(camp.device("tablet", "export").out.hasPrefix("Export 3: 1 change (reviews 1)."))
    try camp.carry("tablet", rounds: 2)
    for database in ["office.sqlite", "tablet/data.sqlite"] { #expect(try camp.reviews(database) == "r1|quiet") }
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.count == 0)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("a change that one export contains and the next one reverts is sent again from a file that the app made again")
  func takenBackBeforeReplaced() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql(
      "tablet/data.sqlite",
      "INSERT INTO reviews VALUES ('r5', 'hill', 'ann', 5, 'new'); UPDATE reviews SET words = 'warm' WHERE id = 'r0'")
    camp.deliver("tablet", 2)
    try camp.sql(
      "tablet/data.sqlite", "DELETE FROM reviews WHERE id = 'r5'; UPDATE reviews SET words = 'cold' WHERE id = 'r0'")
    camp.device("tablet", "export")
    try camp.replaceFile("DELETE FROM reviews; DELETE FROM sites;")
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    // Export 3 is lost on its way. Export 4 contains all of its changes.
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'still' WHERE id = 'r1'")
    camp.deliver("tablet", 4)
    camp.answer("tablet", 3)
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.reviews(database) == "r0|cold\nr1|still", "\(database)")
    }
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test(
    "a file that lacks the dataset's tables is named and kept, and a file that is no database is kept beside a new one",
    arguments: [true, false])
  func otherFile(isDatabase: Bool) throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r6', 'lake', 'ann', 2, 'on its way')")
    camp.device("tablet", "export")
    try FileManager.default.moveItem(atPath: camp.path("tablet/data.sqlite"), toPath: camp.path("old.sqlite"))
    if isDatabase {
      try camp.sql(
        "tablet/data.sqlite", "CREATE TABLE reviews (id TEXT PRIMARY KEY); INSERT INTO reviews VALUES ('r7')")
    } else {
      try camp.write("tablet/data.sqlite", String(repeating: "no database", count: 1000))
    }
    let before = try camp.read("tablet/data.sqlite")
    let outcome = camp.device("tablet", "doctor", "--json")
    #expect(outcome.code == 1)
    let reasons = try outcome.json["findings"]?.arrayValue?.map { $0["reason"]?.stringValue } ?? []
    #expect(reasons.first == (isDatabase ? "replaced" : "corrupt"))
    #expect(reasons.count { $0 == "replaced" } == (isDatabase ? 1 : 0))
    if isDatabase {
      let looked = camp.device("tablet", "doctor").out
      #expect(!looked.contains("Next: satchel doctor --repair"), "\(looked)")
      #expect(looked.contains("move the file to another folder, then satchel doctor --repair"), "\(looked)")
    }
    #expect(camp.device("tablet", "doctor", "--repair").code == (isDatabase ? 1 : 0))
    let kept =
      isDatabase ? camp.path("tablet/data.sqlite") : try camp.newestBundle(in: "tablet", "data.sqlite.damaged-")
    #expect(try Array(Data(contentsOf: URL(filePath: kept))) == before)

    // After the file was moved away, a full bundle builds the database again. The next export also contains the changes
    // that were on their way.
    for suffix in ["", "-wal", "-shm"] { try camp.removeIfThere("tablet/data.sqlite\(suffix)") }
    camp.hub("emit", "--device", "tablet", "--full")
    #expect(camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel")).code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    camp.device("tablet", "export")
    #expect(camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-3.satchel")).code == 0)
    #expect(try camp.reviews() == "r0|cold\nr1|later\nr6|on its way")
  }

  @Test("a file that lacks the dataset's tables is moved aside, and a repair builds the database again")
  func otherFileMovedAside() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r6', 'lake', 'ann', 2, 'on its way')")
    camp.device("tablet", "export")
    let before = try camp.reviews("tablet/data.sqlite")
    try camp.loseDatabase(of: "tablet")
    try camp.sql("tablet/data.sqlite", "CREATE TABLE reviews (id TEXT PRIMARY KEY); INSERT INTO reviews VALUES ('r7')")
    let refused = camp.device("tablet", "doctor", "--repair")
    let words = "move the file to another folder, then satchel doctor --repair"
    #expect(refused.code == 1 && refused.error.contains(words), "\(refused)")
    try camp.loseDatabase(of: "tablet")
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired)")
    #expect(try camp.reviews("tablet/data.sqlite") == before)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.reviews() == before)
  }

  @Test("without the bundles that contain the rows nothing is repaired, and with them everything is")
  func lostArchive() throws {
    let camp = try CommandLineFixture.watched()
    let archived = camp.path("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    try FileManager.default.moveItem(atPath: archived, toPath: camp.path("aside"))
    #expect(
      try camp.device("tablet", "doctor", "--json").json["findings"]?.arrayValue?.first?["reason"] == "no-history")
    try camp.sql("tablet/data.sqlite", CommandLineFixture.dropTriggers + CommandLineFixture.writeUnseen)
    let before = try camp.read("tablet/data.sqlite")
    #expect(camp.device("tablet", "doctor", "--repair").code == 1)
    #expect(try camp.read("tablet/data.sqlite") == before)
    // The hub's folder has a copy of the same bundle.
    try FileManager.default.copyItem(atPath: camp.path("hub/bundles/sent/camp-hub-tablet-1.satchel"), toPath: archived)
    try camp.expectRepair(1, 1, 1)

    var bytes = try camp.read("tablet/bundles/archive/camp-hub-tablet-2.satchel")
    bytes[bytes.count / 2] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: camp.path("tablet/bundles/archive/camp-hub-tablet-2.satchel")))
    let damaged = camp.device("tablet", "doctor")
    #expect(damaged.code == 1)
    #expect(damaged.out.contains("damaged"))
  }
}
