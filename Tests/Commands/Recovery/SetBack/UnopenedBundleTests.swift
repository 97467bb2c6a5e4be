import Foundation
import SatchelJSON
import Testing

/// A hub that encrypts all bundles is restored with an older copy of `keys/`, which lacks its newest key. The tablet
/// encrypts for this newest key, so the hub cannot open the tablet's files.
@Suite("A hub whose older keys open no file of its device")
struct UnopenedBundleTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"
  private let tablet = "tablet/data.sqlite"
  private var stick: String { camp.path("stick") }

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
      INSERT INTO sites VALUES ('lake', 'Lake');
      """,
      CommandLineFixture.definition(#"{ "sites": {} }"#).replacing(
        #""version": 1,"#, with: #""version": 1, "encrypt": "always","#), devices: ["tablet"])
    try camp.carry("tablet", rounds: 2)
    try camp.workWithNewKey()
    try add("of-tablet")
    try camp.restoreOlderKeys()
    camp.device("tablet", "sync", stick)
  }

  private func add(_ id: String) throws { try camp.sql(tablet, "INSERT INTO sites VALUES ('\(id)', 'of the tablet')") }

  @Test("the hub says that its keys may be older, and with the newest keys in place syncs alone bring all back")
  func newestKeys() throws {
    let refused = camp.hub("sync", stick)
    #expect(refused.code == 3 && refused.error.contains("newest copy of its keys/"), "\(refused.out)\(refused.error)")
    #expect(refused.error.contains("may be encrypted for a key"), "\(refused.error)")
    #expect(try camp.olderKeys() == ["tablet"])
    let status = camp.hub("status").out
    #expect(status.contains("may be older") && status.contains("newest copy of its keys/"), "\(status)")
    let doctor = camp.hub("doctor")
    #expect(doctor.code == 1 && doctor.transcript.contains("newest copy of its keys/"), "\(doctor.transcript)")
    try camp.putNewestKeys()
    #expect(try camp.olderKeys() == [])
    try camp.carry("tablet", rounds: 4)
    try camp.expectRest("lake of-tablet office-1 office-2", on: ["tablet"])
  }

  /// The hub replaces the key that it has lost for ever. The tablet follows the new key, and delivers its work again.
  private func replaceKey() throws {
    let rotated = camp.hub("keys", "rotate", "--lost", "--yes", "--json")
    let fingerprint = try #require(try rotated.json["fingerprint"]?.stringValue, "\(rotated.error)")
    // The tablet does not know the new key yet, so its files are encrypted for the lost key.
    let synced = camp.hub("sync", stick)
    #expect(synced.code == 0, "\(synced.out)\(synced.error)")
    #expect(try camp.olderKeys() == [])
    for _ in 0..<2 {
      let imported = camp.device("tablet", "import", try camp.emit("tablet"), "--fingerprint", fingerprint)
      #expect(imported.code == 0, "\(imported.error)")
      try camp.carry("tablet")
    }
    try camp.carry("tablet", rounds: 2)
  }

  @Test("with another key in place of the lost one, the hub waits for no bundle that it can never open")
  func lostKey() throws {
    camp.hub("sync", stick)
    try replaceKey()
    try add("later")
    try camp.carry("tablet", rounds: 2)
    try camp.expectRest("lake later of-tablet", on: ["tablet"])
    let carried = camp.device("tablet", "sync", stick).out
    #expect(!carried.contains("the hub itself made"), "\(carried)")
  }

  @Test("a file that anyone can put into a device's folder stops no work, and its sign ends with the next bundle")
  func stranger() throws {
    let file = try #require(
      try camp.everything().keys.first { $0.hasPrefix("stick/SATCHEL/camp/hub/tablet-") && $0.hasSuffix(".satchel") })
    try camp.copy(file, to: "unopened")
    let folder = (file as NSString).deletingLastPathComponent
    try replaceKey()
    // The first file belongs to another device with this name. The second file has a number that the hub has already
    // merged.
    let other = "stick/SATCHEL/camp/hub/tablet-00000000"
    try camp.makeFolder(other)
    for harmless in ["\(other)/camp-tablet-hub-99.satchel", "\(folder)/camp-tablet-hub-1.satchel"] {
      try camp.copy("unopened", to: harmless)
      let synced = camp.hub("sync", stick)
      #expect(synced.code == 0, "\(synced.out)\(synced.error)")
      #expect(try camp.olderKeys() == [])
      try camp.remove(harmless)
    }
    try add("beside-it")
    camp.device("tablet", "sync", stick)
    let strange = "\(folder)/camp-tablet-hub-99.satchel"
    try camp.copy("unopened", to: strange)
    #expect(camp.hub("sync", stick).code == 3)
    #expect(try camp.rows(office, "SELECT count(*) FROM sites WHERE id = 'beside-it'") == "1")
    #expect(try camp.olderKeys() == ["tablet"])
    try camp.remove(strange)
    try add("later")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.olderKeys() == [])
    try camp.expectRest("beside-it lake later of-tablet", on: ["tablet"])
  }
}
