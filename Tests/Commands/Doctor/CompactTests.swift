import SatchelJSON
import SatchelPlatform
import Testing

/// `compact` makes the hub forget old history. Some records stay.
@Suite struct CompactTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func reviews(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, stars, words FROM reviews ORDER BY id")
  }

  private func write(_ database: String, _ sql: String) throws { try camp.sql(database, sql) }

  private func count(_ query: String) throws -> Int {
    try #require(Int(camp.rows("office.sqlite", "SELECT count(*) FROM \(query)")))
  }

  /// Each device exports and imports, until the hub knows that each device has everything.
  private func exchange(_ devices: String...) throws {
    try camp.makeFolder("stick")
    for _ in 0..<3 {
      for device in devices { camp.device(device, "sync", camp.path("stick")) }
      camp.hub("sync", camp.path("stick"))
    }
  }

  private func compact(_ words: String...) throws -> JSONValue {
    let outcome = camp.hubAnywhere(["-C", camp.path("hub"), "compact", "--json"] + words)
    #expect(outcome.code == 0, "\(outcome.error)")
    return try outcome.json
  }

  /// Makes a device seem silent for ten days, and all changes so far older than that.
  private func letTimePass(for device: String) throws {
    try camp.letBeSilent(device, days: 10)
    try letHistoryAge()
  }

  private func letHistoryAge() throws { try camp.sql("office.sqlite", "UPDATE satchel_log SET at = at - 864000000") }

  @Test("history that every device is known to have is forgotten; history, audit and doctor agree with the rest")
  func forgets() throws {
    for number in 1...5 {
      try write("office.sqlite", "UPDATE reviews SET stars = \(number) WHERE id = 'r1'")
      camp.hub("history", "reviews", "r1")
    }
    try write("office.sqlite", "INSERT INTO reviews VALUES ('gone', 'lake', 'ann', 1, 'x')")
    try exchange("tablet", "phone")
    try write("office.sqlite", "DELETE FROM reviews WHERE id = 'gone'")
    try exchange("tablet", "phone")
    try exchange("tablet", "phone")
    try write("office.sqlite", "UPDATE reviews SET words = 'after' WHERE id = 'r1'")

    let report = try compact()
    #expect(report["changes"]?.integerValue ?? 0 >= 6)
    #expect(report["rows"] == 1)
    #expect(try count("satchel_rows_reviews") == 2)
    for outcome in [camp.hub("doctor"), camp.hub("audit")] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
    let history = camp.hub("history", "reviews", "r1").out
    #expect(history.contains("after") && history.contains("forgotten") && !history.contains("stars: 2 -> 3"))
    // The hub still sends rows if it does not know that they have arrived.
    try exchange("tablet", "phone")
    #expect(try reviews("tablet/data.sqlite") == "r1|5|after")
    #expect(try count("satchel_conflicts") == 0)
    // The doctor still finds unseen changes.
    let triggers = try camp.rows(
      "office.sqlite", "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'reviews'")
    for trigger in triggers.split(separator: "\n") { try write("office.sqlite", "DROP TRIGGER \"\(trigger)\"") }
    try write("office.sqlite", "UPDATE reviews SET stars = 3 WHERE id = 'r1'")
    #expect(camp.hub("doctor").code == 1)
    #expect(camp.hub("doctor", "--repair").out.contains("1 updated"))
    #expect(camp.hub("doctor").code == 0)
  }

  @Test(
    "a device that is on its way holds everything back that it may need; a rehearsal and a second time change nothing")
  func waits() throws {
    try exchange("tablet", "phone")
    try write("office.sqlite", "UPDATE reviews SET words = 'one' WHERE id = 'r1'")
    try exchange("tablet")
    let files = try camp.everything()
    let rehearsed = try compact("--dry-run")
    #expect(try camp.everything() == files)
    let report = try compact()
    #expect(report["changes"] == rehearsed["changes"])
    #expect(try count("satchel_log WHERE key = '[\"r1\"]'") == 1)
    #expect(try compact()["changes"] == 0)
    try exchange("phone")
    #expect(try reviews("phone/data.sqlite") == "r1|4|one\nr2|5|dark")
  }

  @Test("a device that was silent too long gets everything; its changes are accepted if no other side changed the row")
  func longSilence() throws {
    try exchange("tablet", "phone")
    try write(
      "phone/data.sqlite",
      "UPDATE reviews SET stars = 1 WHERE id = 'r2'; INSERT INTO reviews VALUES ('n1', 'hill', 'ben', 2, 'far')")
    try write("office.sqlite", "INSERT INTO reviews VALUES ('r3', 'hill', 'ben', 3, 'dry')")
    try exchange("tablet")
    try write(
      "office.sqlite", "UPDATE reviews SET words = 'darker' WHERE id = 'r2'; DELETE FROM reviews WHERE id = 'r3'")
    try exchange("tablet")
    try letTimePass(for: "phone")
    let report = try compact("--older-than", "7")
    #expect(report["devices"] == ["phone"])
    let received = try camp.rows("phone/data.sqlite", "SELECT received FROM satchel_device")
    try exchange("phone")
    let rows = "n1|2|far\nr1|4|quiet\nr2|1|darker"
    #expect(try reviews("office.sqlite") == rows)
    #expect(try reviews("phone/data.sqlite") == rows)
    #expect(try Int(camp.rows("phone/data.sqlite", "SELECT received FROM satchel_device"))! > Int(received)!)
    #expect(try count("satchel_conflicts") == 0)
  }

  @Test(
    "if a device and another side changed a row during long silence, a person decides, and no deleted row comes back"
  )
  func longDisagreement() throws {
    try write(
      "office.sqlite", "INSERT INTO reviews VALUES ('r3', 'hill', 'ben', 3, 'dry'), ('r4', 'hill', 'ben', 4, 'wet')")
    try exchange("tablet", "phone")
    try write(
      "phone/data.sqlite",
      """
      UPDATE reviews SET words = 'his' WHERE id = 'r2';
      UPDATE reviews SET words = 'of what is gone' WHERE id = 'r3';
      DELETE FROM reviews WHERE id = 'r4';
      """)
    camp.device("phone", "export")
    // The device deleted this row and now inserts it again. The insert must not bring back the row, which the hub
    // deleted too.
    try write("phone/data.sqlite", "INSERT INTO reviews VALUES ('r4', 'hill', 'ben', 9, 'again')")
    try write(
      "office.sqlite",
      "UPDATE reviews SET words = 'theirs' WHERE id = 'r2'; DELETE FROM reviews WHERE id IN ('r3', 'r4')")
    try exchange("tablet")
    // The hub never forgets the newest log entry. Therefore the office writes another entry.
    try write("office.sqlite", "UPDATE sites SET name = 'The lake' WHERE id = 'lake'")
    try exchange("tablet")
    try letTimePass(for: "phone")
    _ = try compact("--older-than", "7")
    #expect(try count("satchel_log WHERE table_name = 'reviews'") == 0)
    try exchange("phone")
    #expect(try reviews("office.sqlite") == "r1|4|quiet\nr2|5|theirs")
    #expect(try reviews("phone/data.sqlite") == "r1|4|quiet\nr2|5|theirs")
    let conflicts = try camp.rows(
      "office.sqlite", "SELECT key, device_values, state FROM satchel_conflicts ORDER BY key, generation")
    #expect(conflicts.contains(#"["r2"]|{"words":"his"}|open"#))
    #expect(conflicts.contains(#"["r3"]|{"words":"of what is gone"}|open"#))
    #expect(conflicts.contains("again"))
  }

  @Test("a device of long silence follows the hub's next bundle, in whatever order its exports come")
  func exportsOfLongSilence() throws {
    try exchange("tablet", "phone")
    try write("phone/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r2'")
    let older = try camp.export("phone")
    try write("office.sqlite", "UPDATE reviews SET words = 'darker' WHERE id = 'r2'")
    try camp.answer("phone")
    try write("phone/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r2'")
    let newer = try camp.export("phone")
    try letTimePass(for: "phone")
    #expect(try compact("--older-than", "7")["devices"] == ["phone"])
    // The hub made one bundle an hour for half a year. None of them arrived.
    try write(
      "office.sqlite",
      """
      WITH RECURSIVE lost (number) AS (
        SELECT emitted + 1 FROM satchel_devices WHERE name = 'phone' UNION ALL SELECT number + 1 FROM lost LIMIT 4380)
      INSERT INTO satchel_ledger (at, direction, kind, bundle, peer, number, digest, verdict, changes, conflicts)
      SELECT 0, 'out', 'scope', 'lost-' || number, 'phone', number, printf('%0128x', number), 'written', 0, 0 FROM lost;
      UPDATE satchel_devices SET emitted = emitted + 4380 WHERE name = 'phone';
      """)
    let sent = Paths.join(camp.path("phone/bundles/sent"), Paths.name(of: older))
    for path in [newer, sent] { #expect(camp.hub("import", path).code == 0, "\(path)") }
    try camp.answer("phone")
    #expect(try reviews("phone/data.sqlite") == "r1|4|quiet\nr2|2|darker")
    #expect(try count("satchel_conflicts") == 0)
  }

  @Test("the files of old bundles go, audit knows of it, and what cannot be taken back any more says so")
  func oldBundles() throws {
    for number in 1...3 {
      try write("tablet/data.sqlite", "UPDATE reviews SET stars = \(number) WHERE id = 'r1'")
      try exchange("tablet", "phone")
    }
    #expect(try compact()["files"] == 0)
    try write("office.sqlite", "UPDATE satchel_ledger SET at = at - 864000000")
    try letHistoryAge()
    let report = try compact("--older-than", "7")
    #expect(report["files"]?.integerValue ?? 0 >= 2)
    let archive = report["archive_bytes"]
    #expect(archive?["after"]?.integerValue ?? 0 < archive?["before"]?.integerValue ?? 0)
    for outcome in [camp.hub("doctor"), camp.hub("audit")] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
    let revert = camp.hub("revert", "tablet/1", "--json")
    #expect(revert.code == 1)
    #expect(try revert.json["error"]?["reason"] == "forgotten")
  }

  @Test("a revoked device holds nothing back, and the room goes back to the disk on request")
  func revoked() throws {
    try exchange("tablet")
    camp.hub("device", "revoke", "phone")
    let text = String(repeating: "long ", count: 4000)
    for number in 1...20 {
      try write("office.sqlite", "UPDATE reviews SET words = '\(number) \(text)' WHERE id = 'r1'")
      camp.hub("history", "reviews", "r1")
    }
    try write("office.sqlite", "UPDATE reviews SET words = 'short' WHERE id = 'r1'")
    try exchange("tablet")
    let report = try compact("--shrink")
    // `compact` does not count a revoked device among the devices that come back.
    #expect(report["devices"] == [])
    let bytes = report["database_bytes"]
    #expect(bytes?["after"]?.integerValue ?? 0 < bytes?["before"]?.integerValue ?? 0)
    try exchange("tablet")
    #expect(try reviews("tablet/data.sqlite") == "r1|4|short")
  }

  @Test("no change that is younger than --older-than is forgotten, and the answer says from when on history knows all")
  func floor() throws {
    try write("office.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try exchange("tablet", "phone")
    try letHistoryAge()
    try write("tablet/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    try exchange("tablet", "phone")
    let first = try camp.rows("office.sqlite", "SELECT min(at) FROM satchel_log WHERE bundle IS NOT NULL")
    let since = UTCTime.text(milliseconds: try #require(Int64(first)))
    let old = try count("satchel_log WHERE at < \(first)")
    let rehearsed = camp.hub("compact", "--older-than", "7", "--dry-run")
    #expect(rehearsed.out.contains("history would still know the changes since \(since)."), "\(rehearsed.out)")
    #expect(try compact("--older-than", "365", "--dry-run")["changes"] == 0)
    let report = try compact("--older-than", "7")
    #expect(report["changes"]?.integerValue == Int64(old) && report["known_since"]?.stringValue == since)
    #expect(camp.hub("history", "reviews", "r1").out.contains("1 -> 2"))
    // Without `--older-than`, the hub forgets every change that no device needs.
    try write("tablet/data.sqlite", "UPDATE reviews SET stars = 3 WHERE id = 'r1'")
    try exchange("tablet", "phone")
    #expect(try compact()["changes"]?.integerValue ?? 0 > 0)
  }

  @Test("the dataset's history is a limit for every compact")
  func historyOfDataset() throws {
    let longer = CommandLineFixture.definition.replacingOccurrences(
      of: #""version": 1,"#, with: #""version": 2, "history": 30,"#)
    try camp.write("longer.json", longer)
    let applied = camp.hub("dataset", "apply", camp.path("longer.json"), "--json")
    #expect(try applied.json["members"] == ["history"], "\(applied)")
    try write("office.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try exchange("tablet", "phone")
    try letHistoryAge()
    for words in [[], ["--older-than", "1"]] {
      let outcome = camp.hubAnywhere(["-C", camp.path("hub"), "compact", "--json"] + words)
      #expect(try outcome.code == 0 && outcome.json["changes"] == 0, "\(outcome)")
    }
    for _ in 0..<3 { try letHistoryAge() }
    for name in ["tablet", "phone"] {
      try write("\(name)/data.sqlite", "UPDATE reviews SET stars = 2 WHERE author = 'ann'")
    }
    try exchange("tablet", "phone")
    #expect(try compact()["changes"]?.integerValue ?? 0 > 0)
  }

  @Test("a number of days that is none is a wrong use")
  func usage() { #expect(camp.hub("compact", "--older-than", "never").code == 2) }
}
