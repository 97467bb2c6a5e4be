import Foundation
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import Testing

/// A database has rows before its hub's first bundle. It belongs to a site that worked alone, or to a device whose hub
/// was lost.
@Suite("Joining a hub with rows of one's own")
struct JoiningTests {
  private let camp: CommandLineFixture
  private static let tables = """
    CREATE TABLE wells (id TEXT PRIMARY KEY, depth INTEGER, code TEXT UNIQUE);
    CREATE TABLE visits (id INTEGER PRIMARY KEY, well TEXT REFERENCES wells (id), words TEXT, photo TEXT);
    """

  init() throws {
    camp = try CommandLineFixture()
    try camp.write(
      "wells.json",
      """
      { "dataset": "wells", "version": 1, "tables": {
        "wells": { "conflict": "newest" }, "visits": { "parents": ["wells"], "keys": "rekey", "attachments": ["photo"] } } }
      """)
    try openHub(
      "hub",
      rows:
        """
        INSERT INTO wells VALUES ('w1', 10, 'A'), ('w2', 20, 'B'); INSERT INTO visits VALUES (1, 'w1', 'office', \
        NULL);
        """
    )
  }

  /// Makes a hub with users and with these rows in its database.
  private func openHub(_ name: String, rows: String) throws {
    try camp.sql("\(name).sqlite", Self.tables + rows)
    let made = camp.hubAnywhere(
      "init", camp.path(name), "--dataset", camp.path("wells.json"), "--database", camp.path("\(name).sqlite"))
    #expect(made.code == 0, "\(made.error)")
    for user in ["ann", "ben"] { camp.hubAnywhere("-C", camp.path(name), "user", "add", user) }
  }

  @discardableResult private func hub(_ hub: String, _ words: String...) -> CommandLineFixture.Outcome {
    camp.hubAnywhere(["-C", camp.path(hub)] + words)
  }

  /// Makes a workspace beside an existing database, and enrols it at the hub.
  private func ask(_ name: String) throws {
    let made = try camp.deviceAnywhere(
      "init", camp.path(name), "--dataset", "wells", "--name", name, "--request", camp.path("\(name).request"), "--json"
    ).json
    try enrol(name, at: "hub", user: "ann", made)
  }

  private func enrol(_ name: String, at place: String, user: String, _ made: JSONValue) throws {
    let fingerprint = try #require(made["fingerprint"]?.stringValue, "\(made)")
    let enrolled = hub(
      place, "device", "enrol", camp.path("\(name).request"), "--user", user, "--fingerprint", fingerprint)
    #expect(enrolled.code == 0, "\(enrolled.error)")
  }

  /// The device imports the hub's newest bundle for it. With `isFirst`, it gets the hub's fingerprint, as if a person
  /// had compared it.
  @discardableResult private func answer(_ name: String, from place: String, isFirst: Bool = false) throws
    -> CommandLineFixture.Outcome
  {
    let made = try hub(place, "emit", "--device", name, "--json").json["emissions"]?.arrayValue?.first
    let file = try #require(made?["file"]?.stringValue)
    if !isFirst { return camp.device(name, "import", file) }
    let fingerprint = try #require(try hub(place, "status", "--json").json["fingerprint"]?.stringValue)
    return camp.device(name, "import", file, "--fingerprint", fingerprint)
  }

  private func deliver(_ name: String, to place: String) throws {
    let imported = hub(place, "import", try exportFile(name))
    #expect(imported.code == 0, "\(imported.error)")
  }

  private func wells(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, depth, code FROM wells ORDER BY id")
  }

  private func site(_ name: String, _ rows: String) throws {
    try ask(name)
    try camp.sql("\(name)/data.sqlite", Self.tables + rows)
  }

  @Test(
    """
    rows that the hub lacks are delivered, equal ones are nothing, and different ones are conflicts in which nothing \
    is lost
    """
  )
  func site() throws {
    try site(
      "site",
      """
      INSERT INTO wells VALUES ('w1', 10, 'A'), ('w2', 99, 'B'), ('w3', 30, 'C'); INSERT INTO visits VALUES (7, 'w3', \
      'ours', NULL);
      """
    )
    let first = try answer("site", from: "hub", isFirst: true)
    #expect(first.code == 0, "\(first.error)")
    #expect(
      first.out.contains(
        """
        The hub lacks rows that were here before, or has different ones (wells 2, visits 1): the next export carries \
        them.
        """
      ),
      "\(first.out)")
    #expect(camp.device("site", "doctor").code == 0)
    try deliver("site", to: "hub")
    #expect(try answer("site", from: "hub").code == 0)
    #expect(try wells("hub.sqlite") == "w1|10|A\nw2|99|B\nw3|30|C", "the site's row is the newer one")
    #expect(try wells("site/data.sqlite") == wells("hub.sqlite"))
    #expect(try camp.rows("hub.sqlite", "SELECT well, words FROM visits ORDER BY words") == "w1|office\nw3|ours")
    let records = try hub("hub", "conflicts", "--all", "--json").json["conflicts"]?.arrayValue ?? []
    #expect(records.map { $0["kind"]?.stringValue } == ["insert/insert"])
    #expect(records.first?["hub_values"]?["depth"] == 20, "what lost is kept")
    #expect(try camp.rows("hub.sqlite", "SELECT count(*) FROM satchel_log") == "3")
  }

  @Test(
    """
    a delete that was pending when its hub was lost reaches the next hub, and an older row of another device does not \
    undo it
    """,
    arguments: [false, true])
  func pendingDelete(otherFirst: Bool) throws {
    for name in ["site", "other"] {
      try site(name, "")
      #expect(try answer(name, from: "hub", isFirst: true).code == 0)
      #expect(try wells("\(name)/data.sqlite") == "w1|10|A\nw2|20|B")
    }
    camp.awaitLaterTime()
    try camp.sql("site/data.sqlite", "DELETE FROM visits; DELETE FROM wells WHERE id = 'w1'")
    try openHub("next", rows: "INSERT INTO wells VALUES ('w2', 20, 'B');")
    for name in ["site", "other"] {
      let left = try camp.device(name, "renew", "--hub", "--request", camp.path("\(name).request"), "--json").json
      try enrol(name, at: "next", user: "ann", left)
    }
    let order = otherFirst ? ["other", "site"] : ["site", "other"]
    for name in order {
      let answered = try answer(name, from: "next", isFirst: true)
      #expect(answered.code == 0, "\(answered.error)")
      try deliver(name, to: "next")
    }
    for name in order + order {
      #expect(try answer(name, from: "next").code == 0)
      try deliver(name, to: "next")
    }
    let conflicts = try camp.rows("next.sqlite", "SELECT key, operation, state FROM satchel_conflicts")
    if otherFirst {
      #expect(conflicts.isEmpty, "the hub had the rows when their deletes came: \(conflicts)")
    } else {
      #expect(conflicts.contains(#"["w1"]|insert|"#), "\(conflicts)")
    }
    for database in ["next.sqlite"] + order.map({ "\($0)/data.sqlite" }) {
      #expect(try wells(database) == "w2|20|B")
      #expect(try camp.rows(database, "SELECT count(*) FROM visits") == "0")
    }
  }

  @Test("such a delete holds also if the other device had a later bundle from the lost hub")
  func pendingDeleteBeforeLaterBundle() throws {
    for name in ["site", "other"] {
      try site(name, "")
      #expect(try answer(name, from: "hub", isFirst: true).code == 0)
    }
    try camp.sql("site/data.sqlite", "DELETE FROM visits; DELETE FROM wells WHERE id = 'w1'")
    camp.awaitLaterTime()
    try camp.sql("hub.sqlite", "INSERT INTO wells VALUES ('w3', 30, 'C')")
    #expect(try answer("other", from: "hub").code == 0)
    try openHub("next", rows: "INSERT INTO wells VALUES ('w2', 20, 'B'), ('w3', 30, 'C');")
    for name in ["site", "other"] {
      let left = try camp.device(name, "renew", "--hub", "--request", camp.path("\(name).request"), "--json").json
      try enrol(name, at: "next", user: "ann", left)
      #expect(try answer(name, from: "next", isFirst: true).code == 0)
      try deliver(name, to: "next")
    }
    #expect(try wells("next.sqlite") == "w2|20|B\nw3|30|C")
    let conflicts = try camp.rows("next.sqlite", "SELECT key, operation, kind FROM satchel_conflicts")
    #expect(conflicts.contains(#"["w1"]|insert|update/delete"#), "\(conflicts)")
  }

  @Test("a site's row whose key or UNIQUE value another row has at the hub is rekeyed or kept as a conflict")
  func collisions() throws {
    try site(
      "site",
      """
      INSERT INTO wells VALUES ('w1', 10, 'A'), ('mine', 5, 'B'); INSERT INTO visits VALUES (1, 'w1', 'another \
      visit', NULL);
      """
    )
    #expect(try answer("site", from: "hub", isFirst: true).code == 0)
    #expect(try camp.rows("site/data.sqlite", "SELECT words FROM visits ORDER BY words") == "another visit\noffice")
    try deliver("site", to: "hub")
    #expect(try answer("site", from: "hub").code == 0)
    #expect(try camp.rows("hub.sqlite", "SELECT words FROM visits ORDER BY words") == "another visit\noffice")
    #expect(try wells("site/data.sqlite") == wells("hub.sqlite"))
    let lost = try camp.rows("site/data.sqlite", "SELECT kind FROM satchel_conflicts")
    #expect(lost == "unique", "either of the two rows is kept in a record")
  }

  @Test("tables that do not fit are refused with what differs, nothing is changed, and the file is taken when they fit")
  func misfit() throws {
    try ask("site")
    try camp.sql(
      "site/data.sqlite",
      """
      CREATE TABLE wells (id TEXT PRIMARY KEY, code TEXT UNIQUE);
      CREATE TABLE visits (id INTEGER PRIMARY KEY, well TEXT, words TEXT, photo TEXT);
      INSERT INTO wells VALUES ('w9', 'Z');
      """)
    let refused = try answer("site", from: "hub", isFirst: true)
    #expect(refused.code == 3 && refused.error.contains("wells") && refused.error.contains("depth"), "\(refused.error)")
    #expect(try camp.rows("site/data.sqlite", "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'satchel%'") == "0")
    try camp.sql(
      "site/data.sqlite",
      "DROP TABLE wells; DROP TABLE visits;" + Self.tables + "INSERT INTO wells VALUES ('w9', 9, 'Z')")
    let taken = try answer("site", from: "hub", isFirst: true)
    #expect(taken.code == 0, "\(taken.error)")
    try deliver("site", to: "hub")
    #expect(try wells("hub.sqlite").hasSuffix("w9|9|Z"))
  }

  @Test("a dry run of the first import says what it would do, and changes nothing")
  func rehearsal() throws {
    try site("site", "INSERT INTO wells VALUES ('w3', 30, 'C');")
    let file = camp.path("hub/bundles/outbox/wells-hub-site-1.satchel")
    let fingerprint = try #require(try hub("hub", "status", "--json").json["fingerprint"]?.stringValue)
    let outcome = camp.device("site", "import", file, "--fingerprint", fingerprint, "--dry-run")
    #expect(
      outcome.code == 0 && outcome.out.contains("The hub lacks rows that were here before"), "\(outcome.error)")
    #expect(try wells("site/data.sqlite") == "w3|30|C")
    #expect(try camp.rows("site/data.sqlite", "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'satchel%'") == "0")
  }

  @Test("photos of a site's rows travel with them")
  func photos() throws {
    try site("site", "INSERT INTO wells VALUES ('w3', 30, 'C'); INSERT INTO visits VALUES (7, 'w3', 'ours', 'a.jpg');")
    try camp.makeFolder("site/files")
    try camp.write("site/files/a.jpg", "a picture")
    #expect(try answer("site", from: "hub", isFirst: true).code == 0)
    try deliver("site", to: "hub")
    #expect(try camp.read("hub/files/a.jpg") == Array("a picture".utf8))
  }

  // MARK: a lost hub

  /// Makes two devices with common rows. Each has pending changes. Then removes their hub.
  private func loseHub() throws {
    for (name, user) in [("x", "ann"), ("y", "ben")] {
      #expect(hub("hub", "device", "provision", name, "--user", user, "--into", camp.path(name)).code == 0)
    }
    try camp.sql("x/data.sqlite", "UPDATE wells SET depth = 11 WHERE id = 'w1'")
    try deliver("x", to: "hub")
    try answer("x", from: "hub")
    try camp.sql(
      "x/data.sqlite", "UPDATE wells SET depth = 21 WHERE id = 'w2'; INSERT INTO wells VALUES ('of-x', 1, 'X')")
    #expect(camp.device("x", "export").code == 0)
    try camp.sql(
      "y/data.sqlite",
      "INSERT INTO wells VALUES ('of-y', 2, 'Y'); UPDATE visits SET words = 'by y', photo = 'y.jpg' WHERE id = 1"
    )
    try camp.makeFolder("y/files")
    try camp.write("y/files/y.jpg", "of y")
    try openHub("next", rows: "")
  }

  private func leave(_ name: String, user: String, for place: String = "next") throws {
    let left = camp.device(name, "renew", "--hub", "--request", camp.path("\(name).request"), "--json")
    #expect(left.code == 0, "\(left.error)")
    try enrol(name, at: place, user: user, left.json)
  }

  @Test(
    """
    a hub that is lost without a backup is replaced: all rows of all devices, and their pending work, are at the next \
    one
    """
  )
  func nextHub() throws {
    try loseHub()
    for (name, user) in [("x", "ann"), ("y", "ben")] {
      try leave(name, user: user)
      #expect(camp.device(name, "status").out.contains("it has left its hub, and keeps its rows"))
      try camp.sql("\(name)/data.sqlite", "INSERT INTO wells VALUES ('meanwhile-\(name)', 3, NULL)")
      let first = try answer(name, from: "next", isFirst: true)
      #expect(first.code == 0, "\(first.error)")
      #expect(camp.device(name, "doctor").code == 0, "\(camp.device(name, "doctor").out)")
      try deliver(name, to: "next")
    }
    for name in ["x", "y"] {
      try answer(name, from: "next")
      #expect(try wells("\(name)/data.sqlite") == wells("next.sqlite"))
    }
    #expect(
      try wells("next.sqlite")
        == "meanwhile-x|3|NULL\nmeanwhile-y|3|NULL\nof-x|1|X\nof-y|2|Y\nw1|11|A\nw2|21|B", "the newer of what both had")
    #expect(
      try camp.rows("next.sqlite", "SELECT id, words, photo FROM visits") == "1|by y|y.jpg",
      "a row with a hub's key is one row")
    #expect(try camp.read("next/files/y.jpg") == Array("of y".utf8))
    #expect(hub("next", "doctor").code == 0)
  }

  @Test(
    """
    a new hub over the lost hub's own database, without its satchel_ tables, gets the pending work of all devices, and \
    no device's old copy of a row writes over the office's row
    """, arguments: [["x", "y"], ["y", "x"]])
  func oldOffice(order: [String]) throws {
    try loseHub()
    let users = ["x": "ann", "y": "ben"]
    let own = try camp.rows(
      "hub.sqlite",
      """
      SELECT 'DROP ' || type || ' "' || name || '";' FROM sqlite_schema
      WHERE name LIKE 'satchel%' AND type IN ('table', 'trigger') ORDER BY type DESC
      """)
    try camp.sql("hub.sqlite", own)
    try camp.remove("hub")
    let made = camp.hubAnywhere(
      "init", camp.path("again"), "--dataset", camp.path("wells.json"), "--database", camp.path("hub.sqlite"))
    #expect(made.code == 0, "\(made.error)")
    for user in ["ann", "ben"] { hub("again", "user", "add", user) }
    let former = hub("again", "import", camp.path("x/bundles/outbox/wells-x-hub-2.satchel"))
    #expect(former.code == 3, "an export for the lost hub is not for this one: \(former.out)")
    for name in order {
      try leave(name, user: try #require(users[name]), for: "again")
      let first = try answer(name, from: "again", isFirst: true)
      #expect(first.code == 0, "\(first.error)")
      try deliver(name, to: "again")
    }
    for name in order { #expect(try answer(name, from: "again").code == 0) }
    for database in ["hub.sqlite", "x/data.sqlite", "y/data.sqlite"] {
      #expect(try wells(database) == "of-x|1|X\nof-y|2|Y\nw1|11|A\nw2|21|B", "\(database)")
      #expect(try camp.rows(database, "SELECT id, words, photo FROM visits") == "1|by y|y.jpg", "\(database)")
    }
    #expect(try camp.read("again/files/y.jpg") == Array("of y".utf8))
    // The device y still has the row w1 of the first bundle, unchanged.
    let open = try camp.rows(
      "hub.sqlite", "SELECT table_name, key, device_values FROM satchel_conflicts WHERE state = 'open'")
    #expect(open.split(separator: "\n").contains { $0.hasPrefix(#"wells|["w1"]|{"id":"w1","depth":10"#) }, "\(open)")
    #expect(hub("again", "conflicts", "resolve", "--all", "--policy", "hub").code == 0)
    for outcome in [hub("again", "doctor"), camp.device("x", "doctor"), camp.device("y", "doctor")] {
      #expect(outcome.out == "All is well.\n", "\(outcome.out)\(outcome.error)")
    }
  }

  @Test("conflicts that were not decided when the hub was lost are open at the next one, with their values")
  func undecided() throws {
    try loseHub()
    try camp.writeUnseen("x/data.sqlite", "UPDATE wells SET code = 'unseen' WHERE id = 'w1'")
    let full = try hub("hub", "emit", "--device", "x", "--full", "--json").json["emissions"]?.arrayValue?.first
    #expect(camp.device("x", "import", try #require(full?["file"]?.stringValue)).code == 0)
    let kept = try camp.listedConflicts(of: "x")
    #expect(kept.count == 1 && kept[0]["device_values"]?["code"]?.stringValue == "unseen", "\(kept)")
    try leave("x", user: "ben")
    #expect(try answer("x", from: "next", isFirst: true).code == 0)
    try deliver("x", to: "next")
    try answer("x", from: "next")
    let found = try hub("next", "conflicts", "--json").json["conflicts"]?.arrayValue ?? []
    try #require(found.count == 1, "\(found)")
    #expect(found[0]["kind"] == "unseen" && found[0]["user"] == "ben")
    let here = try camp.listedConflicts(of: "x")
    #expect(here.map { $0["id"] } == found.map { $0["id"] }, "\(here)")
    let id = try #require(found[0]["id"]?.stringValue)
    #expect(hub("next", "conflicts", "resolve", id, "--keep", "device").code == 0)
    try answer("x", from: "next")
    for database in ["next.sqlite", "x/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT code FROM wells WHERE id = 'w1'") == "unseen")
    }
    #expect(camp.device("x", "doctor").code == 0)
  }

  @Test(
    "nothing of the lost hub is taken any more, nothing of it is deleted, and the next hub's fingerprint is compared")
  func parted() throws {
    try loseHub()
    let old = try #require(
      try hub("hub", "emit", "--device", "x", "--full", "--json").json["emissions"]?.arrayValue?.first?["file"]?
        .stringValue)
    try leave("x", user: "ann")
    #expect(camp.device("x", "import", old).code == 3)
    let unknown = try answer("x", from: "next")
    #expect(unknown.code == 3 && unknown.error.contains("does not know its hub yet"))
    #expect(try answer("x", from: "next", isFirst: true).code == 0)
    #expect(camp.device("x", "import", old).code == 3)
    let kept = try FileManager.default.contentsOfDirectory(atPath: camp.path("x/bundles/archive/former"))
    #expect(kept.contains("wells-x-hub-2.satchel") && kept.contains { $0.hasPrefix("data-of-hub-") }, "\(kept)")
    #expect(try wells("x/data.sqlite") == "of-x|1|X\nw1|11|A\nw2|21|B")
  }

  @Test("the request is written once more, under the same id; and a device without a hub makes no export")
  func again() throws {
    try loseHub()
    func request() throws -> JSONValue {
      try camp.device("x", "renew", "--hub", "--request", camp.path("x.request"), "--json").json
    }
    let (first, second) = try (request(), request())
    #expect(first["id"] == second["id"] && first["fingerprint"] == second["fingerprint"])
    #expect(second["copy"] == .null)
    let exported = camp.device("x", "export")
    #expect(exported.code != 0 && exported.error.contains("Import the hub's first bundle"), "\(exported.error)")
    #expect(camp.device("x", "doctor").code == 0)
  }

  @Test(
    "an empty database of an app does not stop a device's first import", arguments: ["", "PRAGMA user_version = 1"])
  func emptyFile(header: String) throws {
    let request = camp.path("new.request")
    let made = try camp.deviceAnywhere(
      "init", camp.path("new"), "--name", "new", "--dataset", "wells", "--request", request, "--json"
    ).json
    try enrol("new", at: "hub", user: "ann", made)
    try camp.writeExactly("new/data.sqlite", "")
    if !header.isEmpty { try camp.sql("new/data.sqlite", header) }
    #expect(!camp.device("new", "status").out.contains("empty"))
    #expect(try answer("new", from: "hub", isFirst: true).code == 0)
    #expect(try wells("new/data.sqlite") == wells("hub.sqlite"))
  }

  @Test("a log or a journal that an app's lost database left does not come into the first database")
  func staleLog() throws {
    try ask("new")
    let app = try Database(path: camp.path("app.sqlite"), mode: .create)
    try app.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \(Self.tables)")
    try app.execute("INSERT INTO wells VALUES ('stale', 1, 'S')")
    try camp.copy("app.sqlite-wal", to: "new/data.sqlite-wal")
    try camp.writeExactly("new/data.sqlite-journal", "a journal")
    let first = try answer("new", from: "hub", isFirst: true)
    #expect(first.code == 0, "\(first.error)")
    #expect(try wells("new/data.sqlite") == wells("hub.sqlite"))
    #expect(camp.device("new", "doctor").out == "All is well.\n")
    let kept = try FileManager.default.contentsOfDirectory(atPath: camp.path("new"))
      .filter { $0.hasPrefix("data.sqlite.damaged-") }
    #expect(Set(kept.compactMap { $0.split(separator: "-").last }) == ["wal", "journal"], "\(kept)")
  }

  @Test("a dry run of leaving a hub changes nothing")
  func leaveRehearsal() throws {
    try loseHub()
    let before = try camp.read("x/satchel.json")
    #expect(camp.device("x", "renew", "--hub", "--request", camp.path("x.request"), "--dry-run").code == 0)
    #expect(try camp.read("x/satchel.json") == before)
    #expect(camp.device("x", "export").code == 0)
  }

  @Test(
    """
    a former user's work that the lost hub did not have comes to the next hub in that user's name; a change of a row \
    that this hub does not have yet is a conflict
    """
  )
  func formerUsersWork() throws {
    try loseHub()
    #expect(hub("hub", "device", "set", "x", "--user", "ben").code == 0)
    let given = try answer("x", from: "hub")
    #expect(given.code == 0, "\(given.error)")
    #expect(try wells("x/data.sqlite") == "w1|11|A\nw2|20|B", "ann's work has left the device")
    try camp.sql("x/data.sqlite", "INSERT INTO wells VALUES ('of-ben', 3, 'Z')")
    try leave("x", user: "ben")
    let first = try answer("x", from: "next", isFirst: true)
    #expect(first.code == 0, "\(first.error)")
    let own = try exportFile("x")
    let files = try FileManager.default.contentsOfDirectory(atPath: camp.path("x/bundles/outbox"))
    let sealed = try #require(files.first { $0.hasSuffix(".satchel") && !own.hasSuffix($0) }, "\(files)")

    let early = hub("next", "import", own)
    #expect(early.code != 0 && early.error.contains("missing"), "\(early.error)")
    let refused = hub("next", "import", camp.path("x/bundles/outbox/\(sealed)"))
    #expect(refused.code != 0)
    #expect(
      refused.error.contains(
        "The device x brings work of ann, and this hub's record says that it works for ben."), "\(refused.error)")
    #expect(try wells("next.sqlite").isEmpty)
    let status = hub("next", "status").out
    #expect(status.contains("satchel-hub device set x --user ann"), "\(status)")

    #expect(hub("next", "device", "set", "x", "--user", "ann").code == 0)
    let taken = hub("next", "import", camp.path("x/bundles/outbox/\(sealed)"))
    #expect(taken.code == 0, "\(taken.error)")
    #expect(hub("next", "device", "set", "x", "--user", "ben").code == 0)
    for _ in 1...2 {
      #expect(try answer("x", from: "next").code == 0)
      try deliver("x", to: "next")
    }
    let conflicts = try hub("next", "conflicts", "--json").json["conflicts"]?.arrayValue ?? []
    try #require(conflicts.count == 1, "\(conflicts)")
    #expect(conflicts[0]["user"] == "ann" && conflicts[0]["device_values"]?["depth"] == 21, "\(conflicts)")
    let id = try #require(conflicts[0]["id"]?.stringValue)
    let asked = hub("next", "conflicts", "resolve", id, "--keep", "device")
    #expect(asked.code != 0 && asked.error.contains("Then: no row."), "the device's own export has brought the row")
    let row = try #require(asked.error.split(whereSeparator: \.isWhitespace).last)
    #expect(hub("next", "conflicts", "resolve", id, "--keep", "device", "--row", String(row)).code == 0)
    #expect(try answer("x", from: "next").code == 0)
    let everything = "of-ben|3|Z\nof-x|1|X\nw1|11|A\nw2|21|B"
    #expect(try wells("next.sqlite") == everything)
    #expect(try wells("x/data.sqlite") == everything)
    #expect(
      try camp.rows("next.sqlite", "SELECT DISTINCT user FROM satchel_log WHERE key = '[\"of-x\"]'") == "ann")
    #expect(
      try camp.rows("next.sqlite", "SELECT DISTINCT user FROM satchel_log WHERE key = '[\"of-ben\"]'") == "ben")
    for command in [camp.device("x", "doctor"), hub("next", "doctor")] {
      #expect(command.code == 0, "\(command.out)\(command.error)")
    }
  }

  @Test("after a fault at any change of a file while a device joins, a former user's work reaches the next hub once")
  func formerUsersWorkFaults() throws {
    try loseHub()
    #expect(hub("hub", "device", "set", "x", "--user", "ben").code == 0)
    #expect(try answer("x", from: "hub").code == 0)
    try leave("x", user: "ben")
    let made = try hub("next", "emit", "--device", "x", "--json").json["emissions"]?.arrayValue?.first
    let file = try #require(made?["file"]?.stringValue)
    let bundle = "next/bundles/outbox/" + URL(fileURLWithPath: file).lastPathComponent
    let fingerprint = try #require(try hub("next", "status", "--json").json["fingerprint"]?.stringValue)
    var number = 1
    while true {
      let other = try CommandLineFixture(copyOf: camp)
      func join() { other.device("x", "import", other.path(bundle), "--fingerprint", fingerprint) }
      let fault = TroubledFiles.Fault(at: number)
      other.platform = Platform(files: TroubledFiles(fault: fault), clock: SystemClock(), random: SystemRandom())
      join()
      other.device("x", "export")
      other.platform = .real
      join()
      let exported = other.device("x", "export", "--json")
      let own = try #require(try exported.json["file"]?.stringValue, "after call \(number): \(exported.error)")
      let sealed = try FileManager.default.contentsOfDirectory(atPath: other.path("x/bundles/outbox"))
        .filter { $0.hasSuffix(".satchel") && !own.hasSuffix($0) }
      try #require(sealed.count == 1, "after call \(number): \(sealed)")
      func atHub(_ words: String...) -> CommandLineFixture.Outcome {
        other.hubAnywhere(["-C", other.path("next")] + words)
      }
      #expect(atHub("device", "set", "x", "--user", "ann").code == 0)
      for file in [other.path("x/bundles/outbox/\(sealed[0])"), own] {
        let imported = atHub("import", file)
        #expect(imported.code == 0, "after call \(number): \(imported.error)")
      }
      let found = try other.rows("next.sqlite", "SELECT user, count(*) FROM satchel_log WHERE key = '[\"of-x\"]'")
      #expect(found == "ann|1", "after call \(number)")
      if !fault.wasReached { break }
      number += 1
    }
    #expect(number > 20)
  }

  private func exportFile(_ name: String) throws -> String {
    let exported = camp.device(name, "export", "--json")
    return try #require(try exported.json["file"]?.stringValue, "\(exported.error)\(exported.out)")
  }
}
