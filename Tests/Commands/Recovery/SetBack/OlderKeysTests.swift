import Foundation
import SatchelJSON
import Testing

/// A hub is restored with an older copy of `keys/`, which lacks its newest key. The tablet has imported bundles of the
/// newest key. The phone exchanged nothing in the whole time that the hub lost.
@Suite("A hub with older keys than its devices")
struct OlderKeysTests {
  private let camp: CommandLineFixture
  private let devices = ["tablet", "phone"]

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
      INSERT INTO sites VALUES ('lake', 'Lake');
      """, CommandLineFixture.definition(#"{ "sites": {} }"#), devices: devices)
    for name in devices { try camp.carry(name) }
    try camp.workWithNewKey()
    for name in devices {
      try camp.sql("\(name)/data.sqlite", "INSERT INTO sites VALUES ('of-\(name)', 'of a device')")
    }
  }

  private func carryAll(times: Int) throws {
    for _ in 0..<times { for name in devices { try camp.carry(name) } }
  }

  @Test(
    "hub and device name the older keys, and with the newest keys in place syncs alone bring all back",
    arguments: [false, true])
  func newestKeys(hasDelivered: Bool) throws {
    // In this case the tablet has nothing to deliver when the hub is lost.
    if hasDelivered { try camp.carry("tablet", rounds: 2) }
    try camp.restoreOlderKeys()
    let stick = camp.path("stick")
    camp.hub("sync", stick)
    let device = camp.device("tablet", "sync", stick)
    #expect(device.code == 3 && device.error.contains("newest copy of its keys/"), "\(device.out)\(device.error)")
    let refused = camp.hub("sync", stick)
    #expect(refused.code == 3 && refused.error.contains("newest copy of its keys/"), "\(refused.out)\(refused.error)")
    #expect(try camp.olderKeys() == ["tablet"])
    let status = camp.hub("status").out
    #expect(status.contains("newest copy of its keys/") && status.contains("keys rotate --lost"), "\(status)")
    #expect(camp.hub("doctor").out.contains("newest copy of its keys/"))
    try camp.putNewestKeys()
    #expect(try camp.olderKeys() == [])
    try carryAll(times: 4)
    try camp.expectRest("lake of-phone of-tablet office-1 office-2", on: devices)
  }

  /// How the hub gets a new key in place of the lost key.
  enum Replacement: CaseIterable { case rotation, restore }

  /// Replaces the lost key. Returns the fingerprint of the new key.
  private func replaceKey(by replacement: Replacement) throws -> String {
    let outcome: CommandLineFixture.Outcome
    switch replacement {
    case .rotation:
      try carryAll(times: 1)
      outcome = camp.hub("keys", "rotate", "--lost", "--yes", "--json")
    case .restore:
      let old = try #require(try camp.hub("keys", "show", "--json").json["fingerprint"]?.stringValue)
      try camp.remove("hub")
      outcome = camp.hubAnywhere(
        "restore", camp.path("monday.satchel"), camp.path("hub"), "--new-keys", "--fingerprint", old, "--json")
    }
    return try #require(try outcome.json["fingerprint"]?.stringValue, "\(outcome.error)")
  }

  @Test(
    "with another key in place of the lost one, no device brings a bundle again and again",
    arguments: Replacement.allCases)
  func lostKey(replacement: Replacement) throws {
    try camp.restoreOlderKeys()
    let fingerprint = try replaceKey(by: replacement)
    #expect(try camp.olderKeys() == [])
    for _ in 0..<2 {
      for name in devices {
        let imported = camp.device(name, "import", try camp.emit(name), "--fingerprint", fingerprint)
        #expect(imported.code == 0, "\(imported.error)")
        try camp.carry(name)
      }
    }
    try carryAll(times: 2)
    try camp.sql("tablet/data.sqlite", "INSERT INTO sites VALUES ('later', 'of a device')")
    try carryAll(times: 2)
    try camp.expectRest("lake later of-phone of-tablet", on: devices)
    let carried = camp.device("tablet", "sync", camp.path("stick")).out
    #expect(!carried.contains("the hub itself made"), "\(carried)")
  }
}
