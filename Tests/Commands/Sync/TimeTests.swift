import SatchelCommands
import SatchelJSON
import SatchelPlatform
import Testing

/// The office and a tablet write one row, each with its own clock. The stamps decide which write is newer, not the
/// clocks' times.
@Suite("Clocks that are wrong")
struct TimeTests {
  let camp: CommandLineFixture
  static let day: Int64 = 86_400_000
  /// The right time, at which the hub's tools run. It is later than the creation of the hub and its devices.
  let now: Int64

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT); INSERT INTO notes VALUES ('n', 'first'), ('m', 'other')",
      CommandLineFixture.definition(#"{ "notes": { "conflict": "newest" } }"#), devices: ["tablet", "phone"])
    now = SystemClock().milliseconds()
  }

  /// Writes to a database as a program would, while the clock shows this time.
  func write(_ words: String, to id: String = "n", in database: String, at time: Int64) throws {
    try camp.writeNote(database, "UPDATE notes SET words = '\(words)' WHERE id = '\(id)'", at: time)
  }

  func deliver(_ name: String, at time: Int64, hubAt hubTime: Int64) throws {
    try camp.deliver(name, at: time, hubAt: hubTime)
  }

  func answer(_ name: String, at time: Int64, hubAt hubTime: Int64) throws {
    try camp.answer(name, at: time, hubAt: hubTime)
  }

  func atHub(_ time: Int64, _ body: () throws -> Void) throws {
    camp.setClock(time)
    try body()
  }

  func words(_ database: String = "office.sqlite") throws -> String {
    try camp.rows(database, "SELECT words FROM notes WHERE id = 'n'")
  }

  /// Times of wrong clocks: in 1970, at the end of 32 bits, and two years ahead. The last one is right.
  static let clocks: [Int64] = [
    86_400_000, 2_147_483_647_000, SystemClock().milliseconds() + 730 * 86_400_000, SystemClock().milliseconds(),
  ]

  @Test("a write after a row was seen is newer than that row, whatever the clock shows", arguments: clocks)
  func afterSeeing(_ clock: Int64) throws {
    try write("office", in: "office.sqlite", at: now)
    try answer("tablet", at: clock, hubAt: now + 1000)
    try write("tablet", in: "tablet/data.sqlite", at: clock)
    try write("meanwhile", in: "office.sqlite", at: now)
    // Changes the time of the office's write, as if the office had written it before the tablet imported and wrote.
    try camp.sql("office.sqlite", "UPDATE satchel_writes_notes SET satchel_written = satchel_written - 1")
    try deliver("tablet", at: clock, hubAt: now + 2000)
    #expect(try words() == "tablet")
    try answer("tablet", at: clock, hubAt: now + 3000)
    #expect(try words("tablet/data.sqlite") == "tablet")
  }

  @Test(
    "a clock that runs ahead wins until its bundle comes to the hub, and not a moment longer",
    arguments: clocks.dropFirst())
  func ahead(_ clock: Int64) throws {
    try write("tablet", in: "tablet/data.sqlite", at: clock)
    try deliver("tablet", at: clock, hubAt: now + Self.day)
    #expect(try words() == "tablet")
    // The phone's clock is right. The phone has not imported the tablet's write, but writes two days later, so its
    // write is newer.
    try write("phone", in: "phone/data.sqlite", at: now + 2 * Self.day)
    try deliver("phone", at: now + 2 * Self.day, hubAt: now + 3 * Self.day)
    #expect(try words() == "phone")
    for name in ["tablet", "phone"] {
      try answer(name, at: name == "tablet" ? clock : now + 4 * Self.day, hubAt: now + 4 * Self.day)
      #expect(try words("\(name)/data.sqlite") == "phone")
    }
  }

  @Test("a clock that is behind loses against what others wrote later than anything that it has seen")
  func behind() throws {
    try write("tablet", in: "tablet/data.sqlite", at: Self.day)
    try write("phone", in: "phone/data.sqlite", at: now + Self.day)
    try deliver("phone", at: now + Self.day, hubAt: now + 2 * Self.day)
    try deliver("tablet", at: Self.day, hubAt: now + 2 * Self.day)
    #expect(try words() == "phone")
    let found = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue
    #expect(found?.first?["device_values"]?["words"] == "tablet", "what lost is kept")
  }

  @Test("a clock that jumps back between two writes: the second one is the later one, on the device and at the hub")
  func jump() throws {
    try write("future", in: "tablet/data.sqlite", at: now + 730 * Self.day)
    camp.setClock(now + 730 * Self.day)
    #expect(camp.device("tablet", "export").code == 0)
    try write("present", in: "tablet/data.sqlite", at: now)
    try deliver("tablet", at: now, hubAt: now + Self.day)
    #expect(try words() == "present")
    // The office's next write is later than both.
    try write("office", in: "office.sqlite", at: now + 2 * Self.day)
    try answer("tablet", at: now, hubAt: now + 2 * Self.day)
    #expect(try words("tablet/data.sqlite") == "office")
    let steps = try camp.rows(
      "office.sqlite", "SELECT stamp FROM satchel_log WHERE operation <> 'insert' ORDER BY cursor")
    let stamps = steps.split(separator: "\n").compactMap { Int64($0) }
    #expect(stamps == stamps.sorted())
  }

  @Test("status names a clock that is wrong, on both sides")
  func status() throws {
    try answer("phone", at: now, hubAt: now)
    for (name, clock) in [("tablet", now + 730 * Self.day), ("phone", Self.day)] {
      try write("words of \(name)", in: "\(name)/data.sqlite", at: clock)
      try deliver(name, at: clock, hubAt: now + Self.day)
    }
    try atHub(now + Self.day) {
      let text = camp.hub("status").out
      #expect(text.contains("the clock of tablet was ahead by 729 days"))
      #expect(text.contains("the clock of phone was behind by") && text.contains("days or more"))
    }
    camp.setClock(Self.day)
    #expect(camp.device("phone", "status").out.contains("this device's clock is behind by"))
    camp.setClock(now + Self.day)
    #expect(!camp.device("phone", "status").out.contains("clock"))
  }

  // MARK: the hub's own clock

  func emission(for name: String, at time: Int64) throws -> CommandLineFixture.Outcome {
    try atHub(time) {}
    return camp.hub("emit", "--device", name)
  }

  @Test("a hub whose clock was set back imports nothing and sends nothing; once it is right, who wrote last wins")
  func hubSetBack() throws {
    try write("first, by the phone", in: "phone/data.sqlite", at: now)
    try write("later, by the tablet", in: "tablet/data.sqlite", at: now + 1000)
    try deliver("phone", at: now + 2000, hubAt: now + 2000)
    let wrong = now - 3650 * Self.day
    camp.setClock(now + 2000)
    let file = try #require(try camp.device("tablet", "export", "--json").json["file"]?.stringValue)
    try atHub(wrong) {}
    for outcome in [camp.hub("import", file), camp.hub("emit", "--device", "phone")] {
      #expect(
        outcome.code == 3 && outcome.error.contains("This hub's own clock was set back: it shows 20"),
        "\(outcome.error)")
      #expect(outcome.error.contains("satchel-hub doctor --repair"))
    }
    #expect(camp.hub("status").out.contains("This hub's own clock was set back"))
    #expect(try camp.hub("doctor", "--json").json["findings"]?.arrayValue?.first?["reason"] == "clock")
    #expect(try words() == "first, by the phone", "nothing is half done")
    try atHub(now + 3000) { #expect(camp.hub("import", file).code == 0) }
    #expect(try words() == "later, by the tablet")
  }

  @Test(
    "a clock that is right at last, after the hub worked by a wrong one, is accepted by a person, and order is kept")
  func hubWasAhead() throws {
    let ahead = now + 100 * Self.day
    try answer("phone", at: now, hubAt: ahead)
    try write("first, by the phone", in: "phone/data.sqlite", at: now)
    try write("later, by the tablet", in: "tablet/data.sqlite", at: now + 1000)
    #expect(try emission(for: "tablet", at: now).code == 3)
    #expect(camp.hub("doctor").code == 1)
    #expect(camp.hub("doctor", "--repair").out.contains("Its present reading now counts as right. Mended."))
    #expect(try emission(for: "tablet", at: now + 2000).code == 0)
    #expect(camp.hub("doctor").code == 0)
    // The phone has the hub's row of the time when the clock was wrong. It delivers last.
    try deliver("tablet", at: now + 3000, hubAt: now + 3000)
    try deliver("phone", at: now + 3000, hubAt: now + 4000)
    #expect(try words() == "later, by the tablet")
    try write("last, by the phone", in: "phone/data.sqlite", at: now + 5000)
    try deliver("phone", at: now + 6000, hubAt: now + 6000)
    #expect(try words() == "last, by the phone")
  }

  @Test(
    "a backup that was made by a clock that was ahead is restored when a person says that the present clock is right")
  func backupFromAhead() throws {
    let ahead = now + 3650 * Self.day
    try atHub(ahead) { #expect(camp.hub("doctor", "--repair").code == 0) }
    try atHub(ahead) { #expect(camp.hub("backup", camp.path("ahead.satchel"), "--with-keys").code == 0) }
    try write("after the backup", in: "phone/data.sqlite", at: now)
    try deliver("phone", at: now, hubAt: ahead)
    try atHub(now) {}
    let words = ["restore", camp.path("ahead.satchel"), camp.path("new"), "--keys", camp.path("hub/keys")]
    let asked = camp.hubAnywhere(words)
    #expect(asked.code == 1 && asked.error.contains("--clock-is-right"), "\(asked.error)")
    #expect(camp.hubAnywhere(words + ["--clock-is-right"]).code == 0)
    let emitted = camp.hubAnywhere("-C", camp.path("new"), "emit", "--device", "phone", "--json")
    let file = try #require(
      try emitted.json["emissions"]?.arrayValue?.first?["file"]?.stringValue, "\(emitted.error)")
    #expect(camp.device("phone", "import", file).code == 0)
    #expect(camp.hubAnywhere("-C", camp.path("new"), "doctor").code == 0)
  }

  @Test("a former user's work comes in although the device was given away by a wrong clock")
  func givenByWrongClock() throws {
    let wrong = now - 3650 * Self.day
    try write("by ann", in: "tablet/data.sqlite", at: now)
    camp.setClock(now + 1000)
    let file = try #require(try camp.device("tablet", "export", "--json").json["file"]?.stringValue)
    camp.hub("user", "add", "ben")
    try atHub(wrong) {}
    let refused = camp.hub("device", "set", "tablet", "--user", "ben")
    #expect(refused.code == 3)
    #expect(refused.error.contains("This hub's own clock was set back"))
    // Imitates a hub that was set back: it does not know that its clock is wrong.
    try camp.sql("office.sqlite", "UPDATE satchel_hub SET clock = 0")
    #expect(camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    try atHub(now + 2000) {}
    #expect(camp.hub("import", file).error.contains("went far ahead"))
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hub("import", file).code == 0)
    #expect(try words() == "by ann")
  }

  @Test("a clock that is behind what devices brought is not accepted as right without a person's word")
  func implausible() throws {
    try write("by the phone", in: "phone/data.sqlite", at: now)
    try deliver("phone", at: now + 1000, hubAt: now + 2000)
    let wrong = now - 3650 * Self.day
    try atHub(wrong) {}
    let script = camp.hub("doctor", "--repair")
    #expect(script.code == 1 && script.error.contains("--yes"), "\(script.out)\(script.error)")
    let asked = camp.hub("doctor", "--repair", answers: ["n"], interactive: true)
    let text = asked.error.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(asked.code == 1 && text.contains("But phone brought changes with times up to"), "\(text)")
    #expect(camp.hub("emit", "--device", "phone").code == 3, "the clock is not accepted")
    camp.hub("doctor", "--repair", "--dry-run")
    let log = try camp.rows("office.sqlite", "SELECT max(at) FROM satchel_log")
    #expect(log == "\(now + 2000)", "no time was lowered")
    let accepted = camp.hub("doctor", "--repair", "--yes")
    #expect(accepted.out.contains("Its present reading now counts as right."), "\(accepted.out)\(accepted.error)")
  }

  @Test("a device is not blamed for a difference to a clock of the hub that was wrong and was accepted as right")
  func blamedByWrongClock() throws {
    let wrong = now - 3650 * Self.day
    try write("before", in: "phone/data.sqlite", at: now)
    try deliver("phone", at: now + 1000, hubAt: now + 2000)
    try atHub(wrong) { camp.hub("doctor", "--repair", "--yes") }
    try write("later", in: "phone/data.sqlite", at: now + 3000)
    try deliver("phone", at: now + 3000, hubAt: wrong + 1000)
    #expect(try camp.rows("office.sqlite", "SELECT max(skew) > 0 FROM satchel_devices") == "1")
    func expectNoBlame() {
      let status = camp.hub("status").out
      #expect(!status.contains("the clock of phone"), "\(status)")
    }
    try atHub(wrong + 2000) { expectNoBlame() }
    try atHub(now + 4000) {
      #expect(camp.hub("status").out.contains("This hub's own clock went far ahead"))
      expectNoBlame()
      #expect(camp.hub("doctor", "--repair").code == 0)
      expectNoBlame()
    }
    #expect(try camp.rows("office.sqlite", "SELECT max(skew) FROM satchel_devices") == "0")
  }

  @Test("a hub whose clock leaps ahead by half a year asks before it sends its stamps")
  func hubLeapt() throws {
    try answer("phone", at: now, hubAt: now)
    let outcome = try emission(for: "tablet", at: now + 366 * Self.day)
    #expect(outcome.code == 3 && outcome.error.contains("This hub's own clock went far ahead"))
    #expect(try emission(for: "tablet", at: now + 100 * Self.day).code == 0)
  }

  @Test("rows that the office wrote while its clock was ten years ahead are asked about before any device gets them")
  func officeAhead() throws {
    try write("from the future", in: "office.sqlite", at: now + 3650 * Self.day)
    let outcome = try emission(for: "phone", at: now)
    #expect(outcome.code == 3)
    #expect(outcome.error.contains("Rows were written at this hub while its own clock showed 203"), "\(outcome.error)")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_log") == "0", "nothing enters the log")
    #expect(camp.hub("status").out.contains("Rows were written at this hub while its own clock showed"))
    #expect(camp.hub("doctor", "--repair").code == 0)
    for name in ["phone", "tablet"] { try answer(name, at: now + 1000, hubAt: now + 1000) }
    #expect(try words("phone/data.sqlite") == "from the future", "it is kept")
    try write("later, by the tablet", in: "tablet/data.sqlite", at: now + 5000)
    try write("later still, by the phone", in: "phone/data.sqlite", at: now + 6000)
    try deliver("phone", at: now + 7000, hubAt: now + 7000)
    try deliver("tablet", at: now + 7000, hubAt: now + 8000)
    #expect(try words() == "later still, by the phone")
  }

  @Test("of two writes at the office by a clock that was ahead, the later one stays the later one")
  func restamped() throws {
    try write("m", in: "office.sqlite", at: now + 3650 * Self.day)
    try write("after", to: "m", in: "office.sqlite", at: now + 3651 * Self.day)
    try atHub(now) { #expect(camp.hub("doctor", "--repair").code == 0) }
    #expect(try emission(for: "phone", at: now + 1).code == 0)
    let stamps = try camp.rows("office.sqlite", "SELECT stamp >> 16 FROM satchel_log ORDER BY key DESC").split(
      separator: "\n")
    #expect(stamps.count == 2 && stamps.allSatisfy { Int64($0) == now })
    #expect(try camp.rows("office.sqlite", "SELECT key FROM satchel_log ORDER BY stamp") == "[\"n\"]\n[\"m\"]")
  }

  @Test("a hub whose clock fell back a little goes on by the times that it has sent")
  func newestSeen() throws {
    try write("office", in: "office.sqlite", at: now)
    for name in ["phone", "tablet"] { try answer(name, at: now, hubAt: now) }
    // The hub accepts a clock that is half an hour behind. The devices' writes are less than a second later than the
    // times that the hub sent.
    let hub = now - 1_800_000
    try write("first, by the phone", in: "phone/data.sqlite", at: now + 200)
    try write("later, by the tablet", in: "tablet/data.sqlite", at: now + 600)
    try deliver("tablet", at: now + 3000, hubAt: hub)
    try deliver("phone", at: now + 3000, hubAt: hub + 1000)
    #expect(try words() == "later, by the tablet")
  }
}
