import Foundation
import SatchelJSON
import SatchelSQLite
import TestSupport
import Testing

/// A hub's backup file: its content, its access rights, and the faults that commands find in a damaged one.
@Suite struct BackupTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    camp.deliver("tablet", 1)
  }

  private var file: String { camp.path("hub.satchel") }

  private func fingerprint() throws -> String {
    try #require(camp.hub("status", "--json").json["fingerprint"]?.stringValue)
  }

  @Test("a backup is made while another program writes, and holds what was committed")
  func whileWriting() throws {
    let app = try Database(path: camp.path("office.sqlite"), mode: .readWrite)
    try app.execute("PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; UPDATE reviews SET words = 'half done'")
    let outcome = camp.hub("backup", file)
    #expect(outcome.code == 0, "\(outcome.error)")
    try app.execute("COMMIT")
    #expect(try camp.hub("status", "--json").json["backed_up"]?.stringValue != nil)
    #expect(camp.hubAnywhere("restore", file, camp.path("new"), "--keys", camp.path("hub/keys")).code == 0)
    #expect(try camp.rows("new/office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "quiet")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "half done")
  }

  @Test("it has no secret in it, and with secrets it warns and is for its owner's eyes alone")
  func secrets() throws {
    let plain = camp.hub("backup", file, "--json")
    #expect(try plain.json["secret_keys"] == false)
    #expect(try plain.json["bundles"] == 2)
    let outcome = camp.hub("backup", camp.path("keys.satchel"), "--with-keys")
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("without a password"))
    let mode = try FileManager.default.attributesOfItem(atPath: camp.path("keys.satchel"))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let secret = try camp.read("hub/keys/own.key")
    for (name, holds) in [("hub.satchel", false), ("keys.satchel", true)] {
      let folder = camp.path("opened-\(holds)")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try StockTool.zstd("-dc", "-o", "\(folder)/plain.tar", camp.path(name), in: camp.root)
      try StockTool.tar("-xf", "plain.tar", in: folder)
      try StockTool.b2sum("-c", "--quiet", "B2SUMS", in: folder)
      let files = try Database(path: folder + "/files.sqlite", mode: .readOnly)
      let keys = try files.all("SELECT bytes FROM files WHERE path = 'keys/own.key'") { $0.value(0) }
      #expect(keys == (holds ? [.blob(secret)] : []))
    }
    #expect(camp.hub("backup", camp.path("both.satchel"), "--with-keys", "--encrypt").code == 1)
  }

  @Test("an encrypted one is opened by the hub's identity alone")
  func encrypted() throws {
    #expect(camp.hub("backup", file, "--encrypt").code == 0)
    #expect(camp.hub("backup", "--verify", file).code == 0)
    #expect(camp.hubAnywhere("restore", file, camp.path("new"), "--keys", camp.path("hub/keys")).code == 0)
    #expect(try camp.rows("new/office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "2")
    let other = camp.hubAnywhere("restore", file, camp.path("other"), "--fingerprint", try fingerprint())
    #expect(other.code == 3)
    #expect(try !camp.everything().keys.contains { $0.hasPrefix("other") })
  }

  @Test("a backup that only the hub's keys open says so, and a restore without these keys names the ways out")
  func encryptedWithoutKeys() throws {
    let made = camp.hub("backup", file, "--encrypt")
    #expect(made.code == 0)
    #expect(made.error.contains("only the hub's keys can open it"))
    #expect(!camp.hub("backup", camp.path("plain.satchel")).error.contains("can open it"))
    let words = try fingerprint()
    let lost = camp.hubAnywhere("restore", file, camp.path("new"), "--new-keys", "--fingerprint", words)
    #expect(lost.code == 3)
    for way in ["--keys DIR", "age -d -i KEY", "satchel renew --hub"] { #expect(lost.error.contains(way), "\(way)") }
  }

  @Test(
    "one flipped byte anywhere is found, by --verify and by restore, and nothing is made",
    arguments: [0.01, 0.3, 0.6, 0.99])
  func damage(at place: Double) throws {
    camp.hub("backup", file)
    var bytes = try camp.read("hub.satchel")
    bytes[Int(Double(bytes.count) * place)] ^= 0x10
    try Data(bytes).write(to: URL(fileURLWithPath: camp.path("bad.satchel")))
    #expect(camp.hub("backup", "--verify", camp.path("bad.satchel")).code == 3)
    let outcome = camp.hubAnywhere(
      "restore", camp.path("bad.satchel"), camp.path("new"), "--keys", camp.path("hub/keys"))
    #expect(outcome.code == 3)
    #expect(try !camp.everything().keys.contains { $0.hasPrefix("new") || $0.hasPrefix(".satchel-") })
  }

  @Test("no backup is trusted before a person has compared the key's fingerprint")
  func ceremony() throws {
    camp.hub("backup", file, "--with-keys")
    let unasked = camp.hubAnywhere("restore", file, camp.path("new"), "--json")
    #expect(unasked.code == 3)
    #expect(try unasked.json["error"]?["reason"] == "untrusted-hub")
    let wrong = camp.hubAnywhere("restore", file, camp.path("new"), "--fingerprint", "0000-0000")
    #expect(wrong.code == 3)
    let other = try #require(try camp.device("tablet", "keys", "show", "--json").json["fingerprint"]?.stringValue)
    let strangers = camp.hubAnywhere("restore", file, camp.path("new"), "--fingerprint", other)
    #expect(strangers.code == 3 && strangers.error.contains("another key"), "\(strangers)")
    // A stranger could have made the file and could show any fingerprint. Therefore the error does not print the
    // fingerprint.
    let own = try fingerprint()
    for outcome in [unasked, wrong, strangers] { #expect(!(outcome.out + outcome.error).contains(own)) }
    #expect(try camp.device("tablet", "keys", "show", "--json").json["hub"]?.stringValue == own)
    #expect(try !camp.everything().keys.contains { $0.hasPrefix("new") })
    let right = camp.hubAnywhere("restore", file, camp.path("new"), "--fingerprint", try fingerprint())
    #expect(right.code == 0, "\(right.error)")
    let mode =
      try FileManager.default.attributesOfItem(atPath: camp.path("new/keys/own.key"))[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(camp.hubAnywhere("-C", camp.path("new"), "doctor").code == 0)
  }

  @Test("without keys it says which ways there are, and takes those of no other hub")
  func keys() throws {
    camp.hub("backup", file)
    let none = camp.hubAnywhere("restore", file, camp.path("new"), "--fingerprint", try fingerprint(), "--json")
    #expect(none.code == 1)
    #expect(try none.json["error"]?["reason"] == "no-key")
    #expect(none.out.contains("--new-keys"))
    let others = camp.hubAnywhere("restore", file, camp.path("new"), "--keys", camp.path("tablet/keys"))
    #expect(others.code == 3)
    #expect(camp.hubAnywhere("restore", file, camp.path("new"), "--keys", camp.path("tablet")).code == 1)
    #expect(camp.hubAnywhere("restore", file, camp.path("new"), "--keys", camp.path("x"), "--new-keys").code == 2)
    #expect(try !camp.everything().keys.contains { $0.hasPrefix("new") })
  }

  @Test("where the keys are lost too, new ones are made, and each device compares the new fingerprint once")
  func newKeys() throws {
    camp.hub("backup", file)
    let outcome = camp.hubAnywhere(
      "restore", file, camp.path("new"), "--new-keys", "--fingerprint", try fingerprint(), "--json")
    #expect(outcome.code == 0, "\(outcome.error)")
    let new = try #require(outcome.json["fingerprint"]?.stringValue)
    #expect(try new != fingerprint())
    camp.hubAnywhere("-C", camp.path("new"), "emit", "--device", "tablet")
    let bundle = try camp.newestBundle(in: "new/bundles/outbox", "camp-hub-tablet-")
    #expect(camp.device("tablet", "import", bundle).code == 3)
    #expect(camp.device("tablet", "import", bundle, "--fingerprint", new).code == 0)
    #expect(camp.hubAnywhere("-C", camp.path("new"), "doctor").code == 0)
  }

  @Test("a rehearsal writes nothing, and neither writes over anything")
  func rehearsal() throws {
    let before = try camp.everything()
    #expect(camp.hub("backup", file, "--dry-run").code == 0)
    #expect(try camp.everything() == before)
    camp.hub("backup", file)
    let with = try camp.everything()
    let dry = camp.hubAnywhere("restore", file, camp.path("new"), "--keys", camp.path("hub/keys"), "--dry-run")
    #expect(dry.code == 0, "\(dry.error)")
    #expect(dry.out.contains("Would make"))
    #expect(camp.hub("backup", file).code == 1)
    #expect(camp.hubAnywhere("restore", file, camp.path("hub"), "--keys", camp.path("hub/keys")).code == 1)
    #expect(camp.hub("backup", "--verify", camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")).code == 3)
    #expect(
      try camp.everything().filter { !$0.key.contains("quarantine") } == with.filter { !$0.key.contains("quarantine") })
  }

  @Test(
    "what a device has not delivered, and a bundle that the hub imported, agree with the archive of the restored hub")
  func archive() throws {
    camp.hub("backup", file)
    camp.hubAnywhere("restore", file, camp.path("new"), "--keys", camp.path("hub/keys"))
    let audit = camp.hubAnywhere("-C", camp.path("new"), "audit", "--json")
    #expect(try audit.json["verified"] == 1)
    #expect(audit.code == 0)
    #expect(camp.hubAnywhere("-C", camp.path("new"), "history", "reviews", "r1").out.contains("ann on tablet"))
  }

  @Test("a damaged backup, and the keys of another hub, have next steps of their own")
  func faults() throws {
    try camp.backUp()
    try Data(camp.read("monday.satchel").prefix(3000)).write(to: URL(filePath: camp.path("short.satchel")))
    let cut = camp.hubAnywhere("restore", camp.path("short.satchel"), camp.path("new"), "--keys", camp.path("safe"))
    #expect(cut.code == 3 && cut.error.contains("take an older backup"), "\(cut)")
    let checked = camp.hub("backup", "--verify", camp.path("short.satchel"))
    #expect(checked.code == 3 && checked.error.contains("Make another backup"), "\(checked)")
    let keys = camp.path("tablet/keys")
    let other = camp.hubAnywhere("restore", camp.path("monday.satchel"), camp.path("new"), "--keys", keys)
    #expect(other.code == 3 && other.error.contains("of the hub that made this backup"), "\(other)")
    #expect(!(cut.error + checked.error + other.error).contains("sender"))
  }

  @Test("a workspace of a newer version asks for that version, and not for a backup")
  func newerWorkspace() throws {
    let settings = String(decoding: try camp.read("tablet/satchel.json"), as: UTF8.self)
    try camp.write("tablet/satchel.json", settings.replacing("\"satchel\": 1", with: "\"satchel\": 2"))
    let outcome = camp.device("tablet", "status")
    #expect(outcome.code == 1 && outcome.error.contains("Install that version here"), "\(outcome)")
  }
}
