import Foundation
import SatchelJSON
import Testing

/// A tablet is missing, or its app may be broken. The operator makes the tablet's bundles wait until more is known.
@Suite("A device on hold: what comes from it waits, and nothing of it is lost")
struct DeviceHoldTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func hold(_ more: String...) -> CommandLineFixture.Outcome {
    camp.hubAnywhere(["-C", camp.path("hub"), "device", "hold", "tablet"] + more)
  }

  private func stars() throws -> String {
    try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'")
  }

  private func waiting() throws -> [String] {
    let bundles = try camp.hub("status", "--json").json["waiting"]?.arrayValue ?? []
    return bundles.compactMap { $0["reason"]?.stringValue }
  }

  /// The tablet changes ann's review. Returns the path of its export 1.
  private func work() throws -> String {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    return try camp.export("tablet")
  }

  @Test("nothing of its bundle is merged, by no way of importing, and status, check and device show say why")
  func waits() throws {
    #expect(hold("--note", "Ann looks for it").code == 0)
    let outcome = camp.hub("import", try work())
    #expect(outcome.code == 3)
    #expect(
      outcome.error.contains("The device tablet is on hold (Ann looks for it), so its bundles wait."),
      "\(outcome.error)")
    #expect(try waiting() == ["on-hold"])
    #expect(camp.hub("import", "--accept", "tablet/1").code == 3)
    try camp.makeFolder("stick")
    camp.device("tablet", "sync", camp.path("stick"))
    #expect(camp.hub("sync", camp.path("stick")).code == 3)
    #expect(try stars() == "4")
    #expect(try waiting() == ["on-hold"])
    let status = camp.hub("status")
    #expect(status.out.contains("(Ann looks for it): what comes from it waits until"), "\(status.out)")
    #expect(status.out.contains("satchel-hub device release tablet"), "\(status.out)")
    let check = camp.hub("check")
    #expect(check.code == 1 && check.out.contains("on hold, with bundles that wait: tablet"), "\(check.out)")
    let shown = try camp.hub("device", "show", "tablet", "--json").json["device"]
    #expect(shown?["hold_note"]?.stringValue == "Ann looks for it")
    #expect(camp.hub("device", "list").out.contains("on hold"))
  }

  @Test("the release merges what waited, and the device works as before")
  func released() throws {
    #expect(hold().code == 0)
    #expect(camp.hub("import", try work()).code == 3)
    let rehearsed = camp.hub("device", "release", "tablet", "--dry-run")
    #expect(rehearsed.out.contains("1 bundle of it would be imported"), "\(rehearsed.out)")
    #expect(try waiting() == ["on-hold"])
    let outcome = camp.hub("device", "release", "tablet")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.out.contains("Released the device tablet."), "\(outcome.out)")
    #expect(outcome.out.contains("Bundle 1 of tablet: 1 change taken"), "\(outcome.out)")
    #expect(try stars() == "1")
    #expect(try waiting().isEmpty)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    try camp.deliver("tablet")
    #expect(try stars() == "2")
    try camp.answer("tablet")
    #expect(camp.device("tablet", "doctor").code == 0)
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("the device still gets rows, other devices deliver, and a bundle from before the hold changes nothing")
  func others() throws {
    let merged = try work()
    #expect(camp.hub("import", merged).code == 0)
    #expect(hold().code == 0)
    #expect(camp.hub("import", merged).out.contains("was imported before"))
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big Lake' WHERE id = 'lake'")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Big Lake")
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 3 WHERE id = 'r2'")
    try camp.deliver("phone")
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r2'") == "3")
  }

  @Test("all bundles of the time on hold are merged, whatever came first")
  func several() throws {
    #expect(hold().code == 0)
    // The next export replaces this file in the outbox, so the test keeps a copy.
    let first = camp.path("first.satchel")
    try FileManager.default.copyItem(atPath: try work(), toPath: first)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'loud' WHERE id = 'r1'")
    let second = try camp.export("tablet")
    for file in [second, first] { #expect(camp.hub("import", file).code == 3) }
    #expect(try waiting() == ["on-hold", "on-hold"])
    let outcome = camp.hub("device", "release", "tablet")
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try camp.rows("office.sqlite", "SELECT stars, words FROM reviews WHERE id = 'r1'") == "1|loud")
    #expect(try waiting().isEmpty)
  }

  @Test("a new name does not end the hold, and a choice between two copies is not made during it")
  func renewed() throws {
    #expect(hold("--note", "copied?").code == 0)
    for words in [["--keep", "1"], ["--restored"]] {
      let forked = camp.hubAnywhere(["-C", camp.path("hub"), "device", "fork", "tablet"] + words)
      #expect(forked.code == 1 && forked.error.contains("is on hold"), "\(forked.error)")
    }
    let request = camp.path("slate.satchel")
    let renewed = camp.device("tablet", "renew", "--name", "slate", "--request", request, "--json")
    let fingerprint = try #require(try renewed.json["fingerprint"]?.stringValue, "\(renewed.error)")
    #expect(camp.enrol(request, fingerprint).code == 0)
    let slate = try camp.hub("device", "show", "slate", "--json").json["device"]
    #expect(slate?["hold_note"]?.stringValue == "copied?", "\(String(describing: slate))")
  }

  @Test("a rehearsal holds nothing, and a device that is not on hold cannot be released")
  func refused() throws {
    #expect(hold("--dry-run").out.contains("Would put the device tablet on hold"))
    let outcome = camp.hub("device", "release", "tablet")
    #expect(outcome.code == 1 && outcome.error.contains("The device tablet is not on hold."), "\(outcome.error)")
    camp.hub("device", "revoke", "tablet")
    #expect(hold().code == 1)
  }
}
