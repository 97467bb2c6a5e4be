import SatchelCommands
import SatchelJSON
import SatchelPlatform
import Testing

/// A person confirmed the hub's clock while it was ten years ahead, and the hub worked with it. Now the clock is right.
@Suite("Stamps of a hub whose clock was ahead")
struct AheadStampTests {
  let camp: CommandLineFixture
  private static let day: Int64 = 86_400_000
  /// The right time of the test. It is later than the creation of the hub and its devices.
  private let now: Int64
  private var ahead: Int64 { now + 3650 * Self.day }

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      "CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT); INSERT INTO notes VALUES ('n', 'first'), ('m', 'other')",
      CommandLineFixture.definition(#"{ "notes": { "conflict": "newest" } }"#), devices: ["tablet", "phone"])
    now = SystemClock().milliseconds()
  }

  private func set(_ time: Int64) { camp.setClock(time) }

  /// Writes to a database as a program would, while the clock shows this time.
  private func write(_ words: String, to id: String, in database: String, at time: Int64) throws {
    try camp.writeNote(database, "UPDATE notes SET words = '\(words)' WHERE id = '\(id)'", at: time)
  }

  private func emission(for name: String, at time: Int64) throws -> String {
    try camp.emission(for: name, at: time)
  }

  /// A person confirms the wrong clock at the hub. Then the office writes two rows, and the hub emits for these
  /// devices.
  private func workAhead(sending devices: [String] = ["phone", "tablet"]) throws {
    set(ahead)
    #expect(camp.hub("doctor", "--repair").code == 0)
    try write("office", to: "n", in: "office.sqlite", at: ahead)
    try write("after", to: "m", in: "office.sqlite", at: ahead + 1000)
    set(ahead + 2000)
    // `compact` and `emit` both put the office's writes into the log.
    if devices.isEmpty { #expect(camp.hub("compact").code == 0) }
    for name in devices { _ = try emission(for: name, at: ahead + 2000) }
  }

  /// A device delivers an export with the right time. It has no new changes.
  private func answer(_ name: String) throws {
    set(now)
    let exported = camp.device(name, "export", "--prove", "--json")
    let file = try #require(try exported.json["file"]?.stringValue, "\(exported.error)")
    let outcome = camp.hub("import", file)
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  private func words(_ outcome: CommandLineFixture.Outcome) -> String {
    outcome.out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  /// Imitates an earlier release, which accepted the right clock again and did not change the stamps.
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
    // Both devices refused the hub's bundle. Their exports show the hub that they do not have its wrong times.
    for name in ["phone", "tablet"] { try answer(name) }
    let repaired = camp.hub("doctor", "--repair")
    #expect(repaired.code == 0 && repaired.out.contains("They now have the present time, in their order."))
    #expect(camp.hub("doctor").code == 0)
    for (table, column) in [
      ("satchel_capture", "stamp"), ("satchel_log", "stamp"), ("satchel_rows_notes", "satchel_stamp"),
    ] {
      let newest = try camp.rows("office.sqlite", "SELECT max(\(column)) >> 16 FROM \(table)")
      // The devices were made a moment after `now`. The repair lowers no stamp below the stamps that the devices have.
      #expect(try (now...now + 600_000).contains(#require(Int64(newest))), "\(table)")
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
    try camp.deliver("phone", at: now + 7000, hubAt: now + 7000)
    try camp.deliver("tablet", at: now + 7000, hubAt: now + 8000)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM notes WHERE id = 'n'") == "later still, by the phone")
  }

  @Test("one repair after the clock was set right accepts the clock and lowers the stamps; rows in wait follow")
  func oneRepair() throws {
    try workAhead(sending: [])
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
    try camp.deliver("phone", at: ahead + 5000, hubAt: ahead + 5000)
    try acceptClock()
    set(now)
    for outcome in [camp.hub("doctor"), camp.hub("doctor", "--repair")] {
      let text = words(outcome)
      #expect(outcome.code == 1, "\(text)")
      #expect(text.contains("These devices have such times: phone."), "\(text)")
      #expect(text.contains("revoke each of these devices"), "\(text)")
    }
    try refused("tablet", emission(for: "tablet", at: now))
    try answer("tablet")
    #expect(camp.hub("device", "revoke", "phone").code == 0)
    #expect(camp.hub("doctor", "--repair").code == 0)
    let next = try emission(for: "tablet", at: now + 1000)
    let outcome = camp.device("tablet", "import", next)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM notes WHERE id = 'n'") == "by the phone")
  }

  @Test("while a device has such stamps, no device that lacks them gets a bundle with them")
  func notHandedOn() throws {
    try workAhead(sending: ["phone"])
    let file = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-phone-")
    #expect(camp.device("phone", "import", file).code == 0)
    try acceptClock()
    set(now)
    let provision = ["-C", camp.path("hub"), "device", "provision", "new", "--user", "ann", "--into", camp.path("new")]
    for refused in [camp.hub("emit", "--device", "tablet"), camp.hubAnywhere(provision)] {
      #expect(refused.code == 3)
      let text = refused.error.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(text.contains("no bundle is made for a device that lacks them"), "\(text)")
      #expect(text.contains("import a new bundle of phone"), "\(text)")
    }
    #expect(camp.hub("emit", "--device", "phone").code == 0, "it has them")
    try answer("phone")
    #expect(camp.hub("device", "revoke", "phone").code == 0)
    #expect(camp.hub("doctor", "--repair").code == 0)
    #expect(camp.hubAnywhere(provision).code == 0)
    let stamp = try camp.rows("new/data.sqlite", "SELECT stamp >> 16 FROM satchel_capture")
    #expect(try #require(Int64(stamp)) < now + Self.day)
  }

  @Test("what no device has is lowered to the times that a device has, and the rest after that device is revoked")
  func loweredInPart() throws {
    try workAhead(sending: ["phone"])
    let file = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-phone-")
    #expect(camp.device("phone", "import", file).code == 0)
    let later = ahead + 100 * Self.day
    try write("later still", to: "m", in: "office.sqlite", at: later)
    set(later)
    #expect(camp.hub("compact").code == 0)
    set(now)
    #expect(camp.hub("doctor", "--repair").code == 1)
    let newest = try camp.rows("office.sqlite", "SELECT max(stamp) >> 16 FROM satchel_log")
    #expect(try (ahead...ahead + Self.day).contains(#require(Int64(newest))))
    // A device that a person must replace or revoke can still deliver.
    try answer("phone")
    #expect(camp.hub("device", "revoke", "phone").code == 0)
    #expect(camp.hub("doctor", "--repair").code == 0)
    let lowered = try camp.rows("office.sqlite", "SELECT max(stamp) >> 16 FROM satchel_log")
    #expect(try #require(Int64(lowered)) < now + Self.day)
    let order = try camp.rows("office.sqlite", "SELECT key FROM satchel_log ORDER BY stamp")
    #expect(order == "[\"n\"]\n[\"m\"]\n[\"m\"]")
  }

  @Test("a device asks about the hub's time in its first bundle, although a person compared the hub's fingerprint")
  func firstBundle() throws {
    set(ahead)
    #expect(camp.hub("doctor", "--repair").code == 0)
    let request = camp.path("new.request")
    let made = camp.deviceAnywhere(
      ["init", camp.path("new"), "--dataset", "camp", "--name", "new", "--request", request, "--json"],
      on: camp.platform)
    let own = try #require(try made.json["fingerprint"]?.stringValue, "\(made.error)")
    #expect(camp.enrol(request, own).code == 0)
    let file = try emission(for: "new", at: ahead)
    let hub = try #require(try camp.hub("keys", "show", "--json").json["fingerprint"]?.stringValue)
    func importing(at time: Int64) -> CommandLineFixture.Outcome {
      set(time)
      return camp.device("new", "import", file, "--fingerprint", hub, "--json")
    }
    let refused = importing(at: now)
    #expect(refused.code == 3 && refused.out.contains("\"clock\""), "\(refused.out)\(refused.error)")
    #expect((refused.out + refused.error).contains("Look at this device's clock"))
    // The clock of a device whose battery was empty begins in 1970. It proves nothing about the hub's clock.
    #expect(importing(at: 86_400_000).code == 0)
  }

  @Test("a device that may have such stamps without having delivered since is named, and nothing is lowered until then")
  func mayBeHeld() throws {
    try workAhead(sending: ["phone"])
    let file = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-phone-")
    set(ahead + 3000)
    #expect(camp.device("phone", "import", file).code == 0)
    try acceptClock()
    set(now)
    for outcome in [camp.hub("doctor"), camp.hub("doctor", "--repair")] {
      let text = words(outcome)
      #expect(outcome.code == 1, "\(text)")
      #expect(text.contains("bundles with them were made for them: phone."), "\(text)")
      #expect(text.contains("import a new bundle of phone"), "\(text)")
    }
    let newest = try camp.rows("office.sqlite", "SELECT max(stamp) >> 16 FROM satchel_log")
    #expect(try #require(Int64(newest)) >= ahead)
    // The phone's export shows the hub that the phone has these stamps.
    try answer("phone")
    #expect(words(camp.hub("doctor")).contains("These devices have such times: phone."))
  }

  @Test("a device of release 0.1 does not ask about such times, so its bundle does not show that it refuses them")
  func olderDevice() throws {
    try workAhead(sending: ["phone"])
    try acceptClock()
    try answer("phone")
    try camp.sql("office.sqlite", "UPDATE satchel_devices SET understands = '' WHERE name = 'phone'")
    #expect(words(camp.hub("doctor")).contains("bundles with them were made for them: phone."))
  }

  @Test("no stamp is lowered below a stamp that a device may have from a bundle of a time that it accepts")
  func notBelowEmission() throws {
    let soon = now + 100 * Self.day
    set(soon)
    try write("soon", to: "n", in: "office.sqlite", at: soon)
    let file = try emission(for: "phone", at: soon)
    set(now)
    #expect(camp.device("phone", "import", file).code == 0)
    try workAhead(sending: [])
    set(now)
    let repaired = camp.hub("doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.out)\(repaired.error)")
    let lowered = try camp.rows("office.sqlite", "SELECT max(stamp) FROM satchel_log")
    let held = try camp.rows("phone/data.sqlite", "SELECT stamp FROM satchel_capture")
    #expect(try #require(Int64(lowered)) > #require(Int64(held)))
    #expect(try #require(Int64(lowered)) >> 16 == soon)
  }

  @Test("the hub's records of times become the present time, so a device that is silent is named, and order is kept")
  func times() throws {
    try workAhead(sending: [])
    try write("by the phone", to: "n", in: "phone/data.sqlite", at: now)
    try camp.deliver("phone", at: now, hubAt: ahead + 5000)
    set(ahead + 6000)
    #expect(camp.hub("backup", camp.path("ahead.satchel"), "--with-keys").code == 0)
    set(now)
    #expect(camp.hub("doctor", "--repair").code == 0)
    for (table, column) in [("satchel_log", "at"), ("satchel_ledger", "at"), ("satchel_conflicts", "noted")] {
      let newest = try camp.rows("office.sqlite", "SELECT coalesce(max(\(column)), 0) FROM \(table)")
      #expect(try #require(Int64(newest)) < now + 1000, "\(table)")
    }
    let unordered = """
      SELECT count(*) FROM satchel_log AS one JOIN satchel_log AS two ON two.cursor > one.cursor AND two.at < one.at
      """
    #expect(try camp.rows("office.sqlite", unordered) == "0")
    #expect(try String(decoding: camp.read("hub/backup.json"), as: UTF8.self).contains("\(now)"))
    set(now + 60 * Self.day)
    let status = words(camp.hub("status"))
    #expect(status.contains("no bundle came for 30 days or more from phone, tablet"), "\(status)")
  }
}
