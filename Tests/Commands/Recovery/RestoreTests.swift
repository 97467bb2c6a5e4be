import SatchelJSON
import Testing

/// A hub is lost and restored from a backup. The tests use the commands.
@Suite struct RestoreTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private let office = "office.sqlite"

  private func backUp(_ name: String = "monday.satchel") throws { try camp.backUp(name) }
  private func restore(_ name: String = "monday.satchel") throws { try camp.restore(name) }
  private func carry(_ device: String, rounds: Int = 1) throws { try camp.carry(device, rounds: rounds) }

  private func reviews(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, stars, words FROM reviews ORDER BY id")
  }

  private func write(_ device: String, _ sql: String) throws { try camp.sql("\(device)/data.sqlite", sql) }

  @Test("a hub whose key is lost while it recovers goes on without the bundles that this key signed")
  func keyLostMeanwhile() throws {
    for name in ["tablet", "phone"] { try carry(name) }
    try backUp()
    try camp.sql(office, "UPDATE sites SET name = 'of the lost time' WHERE id = 'lake'")
    for name in ["tablet", "phone"] { try carry(name) }
    try restore()
    try carry("tablet", rounds: 2)
    let rotated = camp.hub("keys", "rotate", "--lost", "--yes", "--json")
    let fingerprint = try #require(try rotated.json["fingerprint"]?.stringValue, "\(rotated.error)")
    for name in ["tablet", "phone"] {
      let emission = try #require(try camp.hub("emit", "--device", name, "--json").json["emissions"]?.arrayValue?.first)
      camp.device(name, "import", try #require(emission["file"]?.stringValue), "--fingerprint", fingerprint)
    }
    for _ in 0..<2 {
      for name in ["tablet", "phone"] {
        let file = try #require(try camp.device(name, "export", "--json").json["file"]?.stringValue)
        let taken = camp.hub("import", file)
        #expect(taken.code == 0, "\(taken.error)")
      }
    }
    let ended = camp.hub("restore", "--finish")
    #expect(ended.code == 0, "\(ended.error)")
    #expect(try camp.hub("status", "--json").json["recovery"] == .null)
  }

  @Test("a device that was let in after the backup asks once more, and brings all that it had delivered")
  func unknownDevice() throws {
    try backUp()
    #expect(camp.hub("device", "provision", "late", "--user", "ann", "--into", camp.path("late")).code == 0)
    try write("late", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'of the late one')")
    try carry("late")
    try restore()
    let request = camp.path("late.request")
    let asked = camp.device("late", "keys", "request", request, "--json")
    let fingerprint = try #require(try asked.json["fingerprint"]?.stringValue, "\(asked.error)")
    let enrolled = camp.enrol(request, fingerprint)
    #expect(enrolled.code == 0, "\(enrolled.error)")
    try write("late", "UPDATE reviews SET stars = 5 WHERE id = 'n1'")
    for name in ["late", "tablet", "phone", "late"] { try carry(name, rounds: 2) }
    #expect(try reviews(office).contains("n1|5|of the late one"))
    #expect(try reviews("late/data.sqlite").contains("n1|5|of the late one"))
    #expect(camp.device("late", "doctor").code == 0)
    #expect(camp.hub("doctor").code == 0)
  }

  @Test(
    "what a device delivered after the backup comes back under the name that it got since", arguments: [true, false])
  func renewed(isRestoredFirst: Bool) throws {
    try carry("tablet")
    try backUp()
    try write("tablet", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'of the lost time')")
    try carry("tablet")
    if isRestoredFirst { try restore() }
    #expect(camp.hub("device", "revoke", "tablet").code == 0)
    try enrol(
      "tablet", asking: "renew", "--name", "second", "--request", camp.path("second.request"), continuing: "tablet")
    if !isRestoredFirst {
      try carry("tablet", rounds: 2)
      try restore()
      try enrol("tablet", asking: "keys", "request", camp.path("second.request"))
    }
    try write("tablet", "INSERT INTO reviews VALUES ('n2', 'lake', 'ann', 3, 'since')")
    for name in ["tablet", "phone", "tablet"] { try carry(name, rounds: 2) }
    for database in [office, "tablet/data.sqlite"] {
      #expect(try reviews(database).contains("n1|3|of the lost time\nn2|3|since"), "\(database)")
    }
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_conflicts") == "0")
    for outcome in [camp.device("tablet", "doctor"), camp.hub("doctor"), camp.hub("audit")] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
  }

  /// Runs this command on a device, which makes a request, and enrols the device.
  /// - Parameter former: the device that the operator must name, because its key is revoked.
  private func enrol(_ device: String, asking words: String..., continuing former: String? = nil) throws {
    let asked = camp.deviceAnywhere(["-C", camp.path(device)] + words + ["--json"])
    let fingerprint = try #require(try asked.json["fingerprint"]?.stringValue, "\(asked.error)")
    let request = camp.path("second.request")
    if let former {
      let unproved = camp.enrol(request, fingerprint)
      #expect(unproved.code == 3 && unproved.error.contains("add: --continues \(former)"), "\(unproved)")
    }
    let enrolled = camp.enrol(request, fingerprint, continuing: former)
    #expect(enrolled.code == 0, "\(enrolled.error)")
  }

  @Test("a device's compact keeps the exports that the hub's last backup does not contain", arguments: [false, true])
  func compacted(isForced: Bool) throws {
    try carry("tablet")
    try write("tablet", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try carry("tablet")
    try backUp()
    for number in 1...2 {
      try write("tablet", "INSERT INTO reviews VALUES ('n\(number)', 'lake', 'ann', 3, 'of the lost time')")
      try carry("tablet", rounds: 2)
    }
    try write("tablet", "UPDATE satchel_exports SET created = created - 864000000")
    let words = ["-C", camp.path("tablet"), "compact", "--older-than", "1"]
    let kept = camp.deviceAnywhere(words)
    #expect(kept.code == 0 && kept.out.contains("no backup of the hub is known to contain them"), "\(kept)")
    if isForced {
      let forced = try camp.deviceAnywhere(words + ["--without-backup", "--json"]).json
      #expect(try #require(forced["exports"]?.integerValue) > 0 && forced["unbacked"] == 0)
    }
    try restore()
    for name in ["tablet", "phone", "tablet"] { try carry(name, rounds: 2) }
    // If the device no longer has the exports, the hub's own bundles bring these rows back.
    #expect(try reviews(office).contains("n1|3|of the lost time\nn2|3|of the lost time"))
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("what a device delivered after the backup comes back from bundles/sent, with what it wrote since on top")
  func redelivery() throws {
    try carry("tablet")
    try backUp()
    // The hub merges and acknowledges two bundles. Then it is lost.
    try write(
      "tablet", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'new'), ('n2', 'lake', 'ann', 3, 'gone soon')")
    try carry("tablet")
    try write("tablet", "UPDATE reviews SET words = 'calm' WHERE id = 'r1'; DELETE FROM reviews WHERE id = 'n2'")
    try carry("tablet", rounds: 2)
    // These changes are in no export yet. They are about a row that the restored hub has never had.
    try write(
      "tablet",
      "UPDATE reviews SET stars = 5 WHERE id = 'n1'; INSERT INTO reviews VALUES ('n3', 'hill', 'ann', 1, 'late')")
    let before = try reviews("tablet/data.sqlite")

    try restore()
    #expect(try reviews(office) == "r1|4|quiet\nr2|5|dark")
    #expect(try camp.hub("status", "--json").json["restored_unaware"] == ["phone", "tablet"])
    camp.hub("emit", "--all")
    let outcome = camp.device("tablet", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(outcome.code == 0)
    #expect(outcome.out.contains("restored from a backup"))
    #expect(try reviews("tablet/data.sqlite") == before)

    try carry("tablet", rounds: 3)
    #expect(try reviews(office) == "n1|5|new\nn3|1|late\nr1|4|calm\nr2|5|dark")
    #expect(try reviews("tablet/data.sqlite") == "n1|5|new\nn3|1|late\nr1|4|calm")
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_conflicts") == "0")
    let status = try camp.device("tablet", "status", "--json").json
    #expect(status["not_exported"] == 0)
    #expect(status["redeliver"]?.arrayValue?.isEmpty == true)
    #expect(try camp.hub("status", "--json").json["restored_unaware"] == ["phone"])
    for outcome in [camp.hub("doctor"), camp.hub("audit"), camp.device("tablet", "doctor")] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
  }

  @Test(
    "a device of which the restored hub has everything takes the new history at once, with its pending changes on top")
  func nothingLost() throws {
    try carry("tablet", rounds: 2)
    try backUp()
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'of the lost time' WHERE id = 'r1'")
    camp.answer("tablet", 2)
    try write("tablet", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try restore()
    camp.hub("emit", "--all")
    let outcome = camp.device("tablet", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(outcome.code == 0, "\(outcome.error)")
    // After all devices have delivered, the hub has its own change of the lost time again. The user's change stays.
    #expect(try reviews("tablet/data.sqlite") == "r1|1|quiet")
    try carry("tablet")
    #expect(try reviews(office) == "r1|1|quiet\nr2|5|dark")
    // The hub's lost bundles are still in the device's archive, so a person can read them.
    #expect(try camp.newestBundle(in: "tablet/bundles/archive/former", "camp-hub-tablet-").hasSuffix("-2.satchel"))
    try carry("phone", rounds: 2)
    try carry("tablet")
    #expect(try reviews(office) == "r1|1|of the lost time\nr2|5|dark")
    #expect(try reviews("tablet/data.sqlite") == "r1|1|of the lost time")
  }

  @Test("a device whose database was rebuilt delivers its earlier exports again")
  func redeliveryOfNewDatabase() throws {
    try backUp()
    try write("tablet", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'new')")
    try carry("tablet")
    try camp.remove("tablet/data.sqlite")
    camp.hub("emit", "--device", "tablet", "--full")
    camp.device("tablet", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(try reviews("tablet/data.sqlite") == "n1|3|new\nr1|4|quiet")
    try restore()
    try carry("tablet", rounds: 3)
    #expect(try reviews(office) == "n1|3|new\nr1|4|quiet\nr2|5|dark")
    #expect(try reviews("tablet/data.sqlite") == "n1|3|new\nr1|4|quiet")
    #expect(camp.device("tablet", "doctor").code == 0)
  }

  @Test("work that was on its way to the hub when a device's database was rebuilt comes again to a restored hub")
  func redeliveryOfWhatWasOnItsWay() throws {
    try backUp()
    try write("tablet", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'new')")
    camp.device("tablet", "export")
    try camp.copy("tablet/bundles/outbox/camp-tablet-hub-1.satchel", to: "carried.satchel")
    try camp.remove("tablet/data.sqlite")
    camp.hub("emit", "--device", "tablet", "--full")
    camp.device("tablet", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(try reviews("tablet/data.sqlite") == "n1|3|new\nr1|4|quiet")
    #expect(camp.hub("import", camp.path("carried.satchel")).code == 0)
    try restore()
    try carry("tablet", rounds: 3)
    #expect(try reviews(office) == "n1|3|new\nr1|4|quiet\nr2|5|dark")
    #expect(try reviews("tablet/data.sqlite") == "n1|3|new\nr1|4|quiet")
  }

  @Test(
    "bundles of the lost history are taken in their order, whatever became of the device", arguments: [true, false])
  func formerBundles(isInOrder: Bool) throws {
    try backUp()
    for number in 1...3 {
      try write("tablet", "INSERT INTO reviews VALUES ('n\(number)', 'lake', 'ann', \(number), 'new')")
      camp.device("tablet", "export")
      try camp.copy("tablet/bundles/outbox/camp-tablet-hub-\(number).satchel", to: "carried-\(number).satchel")
      camp.hub("import", camp.path("carried-\(number).satchel"))
      camp.answer("tablet", number + 1)
    }
    // The tablet is lost too. Only the files on the courier's stick remain.
    try camp.remove("tablet")
    try restore()
    let third = camp.hub("import", camp.path("carried-3.satchel"))
    #expect(third.code == 3)
    #expect(third.error.contains("are missing"))
    #expect(try camp.rows(office, "SELECT count(*) FROM reviews") == "2")
    let order = isInOrder ? [1, 2, 3] : [3, 2, 1]
    camp.hubAnywhere(["-C", camp.path("hub"), "import"] + order.map { camp.path("carried-\($0).satchel") })
    #expect(try reviews(office) == "n1|1|new\nn2|2|new\nn3|3|new\nr1|4|quiet\nr2|5|dark")
    let again = camp.hubAnywhere(["-C", camp.path("hub"), "import"] + order.map { camp.path("carried-\($0).satchel") })
    #expect(again.out.contains("nothing changed"))
    #expect(try camp.rows(office, "SELECT count(*) FROM reviews") == "5")
  }

  @Test("two devices with rows of each other meet again in a hub that knows neither")
  func bothDevices() throws {
    try backUp()
    try write("tablet", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'hers')")
    try carry("tablet")
    try carry("phone")
    // The phone's user has no right to change ann's row. The hub reports this, and then loses the report.
    try write(
      "phone",
      "INSERT INTO reviews VALUES ('n2', 'lake', 'ben', 2, 'his'); UPDATE reviews SET words = 'mine' WHERE id = 'n1'")
    try carry("phone")
    try carry("tablet")
    try restore()
    for _ in 0..<3 {
      try carry("phone")
      try carry("tablet")
    }
    try carry("phone")
    let rows = "n1|3|hers\nn2|2|his\nr1|4|quiet\nr2|5|dark"
    #expect(try reviews(office) == rows)
    #expect(try reviews("phone/data.sqlite") == rows)
    #expect(try reviews("tablet/data.sqlite") == "n1|3|hers\nn2|2|his\nr1|4|quiet")
    // The hub has a conflict about the rejected change.
    #expect(
      try camp.rows(
        office, "SELECT count(*) > 0 FROM satchel_conflicts WHERE table_name = 'reviews' AND key = '[\"n1\"]'") == "1"
    )
  }

  @Test("where a file is gone that the restored hub needs, the device says which, and nothing changes")
  func missingExport() throws {
    try backUp()
    try write("tablet", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'new')")
    try carry("tablet")
    try restore()
    camp.hub("emit", "--all")
    let bundle = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    for place in ["sent", "archive"] { try camp.removeIfThere("tablet/bundles/\(place)/camp-tablet-hub-1.satchel") }
    let before = try reviews("tablet/data.sqlite")
    let outcome = camp.device("tablet", "import", bundle, "--json")
    #expect(outcome.code == 3)
    #expect(outcome.out.contains("no-export") && outcome.out.contains("export 1"), "\(outcome.out)")
    #expect(try reviews("tablet/data.sqlite") == before)
    // The person may have missed this message, so `status` repeats it.
    #expect(camp.device("tablet", "status").out.contains("--without-lost"))

    // The person gives the lost bundle up. Pending changes stay pending, and the earlier state of the rows can still be
    // read.
    try write("tablet", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    let given = camp.device("tablet", "import", bundle, "--without-lost", "--json")
    #expect(given.code == 0, "\(given.error)")
    #expect(!camp.device("tablet", "status").out.contains("--without-lost"))
    #expect(try reviews("tablet/data.sqlite") == "r1|1|quiet")
    let copy = try #require(given.json["bundles"]?.arrayValue?.first?["copy"]?.stringValue)
    #expect(try reviews(String(copy.dropFirst(camp.root.utf8.count + 1))) == "n1|3|new\nr1|1|quiet")
    // The hub's own bundles do not contain this row. The tablet has the row and brings it back.
    try carry("tablet", rounds: 3)
    #expect(try reviews(office) == "r1|1|quiet\nr2|5|dark")
    #expect(try reviews("tablet/data.sqlite") == "r1|1|quiet")
  }

  @Test(
    "a delta of a new epoch shows an old folder that it is old, and a bundle of the former history counts as old")
  func otherHistories() throws {
    try backUp()
    camp.hub("emit", "--device", "tablet", "--full")
    try camp.copy("hub/bundles/outbox/camp-hub-tablet-2.satchel", to: "former.satchel")
    try camp.copy("tablet", to: "twin")
    try restore()
    try carry("tablet", rounds: 2)
    try camp.sql(office, "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    camp.hub("emit", "--device", "tablet")
    let delta = camp.device("twin", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(delta.code == 3)
    #expect(delta.error.contains("The database was replaced by an older copy."), "\(delta.error)")
    let former = camp.device("tablet", "import", camp.path("former.satchel"))
    #expect(former.code == 0)
    #expect(former.out.contains("imported before"))
  }

  @Test("a hub restored twice from one backup gives no number twice, and its devices follow")
  func twice() throws {
    try backUp()
    try write("tablet", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'new')")
    try carry("tablet")
    try restore()
    let first = try camp.rows(office, "SELECT emissions_from FROM satchel_hub")
    try carry("tablet", rounds: 3)
    #expect(try camp.rows(office, "SELECT words FROM reviews WHERE id = 'n1'") == "new")
    // Until then, the clock has advanced.
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'newer' WHERE id = 'n1'")
    try camp.remove("safe")
    try backUp("tuesday.satchel")
    try restore("tuesday.satchel")
    #expect(try Int(camp.rows(office, "SELECT emissions_from FROM satchel_hub"))! > Int(first)!)
    try carry("tablet", rounds: 3)
    #expect(try camp.rows(office, "SELECT words FROM reviews WHERE id = 'n1'") == "newer")
    #expect(try camp.device("tablet", "status", "--json").json["not_exported"] == 0)
  }

  @Test("a key that was revoked after the backup stays revoked at a device that knows of it")
  func revocation() throws {
    try carry("tablet")
    try backUp()
    camp.hub("device", "revoke", "phone")
    try carry("tablet", rounds: 2)
    try restore()
    try carry("tablet", rounds: 3)
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT epoch FROM satchel_device")
        == camp.rows(office, "SELECT epoch FROM satchel_hub"))
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_revoked") == "1")
    #expect(try camp.device("tablet", "status", "--json").json["not_exported"] == 0)
  }

  @Test("a hub that was put back to before a device took up its next key signs for that device with this key")
  func setBackBehindRotation() throws {
    try carry("tablet")
    #expect(camp.hub("keys", "rotate").code == 0)
    try camp.keepHub()
    try carry("tablet", rounds: 2)
    try camp.sql(office, "UPDATE reviews SET words = 'signed with the next key' WHERE id = 'r1'")
    try carry("tablet", rounds: 2)
    #expect(try reviews("tablet/data.sqlite") == "r1|4|signed with the next key")
    try camp.putBackHub()
    try write("tablet", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try carry("tablet")
    #expect(camp.hub("restore", "--in-place").code == 0)
    try carry("tablet", rounds: 3)
    #expect(camp.hub("restore", "--finish").code == 0)
    try carry("tablet")
    for database in [office, "tablet/data.sqlite"] {
      #expect(
        try camp.rows(database, "SELECT stars, words FROM reviews WHERE id = 'r1'") == "1|signed with the next key")
    }
    for outcome in [camp.hub("doctor"), camp.hub("audit"), camp.device("tablet", "doctor")] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
  }
}
