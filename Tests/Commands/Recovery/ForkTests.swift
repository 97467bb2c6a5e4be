import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// A tablet's folder is copied, and people work with both copies. Each story uses only commands.
struct ForkTests {
  /// The tablet and its copy both write to one row, and each writes to rows of its own.
  private func split(_ camp: CommandLineFixture, delivered: Bool = true) throws {
    try camp.open()
    if delivered {
      try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'before the copy')")
      camp.deliver("tablet", 1)
    }
    try camp.copy("tablet", to: "copy")
    for folder in ["tablet", "copy"] {
      try camp.sql(
        "\(folder)/data.sqlite",
        """
        UPDATE reviews SET words = 'of \(folder)' WHERE id = 'r1';
        INSERT INTO reviews VALUES ('\(folder)-1', 'lake', 'ann', 1, 'made at \(folder)');
        """)
    }
  }

  private func export(_ camp: CommandLineFixture, _ folder: String) throws -> String {
    try #require(try camp.device(folder, "export", "--json").json["file"]?.stringValue)
  }

  /// - Parameter former: the device that the renamed device continues, as the operator names it.
  private func rename(
    _ camp: CommandLineFixture, _ folder: String, as name: String, continuing former: String? = nil
  ) throws {
    let request = camp.path("\(name)-request.satchel")
    let renewed = camp.device(folder, "renew", "--name", name, "--request", request, "--json")
    #expect(renewed.code == 0, "\(renewed.error)")
    let fingerprint = try #require(try renewed.json["fingerprint"]?.stringValue)
    let enrolled = camp.enrol(request, fingerprint, continuing: former)
    #expect(enrolled.code == 0, "\(enrolled.error)")
  }

  private func bundle(_ camp: CommandLineFixture, for name: String) throws -> String {
    try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-\(name)-")
  }

  /// All devices exchange bundles until none has anything to send. Expects that no write of any device is lost.
  private func expectPeace(_ camp: CommandLineFixture, _ devices: [(folder: String, name: String)]) throws {
    for _ in 0..<2 {
      for device in devices {
        let taken = camp.hub("import", try export(camp, device.folder))
        #expect(taken.code == 0, "\(taken.error)")
        #expect(camp.hub("emit", "--device", device.name).code == 0)
        let answered = camp.device(device.folder, "import", try bundle(camp, for: device.name))
        #expect(answered.code == 0, "\(answered.error)")
      }
    }
    let reviews = "SELECT * FROM reviews WHERE author = 'ann' ORDER BY id"
    let rows = try camp.rows("office.sqlite", reviews)
    for device in devices {
      #expect(try camp.rows("\(device.folder)/data.sqlite", reviews) == rows)
      #expect(camp.device(device.folder, "doctor").code == 0, "\(camp.device(device.folder, "doctor").out)")
    }
    for folder in ["tablet", "copy"] {
      #expect(
        try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = '\(folder)-1'") == "made at \(folder)")
      let lost =
        """
        SELECT count(*) FROM satchel_conflicts WHERE key = '[\"r1\"]' AND 'of \(folder)' IN (device_values ->> \
        'words', hub_values ->> 'words')
        """
      #expect(try camp.rows("office.sqlite", lost) != "0", "what \(folder) wrote into the row that both wrote")
    }
    #expect(camp.hub("doctor").code == 0, "\(camp.hub("doctor").out)")
    #expect(camp.hub("audit").code == 0, "\(camp.hub("audit").out)")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_branches") == "0")
  }

  @Test(
    """
    two copies of one tablet: the operator keeps one, the other goes on under a new name, and every edit of both \
    arrives
    """,
    arguments: [1, 2], [1, 2])
  func wholeStory(kept: Int, exports: Int) throws {
    let camp = try CommandLineFixture()
    try split(camp)
    // The tablet's bundles arrive first and are merged.
    var files: [String: [String]] = [:]
    for folder in ["tablet", "copy"] {
      for number in 1...exports {
        if number > 1 {
          try camp.sql("\(folder)/data.sqlite", "UPDATE reviews SET stars = \(number) WHERE id = '\(folder)-1'")
        }
        files[folder, default: []].append(try export(camp, folder))
      }
    }
    // Older exports are in `sent`, and only the newest is in the outbox.
    func place(_ file: String) -> String {
      FileManager.default.fileExists(atPath: file)
        ? file : file.replacingOccurrences(of: "/outbox/", with: "/sent/")
    }
    #expect(camp.hub("import", place(files["tablet"]![0])).code == 0)
    #expect(camp.hub("import", place(files["copy"]!.last!)).code == 3)
    #expect(camp.hub("emit", "--device", "tablet").code == 1)
    // From now on, the hub accepts no bundle of either copy.
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 5 WHERE id = 'tablet-1'")
    #expect(camp.hub("import", try export(camp, "tablet")).code == 3)

    let shown = try camp.hub("device", "fork", "tablet", "--json").json
    #expect(shown["parted_after"]?.integerValue == 1)
    let histories = try #require(shown["histories"]?.arrayValue)
    #expect(histories.count == 2)
    #expect(histories[0]["exports"]?.arrayValue?.compactMap { $0["merged"]?.boolValue } == [true, false])
    #expect(histories[1]["exports"]?.arrayValue?.first?["changes"]?["reviews"]?.integerValue == Int64(exports) + 1)
    let words = camp.hub("device", "fork", "tablet").out
    #expect(words.hasPrefix("2 histories came from the device tablet: they part after its export 1.\n"), "\(words)")

    #expect(camp.hub("quarantine", "drop", "--all").error.contains("may hold work that exists nowhere else"))
    let before = try camp.rows("office.sqlite", "SELECT * FROM satchel_log")
    #expect(camp.hub("device", "fork", "tablet", "--keep", "\(kept)", "--dry-run").code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT * FROM satchel_log") == before)
    let settled = camp.hub("device", "fork", "tablet", "--keep", "\(kept)")
    #expect(settled.code == 0, "\(settled.error)")
    let (keeper, other) = kept == 1 ? ("tablet", "copy") : ("copy", "tablet")
    // The other copy still sends bundles under the old name. They do not block the device, and the hub's answer to the
    // kept copy does not mislead the other copy.
    let late = camp.hub("import", try export(camp, other), "--json")
    #expect(late.code == 3)
    #expect(try late.json["bundles"]?.arrayValue?.first?["error"]?["reason"] == "parted")
    #expect(try camp.rows("office.sqlite", "SELECT state FROM satchel_devices WHERE name = 'tablet'") == "active")
    camp.hub("emit", "--device", "tablet")
    let answer = try bundle(camp, for: "tablet")
    let misled = camp.device(other, "import", answer, "--json")
    #expect(misled.code == 3)
    #expect(
      ["copied", "older-database"].contains(
        try misled.json["bundles"]?.arrayValue?.first?["error"]?["reason"]?.stringValue))
    #expect(camp.device(keeper, "import", answer).code == 0)

    try rename(camp, other, as: "second")
    #expect(camp.device(other, "import", try bundle(camp, for: "second")).code == 0)
    try camp.sql("\(other)/data.sqlite", "UPDATE reviews SET words = words || '!' WHERE id = 'r3'")
    try expectPeace(camp, [(keeper, "tablet"), (other, "second")])
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r3'") == "before the copy!")
    #expect(camp.hub("device", "fork", "tablet").out == "One history came from the device tablet.\n")
  }

  @Test("on a stick, a bundle of the copy that was not chosen is refused once, and its work comes later")
  func otherCopyOnStick() throws {
    let camp = try CommandLineFixture()
    try split(camp)
    let stick = camp.path("stick")
    try camp.makeFolder("stick")
    #expect(camp.hub("import", try export(camp, "tablet")).code == 0)
    #expect(camp.device("copy", "sync", stick).code == 0)
    // Each sync ends with the same question until the operator has chosen a copy.
    for _ in 1...2 { #expect(camp.hub("sync", stick).code == 3) }
    #expect(camp.hub("device", "fork", "tablet", "--keep", "1").code == 0)
    let refused = camp.hub("sync", stick)
    #expect(refused.code == 3 && refused.error.contains("a copy of the device tablet that does not keep"), "\(refused)")
    for _ in 1...2 {
      let later = camp.hub("sync", stick)
      #expect(later.code == 0 && later.out.contains("Refused earlier ("), "\(later)")
    }
    #expect(try camp.hub("status", "--json").json["quarantined"]?.integerValue == 1)
    try rename(camp, "copy", as: "second")
    #expect(camp.device("copy", "import", try bundle(camp, for: "second")).code == 0)
    #expect(camp.hub("sync", stick).code == 0)
    #expect(camp.hub("import", try export(camp, "copy")).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'copy-1'") == "made at copy")
  }

  @Test("keys that both copies gave, and counters that both moved, come out right", arguments: [1, 2])
  func keysAndCounters(kept: Int) throws {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE visits (id INTEGER PRIMARY KEY, place TEXT, people INTEGER NOT NULL);
      CREATE TABLE notes (id INTEGER PRIMARY KEY, visit INTEGER REFERENCES visits (id), words TEXT);
      INSERT INTO visits VALUES (1, 'lake', 10);
      """,
      """
      { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
        "tables": {
          "visits": { "keys": "rekey", "columns": { "people": "sum" } },
          "notes": { "keys": "rekey", "parents": ["visits"] } } }
      """)
    // The hub merges this visit before the copy is made, and gives it another key than the tablet. The tablet does not
    // know this key yet.
    try camp.sql("office.sqlite", "INSERT INTO visits VALUES (2, 'of the office', 0)")
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE visits SET people = people + 1; INSERT INTO visits VALUES (2, 'common', 0); INSERT INTO notes VALUES (1, \
      2, 'common')
      """
    )
    camp.deliver("tablet", 1)
    try camp.copy("tablet", to: "copy")
    for (folder, more) in [("tablet", 100), ("copy", 1000)] {
      try camp.sql(
        "\(folder)/data.sqlite",
        """
        UPDATE visits SET people = people + \(more) WHERE id = 1;
        UPDATE visits SET people = people + \(more) WHERE id = 2;
        INSERT INTO visits VALUES (3, '\(folder)', 0);
        INSERT INTO notes VALUES (2, 3, '\(folder)');
        """)
    }
    #expect(camp.hub("import", try export(camp, "tablet")).code == 0)
    #expect(camp.hub("import", try export(camp, "copy")).code == 3)
    #expect(camp.hub("device", "fork", "tablet", "--keep", "\(kept)").code == 0)
    let (keeper, other) = kept == 1 ? ("tablet", "copy") : ("copy", "tablet")
    try rename(camp, other, as: "second")
    for _ in 0..<2 {
      for (folder, name) in [(keeper, "tablet"), (other, "second")] {
        #expect(camp.hub("import", try export(camp, folder)).code == 0)
        camp.hub("emit", "--device", name)
        let answered = camp.device(folder, "import", try bundle(camp, for: name))
        #expect(answered.code == 0, "\(answered.error)")
      }
    }
    let told = "SELECT place, people, words FROM visits LEFT JOIN notes ON notes.visit = visits.id ORDER BY place"
    let rows = try camp.rows("office.sqlite", told)
    #expect(
      rows == """
        common|1100|common
        copy|0|copy
        lake|1111|NULL
        of the office|0|NULL
        tablet|0|tablet
        """)
    for folder in [keeper, other] {
      #expect(try camp.rows("\(folder)/data.sqlite", told) == rows)
      #expect(camp.device(folder, "doctor").code == 0, "\(camp.device(folder, "doctor").out)")
    }
  }

  @Test(
    """
    three histories that parted at different exports are three, whichever is kept, and each copy goes on with what it \
    wrote
    """, arguments: [1, 2, 3], [(false, 1), (true, 1), (false, 2)])
  func three(kept: Int, order: (isLaterFirst: Bool, apart: Int)) throws {
    let (isLaterFirst, apart) = order
    let camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE counts (id INTEGER PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0); INSERT INTO counts VALUES (1, 0)",
      CommandLineFixture.definition(#"{ "counts": { "conflict": "manual", "columns": { "n": "sum" } } }"#),
      devices: ["tablet"])
    func write(_ folder: String, _ number: Int) throws {
      try camp.sql("\(folder)/data.sqlite", "UPDATE counts SET n = n + \(number) WHERE id = 1")
    }
    func deliver(_ folder: String) throws -> CommandLineFixture.Outcome {
      camp.hub("import", try export(camp, folder))
    }
    try write("tablet", 1)
    #expect(try deliver("tablet").code == 0)
    try camp.answer("tablet", in: "tablet")
    try camp.copy("tablet", to: "early")
    // With `apart` = 2, the first exports of the two copies have different numbers.
    for _ in 0..<apart {
      try write("tablet", 10 / apart)
      #expect(try deliver("tablet").code == 0)
      try camp.answer("tablet", in: "tablet")
    }
    try camp.copy("tablet", to: "later")
    try write("tablet", 100)
    #expect(try deliver("tablet").code == 0)
    try write("early", 1000)
    try write("later", 10000)
    for folder in isLaterFirst ? ["later", "early"] : ["early", "later"] { #expect(try deliver(folder).code == 3) }

    let shown = try camp.hub("device", "fork", "tablet", "--json").json
    #expect(shown["histories"]?.arrayValue?.count == 3 && shown["parted_after"]?.integerValue == 1, "\(shown)")
    let settled = camp.hub("device", "fork", "tablet", "--keep", "\(kept)")
    #expect(settled.code == 0, "\(settled.error)")
    // The histories are numbered in the order in which their first bundles arrived.
    var folders = ["tablet", "early", "later"]
    let keeper = folders.remove(at: kept - 1)
    var devices = [(folder: keeper, name: "tablet")]
    for folder in isLaterFirst ? folders.reversed() : folders {
      try rename(camp, folder, as: "second-\(folder)")
      devices.append((folder, "second-\(folder)"))
      if folder != "tablet" { try write(folder, 100_000) }
    }
    for _ in 0..<2 {
      for device in devices {
        let taken = try deliver(device.folder)
        #expect(taken.code == 0, "\(device): \(taken.error)")
        try camp.answer(device.name, in: device.folder)
      }
    }
    // If the first history is not kept and has not continued, the hub cannot know which changes it shares with the
    // third history.
    let isUnclear = kept == 2 && isLaterFirst
    let counted = kept == 1 ? "211111" : isUnclear ? "101111" : "111111"
    for database in ["office.sqlite"] + devices.map({ "\($0.folder)/data.sqlite" }) {
      let result = try camp.rows(database, "SELECT n FROM counts")
      #expect(result == counted, "\(database)")
    }
    let open = try camp.rows("office.sqlite", "SELECT state, device_values ->> 'n' FROM satchel_conflicts")
    #expect(open == (isUnclear ? "open|10011" : ""))
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_branches") == "0")
    #expect(camp.hub("doctor").code == 0 && camp.hub("audit").code == 0)
  }

  @Test("the operator reads whose work a request goes on with before the fingerprint is asked for")
  func claimFirst() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    let request = camp.path("request.satchel")
    let renewed = camp.device("tablet", "renew", "--name", "second", "--request", request, "--json")
    let fingerprint = try #require(try renewed.json["fingerprint"]?.stringValue)
    let enrolled = camp.hub(
      "device", "enrol", request, "--user", "ann", answers: [fingerprint], interactive: true)
    #expect(enrolled.code == 0)
    let claim = try #require(enrolled.error.range(of: "The device says that it was tablet of the user ann"))
    let question = try #require(enrolled.error.range(of: "Type the fingerprint"))
    #expect(claim.upperBound < question.lowerBound)
  }

  @Test("a renewal that was killed before the database knew of it is completed by the next command")
  func killed() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    let former = try export(camp, "tablet")
    try camp.copy("tablet/data.sqlite", to: "before.sqlite")
    let request = camp.path("request.satchel")
    #expect(camp.device("tablet", "renew", "--name", "second", "--request", request).code == 0)
    try camp.remove("tablet/data.sqlite")
    try camp.copy("before.sqlite", to: "tablet/data.sqlite")
    #expect(try camp.device("tablet", "status", "--json").json["error"]?["reason"] == "renewing")
    let again = camp.device("tablet", "renew", "--request", request, "--json")
    #expect(again.code == 0, "\(again.error)")
    #expect(try camp.device("tablet", "status", "--json").json["device"] == "second")
    let status = try camp.device("tablet", "status", "--json").json
    #expect(status["not_exported"]?.integerValue == 1, "what went off under the old name is not on its way any more")
    #expect(camp.device("tablet", "status").out.contains("Next: carry the request to the hub"))
    #expect(
      try camp.device("tablet", "doctor", "--json").json["findings"]?.arrayValue?.map { $0["reason"] } == ["renewed"])
    let fingerprint = try #require(try again.json["fingerprint"]?.stringValue)
    #expect(camp.enrol(request, fingerprint).code == 0)
    // The device exports, and the hub merges the export, before the hub's bundle for the new name arrives.
    let file = try export(camp, "tablet")
    #expect(file != former)
    #expect(camp.hub("import", file).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "mine")
    #expect(camp.device("tablet", "import", try bundle(camp, for: "second")).code == 0)
    #expect(camp.device("tablet", "doctor").code == 0)
  }

  @Test("a tablet that was given up for lost and found again delivers what it holds, under a new name")
  func found() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    camp.deliver("tablet", 1)
    camp.hub("device", "revoke", "tablet")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'written on the way' WHERE id = 'r1'")
    #expect(camp.hub("import", try export(camp, "tablet")).code == 3)
    try rename(camp, "tablet", as: "second", continuing: "tablet")
    #expect(camp.hub("import", try export(camp, "tablet")).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "written on the way")
  }

  @Test(
    "a database that is lost under a new name, before any export under it, has what it exported before",
    arguments: [nil, "", String(repeating: "no database ", count: 1000)], [true, false])
  func lostAfterRenewal(remains: String?, hasFile: Bool) throws {
    let camp = try CommandLineFixture()
    try camp.open()
    camp.deliver("tablet", 1)
    camp.hub("device", "revoke", "tablet")
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE reviews SET words = 'written on the way' WHERE id = 'r1';
      INSERT INTO reviews VALUES ('r9', 'lake', 'ann', 2, 'new')
      """)
    #expect(camp.hub("import", try export(camp, "tablet")).code == 3)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 4 WHERE id = 'r9'")
    #expect(camp.hub("import", try export(camp, "tablet")).code == 3)
    try rename(camp, "tablet", as: "second", continuing: "tablet")
    try camp.loseDatabase(of: "tablet", leaving: remains)
    if !hasFile { try camp.removeBundles("camp-tablet-hub-3", of: "tablet") }
    let lost = camp.device("tablet", "status", "--json")
    #expect(try lost.json["state"]?.stringValue == ((remains ?? "").isEmpty ? "lost" : "damaged"), "\(lost.out)")
    let answered = camp.device("tablet", "import", try bundle(camp, for: "second"))
    #expect(answered.code == 0, "\(answered.error)")
    for _ in 0..<2 {
      #expect(camp.hub("import", try export(camp, "tablet")).code == 0)
      try camp.answer("second", in: "tablet")
    }
    let expected = "r1|4|written on the way\nr2|5|dark\nr9|\(hasFile ? 4 : 2)|new"
    let rows = try camp.rows("office.sqlite", "SELECT id, stars, words FROM reviews ORDER BY id")
    #expect(rows == expected)
    #expect(camp.device("tablet", "doctor").code == 0 && camp.hub("doctor").code == 0)
    #expect(try camp.device("tablet", "status", "--json").json["device"] == "second")
  }

  @Test("what cannot be renewed or settled is said, and nothing is changed")
  func refusals() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    #expect(
      camp.hub("device", "provision", "screen", "--user", "ann", "--into", camp.path("screen"), "--no-keys").code == 0)
    func reason(_ outcome: CommandLineFixture.Outcome) throws -> String? {
      try outcome.json["error"]?["reason"]?.stringValue
    }
    let before = try camp.everything()
    let request = camp.path("request.satchel")
    #expect(try reason(camp.device("tablet", "renew", "--request", request, "--json")) == "name-needed")
    #expect(
      try reason(camp.device("tablet", "renew", "--name", "tablet", "--request", request, "--json")) == "bad-name")
    #expect(try reason(camp.device("screen", "renew", "--name", "second", "--request", request, "--json")) == "no-key")
    #expect(camp.device("tablet", "renew", "--name", "second", "--request", request, "--dry-run").code == 0)
    #expect(try reason(camp.hub("device", "fork", "nobody", "--json")) == "no-device")
    #expect(try reason(camp.hub("device", "fork", "tablet", "--keep", "1", "--json")) == "no-fork")
    #expect(camp.hub("device", "fork", "tablet", "--keep", "both").code == 2)
    #expect(try camp.everything() == before)
    #expect(camp.device("tablet", "renew", "--name", "second", "--request", request).code == 0)
    #expect(try reason(camp.device("tablet", "renew", "--name", "third", "--request", request, "--json")) == "renewed")
    try camp.copy("phone", to: "copy")
    for folder in ["phone", "copy"] {
      try camp.sql("\(folder)/data.sqlite", "UPDATE reviews SET words = '\(folder)' WHERE id = 'r2'")
      camp.hub("import", try export(camp, folder))
    }
    #expect(try reason(camp.hub("device", "fork", "phone", "--keep", "3", "--json")) == "no-history")
    camp.hub("device", "revoke", "phone")
    #expect(try reason(camp.hub("device", "fork", "phone", "--keep", "1", "--json")) == "revoked")
  }
}
