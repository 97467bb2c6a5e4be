import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// The commands `history`, `revert` and `conflicts`.
@Suite("History and decisions")
struct HistoryTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  /// Both sides change the words of a review, and the hub imports the device's change. Returns the conflict's id.
  private func disagree() throws -> String {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'frogs' WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'winter' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    return try #require(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue)
  }

  @Test("history shows who changed a row on which device, and the conflicts of the row")
  func history() throws {
    let id = try disagree()
    camp.hub("conflicts", "resolve", id, "--keep", "device", "--note", "she was there")
    let shown = camp.hub("history", "reviews", "r1").out
    for word in [
      "words: quiet -> winter", "words: winter -> frogs", "by hub at the hub", "update/update, resolved, device by hub",
      "words: frogs",
    ] {
      #expect(shown.contains(word), "\(word) in \(shown)")
    }
    let changes = try #require(try camp.hub("history", "reviews", "r1", "--json").json["changes"]?.arrayValue)
    #expect(changes.count == 2 && changes[0]["was"]?["words"]?.stringValue == "quiet")
    #expect(camp.hub("history", "reviews", "nowhere").error.contains("There is and was no row"))
    #expect(camp.hub("history", "rooms", "r1").error.contains("The dataset has no table rooms"))
  }

  /// The tablet exports three times, and the hub merges each export.
  private func exportThrice(between: () throws -> Void = {}) throws {
    for (number, sql) in [
      (1, "UPDATE reviews SET words = 'one' WHERE id = 'r1'; INSERT INTO reviews VALUES ('n', 'lake', 'ann', 1, 'x')"),
      (2, "UPDATE reviews SET words = 'two' WHERE id = 'r1'; UPDATE reviews SET stars = 2 WHERE id = 'n'"),
      (3, "UPDATE reviews SET words = 'three' WHERE id = 'r1'; DELETE FROM reviews WHERE id = 'n'"),
    ] {
      try camp.sql("tablet/data.sqlite", sql)
      camp.deliver("tablet", number)
      if number == 1 { try between() }
    }
  }

  private func rows() throws -> String {
    try camp.rows("office.sqlite", "SELECT id, stars, words FROM reviews ORDER BY id")
  }

  @Test("all that came from a device since a time is reverted at once, as if none of it had come")
  func revertSince() throws {
    let before = try rows()
    try exportThrice()
    #expect(try rows() == "r1|4|three\nr2|5|dark")
    let rehearsed = camp.hub("revert", "--device", "tablet", "--since", "2026-01-01", "--dry-run")
    #expect(rehearsed.out.contains("3 bundles reverted."), "\(rehearsed)")
    #expect(try rows() == "r1|4|three\nr2|5|dark")
    let document = try camp.hub("revert", "--device", "tablet", "--since", "2026-01-01", "--json").json
    #expect(document["bundles"]?.arrayValue?.count == 3 && document["conflicts"] == 0, "\(document)")
    #expect(try rows() == before)
  }

  @Test("only the bundles since the time are reverted, and a value that the office wrote since stays, with a conflict")
  func revertSinceOffice() throws {
    try exportThrice { try camp.sql("office.sqlite", "UPDATE reviews SET stars = 9 WHERE id = 'r1'") }
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'office' WHERE id = 'r1'")
    let second = try camp.rows("office.sqlite", "SELECT at FROM satchel_ledger WHERE peer = 'tablet' AND number = 2")
    try camp.sql("office.sqlite", "UPDATE satchel_ledger SET at = at - 86400000 WHERE peer = 'tablet' AND number = 1")
    let time = UTCTime.text(milliseconds: try #require(Int64(second)) - 1000)
    let document = try camp.hub("revert", "--device", "tablet", "--since", time, "--json").json
    #expect(document["bundles"]?.arrayValue?.count == 2 && document["conflicts"] == 1, "\(document)")
    #expect(try rows() == "n|1|x\nr1|9|office\nr2|5|dark")
    let open = try camp.rows("office.sqlite", "SELECT device_values FROM satchel_conflicts WHERE state = 'open'")
    #expect(open.contains("one"))
  }

  @Test("rows that block each other are reverted: a parent with its child, and exchanged UNIQUE values")
  func revertBlocked() throws {
    let camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE codes (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), code TEXT UNIQUE);
      INSERT INTO codes VALUES ('a', NULL, 'x'), ('b', NULL, 'y');
      """, #"{ "dataset": "camp", "version": 1, "tables": { "sites": {}, "codes": {} } }"#, devices: ["tablet"])
    func rows() throws -> String {
      try camp.rows("office.sqlite", "SELECT id, site, code FROM codes ORDER BY id")
        + camp.rows("office.sqlite", "SELECT id, name FROM sites ORDER BY id")
    }
    let before = try rows()
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE codes SET code = 'z' WHERE id = 'a'; UPDATE codes SET code = 'x' WHERE id = 'b';
      UPDATE codes SET code = 'y' WHERE id = 'a';
      INSERT INTO sites VALUES ('s', 'one'); INSERT INTO codes VALUES ('c', 's', 'w');
      """)
    camp.device("tablet", "export")
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'two' WHERE id = 's'")
    camp.device("tablet", "export")
    camp.hub("import", try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-"))
    #expect(try rows() != before)
    let outcome = camp.hub("revert", "--device", "tablet", "--since", "2026-01-01", "--json")
    #expect(try outcome.json["conflicts"] == 0, "\(outcome)")
    #expect(try rows() == before)
    // A second revert changes nothing.
    #expect(try camp.hub("revert", "--device", "tablet", "--since", "2026-01-01", "--json").json["conflicts"] == 0)
    #expect(try rows() == before)
  }

  @Test("several values of one device before an office's value make one conflict, with the first value of all")
  func revertOneConflict() throws {
    try exportThrice()
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'office' WHERE id = 'r1'")
    camp.hub("revert", "--device", "tablet", "--since", "2026-01-01")
    let open = try camp.rows("office.sqlite", "SELECT device_values FROM satchel_conflicts WHERE state = 'open'")
    #expect(open == #"{"words":"quiet"}"#, "\(open)")
    #expect(try rows() == "r1|4|office\nr2|5|dark")
  }

  @Test("changes of a reverted bundle that still wait are given up, and do not enter later")
  func revertWaiting() throws {
    try camp.sql(
      "tablet/data.sqlite", "PRAGMA foreign_keys = OFF; INSERT INTO reviews VALUES ('n1', 's77', 'ann', 1, 'bad')")
    let id = try disagree()
    #expect(try camp.hub("status", "--json").json["held_conflicts"] == 1)
    let outcome = camp.hub("revert", "--device", "tablet", "--since", "2026-01-01", "--json")
    #expect(try outcome.json["given_up"] == 2, "\(outcome)")
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('s77', 'new', 1)")
    camp.hub("emit", "--all")
    camp.deliver("tablet", 2)
    #expect(try rows() == "r1|4|winter\nr2|5|dark")
    #expect(try camp.hub("conflicts", "--json").json["conflicts"] == [])
    #expect(camp.hub("conflicts", "show", id).out.contains("Its bundle was reverted."))
  }

  @Test("a revert without a bundle, or with half of a choice, is a wrong usage; a device without bundles is named")
  func revertUsage() {
    for words in [["revert"], ["revert", "--device", "tablet"], ["revert", "tablet/1", "--since", "2026-01-01"]] {
      #expect(camp.hubAnywhere(["-C", camp.path("hub")] + words).code == 2)
    }
    #expect(camp.hub("revert", "--device", "tablet", "--since", "May").code == 2)
    let none = camp.hub("revert", "--device", "tablet", "--since", "2026-01-01")
    #expect(none.code == 1 && none.error.contains("No bundle of tablet was imported here since"), "\(none)")
    #expect(camp.hub("revert", "--device", "stranger", "--since", "2026-01-01").code == 1)
  }

  @Test("a decision is refused where the row was changed since, with both values and the way on")
  func changedSince() throws {
    let id = try disagree()
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'summer' WHERE id = 'r1'")
    let refused = camp.hub("conflicts", "resolve", id, "--keep", "device")
    #expect(refused.code == 1 && refused.error.contains("winter") && refused.error.contains("summer"))
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "summer")
    let mark = try #require(try camp.hub("conflicts", "show", id, "--json").json["conflict"]?["row_mark"]?.stringValue)
    #expect(refused.error.contains("--row \(mark)") && camp.hub("conflicts", "show", id).out.contains(mark))
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device", "--row", "00000000").code == 1)
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device", "--row", mark).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "frogs")
  }

  @Test("many are decided at once by a policy, and those whose row was changed since are left")
  func all() throws {
    try camp.sql(
      "tablet/data.sqlite", "INSERT INTO reviews VALUES ('a', 'lake', 'ann', 1, 'x'), ('b', 'lake', 'ann', 1, 'x')")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'theirs'")
    camp.deliver("tablet", 2)
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'b'")
    let decided = camp.hub("conflicts", "resolve", "--all", "--policy", "device", "--table", "reviews", "--json")
    #expect(try decided.json["resolved"]?.arrayValue?.count == 2)
    #expect(try decided.json["left"]?.arrayValue?.first?["reason"]?.stringValue == "row-changed")
    #expect(
      try camp.rows("office.sqlite", "SELECT id, words FROM reviews WHERE author = 'ann' ORDER BY id")
        == "a|mine\nb|later\nr1|mine")
    for words in [
      ["--all"], ["--all", "--policy", "manual"], ["--policy", "hub"], [],
      ["--all", "--policy", "hub", "--keep", "hub"],
    ] {
      #expect(camp.hubAnywhere(["-C", camp.path("hub"), "conflicts", "resolve"] + words).code == 2, "\(words)")
    }
    camp.answer("tablet", 3)
    #expect(camp.device("tablet", "conflicts", "resolve", "--all", "--policy", "newest").code == 1)
  }

  @Test("newest decides by the stamps")
  func newest() throws {
    _ = try disagree()
    #expect(camp.hub("conflicts", "resolve", "--all", "--policy", "newest").out.contains("Resolved 1 conflict"))
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "winter")
  }

  @Test("conflicts as CSV, in which nothing is a formula")
  func csv() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = '=HYPERLINK(\"x\"), y' WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'winter' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    let lines = camp.hub("conflicts", "export").out.components(separatedBy: "\r\n")
    #expect(lines.count == 3 && lines[0].hasPrefix("conflict,state,kind,"))
    #expect(lines[1].contains(",reviews,r1,words,quiet,winter,\"'=HYPERLINK(\"\"x\"\"), y\",hub,"))
  }

  @Test("a bundle is taken back: its rows are as before, and what was changed since is a conflict")
  func revert() throws {
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE reviews SET words = 'frogs', stars = 1 WHERE id = 'r1';
      INSERT INTO reviews VALUES ('new', 'lake', 'ann', 1, 'x');
      """)
    camp.deliver("tablet", 1)
    try camp.sql("office.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    let before = try camp.everything()
    #expect(camp.hub("revert", "tablet/1", "--dry-run").code == 0)
    #expect(try camp.everything() == before)
    let reverted = camp.hub("revert", "tablet/1")
    #expect(reverted.out.contains("1 row as before (reviews 1)"), "\(reverted)")
    #expect(reverted.out.contains("1 row to be decided, because others changed it since"), "\(reverted)")
    #expect(try camp.rows("office.sqlite", "SELECT words, stars FROM reviews WHERE id = 'r1'") == "quiet|2")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM reviews WHERE id = 'new'") == "0")
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id, words, stars FROM reviews") == "r1|quiet|2")
    #expect(camp.hub("revert", "tablet/9").error.contains("No bundle"))
    #expect(camp.hub("revert", "").code == 1)
  }

  @Test("audit verifies the archive, and finds a file that is gone, changed, or not in the ledger")
  func audit() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    #expect(camp.hub("audit").out.contains("1 bundle of 1 device verified, 0 findings"))
    let archive = camp.path("hub/bundles/archive")
    let name = try #require(try HostFileSystem().list(archive).first { $0.hasPrefix("camp-tablet-") })
    let path = Paths.join(archive, name)
    let good = try Data(contentsOf: URL(filePath: path))
    var bad = good
    bad[bad.count / 2] ^= 1
    try bad.write(to: URL(filePath: path))
    let damaged = camp.hub("audit")
    #expect(damaged.code == 1 && damaged.out.contains(name) && damaged.out.contains("is not in bundles/archive"))
    try good.write(to: URL(filePath: path))
    try camp.sql("office.sqlite", "DELETE FROM satchel_ledger WHERE direction = 'in'")
    #expect(camp.hub("audit").out.contains("the ledger does not contain"))
  }

  @Test("a bundle that was refused is not in the archive, and the audit does not say that the hub was put back")
  func auditAfterRefusal() throws {
    let camp = try CommandLineFixture.watched()
    try camp.sql(
      "tablet/data.sqlite",
      "ALTER TABLE reviews ADD COLUMN mood TEXT; UPDATE reviews SET mood = 'glad' WHERE id = 'r0'")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    let bundle = try camp.export("tablet")
    #expect(camp.hub("import", bundle).code == 3)
    let audit = camp.hub("audit")
    #expect(audit.code == 0, "\(audit.out)")

    try camp.sql("office.sqlite", "ALTER TABLE reviews ADD COLUMN mood TEXT")
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hub("import", bundle).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT mood FROM reviews WHERE id = 'r0'") == "glad")
    #expect(camp.hub("audit").out.contains("2 bundles of 1 device verified, 0 findings"))
  }

  @Test("a rehearsed import says what would change and which conflicts would arise, and changes nothing")
  func rehearsal() throws {
    try camp.sql(
      "tablet/data.sqlite",
      "UPDATE reviews SET words = 'frogs' WHERE id = 'r1'; INSERT INTO reviews VALUES ('n', 'lake', 'ann', 1, 'x')")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'winter' WHERE id = 'r1'")
    camp.device("tablet", "export")
    let file = camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    let before = try camp.everything()
    let shown = camp.hub("import", "--dry-run", file)
    #expect(shown.out.contains("reviews") && shown.out.contains("Conflict: update/update reviews [r1], open"))
    let json = try camp.hub("import", "--dry-run", "--json", file).json["bundles"]?.arrayValue?.first
    #expect(json?["rows"]?["reviews"]?["inserted"]?.integerValue == 1 && json?["found"]?.arrayValue?.count == 1)
    #expect(try camp.everything() == before)
  }
}
