import Foundation
import SatchelJSON
import TestSupport
import Testing

/// A device is given to another user before the former user's changes were delivered.
@Suite("Devices that are given to another user")
struct HandoverTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(as: [#fileID]) {
      try camp.sql(
        "office.sqlite",
        """
        CREATE TABLE notes (
          id INTEGER PRIMARY KEY, owner TEXT, words TEXT, count INTEGER NOT NULL DEFAULT 0, photo TEXT);
        CREATE TABLE stock (id TEXT PRIMARY KEY, words TEXT);
        INSERT INTO notes VALUES (1, 'ann', 'of ann', 0, NULL), (2, 'ben', 'of ben', 0, NULL);
        INSERT INTO stock VALUES ('s', 'full');
        """)
      try camp.write(
        "camp.json",
        """
        { "dataset": "camp", "version": 1,
          "tables": {
            "notes": { "visible": "owner = :user OR owner = 'all'", "write": "owner IN (:user, 'all')", "keys": "rekey",
                       "columns": { "count": "sum" }, "attachments": ["photo"] },
            "stock": { "conflict": "manual" } } }
        """)
      #expect(
        camp.hubAnywhere(
          "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite")
        )
        .code == 0)
      for user in ["ann", "ben"] { camp.hub("user", "add", user) }
      #expect(camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet")).code == 0)
    }
  }

  private func onTablet(_ sql: String) throws { try camp.sql("tablet/data.sqlite", sql) }
  private func atHub(_ sql: String) throws -> String { try camp.rows("office.sqlite", sql) }

  /// The operator gives the tablet to ben, and the tablet imports the bundle that says so. Meanwhile ann's work was not
  /// delivered.
  @discardableResult private func hand(to user: String = "ben") throws -> JSONValue {
    #expect(camp.hub("device", "set", "tablet", "--user", user).code == 0)
    let file = try #require(
      try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first?["file"]?.stringValue)
    let outcome = camp.device("tablet", "import", file, "--json")
    #expect(outcome.code == 0, "\(outcome.error)")
    return try #require(try outcome.json["bundles"]?.arrayValue?.first)
  }

  private var all: String {
    get throws { try camp.rows("tablet/data.sqlite", "SELECT id, owner, words FROM notes ORDER BY id") }
  }

  private func isWell() {
    #expect(camp.device("tablet", "doctor").code == 0)
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("what was in no export is merged in the former user's name and with that user's rights")
  func rights() throws {
    try onTablet("UPDATE stock SET words = 'by ann'; UPDATE notes SET words = 'ann again' WHERE id = 1")
    try onTablet("INSERT INTO notes VALUES (7, 'ben', 'not hers to write', 0, NULL)")
    let report = try hand()
    #expect(report["sealed"]?["user"]?.stringValue == "ann")
    #expect(report["sealed"]?["changes"]?.integerValue == 3)
    try camp.carry("tablet", rounds: 2)
    #expect(try atHub("SELECT DISTINCT user FROM satchel_log WHERE device IS NOT NULL") == "ann")
    #expect(try atHub("SELECT words FROM stock") == "by ann")
    #expect(try atHub("SELECT words FROM notes WHERE id = 1") == "ann again")
    let kept = try atHub("SELECT kind || ' ' || user || ' ' || key FROM satchel_conflicts")
    #expect(kept == "forbidden ann [7]")
    #expect(try all == "2|ben|of ben")
    isWell()
  }

  @Test("what the former user wrote unseen is sealed with the rest, and a rehearsal counts it")
  func unseen() throws {
    try camp.writeUnseen(
      "tablet/data.sqlite", "UPDATE stock SET words = 'unseen'; UPDATE notes SET words = 'unseen too' WHERE id = 1")
    try onTablet("UPDATE notes SET count = 2 WHERE id = 1")
    #expect(camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    #expect(camp.hub("emit", "--device", "tablet").code == 0)
    let file = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    let rehearsed = try camp.device("tablet", "import", file, "--dry-run", "--json").json["bundles"]?.arrayValue?.first
    #expect(rehearsed?["sealed"]?["user"]?.stringValue == "ann")
    let report = try hand()
    #expect(report["sealed"]?["user"]?.stringValue == "ann")
    #expect(report["sealed"]?["changes"]?.integerValue == 2)
    #expect(rehearsed?["sealed"]?["changes"]?.integerValue == 2)
    try camp.carry("tablet", rounds: 2)
    #expect(try atHub("SELECT DISTINCT user FROM satchel_log WHERE device IS NOT NULL") == "ann")
    #expect(try atHub("SELECT words FROM stock") == "unseen")
    #expect(try atHub("SELECT words, count FROM notes WHERE id = 1") == "unseen too|2")
    #expect(try all == "2|ben|of ben")
    isWell()
  }

  @Test("if the archive does not show what was written unseen, the sealed export carries the whole database")
  func unseenWithoutArchive() throws {
    try camp.writeUnseen("tablet/data.sqlite", "UPDATE stock SET words = 'unseen'")
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    #expect(camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    #expect(camp.hub("emit", "--device", "tablet").code == 0)
    let given = camp.device(
      "tablet", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(given.code == 0, "\(given.error)")
    #expect(given.out.contains("Work of ann is in camp-tablet-hub-1.satchel, and in no later export"), "\(given.out)")
    #expect(given.out.contains("also carries the whole database"), "\(given.out)")
    let status = camp.device("tablet", "status")
    #expect(status.out.contains("Work of ann is in camp-tablet-hub-1.satchel"), "\(status.out)")
    #expect(try all == "2|ben|of ben")
    let file = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
    let words = try StockTool.bash(
      "-c", "tar --zstd -xf '\(file)' snapshot.sqlite && sqlite3 snapshot.sqlite 'SELECT words FROM stock'",
      in: camp.root)
    #expect(words.lines == ["unseen"])
    try camp.carry("tablet", rounds: 2)
    #expect(!camp.device("tablet", "status").out.contains("of ann"))
    isWell()
  }

  @Test("a bundle for another user that acknowledges a row which was written unseen is taken, with or without archive")
  func unseenOverExport() throws {
    try onTablet("UPDATE stock SET words = 'by ann'")
    camp.deliver("tablet", 1)
    try camp.writeUnseen("tablet/data.sqlite", "UPDATE stock SET words = 'unseen'")
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    let report = try hand()
    #expect(report["sealed"]?["user"]?.stringValue == "ann")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_exported_rows") == "0")
    try camp.carry("tablet", rounds: 2)
    isWell()
  }

  /// Ann and the office change the same row. Ann's tablet has the conflict.
  private func findConflict() throws -> String {
    try onTablet("UPDATE stock SET words = 'by ann'")
    try camp.sql("office.sqlite", "UPDATE stock SET words = 'by the office'")
    try camp.deliver("tablet")
    try camp.answer("tablet")
    let found = try camp.device("tablet", "conflicts", "--json").json["conflicts"]?.arrayValue?.first
    return try #require(found?["id"]?.stringValue)
  }

  @Test("a decision of the former user that was in no export reaches the hub, and its note leaves the device")
  func decision() throws {
    let id = try findConflict()
    #expect(
      camp.device("tablet", "conflicts", "resolve", id, "--keep", "hub", "--note", "secret words").code == 0)
    let report = try hand()
    #expect(report["sealed"]?["user"] == "ann" && report["sealed"]?["changes"] == 0, "\(report)")
    let bytes = try camp.read("tablet/data.sqlite")
    #expect(!String(decoding: bytes, as: UTF8.self).contains("secret words"))
    #expect(camp.device("tablet", "status").out.contains("Work of ann is in camp-tablet-hub-2.satchel"))
    try onTablet("UPDATE notes SET words = 'ben again' WHERE id = 2")
    try camp.carry("tablet", rounds: 2)
    #expect(
      try atHub("SELECT user, state, decision, decided_by, note FROM satchel_conflicts")
        == "ann|resolved|hub|ann|secret words")
    #expect(try atHub("SELECT words FROM notes WHERE id = 2") == "ben again")
    #expect(!camp.device("tablet", "status").out.contains("of ann"))
    isWell()
  }

  @Test("a decision of the former user that the hub has leaves the device too, and nothing is sealed for it")
  func deliveredDecision() throws {
    let id = try findConflict()
    #expect(camp.device("tablet", "conflicts", "resolve", id, "--keep", "hub", "--note", "known words").code == 0)
    try camp.carry("tablet", rounds: 2)
    #expect(try hand()["sealed"] == .null)
    #expect(!String(decoding: try camp.read("tablet/data.sqlite"), as: UTF8.self).contains("known words"))
    isWell()
  }

  @Test("nothing that the new user may not see stays in the database, and nothing of it is lost")
  func nothingStays() throws {
    try onTablet(
      "INSERT INTO notes VALUES (7, 'ann', 'secret words', 3, NULL); UPDATE notes SET count = 5 WHERE id = 1")
    try hand()
    #expect(try all == "2|ben|of ben")
    let bytes = try camp.read("tablet/data.sqlite")
    #expect(!String(decoding: bytes, as: UTF8.self).contains("secret words"))
    #expect(camp.device("tablet", "doctor").code == 0)
    let status = camp.device("tablet", "status")
    #expect(
      status.out.contains(
        "2 changes of ann are in camp-tablet-hub-1.satchel, and in no later export: carry it to the hub"))
    try camp.carry("tablet", rounds: 2)
    #expect(try atHub("SELECT id, words, count FROM notes ORDER BY id") == "1|of ann|5\n2|of ben|0\n7|secret words|3")
    #expect(!camp.device("tablet", "status").out.contains("of ann"))
    isWell()
  }

  @Test(
    """
    both users' exports are carried, in their order, and the new user's change of a row meets the former one's as \
    another's
    """
  )
  func bothAreCarried() throws {
    try onTablet("UPDATE stock SET words = 'by ann'")
    try hand()
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM stock") == "full")
    try onTablet("UPDATE stock SET words = 'by ben'; UPDATE notes SET words = 'ben again' WHERE id = 2")
    let export = try camp.device("tablet", "export", "--json").json
    #expect(export["before"]?.arrayValue?.count == 1)
    // The hub does not accept the second bundle without the first.
    let early = try #require(export["file"]?.stringValue)
    #expect(camp.hub("import", early).error.contains("missing"))
    #expect(try atHub("SELECT count(*) FROM satchel_log WHERE device IS NOT NULL") == "0")
    try camp.carry("tablet", rounds: 2)
    #expect(
      try atHub("SELECT user, kind, state, device_values FROM satchel_conflicts")
        == #"ben|update/update|open|{"words":"by ben"}"#
    )
    #expect(try atHub("SELECT words FROM stock") == "by ann")
    #expect(try atHub("SELECT words FROM notes WHERE id = 2") == "ben again")
    isWell()
  }

  @Test("rows that both users made under one key stay two")
  func sameKey() throws {
    try onTablet("INSERT INTO notes VALUES (7, 'ann', 'her seventh', 0, NULL)")
    try hand()
    try onTablet("INSERT INTO notes VALUES (7, 'ben', 'his seventh', 0, NULL)")
    try camp.carry("tablet", rounds: 3)
    #expect(
      try atHub("SELECT owner, words FROM notes WHERE id > 2 ORDER BY owner") == "ann|her seventh\nben|his seventh")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM notes ORDER BY words") == "his seventh\nof ben")
    #expect(try atHub("SELECT count(*) FROM satchel_conflicts") == "0")
    isWell()
  }

  @Test("given back before anything was delivered, each user's changes come once")
  func givenBack() throws {
    try onTablet("UPDATE notes SET count = count + 1 WHERE id = 1")
    try hand()
    try onTablet("UPDATE notes SET count = count + 10 WHERE id = 2")
    // The hub cannot know which bundles the tablet has imported, so its next bundle is full.
    #expect(camp.hub("device", "set", "tablet", "--user", "ann").code == 0)
    let emitted = try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first
    #expect(emitted?["extent"] == "full")
    let taken = camp.device("tablet", "import", try #require(emitted?["file"]?.stringValue))
    #expect(taken.code == 0, "\(taken.error)")
    try onTablet("UPDATE notes SET count = count + 100 WHERE id = 1")
    try camp.carry("tablet", rounds: 3)
    #expect(try atHub("SELECT id, count FROM notes ORDER BY id") == "1|101\n2|10")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id, count FROM notes") == "1|101")
    isWell()
  }

  @Test("attached files of the former user travel with the sealed export, whatever an export may carry")
  func files() throws {
    try camp.makeFolder("tablet/files/photos")
    try camp.write("tablet/files/photos/a.jpg", "a picture")
    try camp.write("tablet/files/photos/b.jpg", "another picture")
    try onTablet(
      """
      UPDATE notes SET photo = 'photos/a.jpg' WHERE id = 1; INSERT INTO notes VALUES (7, 'ann', 'x', 0, \
      'photos/b.jpg')
      """
    )
    try hand()
    try camp.carry("tablet", rounds: 2)
    #expect(try String(decoding: camp.read("hub/files/photos/a.jpg"), as: UTF8.self) == "a picture")
    #expect(try String(decoding: camp.read("hub/files/photos/b.jpg"), as: UTF8.self) == "another picture")
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet/files/photos/a.jpg")))
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet/files/photos/b.jpg")))
    isWell()
  }

  @Test("under a new name nothing is exported before the former user's changes have arrived")
  func renewal() throws {
    try onTablet("UPDATE stock SET words = 'by ann'")
    try hand()
    let refused = camp.device("tablet", "renew", "--name", "slate", "--request", camp.path("request.satchel"))
    #expect(refused.code != 0 && refused.error.contains("The work of ann is on its way to the hub"))
    try camp.carry("tablet", rounds: 2)
    #expect(camp.device("tablet", "renew", "--name", "slate", "--request", camp.path("request.satchel")).code == 0)
  }

  /// How the database is lost after the handover.
  enum Loss: CaseIterable {
    case deleted
    /// A copy from before the handover replaces the database.
    case oldCopy
    /// The app creates its tables again, without rows.
    case madeByApp
  }

  private func copyDatabase() throws {
    try onTablet("PRAGMA wal_checkpoint(TRUNCATE)")
    try camp.copy("tablet/data.sqlite", to: "old.sqlite")
  }

  private func repair(after loss: Loss) throws {
    let tables = try camp.rows(
      "tablet/data.sqlite", "SELECT sql || ';' FROM sqlite_schema WHERE name IN ('notes', 'stock')")
    try camp.loseDatabase(of: "tablet")
    switch loss {
    case .deleted: break
    case .oldCopy: try camp.copy("old.sqlite", to: "tablet/data.sqlite")
    case .madeByApp: try onTablet(tables)
    }
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
  }

  @Test(
    "a database that is lost then has the new user's changes again, and the former one's are carried all the same",
    arguments: Loss.allCases, [true, false])
  func lostDatabase(loss: Loss, hasWritten: Bool) throws {
    try onTablet("UPDATE stock SET words = 'by ann'; UPDATE notes SET count = 1 WHERE id = 1")
    try copyDatabase()
    try hand()
    if hasWritten {
      try onTablet("UPDATE notes SET count = 10 WHERE id = 2")
      #expect(camp.device("tablet", "export").code == 0)
    }
    try repair(after: loss)
    let count = hasWritten ? 10 : 0
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id, count FROM notes") == "2|\(count)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM stock") == "full")
    #expect(camp.device("tablet", "status").out.contains("2 changes of ann are in camp-tablet-hub-1.satchel"))
    try camp.carry("tablet", rounds: 3)
    #expect(try atHub("SELECT id, count FROM notes ORDER BY id") == "1|1\n2|\(count)")
    #expect(try atHub("SELECT words FROM stock") == "by ann")
    #expect(try atHub("SELECT count(*) FROM satchel_conflicts") == "0")
    isWell()
  }

  @Test("a database that is lost then does not show the former user's disagreements", arguments: Loss.allCases)
  func lostDisagreements(loss: Loss) throws {
    try onTablet("UPDATE stock SET words = 'secret words'")
    try camp.sql("office.sqlite", "UPDATE stock SET words = 'by the office'")
    try hand(to: "ann")
    #expect(try camp.device("tablet", "conflicts", "--json").json["conflicts"]?.arrayValue?.count == 1)
    try copyDatabase()
    try hand()
    try repair(after: loss)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
    try camp.carry("tablet", rounds: 3)
    #expect(try atHub("SELECT user, kind, state FROM satchel_conflicts") == "ann|update/update|open")
    isWell()
  }

  @Test("a database that is lost then does not have the former user's decisions", arguments: Loss.allCases)
  func lostDecisions(loss: Loss) throws {
    let id = try findConflict()
    #expect(camp.device("tablet", "conflicts", "resolve", id, "--keep", "hub", "--note", "secret words").code == 0)
    try copyDatabase()
    try hand()
    try repair(after: loss)
    #expect(!String(decoding: try camp.read("tablet/data.sqlite"), as: UTF8.self).contains("secret words"))
    try camp.carry("tablet", rounds: 3)
    #expect(try atHub("SELECT decided_by, note FROM satchel_conflicts") == "ann|secret words")
    isWell()
  }

  @Test(
    "an export of a former user that is given up after a restore stops no later work", arguments: [true, false])
  func givenUp(isDelivered: Bool) throws {
    try camp.answer("tablet")
    try camp.carry("tablet")
    try camp.backUp()
    try onTablet("UPDATE stock SET words = 'by ann'")
    try hand()
    if isDelivered {
      try camp.carry("tablet", rounds: 2)
      try onTablet("UPDATE notes SET words = 'ben again' WHERE id = 2")
      try camp.carry("tablet", rounds: 2)
    }
    try camp.removeBundles("camp-tablet-hub-", of: "tablet")
    try camp.restore()
    #expect(camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    let file = try camp.emit("tablet")
    if isDelivered { #expect(camp.device("tablet", "import", file).error.contains("--without-lost")) }
    let given = camp.device("tablet", "import", file, "--without-lost")
    #expect(given.code == 0, "\(given.error)")
    try onTablet("UPDATE notes SET words = 'ben at last' WHERE id = 2")
    try camp.carry("tablet", rounds: 3)
    #expect(try atHub("SELECT words FROM notes WHERE id = 2") == "ben at last")
    #expect(!camp.device("tablet", "status").out.contains("Former user"))
    isWell()
  }

  @Test("after the file of a former user's export is lost, the device goes on under a new name")
  func sealedFileLost() throws {
    try onTablet("UPDATE stock SET words = 'by ann'")
    try hand()
    try camp.removeBundles("camp-tablet-hub-", of: "tablet")
    try onTablet("UPDATE notes SET words = 'ben at last' WHERE id = 2")
    let waits = camp.hub("import", try camp.export("tablet"))
    #expect(waits.code == 3 && waits.error.contains("satchel renew"), "\(waits.error)")
    let request = camp.path("second.request")
    let renewed = camp.device("tablet", "renew", "--name", "second", "--request", request, "--json")
    let fingerprint = try #require(try renewed.json["fingerprint"]?.stringValue, "\(renewed.error)")
    #expect(camp.enrol(request, fingerprint, user: "ben").code == 0)
    let taken = camp.hub("import", try camp.export("tablet"))
    #expect(taken.code == 0, "\(taken.error)")
    #expect(try atHub("SELECT words FROM notes WHERE id = 2") == "ben at last")
    #expect(try atHub("SELECT DISTINCT user FROM satchel_log WHERE device IS NOT NULL") == "ben")
    try camp.answer("second", in: "tablet")
    isWell()
  }

  @Test("a rehearsal says what would be sealed, and changes nothing")
  func rehearsal() throws {
    try onTablet("UPDATE stock SET words = 'by ann'")
    camp.hub("device", "set", "tablet", "--user", "ben")
    let file = try #require(
      try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first?["file"]?.stringValue)
    let outcome = camp.device("tablet", "import", file, "--dry-run")
    #expect(outcome.code == 0 && outcome.out.contains("1 change of ann"))
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM stock") == "by ann")
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("tablet/bundles/outbox")) == [])
  }

  @Test("a bundle on an older emission does not end the time of the user of a later emission")
  func olderEmission() throws {
    try camp.answer("tablet")
    #expect(camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    _ = try camp.emit("tablet")
    #expect(camp.hub("device", "set", "tablet", "--user", "ann").code == 0)
    try camp.deliver("tablet")
    #expect(try atHub("SELECT user FROM satchel_former_users WHERE user <> 'ann'") == "ben")
    try camp.answer("tablet")
    try camp.deliver("tablet")
    #expect(try atHub("SELECT count(*) FROM satchel_former_users WHERE user <> 'ann'") == "0")
  }
}
