import Foundation
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// After losses and copies, the tools must say what is true and what helps. If a hint is wrong, a person may import a
/// thief's rows, or replace a device without need.
@Suite("Words after losses, copies and wrong clocks")
struct StandingWordsTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  /// Ann's tablet imports a bundle that the hub has no record of, because the hub is then set back.
  private func setBack() throws {
    try camp.carry("tablet", rounds: 2)
    try camp.keepHub()
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'later' WHERE id = 'lake'")
    try camp.carry("tablet", rounds: 2)
    try camp.putBackHub()
  }

  private func export() throws -> String {
    try #require(try camp.device("tablet", "export", "--json").json["file"]?.stringValue)
  }

  @Test("a hub that was set back asks for files that were put back first, and for a stolen key last")
  func stolenKey() throws {
    try setBack()
    let refused = camp.hub("import", try export())
    #expect(refused.code == 3)
    for out in [refused.error, camp.hub("status").out] {
      let words = out.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(words.contains("another person has its key"), "\(words)")
      #expect(words.contains("satchel-hub keys rotate --lost, and nothing else before it"), "\(words)")
      let restore = try #require(words.range(of: "put back from a copy or a backup, and no other copy is at work"))
      let key = try #require(words.range(of: "Only if neither is so, another person has the hub's key"))
      #expect(restore.lowerBound < key.lowerBound, "\(words)")
    }
  }

  @Test("a hub that was set back says what a new key costs before it asks, and what to do instead")
  func newKeyAfterSetBack() throws {
    let before = camp.hub("keys", "rotate", "--lost", answers: ["n"], interactive: true)
    #expect(before.code == 1 && !before.error.contains("set back"), "\(before.error)")
    try setBack()
    #expect(camp.hub("import", try export()).code == 3)
    let asked = camp.hub("keys", "rotate", "--lost", answers: ["n"], interactive: true)
    #expect(asked.code == 1)
    let words = asked.error.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("sent in the lost time do not come back, and devices remove them"), "\(words)")
    #expect(words.contains("answer no, and use: satchel-hub restore --in-place"), "\(words)")
  }

  @Test("before a new key is made, a person reads how many devices must be visited, and a no changes nothing")
  func costOfNewKey() throws {
    #expect(camp.hub("device", "provision", "watch", "--user", "ann", "--into", camp.path("watch")).code == 0)
    func state() throws -> [String?] {
      [
        try camp.hub("keys", "show", "--json").json["fingerprint"]?.stringValue,
        try camp.rows("office.sqlite", "SELECT epoch FROM satchel_hub"),
      ]
    }
    let before = try state()
    let refused = camp.hub("keys", "rotate", "--lost", answers: ["n"], interactive: true)
    let words = refused.error.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(refused.code == 1 && words.contains("3 devices: a person at each"), "\(words)")
    #expect(try state() == before && before[0] != nil)
    let made = camp.hub("keys", "rotate", "--lost", answers: ["y"], interactive: true)
    #expect(made.code == 0, "\(made.error)")
    let after = try state()
    #expect(after[0] != before[0] && after[1] != before[1])
  }

  @Test("a hub that recovers a lost time says what a new key gives up, before it asks and after --yes")
  func newKeyWhileRecovering() throws {
    try setBack()
    #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
    let silent = camp.hub("keys", "rotate", "--lost", answers: ["n"], interactive: true)
    let first = silent.error.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(silent.code == 1 && first.contains("must deliver again, and may have more."), "\(first)")
    // The phone does not deliver. So the hub does not merge the lost time.
    try camp.carry("tablet", rounds: 3)
    let count = try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_lost_emissions WHERE merged = 0")
    #expect(count != "0")
    let asked = camp.hub("keys", "rotate", "--lost", answers: ["n"], interactive: true)
    let words = asked.error.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(asked.code == 1 && words.contains("\(count) such bundle"), "\(words)")
    #expect(words.contains("then use: satchel-hub restore --finish."), "\(words)")
    let given = camp.hub("keys", "rotate", "--lost", "--yes")
    #expect(given.code == 0 && given.out.contains("Given up with the former key"), "\(given.out)\(given.error)")
    // The former key no longer counts. So a second new key gives up no bundle.
    let again = try camp.hub("keys", "rotate", "--lost", "--again", "--yes", "--json").json
    #expect(again["given_up"] == 0, "\(again)")
  }

  /// Syncs with a folder that is used as a stick.
  private func sync(_ name: String?, _ words: String...) throws -> CommandLineFixture.Outcome {
    let stick = camp.path("stick")
    try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
    let workspace = ["-C", camp.path(name ?? "hub"), "sync", stick, "--plain-folder"]
    return name == nil ? camp.hubAnywhere(workspace + words) : camp.deviceAnywhere(workspace + words)
  }

  @Test("bundles that a lost key signed are not used when a device brings them, and the hub says so")
  func bundlesOfLostKey() throws {
    try setBack()
    #expect(camp.hub("import", try export()).code == 3)
    let rotated = camp.hub("keys", "rotate", "--lost", "--yes", "--json")
    let fingerprint = try #require(try rotated.json["fingerprint"]?.stringValue, "\(rotated.error)")
    _ = try sync(nil)
    let taken = try sync("tablet", "--fingerprint", fingerprint)
    #expect(taken.code == 0, "\(taken.error)")
    let came = try sync(nil)
    #expect(came.out.contains("is signed with a key of this hub that was lost: not used."), "\(came.out)")
    #expect(!came.out.contains("it is kept"), "\(came.out)")
    let kept = try? FileManager.default.contentsOfDirectory(atPath: camp.path("hub/bundles/archive/lost"))
    #expect((kept ?? []).isEmpty)
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("a bundle that a device puts on the stick as a proof is no trouble at a hub that knows it")
  func proofOnStick() throws {
    try camp.carry("tablet", rounds: 2)
    try camp.remove("tablet/data.sqlite")
    #expect(try sync("tablet").code != 0)
    let came = try sync(nil)
    let text = came.out + came.error
    #expect(came.code == 0, "\(text)")
    #expect(!text.contains("left alone") && !text.contains("a hub imports the exports"), "\(text)")
    #expect(text.contains("which this hub made: the hub knows it, so nothing changed."), "\(text)")
    // If a person imports a device's bundle at the hub, the message sends the person to the device.
    let named = camp.hub("import", try camp.newestBundle(in: "tablet/bundles/archive", "camp-hub-tablet-"))
    #expect(named.code == 3 && (named.error + named.out).contains("a hub imports the exports"), "\(named.error)")
  }

  @Test("when the hub is in a new epoch, status no longer names the bundles that came while it waited")
  func noFormerFailures() throws {
    try setBack()
    for _ in 0..<2 { #expect(camp.hub("import", try export()).code == 3) }
    #expect(camp.hub("restore", "--in-place").code == 0)
    let status = camp.hub("status").out
    #expect(!status.contains("Until you decide"), "\(status)")
    #expect(status.contains("this hub began a new epoch"), "\(status)")
  }

  @Test("a new epoch that nothing shows to be necessary is begun only after a person says yes")
  func needlessEpoch() throws {
    let before = try camp.rows("office.sqlite", "SELECT epoch FROM satchel_hub")
    let asked = camp.hub("restore", "--in-place", answers: ["n"], interactive: true)
    #expect(asked.code == 1)
    #expect(asked.error.contains("No device has shown that this hub was set back."), "\(asked.error)")
    #expect(asked.error.contains("a full bundle for 2 devices. Begin one?"), "\(asked.error)")
    #expect(try camp.rows("office.sqlite", "SELECT epoch FROM satchel_hub") == before)
    #expect(camp.hub("restore", "--in-place", answers: ["y"], interactive: true).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT epoch FROM satchel_hub") != before)
    // A device's bundle has proved that the hub was set back. So the command asks no question.
    try setBack()
    _ = camp.hub("import", try export())
    let known = camp.hub("restore", "--in-place", interactive: true)
    #expect(known.code == 0 && !known.error.contains("No device has shown"), "\(known.error)")
  }

  @Test("a script replaces the hub's key only with --yes, because that costs a visit to each device")
  func newKeyByScript() throws {
    let before = camp.hub("keys", "show").out
    let refused = camp.hub("keys", "rotate", "--lost")
    #expect(refused.code == 1 && refused.error.contains("--yes"), "\(refused.error)")
    let words = refused.error.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("a person at each compares"), "\(words)")
    #expect(camp.hub("keys", "rotate", "--lost", "--dry-run").code == 0)
    #expect(camp.hub("keys", "show").out == before)
  }

  @Test("right after a lost key was replaced, no further key is made")
  func thirdKey() throws {
    #expect(camp.hub("keys", "rotate", "--lost", "--yes").code == 0)
    let again = camp.hub("keys", "rotate")
    #expect(again.code == 1)
    #expect(again.error.contains("no device is known to have it yet"), "\(again.error)")
    #expect(camp.hub("status").out.contains("a person compares the fingerprint at each"))
    // The person may repeat the command. It changes nothing.
    let key = try camp.hub("keys", "show", "--json").json["fingerprint"]
    let epoch = try camp.rows("office.sqlite", "SELECT epoch FROM satchel_hub")
    let repeated = camp.hub("keys", "rotate", "--lost", "--yes")
    #expect(repeated.code == 0, "\(repeated.error)")
    #expect(try camp.hub("keys", "show", "--json").json["fingerprint"] == key)
    #expect(try camp.rows("office.sqlite", "SELECT epoch FROM satchel_hub") == epoch)
  }

  @Test("a device that waits for another user's work to be carried does not say that the hub has everything")
  func sealedWork() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r9', 'lake', 'ann', 3, 'of ann')")
    #expect(camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    camp.hub("emit", "--device", "tablet")
    let taken = camp.device("tablet", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(taken.code == 0, "\(taken.error)")
    let status = camp.device("tablet", "status").out
    #expect(status.contains("Former user"), "\(status)")
    #expect(!status.contains("the hub has everything"), "\(status)")
    #expect(status.contains("no new change"), "\(status)")
  }

  @Test("a bundle that came before says that the lost database was rebuilt")
  func rebuilt() throws {
    let bundle = camp.path("again.satchel")
    camp.hub("emit", "--device", "tablet", "--full")
    let newest = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
    try FileManager.default.copyItem(atPath: newest, toPath: bundle)
    #expect(camp.device("tablet", "import", bundle).code == 0)
    try camp.loseDatabase(of: "tablet")
    let outcome = camp.device("tablet", "import", bundle)
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(outcome.out.contains("The database was rebuilt"), "\(outcome.out)")
    #expect(!outcome.out.contains("nothing changed"), "\(outcome.out)")
  }

  @Test("if the hub's own clock was ahead, its status blames no device")
  func ownClock() throws {
    try camp.by(SetClock(SystemClock().milliseconds() + 100 * 86_400_000)) {
      camp.answer("tablet", 2)
      try camp.sql("office.sqlite", "UPDATE sites SET name = 'of the future'")
      camp.answer("tablet", 3)
    }
    #expect(camp.hub("doctor", "--repair").code == 0)
    let taken = camp.hub("import", try export())
    #expect(taken.code == 0, "\(taken.error)")
    let status = camp.hub("status").out
    #expect(!status.contains("the clock of tablet"), "\(status)")
  }

  @Test("two histories of a device: the hub also says what to do if it was only restored from its backup")
  func restoredDevice() throws {
    try camp.copy("tablet", to: "backup")
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r8', 'lake', 'ann', 3, 'delivered')")
    #expect(camp.hub("import", try export()).code == 0)
    try camp.remove("tablet")
    try camp.copy("backup", to: "tablet")
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r9', 'lake', 'ann', 3, 'after the restore')")
    let refused = camp.hub("import", try export())
    #expect(refused.error.contains("fork tablet --restored"), "\(refused.error)")
    #expect(camp.hub("device", "fork", "tablet").out.contains("device fork tablet --restored"))
  }

  @Test("before its first bundle, a device with an app's database says what it waits for, and not to run the doctor")
  func beforeFirstBundle() throws {
    try camp.sql("app.sqlite", "CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT, tier INTEGER)")
    let made = camp.deviceAnywhere(
      "init", camp.path("new"), "--dataset", "camp", "--name", "new", "--request", camp.path("new.request"))
    #expect(made.code == 0, "\(made.error)")
    try camp.copy("app.sqlite", to: "new/data.sqlite")
    for words in ["export", "doctor"] {
      let outcome = camp.device("new", words)
      let text = outcome.out + outcome.error
      #expect(text.contains("Import the hub's first bundle"), "\(words): \(text)")
      #expect(!text.contains("run satchel doctor"), "\(words): \(text)")
    }
  }
}
