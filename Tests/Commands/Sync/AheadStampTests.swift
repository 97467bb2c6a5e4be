import SatchelCommands
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// The hub worked while its clock was ten years ahead, and a person confirmed that clock. Now the clock is right.
@Suite("Stamps of a hub whose clock was ahead")
struct AheadStampTests {
  let camp: CommandLineFixture
  private static let day: Int64 = 86_400_000
  private let now = SystemClock().milliseconds()
  private var ahead: Int64 { now + 3650 * Self.day }

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT); INSERT INTO notes VALUES ('n', 'first'), ('m', 'other')",
      CommandLineFixture.definition(#"{ "notes": { "conflict": "newest" } }"#), devices: ["tablet", "phone"])
  }

  private func set(_ time: Int64) {
    camp.platform = Platform(files: HostFileSystem(), clock: SetClock(time), random: SystemRandom())
  }

  /// A program's write while the clock shows this time.
  private func write(_ words: String, to id: String, in database: String, at time: Int64) throws {
    try camp.sql(
      database,
      """
      UPDATE notes SET words = '\(words)' WHERE id = '\(id)';
      UPDATE satchel_writes_notes SET satchel_written = 2440587.5 + \(time) / 86400000.0
      WHERE rowid = (SELECT max(rowid) FROM satchel_writes_notes);
      """)
  }

  private func emission(for name: String, at time: Int64) throws -> String {
    set(time)
    let outcome = camp.hub("emit", "--device", name, "--json")
    return try #require(
      try outcome.json["emissions"]?.arrayValue?.first?["file"]?.stringValue, "\(outcome.error)\(outcome.out)")
  }

  private func deliver(_ name: String, at time: Int64, hubAt hubTime: Int64) throws {
    set(time)
    let exported = camp.device(name, "export", "--json")
    let file = try #require(try exported.json["file"]?.stringValue, "\(exported.error)")
    set(hubTime)
    let outcome = camp.hub("import", file)
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  /// A person confirms the wrong clock. The office writes two rows, and bundles are made.
  private func workAhead() throws {
    set(ahead)
    #expect(camp.hub("doctor", "--repair").code == 0)
    try write("office", to: "n", in: "office.sqlite", at: ahead)
    try write("after", to: "m", in: "office.sqlite", at: ahead + 1000)
    for name in ["phone", "tablet"] { _ = try emission(for: name, at: ahead + 2000) }
  }

  /// An earlier release accepted the right clock again, and left the stamps as they were.
  private func acceptClock() throws { try camp.sql("office.sqlite", "UPDATE satchel_hub SET clock = \(now)") }

  private func refused(_ name: String, _ file: String) throws {
    set(now)
    let outcome = camp.device(name, "import", file, "--json")
    #expect(outcome.code == 3 && outcome.out.contains("\"clock\""), "\(outcome.out)\(outcome.error)")
  }

  @Test("the hub says that its times are ahead; a repair lowers them in their order, and devices take its bundles")
  func lowered() throws {
    try workAhead()
    try acceptClock()
    try refused("phone", emission(for: "phone", at: now))
    let found = camp.hub("doctor", "--json")
    #expect(found.code == 1)
    #expect(try found.json["findings"]?.arrayValue?.first?["reason"] == "clock")
    #expect(found.out.contains("its times are 3650 days ahead"), "\(found.out)")
    #expect(camp.hub("status").out.contains("its times are 3650 days ahead"))
    #expect(camp.hub("check").out.contains("the hub's times are far ahead of its clock"))
    let repaired = camp.hub("doctor", "--repair")
    #expect(repaired.code == 0 && repaired.out.contains("They now have the present time, in their order."))
    #expect(camp.hub("doctor").code == 0)
    for (table, column) in [
      ("satchel_capture", "stamp"), ("satchel_log", "stamp"), ("satchel_rows_notes", "satchel_stamp"),
    ] {
      let newest = try camp.rows("office.sqlite", "SELECT max(\(column)) >> 16 FROM \(table)")
      #expect(newest == "\(now)", "\(table)")
    }
    #expect(try camp.rows("office.sqlite", "SELECT key FROM satchel_log ORDER BY stamp") == "[\"n\"]\n[\"m\"]")
    for name in ["phone", "tablet"] {
      let file = try emission(for: name, at: now + 1000)
      let outcome = camp.device(name, "import", file)
      #expect(outcome.code == 0, "\(outcome.error)")
      #expect(try camp.rows("\(name)/data.sqlite", "SELECT words FROM notes WHERE id = 'n'") == "office")
    }
    try write("later, by the tablet", to: "n", in: "tablet/data.sqlite", at: now + 5000)
    try write("later still, by the phone", to: "n", in: "phone/data.sqlite", at: now + 6000)
    try deliver("phone", at: now + 7000, hubAt: now + 7000)
    try deliver("tablet", at: now + 7000, hubAt: now + 8000)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM notes WHERE id = 'n'") == "later still, by the phone")
  }

  @Test("one repair after the clock was set right accepts the clock and lowers the stamps; rows in wait follow")
  func oneRepair() throws {
    try workAhead()
    try write("not sent yet", to: "m", in: "office.sqlite", at: ahead + 3000)
    set(now)
    let repaired = camp.hub("doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.out)\(repaired.error)")
    #expect(repaired.out.contains("Its present reading now counts as right."), "\(repaired.out)")
    #expect(repaired.out.contains("They now have the present time, in their order."), "\(repaired.out)")
    let file = try emission(for: "phone", at: now + 1000)
    #expect(camp.device("phone", "import", file).code == 0)
    #expect(try camp.rows("phone/data.sqlite", "SELECT words FROM notes ORDER BY id") == "not sent yet\noffice")
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("a device that has such stamps too is named, and nothing is lowered below it; without it, the repair works")
  func heldByDevice() throws {
    try workAhead()
    let file = try emission(for: "phone", at: ahead + 3000)
    #expect(camp.device("phone", "import", file).code == 0)
    try write("by the phone", to: "n", in: "phone/data.sqlite", at: ahead + 4000)
    try deliver("phone", at: ahead + 5000, hubAt: ahead + 5000)
    try acceptClock()
    set(now)
    for outcome in [camp.hub("doctor"), camp.hub("doctor", "--repair")] {
      let text = outcome.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(outcome.code == 1, "\(text)")
      #expect(text.contains("These devices have such times: phone."), "\(text)")
      #expect(text.contains("revoke each of these devices"), "\(text)")
    }
    try refused("tablet", emission(for: "tablet", at: now))
    set(now)
    #expect(camp.hub("device", "revoke", "phone").code == 0)
    #expect(camp.hub("doctor", "--repair").code == 0)
    let next = try emission(for: "tablet", at: now + 1000)
    let outcome = camp.device("tablet", "import", next)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM notes WHERE id = 'n'") == "by the phone")
  }
}
