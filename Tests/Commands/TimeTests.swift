import SatchelCommands
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// A row that the office and a tablet write, each by a clock of its own. Stamps decide, and no wall time.
@Suite("Clocks that are wrong")
struct TimeTests {
  let camp: Camp
  private static let day: Int64 = 86_400_000
  /// When the hub's tools run, by the right clock.
  private let now = SystemClock().milliseconds()

  init() throws {
    camp = try Camp()
    try camp.sql(
      "office.sqlite",
      "CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT); INSERT INTO notes VALUES ('n', 'first'), ('m', 'other')")
    try camp.write("camp.json", #"{ "dataset": "camp", "version": 1, "tables": { "notes": { "conflict": "newest" } } }"#)
    camp.hubAnywhere("init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann")
    for name in ["tablet", "phone"] {
      #expect(camp.hub("device", "provision", name, "--user", "ann", "--into", camp.path(name)).code == 0)
    }
  }

  /// What a program writes where the clock shows this time.
  private func write(_ words: String, in database: String, at time: Int64) throws {
    try camp.sql(
      database,
      """
      UPDATE notes SET words = '\(words)' WHERE id = 'n';
      UPDATE satchel_writes_notes SET satchel_written = 2440587.5 + \(time) / 86400000.0
      WHERE rowid = (SELECT max(rowid) FROM satchel_writes_notes);
      """)
  }

  private func deliver(_ name: String, at time: Int64, hubAt hubTime: Int64) throws {
    camp.platform = Platform(files: HostFileSystem(), clock: SetClock(time), random: SystemRandom())
    let exported = camp.device(name, "export", "--json")
    let file = try #require(try exported.json["file"]?.stringValue, "\(exported.error)")
    try atHub(hubTime) { #expect(camp.hub("import", file).code == 0) }
  }

  private func answer(_ name: String, at time: Int64, hubAt hubTime: Int64) throws {
    var file: String?
    try atHub(hubTime) {
      file = try camp.hub("emit", "--device", name, "--json").json["emissions"]?.arrayValue?.first?["file"]?.stringValue
    }
    camp.platform = Platform(files: HostFileSystem(), clock: SetClock(time), random: SystemRandom())
    let outcome = camp.device(name, "import", try #require(file))
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  private func atHub(_ time: Int64, _ body: () throws -> Void) throws {
    camp.platform = Platform(files: HostFileSystem(), clock: SetClock(time), random: SystemRandom())
    try body()
  }

  private func words(_ database: String = "office.sqlite") throws -> String {
    try camp.rows(database, "SELECT words FROM notes WHERE id = 'n'")
  }

  /// 1970, the end of 32 bits, two years ahead, and right.
  static let clocks: [Int64] = [
    86_400_000, 2_147_483_647_000, SystemClock().milliseconds() + 730 * 86_400_000, SystemClock().milliseconds(),
  ]

  @Test("what is written after a row was seen is newer than that row, whatever the clock shows", arguments: clocks)
  func afterSeeing(_ clock: Int64) throws {
    try write("office", in: "office.sqlite", at: now)
    try answer("tablet", at: clock, hubAt: now + 1000)
    try write("tablet", in: "tablet/data.sqlite", at: clock)
    try write("meanwhile", in: "office.sqlite", at: now)
    // The office wrote it before the tablet had heard, and so before the tablet wrote.
    try camp.sql("office.sqlite", "UPDATE satchel_writes_notes SET satchel_written = satchel_written - 1")
    try deliver("tablet", at: clock, hubAt: now + 2000)
    #expect(try words() == "tablet")
    try answer("tablet", at: clock, hubAt: now + 3000)
    #expect(try words("tablet/data.sqlite") == "tablet")
  }

  @Test("a clock that runs ahead wins until its bundle comes to the hub, and not a moment longer", arguments: clocks.dropFirst())
  func ahead(_ clock: Int64) throws {
    try write("tablet", in: "tablet/data.sqlite", at: clock)
    try deliver("tablet", at: clock, hubAt: now + Self.day)
    #expect(try words() == "tablet")
    // The phone, whose clock is right, has not heard of it and writes two days later: that is newer.
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
    camp.platform = Platform(files: HostFileSystem(), clock: SetClock(now + 730 * Self.day), random: SystemRandom())
    #expect(camp.device("tablet", "export").code == 0)
    try write("present", in: "tablet/data.sqlite", at: now)
    try deliver("tablet", at: now, hubAt: now + Self.day)
    #expect(try words() == "present")
    // And the office's next word is later again.
    try write("office", in: "office.sqlite", at: now + 2 * Self.day)
    try answer("tablet", at: now, hubAt: now + 2 * Self.day)
    #expect(try words("tablet/data.sqlite") == "office")
    let steps = try camp.rows("office.sqlite", "SELECT stamp FROM satchel_log WHERE operation <> 'insert' ORDER BY cursor")
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
    camp.platform = Platform(files: HostFileSystem(), clock: SetClock(Self.day), random: SystemRandom())
    #expect(camp.device("phone", "status").out.contains("this device's clock is behind by"))
    camp.platform = Platform(files: HostFileSystem(), clock: SetClock(now + Self.day), random: SystemRandom())
    #expect(!camp.device("phone", "status").out.contains("clock"))
  }
}
