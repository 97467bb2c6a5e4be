import Foundation
import Testing

/// The hub replaced its key in the time that it lost. Its `keys/` folder was set back too.
@Suite("A new key in the time that a hub lost")
struct LostRotationTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"
  private let tablet = "tablet/data.sqlite"

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
      INSERT INTO sites VALUES ('lake', 'Lake');
      """, CommandLineFixture.definition(#"{ "sites": {} }"#), devices: ["tablet"])
    try camp.carry("tablet", rounds: 2)
    try camp.keepHub()
    #expect(camp.hub("keys", "rotate", "--yes").code == 0)
    for number in 1...2 {
      try camp.sql(office, "INSERT INTO sites VALUES ('office-\(number)', 'of the lost time')")
      try camp.carry("tablet", rounds: 3)
    }
    try camp.sql(tablet, "INSERT INTO sites VALUES ('tent', 'of the tablet')")
    try camp.copy("hub/keys", to: "newest")
    try camp.putBackHub()
    try camp.remove("stick")
    try camp.makeFolder("stick")
  }

  private func putKeysInPlace() throws {
    try camp.remove("hub/keys")
    try camp.copy("newest", to: "hub/keys")
  }

  private func expectAllBack() throws {
    for database in [office, tablet] {
      #expect(
        try camp.rows(database, "SELECT group_concat(id, ' ') FROM (SELECT id FROM sites ORDER BY id)")
          == "lake office-1 office-2 tent")
    }
    for outcome in [camp.hub("doctor"), camp.device("tablet", "doctor")] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
  }

  @Test("the hub names the newest copy of its keys before any device proves that it was set back")
  func refusal() throws {
    let stick = camp.path("stick")
    camp.device("tablet", "sync", stick)
    let refused = camp.hub("sync", stick)
    #expect(refused.error.contains("newest copy of its keys/"), "\(refused.out)\(refused.error)")
    #expect(!refused.error.contains("--full"), "\(refused.error)")
    let doctor = camp.hub("doctor")
    #expect(doctor.code != 0 && doctor.out.contains("newest copy of its keys/"), "\(doctor.out)")
    try putKeysInPlace()
    camp.hub("sync", stick)
    #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
    try camp.carry("tablet", rounds: 4)
    try expectAllBack()
  }

  @Test("the announcement of the key proves that the hub was set back, and no epoch begins without the key")
  func newestKeys() throws {
    let stick = camp.path("stick")
    #expect(camp.hub("emit", "--device", "tablet", "--full").code == 0)
    camp.hub("sync", stick)
    // The tablet refuses the hub's bundle. The tablet's next sync brings the announcement of the new key to the hub.
    camp.device("tablet", "sync", stick)
    camp.device("tablet", "sync", stick)
    let refused = camp.hub("sync", stick)
    #expect(refused.error.contains("This hub was set back"), "\(refused.out)\(refused.error)")
    let status = camp.hub("status")
    #expect(status.out.contains("newest copy of this hub's keys/"), "\(status.out)")
    let early = camp.hub("restore", "--in-place", "--yes")
    #expect(early.code != 0 && early.error.contains("newest copy of this hub's keys/"), "\(early.out)\(early.error)")
    try putKeysInPlace()
    #expect(!camp.hub("status").out.contains("newest copy of this hub's keys/"))
    let begun = camp.hub("restore", "--in-place", "--yes")
    #expect(begun.code == 0, "\(begun.error)")
    try camp.carry("tablet", rounds: 4)
    try expectAllBack()
  }
}
