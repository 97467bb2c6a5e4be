import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// Hubs that were set back, and devices that lost their database. The tests show which work comes back, and which
/// bundles must be refused.
@Suite("Histories that part")
struct PartedHistoryTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.carry("tablet")
    try camp.carry("phone")
  }

  private func name(_ database: String) throws -> String {
    try camp.rows(database, "SELECT name FROM sites WHERE id = 'lake'")
  }

  private func checkHealth() throws {
    for outcome in [
      camp.hub("doctor"), camp.hub("audit"), camp.device("tablet", "doctor"), camp.device("phone", "doctor"),
    ] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
  }

  @Test(
    "a hub that was put back to an earlier epoch learns it from a device whose former user's changes are on their way")
  func earlierEpoch() throws {
    try camp.carry("tablet")
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'of ann')")
    try camp.keepHub()
    #expect(camp.hub("device", "set", "tablet", "--user", "ben").code == 0)
    func emit() throws {
      #expect(camp.hub("emit", "--device", "tablet").code == 0)
      let bundle = try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-")
      let imported = camp.device("tablet", "import", bundle)
      #expect(imported.code == 0, "\(imported.error)")
    }
    try emit()
    #expect(camp.hub("restore", "--in-place").code == 0)
    try emit()
    try camp.putBackHub()
    try camp.carry("tablet")
    let status = try camp.hub("status", "--json").json
    #expect(status["set_back"] != nil && status["set_back"] != .null, "\(status)")
  }

  /// The office writes twice in the time that will be lost. Each device receives one of the two writes.
  private func loseTwoNames() throws {
    try camp.keepHub()
    try camp.sql(office, "UPDATE sites SET name = 'one' WHERE id = 'lake'")
    try camp.carry("tablet")
    try camp.sql(office, "UPDATE sites SET name = 'two' WHERE id = 'lake'")
    try camp.carry("phone")
    try camp.putBackHub()
    #expect(camp.hub("restore", "--in-place").code == 0)
  }

  @Test(
    "of two values of the lost time the newer one wins, whichever device comes first",
    arguments: [["tablet", "phone"], ["phone", "tablet"]])
  func newerOfTheLost(order: [String]) throws {
    try loseTwoNames()
    #expect(try name(office) == "Lake")
    for device in order + order { try camp.carry(device, rounds: 2) }
    for database in [office, "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try name(database) == "two", "\(database)")
    }
    #expect(camp.hub("restore", "--finish").code == 1)
    try checkHealth()
  }

  @Test("a value of the lost time is not written over what the office wrote since; it is kept beside it")
  func newerThanTheLost() throws {
    try loseTwoNames()
    try camp.sql(office, "UPDATE sites SET name = 'since' WHERE id = 'lake'")
    for device in ["tablet", "phone", "tablet", "phone"] { try camp.carry(device, rounds: 2) }
    for database in [office, "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try name(database) == "since", "\(database)")
    }
    let kept = try camp.rows(office, "SELECT state, device_values FROM satchel_conflicts")
    #expect(kept.contains("settled") && kept.contains("two"), "\(kept)")
    try checkHealth()
  }

  @Test(
    "nothing of the lost time is merged before every device has delivered, unless the operator says so",
    arguments: [true, false])
  func waitsForAll(isFinished: Bool) throws {
    try loseTwoNames()
    try camp.carry("tablet", rounds: 3)
    #expect(try name(office) == "Lake")
    #expect(try camp.hub("status", "--json").json["recovery"] != nil)
    if isFinished {
      #expect(camp.hub("restore", "--finish").code == 0)
      // The tablet has delivered the bundle with the second value.
      #expect(try name(office) == "two")
    }
    for device in ["phone", "tablet", "phone"] { try camp.carry(device, rounds: 2) }
    for database in [office, "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try name(database) == "two", "\(database)")
    }
  }

  private func setAside(_ paths: [String], in folder: String) throws {
    try camp.makeFolder(folder)
    for (number, path) in paths.enumerated() {
      try camp.copy(path, to: "\(folder)/\(number)")
      try camp.remove(path)
    }
  }

  private func bringBack(_ paths: [String], from folder: String) throws {
    for (number, path) in paths.enumerated() { try camp.copy("\(folder)/\(number)", to: path) }
  }

  private var exports: [String] {
    get throws {
      try camp.everything().keys.filter { $0.hasPrefix("tablet/") && $0.contains("/camp-tablet-hub-") }.sorted()
    }
  }

  @Test(
    """
    where a file is gone of an export that the hub is not known to have, no database is made and no number given \
    until it is back
    """
  )
  func missingExport() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'first' WHERE id = 'r1'")
    try camp.carry("tablet", rounds: 2)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'second' WHERE id = 'r1'")
    #expect(camp.device("tablet", "export").code == 0)
    let newest = Paths.name(of: try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-"))
    let older = try exports.filter { Paths.name(of: $0) != newest }
    try setAside(older, in: "exports")
    // The tablet keeps only the hub's first bundle. The later bundles, which acknowledge its exports, are moved away.
    let deltas = try HostFileSystem().list(camp.path("tablet/bundles/archive"))
      .filter { $0.hasPrefix("camp-hub-tablet-") && $0 != "camp-hub-tablet-1.satchel" }.map {
        "tablet/bundles/archive/\($0)"
      }
    try setAside(deltas, in: "deltas")
    try camp.remove("tablet/data.sqlite")
    let left = try exports
    for words in [["doctor", "--repair"], ["export"]] {
      let refused = camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
      #expect(refused.code == 1, "\(words): \(refused.out)")
      #expect(words[0] == "export" || refused.error.contains("is not here"), "\(refused.error)")
      #expect(try exports == left)
    }
    // The device still delivers the exports that it has.
    let carried = camp.device("tablet", "sync", camp.path("stick"))
    #expect(carried.out.contains("files that lay here"), "\(carried.out)\(carried.error)")

    // The exports were made on hub bundles that are missing, so they cannot be replayed yet.
    try bringBack(older, from: "exports")
    let refused = camp.device("tablet", "doctor", "--repair")
    #expect(refused.code == 1 && refused.error.contains("is missing"), "\(refused.out)\(refused.error)")
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet/data.sqlite")))

    try bringBack(deltas, from: "deltas")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "second")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows(office, "SELECT words FROM reviews WHERE id = 'r1'") == "second")
    try checkHealth()
  }

  @Test("a device without a database does not begin with a bundle of another history than the one on which it was")
  func otherBeginning() throws {
    try camp.keepHub()
    try camp.sql(office, "UPDATE sites SET name = 'lost' WHERE id = 'lake'")
    try camp.carry("tablet")
    try camp.putBackHub()
    try camp.remove("tablet/data.sqlite")
    // Without the first bundle, the kept files cannot build a database.
    try camp.remove("tablet/bundles/archive/camp-hub-tablet-1.satchel")
    #expect(camp.hub("emit", "--device", "tablet", "--full").code == 0)
    let refused = camp.device("tablet", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(refused.code == 3 && refused.error.contains("does not follow"), "\(refused.out)\(refused.error)")
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet/data.sqlite")))
    // The device carries an emission that proves to the hub that it was set back.
    _ = camp.device("tablet", "sync", camp.path("stick"))
    let stopped = camp.hub("sync", camp.path("stick"))
    #expect(stopped.code == 3 && stopped.error.contains("restore --in-place"), "\(stopped.out)\(stopped.error)")
    #expect(camp.hub("emit", "--all").code == 3)
    #expect(camp.hub("restore", "--in-place").code == 0)
    for device in ["tablet", "phone", "tablet", "phone"] { try camp.carry(device, rounds: 2) }
    for database in [office, "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try name(database) == "lost", "\(database)")
    }
    try checkHealth()
  }

  @Test(
    "a hub that was put back to before its key was lost learns of it, and its newer keys or another key bring all back",
    arguments: [true, false])
  func behindLostKey(keysAreKept: Bool) throws {
    try camp.keepHub()
    func comeOver() throws {
      let rotated = camp.hub("keys", "rotate", "--lost", "--yes", "--json")
      let fingerprint = try #require(try rotated.json["fingerprint"]?.stringValue, "\(rotated.error)")
      for name in ["tablet", "phone"] {
        // After the first import, the hub requests lost bundles from the device. The second import needs the
        // fingerprint again.
        for _ in 0..<2 {
          let imported = camp.device(name, "import", try camp.emit(name), "--fingerprint", fingerprint)
          #expect(imported.code == 0, "\(imported.error)")
          try camp.carry(name)
        }
      }
    }
    try comeOver()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'after it')")
    for name in ["tablet", "phone", "tablet"] { try camp.carry(name) }
    try camp.copy("hub/keys", to: "keys")
    try camp.putBackHub()
    let refused = camp.hub("import", try camp.export("tablet"))
    #expect(refused.code == 3 && refused.error.contains("keys/") && refused.error.contains("keys rotate --lost"))
    if keysAreKept {
      try camp.remove("hub/keys")
      try camp.copy("keys", to: "hub/keys")
      let noticed = camp.hub("import", try camp.export("tablet"))
      #expect(noticed.code == 3 && noticed.error.contains("This hub was set back"), "\(noticed.error)")
      #expect(camp.hub("restore", "--in-place").code == 0)
    } else {
      try comeOver()
    }
    for name in ["tablet", "phone", "tablet", "phone"] { try camp.carry(name) }
    for database in [office, "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT words FROM reviews WHERE id = 'n1'") == "after it")
    }
    let synced = camp.hub("sync", camp.path("stick"))
    #expect(synced.code == 0, "\(synced.out)\(synced.error)")
    try checkHealth()
  }

  @Test("an audit reports that the database was put back, and nothing after a new epoch when the bundles come again")
  func auditOfDatabasePutBack() throws {
    try camp.copy(office, to: "copy.sqlite")
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'on its way')")
    try camp.carry("tablet")
    try camp.remove(office)
    try camp.copy("copy.sqlite", to: office)
    let audit = camp.hub("audit")
    #expect(audit.code == 1 && audit.out.contains("the database was put back from a copy"), "\(audit.out)")
    #expect(audit.out.contains("restore --in-place"))
    #expect(camp.hub("restore", "--in-place").code == 0)
    #expect(camp.hub("audit").code == 0, "\(camp.hub("audit").out)")
    for name in ["tablet", "phone", "tablet", "phone"] { try camp.carry(name) }
    #expect(try camp.rows(office, "SELECT words FROM reviews WHERE id = 'n1'") == "on its way")
    try checkHealth()
  }
}
