import SatchelJSON
import Testing

/// Files that are lost, late, old or come twice, and lost devices.
@Suite struct LossTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func reviews(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, stars, words FROM reviews ORDER BY id")
  }

  private func emitted(_ device: String, _ number: Int) -> String {
    camp.path("hub/bundles/outbox/camp-hub-\(device)-\(number).satchel")
  }

  /// A device asks to join, and the hub enrols it. The device has no data yet.
  private func join(_ name: String) throws -> String {
    camp.deviceAnywhere(
      "init", camp.path(name), "--dataset", "camp", "--name", name, "--request", camp.path("\(name).request"))
    let shown = try camp.device(name, "keys", "show", "--json").json["fingerprint"]?.stringValue
    let enrolled = camp.hub(
      "device", "enrol", camp.path("\(name).request"), "--user", "ann", "--fingerprint", try #require(shown))
    #expect(enrolled.code == 0, "\(enrolled.error)")
    return try #require(camp.hub("status", "--json").json["fingerprint"]?.stringValue)
  }

  @Test("the first bundle is lost: the next one is whole too, and then the first is an old one")
  func lostFirst() throws {
    let hub = try join("watch")
    camp.hub("emit", "--device", "watch")
    try camp.copy("hub/bundles/outbox/camp-hub-watch-1.satchel", to: "first.satchel")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    camp.hub("emit", "--device", "watch")
    #expect(camp.device("watch", "import", emitted("watch", 2), "--fingerprint", hub).code == 0)
    #expect(try reviews("watch/data.sqlite") == "r1|4|later")
    let first = camp.device("watch", "import", camp.path("first.satchel"))
    #expect(first.code == 0 && first.out.contains("imported before"))
    #expect(try reviews("watch/data.sqlite") == "r1|4|later")
  }

  @Test("doctor and status name a database that is missing, and the sync of the outbox goes on")
  func missing() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 1, 'first')")
    _ = try camp.export("tablet")
    try camp.loseDatabase(of: "tablet")
    for (command, code) in [("doctor", 1), ("status", 0)] {
      let answer = camp.device("tablet", command)
      #expect(answer.code == Int32(code), "\(command): \(answer.out)")
      for words in ["data.sqlite is missing.", "satchel doctor --repair"] {
        #expect((answer.out + answer.error).contains(words), "\(answer.out)\(answer.error)")
      }
    }
    #expect(try camp.device("tablet", "status", "--json").json["state"] == "lost")
    #expect(camp.device("tablet", "doctor", "--json").out.contains("\"database-lost\""))
    try camp.makeFolder("stick")
    let synced = camp.device("tablet", "sync", camp.path("stick"))
    #expect(synced.code == 5 && synced.error.contains("data.sqlite is missing. Bundles here show"), "\(synced.error)")
    camp.hub("sync", camp.path("stick"))
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'n1'") == "first")
  }

  /// The tablet loses its database. Its export 2 is only on a stick.
  private func loseExport() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 1, 'first')")
    camp.deliver("tablet", 1)
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n2', 'lake', 'ann', 2, 'on the stick')")
    #expect(camp.device("tablet", "export").code == 0)
    try camp.copy("tablet/bundles/outbox/camp-tablet-hub-2.satchel", to: "stick.satchel")
    for folder in ["outbox", "archive", "sent"] {
      try camp.removeIfThere("tablet/bundles/\(folder)/camp-tablet-hub-2.satchel")
    }
    for suffix in ["", "-wal", "-shm"] { try camp.removeIfThere("tablet/data.sqlite\(suffix)") }
    #expect(camp.device("tablet", "doctor").out.contains("copy this device's exports from sticks into bundles/sent"))
  }

  @Test("a rebuilt database may lack an export that is on a stick: the doctor says so, and its advice works")
  func exportOnStick() throws {
    try loseExport()
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(repaired.out.contains("The newest export that is kept here is 1."), "\(repaired.out)")
    #expect(repaired.out.contains("satchel-hub device fork tablet --restored"), "\(repaired.out)")
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n3', 'lake', 'ann', 3, 'later')")
    #expect(camp.device("tablet", "export").code == 0)
    #expect(camp.hub("import", camp.path("stick.satchel")).code == 0)
    #expect(camp.hub("import", camp.path("tablet/bundles/outbox/camp-tablet-hub-2.satchel")).code == 3)
    #expect(camp.hub("device", "fork", "tablet", "--restored").code == 0)
    #expect(camp.device("tablet", "import", try camp.emit("tablet")).code == 0)
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      let ids = try camp.rows(
        database, "SELECT group_concat(id) FROM (SELECT id FROM reviews WHERE author = 'ann' ORDER BY id)")
      #expect(ids == "n1,n2,n3,r1", "\(database)")
    }
  }

  @Test("an export from a stick that is copied into bundles/sent is in the rebuilt database")
  func exportCopied() throws {
    try loseExport()
    try camp.copy("stick.satchel", to: "tablet/bundles/sent/camp-tablet-hub-2.satchel")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM reviews WHERE id = 'n2'") == "on the stick")
    #expect(camp.hub("import", camp.path("stick.satchel")).code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'n2'")
    camp.deliver("tablet", 3)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'n2'") == "later")
  }

  @Test("a gap at the device is refused with what to ask for, nothing changes, and a full bundle closes it")
  func gap() throws {
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'one' WHERE id = 'r1'")
    camp.answer("tablet", 2)
    camp.deliver("tablet", 1)
    // The hub knows from the device itself that the device has bundle 2. So this gap can occur only if the device lost
    // its records. The test changes these records.
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE satchel_device
      SET received = 1, received_digest = (SELECT digest FROM satchel_ledger WHERE kind = 'scope' AND number = 1);
      INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 2, 'mine')
      """)
    try camp.sql("office.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.hub("emit", "--device", "tablet")
    let refused = camp.device("tablet", "import", emitted("tablet", 3))
    #expect(refused.code == 3)
    #expect(refused.error.contains("builds on the hub's bundle 2"))
    #expect(refused.error.contains("emit --device tablet --full"))
    #expect(try reviews("tablet/data.sqlite") == "n1|2|mine\nr1|4|one")
    camp.hub("emit", "--device", "tablet", "--full")
    #expect(camp.device("tablet", "import", emitted("tablet", 4)).code == 0)
    #expect(try reviews("tablet/data.sqlite") == "n1|2|mine\nr1|1|one")
  }

  @Test(
    "exports overlap: whichever of them comes, each change is taken once",
    arguments: [[1, 2, 3], [3, 2, 1], [2, 3], [3], [1, 3, 1]])
  func overlap(order: [Int]) throws {
    for number in 1...3 {
      try camp.sql(
        "tablet/data.sqlite",
        """
        INSERT INTO reviews VALUES ('n\(number)', 'lake', 'ann', 1, 'new'); UPDATE reviews SET stars = stars + 1 \
        WHERE author = 'ann'
        """
      )
      camp.device("tablet", "export")
    }
    for number in order {
      let place = number == 3 ? "outbox" : "sent"
      #expect(camp.hub("import", camp.path("tablet/bundles/\(place)/camp-tablet-hub-\(number).satchel")).code == 0)
    }
    #expect(try reviews("office.sqlite") == "n1|4|new\nn2|3|new\nn3|2|new\nr1|7|quiet\nr2|5|dark")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_log WHERE operation = 'insert'") == "3")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
  }

  @Test(
    "a row that was changed, deleted and exported before the database was lost does not come back as a new one",
    arguments: [true, false])
  func deletedThenLost(knowsThatItIsGone: Bool) throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'changed' WHERE id = 'r1'")
    #expect(camp.device("tablet", "export").code == 0)
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews WHERE id = 'r1'")
    #expect(camp.device("tablet", "export").code == 0)
    try camp.sql("office.sqlite", "DELETE FROM reviews WHERE id = 'r1'")
    if knowsThatItIsGone { try camp.answer("tablet", full: true) }
    try camp.loseDatabase(of: "tablet")
    try camp.answer("tablet", full: true)
    #expect(try reviews("tablet/data.sqlite") == "")
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 1, 'new')")
    let export = try camp.device("tablet", "export", "--json").json
    let file = try #require(export["file"]?.stringValue)
    let rows = try camp.device("tablet", "inspect", "--rows", "--json", file).json["rows"]?.arrayValue ?? []
    #expect(rows.compactMap { $0["op"]?.stringValue }.sorted() == ["delete", "insert"])
    #expect(camp.hub("import", file).code == 0)
    #expect(try !reviews("office.sqlite").contains("r1"))
  }

  /// The tablet changed a row, and the change lost against the office's change. Then the tablet wrote the row again.
  /// Both writes have the same generation, and only the second write's stamp is later.
  private func writtenAgain(_ policy: String) throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT, b TEXT, c TEXT); INSERT INTO t VALUES ('1', '-', '-', '-');",
      CommandLineFixture.definition(#"{"t": {"conflict": "\#(policy)", "merge": "row"}}"#), devices: ["tablet"])
    try camp.sql("tablet/data.sqlite", "UPDATE t SET b = 'lost'")
    try camp.sql("office.sqlite", "UPDATE t SET a = 'office'")
    try camp.answer("tablet", full: true)
    try camp.sql("tablet/data.sqlite", "UPDATE t SET a = 'again'")
    return camp
  }

  @Test("a row that was written again after it lost is not an unseen change in a rebuilt database")
  func writtenAgainAfterItLost() throws {
    let (camp, data) = (try writtenAgain("manual"), "tablet/data.sqlite")
    _ = try camp.export("tablet")
    try camp.remove(data)
    try camp.answer("tablet", full: true)
    #expect(try camp.rows(data, "SELECT a, b FROM t") == "again|-")
    #expect(try camp.rows(data, "SELECT kind FROM satchel_conflicts") == "update/update")
  }

  @Test("an unseen write into a row that was written again after it lost is sent without the row's exported change")
  func writtenUnseenAfterItLost() throws {
    let (camp, data) = (try writtenAgain("device"), "tablet/data.sqlite")
    try camp.deliver("tablet")
    try camp.sql("office.sqlite", "UPDATE t SET a = 'final'")
    try camp.writeUnseen(data, "UPDATE t SET c = 'unseen'")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try camp.deliver("tablet")
    // If the device sent its change of `a` again, its policy would undo the office's later change.
    #expect(try camp.rows("office.sqlite", "SELECT a, b, c FROM t") == "final|-|unseen")
  }

  @Test("a hub's bundle that comes after a later bundle is old, and takes nothing back")
  func stale() throws {
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'one' WHERE id = 'r1'")
    camp.hub("emit", "--device", "tablet")
    try camp.copy("hub/bundles/outbox/camp-hub-tablet-2.satchel", to: "older.satchel")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'two' WHERE id = 'r1'")
    camp.answer("tablet", 3)
    #expect(camp.device("tablet", "import", camp.path("older.satchel")).out.contains("imported before"))
    #expect(try reviews("tablet/data.sqlite") == "r1|4|two")
  }

  @Test("a device that was reset joins again under another name, and what the old one had sent off still counts")
  func reset() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 2, 'on its way')")
    camp.device("tablet", "export")
    try camp.copy("tablet/bundles/outbox/camp-tablet-hub-1.satchel", to: "late.satchel")
    try camp.remove("tablet")
    let same = camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    #expect(same.code == 1)
    #expect(same.error.contains("another name"))
    #expect(camp.hub("device", "provision", "tablet-2", "--user", "ann", "--into", camp.path("tablet-2")).code == 0)
    try camp.sql("tablet-2/data.sqlite", "UPDATE reviews SET stars = 5 WHERE id = 'r1'")
    camp.deliver("tablet-2", 1)
    let late = camp.hub("import", camp.path("late.satchel"))
    #expect(late.code == 0, "\(late.error)")
    camp.answer("tablet-2", 2)
    #expect(try reviews("tablet-2/data.sqlite") == "n1|2|on its way\nr1|5|quiet")
    camp.hub("device", "revoke", "tablet")
    #expect(camp.hub("import", camp.path("late.satchel")).out.contains("nothing changed"))
  }
}
