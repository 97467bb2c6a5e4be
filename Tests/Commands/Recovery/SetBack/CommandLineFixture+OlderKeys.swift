import SatchelJSON
import Testing

/// A hub that is restored with an older copy of its keys.
extension CommandLineFixture {
  /// Makes a backup of the hub. Then the hub makes a new key, and the tablet imports bundles of this key. The folder
  /// `newest` gets a copy of the keys.
  func workWithNewKey() throws {
    try backUp()
    #expect(hub("keys", "rotate").code == 0)
    for number in 1...2 {
      try sql("office.sqlite", "INSERT INTO sites VALUES ('office-\(number)', 'of the lost time')")
      try carry("tablet", rounds: 2)
    }
    try copy("hub/keys", to: "newest")
  }

  /// Restores the hub with the keys of the backup. Nothing is on the stick.
  func restoreOlderKeys() throws {
    try restore()
    try remove("stick")
    try makeFolder("stick")
  }

  /// Replaces the hub's keys with the copy that `workWithNewKey` made.
  func putNewestKeys() throws {
    try remove("hub/keys")
    try copy("newest", to: "hub/keys")
  }

  /// The devices that show the hub that its keys may be older.
  func olderKeys() throws -> JSONValue? { try hub("status", "--json").json["older_keys"] }

  /// Expects these sites at the hub and on these devices, and that no command reports anything more.
  func expectRest(_ sites: String, on devices: [String]) throws {
    for database in ["office.sqlite"] + devices.map({ "\($0)/data.sqlite" }) {
      #expect(
        try rows(database, "SELECT group_concat(id, ' ') FROM (SELECT id FROM sites ORDER BY id)") == sites,
        "\(database)")
    }
    let synced = hub("sync", path("stick"))
    #expect(synced.code == 0, "\(synced.out)\(synced.error)")
    #expect(try hub("status", "--json").json["recovery"] == .null)
    for outcome in [hub("doctor")] + devices.map({ device($0, "doctor") }) {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
  }
}
