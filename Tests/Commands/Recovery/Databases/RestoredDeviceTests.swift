import Foundation
import SatchelJSON
import Testing

/// A device is restored from its own backup. Sticks that it wrote earlier arrive before or after its new bundles.
@Suite("Late sticks of a device that was put back")
struct RestoredDeviceTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE counts (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0, words TEXT);
      CREATE TABLE plots (id TEXT PRIMARY KEY, owner TEXT);
      INSERT INTO counts VALUES (1, 0, 'one'), (2, 0, 'two');
      """,
      CommandLineFixture.definition(
        #"""
        { "counts": { "conflict": "manual", "keys": "rekey", "columns": { "n": "sum" } },
          "plots": { "visible": "owner = :user", "write": "owner IS NOT NULL" } }
        """#),
      devices: ["tablet", "phone"])
  }

  private func write(_ sql: String) throws { try camp.sql("tablet/data.sqlite", sql) }

  private func deliver() throws -> CommandLineFixture.Outcome { camp.hub("import", try camp.export("tablet")) }

  /// The tablet writes and delivers, and the hub merges the export.
  private func bring(_ sql: String) throws {
    try write(sql)
    let taken = try deliver()
    #expect(taken.code == 0, "\(taken.error)")
  }

  /// Makes an export that stays on a stick. Returns its path.
  private func stick(_ name: String) throws -> String {
    let file = "\(name).satchel"
    try FileManager.default.copyItem(atPath: camp.export("tablet"), toPath: camp.path(file))
    camp.awaitLaterTime()
    return camp.path(file)
  }

  private func putBack(_ backup: String = "backup") throws {
    try camp.remove("tablet")
    try camp.copy(backup, to: "tablet")
    camp.awaitLaterTime()
  }

  @discardableResult private func settle(_ more: String...) -> CommandLineFixture.Outcome {
    let settled = camp.hubAnywhere(["-C", camp.path("hub"), "device", "fork", "tablet", "--restored"] + more)
    #expect(settled.code == 0 && settled.out.contains("tablet continues from the restored state"), "\(settled.error)")
    return settled
  }

  /// The device refuses the hub's answer to its former history. The device's next export shows its present history to
  /// the hub, and the operator settles the fork.
  private func settleAfterAnswer() throws {
    let refused = camp.device("tablet", "import", try camp.emit("tablet"))
    #expect(refused.code == 3 && refused.error.contains("device fork NAME --restored"), "\(refused.error)")
    #expect(try deliver().code == 3)
    settle()
  }

  private func expectPeace(_ counts: String) throws {
    for _ in 0..<2 {
      try camp.answer("tablet", in: "tablet")
      let taken = try deliver()
      #expect(taken.code == 0, "\(taken.error)")
      try camp.answer("phone", in: "phone")
    }
    for database in ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(
        try camp.rows(database, "SELECT id, n, words FROM counts ORDER BY id").replacing("\n", with: " ") == counts)
    }
    #expect(camp.device("tablet", "doctor").code == 0)
    #expect(camp.hub("doctor").code == 0 && camp.hub("audit").code == 0, "\(camp.hub("doctor").out)")
  }

  @Test("if the device delivered first, its old stick is merged, and the device goes on as it is")
  func deliveredFirst() throws {
    try write("UPDATE counts SET n = n + 5 WHERE id = 1")
    try camp.copy("tablet", to: "backup")
    try write("UPDATE counts SET words = 'on the stick' WHERE id = 2; INSERT INTO counts VALUES (3, 7, 'on the stick')")
    let old = try stick("old")
    try putBack()
    try bring("UPDATE counts SET n = n + 10 WHERE id = 1")
    try camp.answer("tablet", in: "tablet")
    #expect(camp.hub("import", old).error.contains("--restored"))
    let settled = settle()
    #expect(settled.out.contains("Its newest bundle is from"))
    let again = camp.hub("import", old)
    #expect(again.code == 0, "\(again.error)")
    try expectPeace("1|15|one 2|0|on the stick 3|7|on the stick")
  }

  @Test("a stick that comes after that is merged too, and stops no device", arguments: [true, false])
  func evenLater(isDeliveredFirst: Bool) throws {
    try camp.copy("tablet", to: "backup")
    try write("UPDATE counts SET n = n + 1 WHERE id = 1")
    let first = try stick("first")
    try write("UPDATE counts SET words = 'on the second stick' WHERE id = 2")
    let second = try stick("second")
    try write("UPDATE counts SET n = n + 2 WHERE id = 1")
    let third = try stick("third")
    try putBack()
    try write("UPDATE counts SET n = n + 10 WHERE id = 1")
    if isDeliveredFirst {
      #expect(try deliver().code == 0)
      camp.hub("import", first)
    } else {
      #expect(camp.hub("import", first).code == 0)
      #expect(try deliver().code != 0)
    }
    settle()
    for late in [second, third] {
      let refused = camp.hub("import", late)
      #expect(refused.error.contains("satchel-hub device fork tablet --restored"), "\(refused.error)")
      try write("UPDATE counts SET n = n + 100 WHERE id = 2")
      try camp.answer("tablet", in: "tablet")
      let taken = try deliver()
      #expect(taken.code == 0, "\(taken.error)")
      settle()
    }
    try expectPeace("1|13|one 2|200|on the second stick")
  }

  @Test("a device that was put back twice brings the sticks of all its histories")
  func twice() throws {
    try camp.copy("tablet", to: "backup")
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    try camp.copy("tablet", to: "later")
    try write("UPDATE counts SET n = n + 2 WHERE id = 1")
    let first = try stick("first")
    try putBack("later")
    try bring("UPDATE counts SET n = n + 4 WHERE id = 1")
    try write("UPDATE counts SET n = n + 8 WHERE id = 1")
    let second = try stick("second")
    camp.hub("import", first)
    settle()
    try write("UPDATE counts SET n = n + 16 WHERE id = 1")
    let third = try stick("third")
    try putBack()
    try write("UPDATE counts SET n = n + 32 WHERE id = 1")
    #expect(try deliver().code != 0)
    settle()
    for late in [second, third] {
      camp.hub("import", late)
      settle()
    }
    try expectPeace("1|63|one 2|0|two")
  }

  @Test("--restored works also after --keep chose another history")
  func afterKeep() throws {
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    try camp.answer("tablet", in: "tablet")
    try camp.copy("tablet", to: "backup")
    try bring("UPDATE counts SET n = n + 2 WHERE id = 1")
    try putBack()
    try write("UPDATE counts SET n = n + 8 WHERE id = 1")
    #expect(try deliver().code == 3)
    #expect(camp.hub("device", "fork", "tablet", "--keep", "1").code == 0)
    try write("UPDATE counts SET n = n + 16 WHERE id = 1")
    #expect(try deliver().error.contains("--restored"))
    settle()
    try expectPeace("1|27|one 2|0|two")
  }

  @Test("the right backup may come after an older one was put back by mistake")
  func wrongBackup() throws {
    try camp.copy("tablet", to: "older")
    for _ in 0..<3 {
      try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
      try camp.answer("tablet", in: "tablet")
    }
    try camp.copy("tablet", to: "backup")
    try putBack("older")
    try write("UPDATE counts SET n = n + 10 WHERE id = 1")
    #expect(try deliver().code == 3)
    settle()
    try camp.answer("tablet", in: "tablet")
    try putBack()
    try write("UPDATE counts SET n = n + 100 WHERE id = 1")
    #expect(try deliver().error.contains("--restored"))
    settle()
    try expectPeace("1|113|one 2|0|two")
  }

  @Test("a former export in volumes is joined and merged, whenever they come", arguments: [true, false])
  func volumes(isOneEarly: Bool) throws {
    try camp.copy("tablet", to: "backup")
    try camp.makeFolder("volumes")
    try write("INSERT INTO counts VALUES (7, 1, hex(randomblob(60000)))")
    let cut = camp.device(
      "tablet", "export", "--volume-size", "64K", "--to", camp.path("volumes"), "--plain-folder", "--json")
    let paths = try #require(try cut.json["volumes"]?.arrayValue).compactMap(\.stringValue)
    #expect(paths.count > 1)
    camp.awaitLaterTime()
    try putBack()
    if isOneEarly { #expect(camp.hub("import", paths[0]).code == 0) }
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    for path in paths { camp.hub("import", path) }
    settle()
    #expect(try camp.rows("office.sqlite", "SELECT id, n FROM counts ORDER BY id") == "1|1\n2|0\n7|1")
    try camp.answer("tablet", in: "tablet")
    #expect(try deliver().code == 0)
  }

  @Test("a device that writes nothing after it was put back exports all the same, so that the hub sees its history")
  func nothingWritten() throws {
    #expect(try deliver().code == 0)
    try camp.copy("tablet", to: "backup")
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    try putBack()
    try settleAfterAnswer()
    try expectPeace("1|1|one 2|0|two")
  }

  @Test("the answer to the former history is replaced by a new bundle, even if the hub has no other news")
  func answerToFormer() throws {
    #expect(try deliver().code == 0)
    try camp.copy("tablet", to: "backup")
    // Row 2 keeps the office's value, so the hub merges no change of the former history. The hub's first answer already
    // has everything for the device. The hub must still make a new bundle.
    try camp.sql("office.sqlite", "UPDATE counts SET words = 'of the office' WHERE id = 2")
    try bring("UPDATE counts SET words = 'of the tablet' WHERE id = 2")
    try putBack()
    try settleAfterAnswer()
    try expectPeace("1|0|one 2|0|of the office")
  }

  @Test(
    "a folder that was put back and lacks a bundle of the hub exports, so that the hub sees its history",
    arguments: [false, true])
  func lackedBundle(ofNewEpoch: Bool) throws {
    #expect(try deliver().code == 0)
    try camp.copy("tablet", to: "backup")
    if ofNewEpoch {
      #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
    }
    for _ in 0..<2 {
      try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
      try camp.sql("office.sqlite", "UPDATE counts SET words = words || '!' WHERE id = 2")
      try camp.answer("tablet", in: "tablet")
    }
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    try putBack()
    try settleAfterAnswer()
    try expectPeace("1|3|one 2|0|two!!")
  }

  @Test("a copy's history that was left before is not the present one, although its bundle was made last")
  func leftCopy() throws {
    try camp.copy("tablet", to: "backup")
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    try camp.copy("tablet", to: "copy")
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    try putBack()
    try write("UPDATE counts SET words = 'present' WHERE id = 2")
    let present = try stick("present")
    try camp.sql("copy/data.sqlite", "UPDATE counts SET n = n + 10 WHERE id = 1")
    #expect(camp.hub("import", try camp.export("copy")).code == 3)
    #expect(camp.hub("device", "fork", "tablet", "--keep", "1").code == 0)
    #expect(camp.hub("import", present).code == 3)
    settle()
    try expectPeace("1|12|one 2|0|present")
  }

  @Test("a row of the common work that its user does not see leaves the device, whichever history brought it")
  func commonHiddenRow() throws {
    try camp.copy("tablet", to: "backup")
    let first = try stick("first")
    try putBack()
    try write("INSERT INTO plots VALUES ('p', 'ben')")
    _ = try stick("common")
    try write("UPDATE counts SET words = 'later' WHERE id = 2")
    try camp.copy("tablet", to: "later")
    let second = try stick("second")
    try putBack("later")
    #expect(camp.hub("import", second).code == 0)
    #expect(camp.hub("import", first).code == 3)
    settle()
    #expect(try deliver().code == 3)
    settle()
    try expectPeace("1|0|one 2|0|later")
    #expect(try camp.rows("office.sqlite", "SELECT id FROM plots") == "p")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM plots") == "0")
  }

  @Test("staged bundles that an old folder refuses stay staged, because the newer folder may be put back")
  func staged() throws {
    #expect(try deliver().code == 0)
    try camp.copy("tablet", to: "backup")
    for number in 1...2 {
      try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
      try camp.sql("office.sqlite", "UPDATE counts SET words = words || '!' WHERE id = 2")
      try FileManager.default.copyItem(atPath: camp.emit("tablet"), toPath: camp.path("\(number).satchel"))
      try camp.answer("tablet", in: "tablet")
    }
    try putBack()
    let files = (1...2).map { camp.path("\($0).satchel") }
    for file in files { #expect(camp.device("tablet", "import", "--stage", file).code == 0) }
    let applied = camp.device("tablet", "apply")
    #expect(applied.code == 3 && applied.error.contains("was replaced by an older copy."), "\(applied.error)")
    let left = try FileManager.default.contentsOfDirectory(atPath: camp.path("tablet/bundles/staged"))
    #expect(left.filter { $0.hasSuffix(".satchel") }.count == 2)
  }

  @Test(
    "a former stick that deletes many rows is merged only if a person says so, and nothing is changed before",
    arguments: ["--accept", "--reject"])
  func braked(decision: String) throws {
    try camp.sql(
      "office.sqlite",
      """
      WITH RECURSIVE n (i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM n WHERE i < 400)
      INSERT INTO counts SELECT i, 0, 'many' FROM n
      """)
    try camp.answer("tablet", in: "tablet")
    try camp.copy("tablet", to: "backup")
    try write("UPDATE counts SET n = n + 5 WHERE id = 1")
    let first = try stick("first")
    try write("DELETE FROM counts WHERE id >= 100; UPDATE counts SET words = 'of that week' WHERE id = 2")
    let old = try stick("old")
    try putBack()
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    camp.hub("import", old)
    let asked = camp.hub("device", "fork", "tablet", "--restored")
    #expect(asked.code == 0 && asked.out.contains("--restored \(decision)"), "\(asked.out)\(asked.error)")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM counts") == "303")
    try write("UPDATE counts SET n = n + 1 WHERE id = 1")
    #expect(try deliver().code == 0, "the device is not stopped")
    let both = camp.hub("device", "fork", "tablet", "--restored", "--accept", "--reject")
    #expect(both.code == 2 && both.error.contains("exclude each other"), "\(both.error)")
    camp.hub("import", first)
    settle(decision)
    let rows = try camp.rows("office.sqlite", "SELECT count(*), group_concat(words, ' ') FROM counts WHERE id < 100")
    if decision == "--accept" {
      #expect(try camp.rows("office.sqlite", "SELECT id, n, words FROM counts") == "1|7|one\n2|0|of that week")
    } else {
      #expect(
        try camp.rows("office.sqlite", "SELECT count(*), sum(n) FROM counts") == "303|7",
        "only the other bundle is accepted")
      #expect(rows == "2|one two", "nothing of it is accepted")
      let kept = "SELECT count(*) FROM satchel_conflicts WHERE device_values ->> 'words' = 'of that week'"
      #expect(try camp.rows("office.sqlite", kept) == "1", "the work beside the mistake is there to be taken")
      #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts") == "302")
    }
    #expect(try deliver().code == 0)
    #expect(camp.hub("device", "fork", "tablet").out.contains("One history came"))
  }

  @Test("a backup with a former history of the device does not count for what the device wrote since")
  func backedUp() throws {
    try camp.copy("tablet", to: "backup")
    for _ in 0..<2 { try bring("UPDATE counts SET n = n + 1 WHERE id = 1") }
    #expect(camp.hub("backup", camp.path("hub.satchel")).code == 0)
    try putBack()
    try write("UPDATE counts SET n = n + 10 WHERE id = 1")
    #expect(try deliver().code == 3)
    settle()
    for _ in 0..<2 {
      try camp.answer("tablet", in: "tablet")
      try bring("UPDATE counts SET n = n + 10 WHERE id = 1")
    }
    try camp.answer("tablet", in: "tablet")
    #expect(try camp.rows("office.sqlite", "SELECT merged > 1 FROM satchel_devices WHERE name = 'tablet'") == "1")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT backed_up FROM satchel_device") == "0")
  }

  @Test("a folder from before the device's own new key continues under a new name, as the refusal says")
  func replacedKey() throws {
    try camp.copy("tablet", to: "backup")
    #expect(camp.device("tablet", "keys", "rotate").code == 0)
    for _ in 0..<2 {
      try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
      try camp.answer("tablet", in: "tablet")
    }
    try putBack()
    try write("UPDATE counts SET words = 'after the backup' WHERE id = 2")
    let refused = try deliver()
    #expect(refused.code == 3 && refused.error.contains("satchel renew --name NEW-NAME"), "\(refused.error)")
    let request = camp.path("request.satchel")
    let renewed = camp.device("tablet", "renew", "--name", "slate", "--request", request, "--json")
    let fingerprint = try #require(try renewed.json["fingerprint"]?.stringValue)
    // Another person may have the replaced key. So this request is refused if the operator does not name the former
    // device.
    let unproved = camp.enrol(request, fingerprint)
    #expect(unproved.code == 3 && unproved.error.contains("no present key of tablet"), "\(unproved)")
    #expect(camp.enrol(request, fingerprint, continuing: "tablet").code == 0)
    try camp.answer("slate", in: "tablet")
    #expect(try deliver().code == 0)
    #expect(
      try camp.rows("office.sqlite", "SELECT n || ' ' || words FROM counts ORDER BY id")
        == "2 one\n0 after the backup")
    #expect(camp.device("tablet", "doctor").code == 0)
  }

  @Test("a stick may go on from a former history that was left itself")
  func nested() throws {
    try camp.copy("tablet", to: "older")
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    try camp.copy("tablet", to: "backup")
    try write("UPDATE counts SET n = n + 2 WHERE id = 1")
    let old = try stick("old")
    try putBack()
    try bring("UPDATE counts SET n = n + 4 WHERE id = 1")
    try putBack("older")
    try write("UPDATE counts SET n = n + 8 WHERE id = 1")
    #expect(try deliver().code == 3)
    settle()
    #expect(camp.hub("import", old).error.contains("--restored"))
    #expect(!settle().out.contains("still waits"))
    try expectPeace("1|15|one 2|0|two")
  }

  @Test("--keep says which history is the present one, if the device's clock was wrong")
  func chosen() throws {
    try camp.copy("tablet", to: "backup")
    try bring("UPDATE counts SET n = n + 1 WHERE id = 1")
    try putBack()
    try write("UPDATE counts SET n = n + 10 WHERE id = 1")
    #expect(try deliver().code != 0)
    #expect(camp.hub("device", "fork", "tablet", "--restored", "--keep", "5").error.contains("no history 5"))
    settle("--keep", "2")
    try expectPeace("1|11|one 2|0|two")
  }
}
