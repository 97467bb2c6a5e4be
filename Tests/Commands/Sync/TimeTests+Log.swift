import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import Testing

/// Commands that put the office's rows into the log while the hub's clock is ahead. Afterwards the clock is right.
extension TimeTests {
  /// A command at the hub that puts local writes into the log, and makes no bundle.
  enum LoggingCommand: String, CaseIterable {
    case addUser = "user add"
    case resolve = "conflicts resolve"
    case compact = "compact"
    case importBundle = "import"
  }

  /// Whether the hub has recorded its clock's time when the command ran.
  enum Reading: CaseIterable {
    case recorded
    /// Earlier releases recorded the time only at `import` and `emit`.
    case lost
  }

  private static let soon = 100 * day
  private static let far = 3650 * day

  /// The number of changes in the log whose stamp is later than this time.
  private func logged(after time: Int64) throws -> String {
    try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_log WHERE stamp >> 16 > \(time)")
  }

  /// Both devices write the row `m` with right clocks, so that there is a conflict. Returns the conflict's id.
  private func disagree() throws -> String {
    try write("by the phone", to: "m", in: "phone/data.sqlite", at: hours(1))
    try deliver("phone", at: hours(1), hubAt: hours(1))
    try write("by the tablet", to: "m", in: "tablet/data.sqlite", at: hours(2))
    try deliver("tablet", at: hours(2), hubAt: hours(2))
    let found = try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.first
    return try #require(found?["id"]?.stringValue)
  }

  private func run(_ command: LoggingCommand, about conflict: String, hubAt time: Int64) throws {
    if command == .importBundle {
      try write("more, by the phone", to: "m", in: "phone/data.sqlite", at: hours(3))
      return try deliver("phone", at: hours(3), hubAt: time)
    }
    try atHub(time) {
      let outcome =
        switch command {
        case .addUser: camp.hub("user", "add", "eve")
        case .resolve: camp.hub("conflicts", "resolve", conflict, "--keep", "hub")
        case .compact, .importBundle: camp.hub("compact")
        }
      #expect(outcome.code == 0, "\(outcome.error)")
    }
  }

  @Test(
    "a device's later write wins over a row that a command logged by a clock that was ahead, if no device has the row",
    arguments: LoggingCommand.allCases, Reading.allCases)
  func loggedAhead(_ command: LoggingCommand, _ reading: Reading) throws {
    let conflict = try disagree()
    let ahead = now + Self.soon
    try write("office", in: "office.sqlite", at: ahead)
    try run(command, about: conflict, hubAt: ahead)
    #expect(try logged(after: now + Self.day) != "0")
    if reading == .lost { try camp.sql("office.sqlite", "UPDATE satchel_hub SET clock = \(hours(4))") }

    let words = reading == .lost ? "Rows were written at this hub while its own clock showed" : "was set back"
    let emission = try emission(for: "phone", at: hours(4))
    #expect(emission.code == 3 && emission.error.contains(words), "\(emission.error)")
    #expect(camp.hub("status").out.contains(words))
    try acceptClock(at: hours(4))
    #expect(try logged(after: hours(5)) == "0")
    try write("later, by the tablet", in: "tablet/data.sqlite", at: hours(6))
    try deliver("tablet", at: hours(7), hubAt: hours(7))
    try agree(on: "later, by the tablet", at: hours(8))
    // The hub's own next write has the right time, too.
    try write("last, by the office", in: "office.sqlite", at: hours(9))
    try write("meanwhile", in: "tablet/data.sqlite", at: hours(10))
    try deliver("tablet", at: hours(11), hubAt: hours(11))
    try agree(on: "meanwhile", at: hours(12))
  }

  @Test("a bundle is not merged with rows that the office wrote by a clock that was ahead, before a person is asked")
  func importAsks() throws {
    try write("office", in: "office.sqlite", at: now + Self.soon)
    try atHub(now + Self.soon) { #expect(camp.hub("compact").code == 0) }
    try camp.sql("office.sqlite", "UPDATE satchel_hub SET clock = \(now)")
    try write("later, by the tablet", in: "tablet/data.sqlite", at: hours(2))
    camp.setClock(hours(2))
    let file = try #require(try camp.device("tablet", "export", "--json").json["file"]?.stringValue)
    try atHub(hours(1)) { #expect(camp.hub("import", file).code == 3) }
    #expect(try words() == "office")
    try acceptClock(at: hours(1))
    try atHub(hours(3)) { #expect(camp.hub("import", file).code == 0) }
    #expect(try words() == "later, by the tablet")
  }

  /// Commands at the hub that put local writes into the log. `FILE` is the path of a bundle from the tablet.
  private static let leaping: [[String]] = [
    ["import", "FILE"], ["emit", "--device", "phone"], ["user", "add", "eve"], ["compact"], ["history", "notes", "n"],
    ["device", "provision", "new", "--user", "ann", "--into", "NEW"], ["restore", "--in-place", "--yes"],
  ]

  @Test("no command puts a row into the log by a clock that leapt ahead", arguments: leaping)
  func leaptNotLogged(_ words: [String]) throws {
    camp.setClock(now)
    let file = try #require(try camp.device("tablet", "export", "--json").json["file"]?.stringValue)
    let leapt = now + Self.far
    try write("from the future", in: "office.sqlite", at: leapt)
    try atHub(leapt) {
      let paths = ["FILE": file, "NEW": camp.path("new")]
      let outcome = camp.hubAnywhere(["-C", camp.path("hub")] + words.map { paths[$0] ?? $0 })
      #expect(outcome.code == 3 && outcome.error.contains("This hub's own clock went far ahead"), "\(outcome.error)")
    }
    #expect(try logged(after: 0) == "0")
    #expect(!FileManager.default.fileExists(atPath: camp.path("new")))
    #expect(try emission(for: "phone", at: hours(1)).code == 3)
    try acceptClock(at: hours(1))
    try write("later, by the tablet", in: "tablet/data.sqlite", at: hours(2))
    try deliver("tablet", at: hours(3), hubAt: hours(3))
    try agree(on: "later, by the tablet", at: hours(4))
  }

  @Test("a new device gets no stamp of a clock that was ten years ahead")
  func provisionedAfterLeap() throws {
    // A person confirmed the wrong clock. Then an earlier release accepted the right clock again.
    try acceptClock(at: now + Self.far)
    try write("from the future", in: "office.sqlite", at: now + Self.far)
    try atHub(now + Self.far) { #expect(camp.hub("compact").code == 0) }
    try camp.sql("office.sqlite", "UPDATE satchel_hub SET clock = \(now)")
    let words = ["-C", camp.path("hub"), "device", "provision", "new", "--user", "ann", "--into", camp.path("new")]
    try atHub(hours(1)) {
      let refused = camp.hubAnywhere(words)
      #expect(refused.code == 3 && refused.error.contains("while its own clock showed 203"), "\(refused.error)")
    }
    try acceptClock(at: hours(1))
    try atHub(hours(1)) {
      let made = camp.hubAnywhere(words)
      #expect(made.code == 0, "\(made.error)")
    }
    let stamp = try camp.rows("new/data.sqlite", "SELECT stamp >> 16 FROM satchel_capture")
    #expect(try #require(Int64(stamp)) < hours(2))
  }

  @Test("a device has the times of the bundles that it brought to a restored hub, so the hub neither asks nor lowers")
  func lostTimeHeld() throws {
    try camp.makeFolder("stick")
    try atHub(now) { try camp.backUp() }
    try write("office", in: "office.sqlite", at: now + Self.soon)
    try answer("phone", at: hours(1), hubAt: now + Self.soon)
    try atHub(hours(2)) {
      try camp.restore()
      for _ in 0..<2 {
        for name in ["phone", "tablet"] { #expect(camp.device(name, "sync", camp.path("stick")).code == 0) }
        let outcome = camp.hub("sync", camp.path("stick"))
        #expect(outcome.code == 0, "\(outcome.error)")
      }
    }
    #expect(try camp.rows("office.sqlite", "SELECT recovering FROM satchel_hub") == "0")
    #expect(try words() == "office")
    #expect(try logged(after: now + Self.day) == "1")
    try atHub(hours(3)) {
      #expect(camp.hub("doctor").code == 0)
      #expect(camp.hub("doctor", "--repair").code == 0)
    }
    #expect(try logged(after: now + Self.day) == "1", "the phone goes on from this stamp")
  }

  @Test("a restore asks about a clock that the backup's times contradict, before it puts anything into the log")
  func restoredOld() throws {
    try write("office", in: "office.sqlite", at: now)
    try atHub(now) { #expect(camp.hub("backup", camp.path("old.satchel"), "--with-keys").code == 0) }
    let words = ["restore", camp.path("old.satchel"), camp.path("again"), "--keys", camp.path("hub/keys")]
    try atHub(now + 366 * Self.day) {
      let asked = camp.hubAnywhere(words)
      #expect(asked.code == 1 && asked.error.contains("--clock-is-right"), "\(asked.error)")
      #expect(asked.error.contains("This hub's own clock went far ahead"), "\(asked.error)")
      #expect(!FileManager.default.fileExists(atPath: camp.path("again")))
      #expect(camp.hubAnywhere(words + ["--clock-is-right"]).code == 0)
      #expect(camp.hubAnywhere("-C", camp.path("again"), "emit", "--device", "phone").code == 0)
    }
  }

  @Test("a hub whose key is lost comes back from a backup of a clock that was ahead")
  func newKeysFromAhead() throws {
    let ahead = now + Self.soon
    try atHub(ahead) {
      #expect(camp.hub("user", "add", "eve").code == 0)
      #expect(camp.hub("backup", camp.path("ahead.satchel")).code == 0)
    }
    let shown = try camp.hub("keys", "show", "--json").json["fingerprint"]?.stringValue
    let words = [
      "restore", camp.path("ahead.satchel"), camp.path("again"), "--new-keys", "--fingerprint", try #require(shown),
    ]
    try atHub(hours(1)) {
      #expect(camp.hubAnywhere(words).error.contains("--clock-is-right"))
      let restored = camp.hubAnywhere(words + ["--clock-is-right"])
      #expect(restored.code == 0, "\(restored.error)")
    }
  }
}
