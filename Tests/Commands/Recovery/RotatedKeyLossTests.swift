import Foundation
import SatchelJSON
import Testing

/// A device loses its database. Meanwhile its hub has replaced its signing key.
@Suite("A lost database after new keys")
struct RotatedKeyLossTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  enum Loss: CaseIterable {
    case deleted, emptied
    /// The file is no longer a database.
    case damaged
    /// The app creates its tables again, without rows.
    case madeByApp
  }

  enum Way: CaseIterable { case doctor, delta, full, sync }

  private func lose(_ loss: Loss = .deleted) throws {
    switch loss {
    case .deleted: try camp.loseDatabase(of: "tablet")
    case .emptied: try camp.loseDatabase(of: "tablet", leaving: "")
    case .damaged: try camp.loseDatabase(of: "tablet", leaving: String(repeating: "x", count: 8192))
    case .madeByApp:
      try camp.loseDatabase(of: "tablet")
      try camp.sql(
        "tablet/data.sqlite",
        """
        CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT, tier INTEGER);
        CREATE TABLE reviews (
          id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), author TEXT, stars INTEGER, words TEXT);
        """)
    }
  }

  /// The hub rotates its key, and the tablet imports a bundle that the new key signed.
  private func rotate() throws {
    #expect(camp.hub("keys", "rotate").code == 0)
    try camp.answer("tablet")
    try camp.deliver("tablet")
    try rename("Pond")
    try camp.answer("tablet")
  }

  private func rename(_ name: String) throws {
    try camp.sql("office.sqlite", "UPDATE sites SET name = '\(name)' WHERE id = 'lake'")
  }

  /// The tablet's files of public keys that it trusts or has trusted, with their contents.
  private func keys() throws -> [String: Data] {
    try camp.everything().filter { $0.key.hasPrefix("tablet/keys/") && $0.key.hasSuffix(".pub") }
  }

  private func lake() throws -> String {
    try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'")
  }

  private func hubKey() throws -> String {
    try #require(try camp.hub("keys", "show", "--json").json["fingerprint"]?.stringValue)
  }

  @Test(
    "a rebuild after the hub's key was replaced keeps the keys as they are, and the undelivered work",
    arguments: Loss.allCases, Way.allCases)
  func rebuilt(loss: Loss, way: Way) throws {
    try rotate()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 1, 'undelivered')")
    _ = try camp.export("tablet")
    let before = try keys()
    #expect(before.count == 3, "own, hub, and the hub's former key")
    try lose(loss)
    try rename("Bay")
    switch way {
    case .doctor:
      let repaired = camp.device("tablet", "doctor", "--repair")
      #expect(repaired.code == 0, "\(repaired.out)\(repaired.error)")
    case .delta: try camp.answer("tablet")
    case .full: try camp.answer("tablet", full: true)
    case .sync: break
    }
    #expect(try keys() == before)
    try camp.makeFolder("stick")
    for _ in 0..<2 {
      camp.hub("sync", camp.path("stick"))
      camp.device("tablet", "sync", camp.path("stick"))
    }
    camp.hub("sync", camp.path("stick"))
    #expect(try keys() == before)
    #expect(try lake() == "Bay")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'n1'") == "undelivered")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("a bundle that a replaced key signed makes no database, and the key is not trusted again")
  func replacedKey() throws {
    let old = try camp.emit("tablet", full: true)
    try camp.makeFolder("thief")
    try FileManager.default.copyItem(atPath: old, toPath: camp.path("thief/old.satchel"))
    try rotate()
    try lose()
    try camp.remove("tablet/bundles/archive")
    let before = try keys()
    let refused = camp.device("tablet", "import", camp.path("thief/old.satchel"))
    #expect(refused.code == 3 && refused.error.contains("has replaced"), "\(refused.error)")
    #expect(try keys() == before)
    try camp.answer("tablet", full: true)
    #expect(try lake() == "Pond")
    #expect(try keys() == before)
  }

  @Test("a full bundle that replaces a lost database announces the hub's next key as every bundle does")
  func announced() throws {
    #expect(camp.hub("keys", "rotate").code == 0)
    try lose()
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    try camp.writeExactly("tablet/bundles/archive/other.satchel", "not a bundle")
    try camp.answer("tablet", full: true)
    try camp.deliver("tablet")
    try rename("Pond")
    try camp.answer("tablet")
    #expect(try lake() == "Pond")
    #expect(try keys().keys.filter { $0.contains("former/hub-") }.count == 1)
  }

  @Test("a device that joins while the hub gets a new key learns that key from its first bundle")
  func joining() throws {
    #expect(camp.hub("keys", "rotate").code == 0)
    let request = camp.path("watch.request")
    camp.deviceAnywhere("init", camp.path("watch"), "--dataset", "camp", "--name", "watch", "--request", request)
    let shown = try #require(try camp.device("watch", "keys", "show", "--json").json["fingerprint"]?.stringValue)
    #expect(camp.hub("device", "enrol", request, "--user", "ann", "--fingerprint", shown).code == 0)
    let first = camp.device("watch", "import", try camp.emit("watch"), "--fingerprint", try hubKey())
    #expect(first.code == 0, "\(first.error)")
    try camp.deliver("watch")
    try rename("Pond")
    try camp.answer("watch")
    #expect(try camp.rows("watch/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Pond")
  }

  @Test("a hub that lost its key brings back a lost database, after a person has compared the new key")
  func lostHubKey() throws {
    try lose()
    try camp.writeExactly("tablet/bundles/archive/other.satchel", "not a bundle")
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    #expect(camp.hub("keys", "rotate", "--lost", "--yes").code == 0)
    let file = try camp.emit("tablet", full: true)
    let refused = camp.device("tablet", "import", file)
    #expect(refused.code == 3 && refused.error.contains("--fingerprint WORDS"), "\(refused.error)")
    let outcome = camp.device("tablet", "import", file, "--fingerprint", try hubKey())
    #expect(outcome.code == 0, "\(outcome.error)")
    try camp.deliver("tablet")
    try rename("Pond")
    try camp.answer("tablet")
    #expect(try lake() == "Pond")
  }

  @Test("a full bundle brings back a lost database without the hub's public key, after a person has compared the key")
  func missingHubKey() throws {
    try lose()
    try camp.remove("tablet/keys/hub.pub")
    let outcome = camp.device(
      "tablet", "import", try camp.emit("tablet", full: true), "--fingerprint", try hubKey())
    #expect(outcome.code == 0, "\(outcome.error)")
    try camp.deliver("tablet")
    try rename("Pond")
    try camp.answer("tablet")
    #expect(try lake() == "Pond")
  }

  /// The hub's next key. It signs bundles for the tablet while the phone does not know it yet.
  private func nextHubKey() throws -> String {
    try #require(try camp.hub("keys", "show", "--json").json["next"]?.stringValue)
  }

  @Test("older keys verify a rebuild by the announcements in the archive, and a person compares the present key")
  func olderKeys() throws {
    try rotate()
    let former = try #require(try keys().first { $0.key.contains("former/hub-") })
    try camp.remove("tablet/keys/former")
    try former.value.write(to: URL(fileURLWithPath: camp.path("tablet/keys/hub.pub")))
    let before = try keys()
    try lose()
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(try keys() == before)
    #expect(try lake() == "Pond")
    try rename("Bay")
    let file = try camp.emit("tablet")
    let refused = camp.device("tablet", "import", file)
    #expect(refused.code == 3 && refused.error.contains("this folder is a copy"), "\(refused.error)")
    #expect(camp.device("tablet", "import", file, "--fingerprint", try nextHubKey()).code == 0)
    #expect(try lake() == "Bay")
  }

  @Test("a folder from before the rotation takes the hub's bundles again, after a person has compared the key")
  func olderFolder() throws {
    try camp.copy("tablet", to: "backup")
    try rotate()
    try camp.remove("tablet")
    try camp.copy("backup", to: "tablet")
    let file = try camp.emit("tablet", full: true)
    let refused = camp.device("tablet", "import", file)
    #expect(refused.code == 3 && refused.error.contains("this folder is a copy"), "\(refused.error)")
    #expect(refused.error.contains("--fingerprint WORDS"))
    let restored = camp.device("tablet", "import", file, "--fingerprint", try nextHubKey())
    #expect(restored.code == 3 && restored.error.contains("device fork"), "\(restored.error)")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'after the backup' WHERE id = 'r1'")
    #expect(camp.hub("import", try camp.export("tablet")).code == 3)
    #expect(camp.hub("device", "fork", "tablet", "--restored").code == 0)
    try camp.answer("tablet")
    #expect(try lake() == "Pond")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "after the backup")
  }

  @Test("a device follows two rotations, one after the other, and its archive stays sound")
  func twice() throws {
    for _ in 0..<2 {
      #expect(camp.hub("keys", "rotate").code == 0)
      for device in ["tablet", "phone"] { try camp.carry(device, rounds: 2) }
    }
    try rename("Bay")
    for device in ["tablet", "phone"] {
      try camp.carry(device, rounds: 2)
      #expect(camp.device(device, "doctor").code == 0)
    }
    #expect(try lake() == "Bay")
  }

  @Test("a device's own new key signs after its database was rebuilt", arguments: [false, true])
  func ownKey(isAcknowledged: Bool) throws {
    let made = try camp.device("tablet", "keys", "rotate", "--json").json["fingerprint"]?.stringValue
    let export = try camp.export("tablet")
    if isAcknowledged { #expect(camp.hub("import", export).code == 0) }
    try lose()
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    try camp.carry("tablet", rounds: 3)
    #expect(try camp.device("tablet", "keys", "show", "--json").json["fingerprint"]?.stringValue == made)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "later")
  }

  @Test("each command that cannot go on without the database names the next step")
  func words() throws {
    try lose()
    try camp.writeExactly("tablet/bundles/archive/other.satchel", "not a bundle")
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    let full = "satchel-hub emit --device tablet --full"
    #expect(camp.device("tablet", "doctor").out.contains(full))
    #expect(camp.device("tablet", "doctor", "--repair").error.contains(full))
    let request = camp.path("tablet.request")
    let renewed = camp.device("tablet", "renew", "--name", "other", "--request", request)
    #expect(renewed.code == 1 && renewed.error.contains(full) && renewed.error.contains("new device"))
    let left = camp.device("tablet", "renew", "--hub", "--request", request, "--yes")
    #expect(left.code == 1 && left.error.contains(full) && left.error.contains("satchel init"), "\(left.error)")
    #expect(camp.device("tablet", "keys", "request", request).code == 0)
    let shown = try #require(try camp.device("tablet", "keys", "show", "--json").json["fingerprint"]?.stringValue)
    let enrolled = camp.hub("device", "enrol", request, "--user", "ann", "--fingerprint", shown)
    #expect(enrolled.code == 1 && enrolled.error.contains(full), "\(enrolled.error)")
  }
}
