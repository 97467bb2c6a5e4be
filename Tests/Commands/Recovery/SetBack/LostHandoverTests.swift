import Foundation
import SatchelJSON
import Testing

/// In the time that the hub lost, the operator gave the tablet to ben.
@Suite("A hand-over in the time that a hub lost")
struct LostHandoverTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"
  private let tablet = "tablet/data.sqlite"

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE notes (id TEXT PRIMARY KEY, owner TEXT, words TEXT);
      INSERT INTO notes VALUES ('a', 'ann', 'office'), ('b', 'ben', 'office');
      """, CommandLineFixture.definition(#"{ "notes": { "visible": "owner = :user" } }"#), devices: ["tablet"])
    #expect(camp.hub("user", "add", "ben").code == 0)
    try camp.carry("tablet", rounds: 2)
    try camp.keepHub()
  }

  private func putBack() throws {
    try camp.putBackHub()
    try camp.remove("stick")
  }

  private func giveToBen() {
    let given = camp.hub("device", "set", "tablet", "--user", "ben", "--yes")
    #expect(given.code == 0, "\(given.error)")
  }

  /// Ann works and delivers. Then the tablet is given to ben, and ben works and delivers.
  private func workOfBoth() throws {
    try camp.sql(tablet, "INSERT INTO notes VALUES ('x', 'ann', 'by ann')")
    try camp.carry("tablet", rounds: 2)
    giveToBen()
    try camp.carry("tablet", rounds: 2)
    try camp.sql(
      tablet, "INSERT INTO notes VALUES ('y', 'ben', 'by ben'); UPDATE notes SET words = 'of ben' WHERE id = 'b'")
    try camp.carry("tablet", rounds: 2)
    try camp.sql(tablet, "UPDATE notes SET words = 'by ben again' WHERE id = 'y'")
  }

  private func notes(_ database: String) throws -> String {
    try camp.rows(database, "SELECT group_concat(id || ' ' || words, ', ') FROM (SELECT * FROM notes ORDER BY id)")
  }

  private func expectAllBack() throws {
    #expect(try notes(office) == "a office, b of ben, x by ann, y by ben again")
    #expect(try notes(tablet) == "b of ben, y by ben again")
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_conflicts") == "0")
    try expectAuthors()
    for outcome in [camp.hub("doctor"), camp.device("tablet", "doctor")] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
  }

  private func expectAuthors() throws {
    #expect(
      try camp.rows(office, "SELECT DISTINCT key, user FROM satchel_log WHERE device IS NOT NULL ORDER BY key")
        == "[\"b\"]|ben\n[\"x\"]|ann\n[\"y\"]|ben")
  }

  /// Both users work, and the hub is set back. Then a bundle of the device arrives before the new epoch begins.
  private func loseTimeOfBoth() throws {
    try workOfBoth()
    try putBack()
    try camp.carry("tablet")
    #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
  }

  @Test("a bundle for ben asks nothing about ann's rows, although the tablet is ann's here")
  func finishedEarly() throws {
    try loseTimeOfBoth()
    try camp.carry("tablet", rounds: 3)
    #expect(camp.hub("restore", "--finish", "--yes").code == 0)
    #expect(try camp.rows(office, #"SELECT count(*) FROM satchel_conflicts WHERE key = '["a"]'"#) == "0")
  }

  @Test("a device of an unknown user is held until the operator enters the hand-over, and nothing is lost")
  func enteredLate() throws {
    try loseTimeOfBoth()
    try camp.carry("tablet", rounds: 3)
    #expect(try notes(tablet) == "b of ben, y by ben again")
    #expect(try notes(office) == "a office, b office")
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_conflicts") == "0")
    let status = try camp.hub("status", "--json").json
    #expect(status["waiting"]?.arrayValue?.first?["reason"] == "other-user", "\(status)")
    let words = "The device tablet brings work of ben, and this hub's record says that it works for ann."
    let doctor = camp.hub("doctor")
    #expect(doctor.code != 0 && doctor.out.contains(words), "\(doctor.out)")
    let alone = camp.hub("emit", "--device", "tablet")
    #expect(alone.code != 0 && alone.error.contains(words), "\(alone.out)\(alone.error)")
    let all = camp.hub("emit", "--all")
    #expect(all.code == 0 && all.out.contains("tablet: its user is not known here, nothing was made"), "\(all.out)")
    giveToBen()
    try camp.carry("tablet", rounds: 4)
    try expectAllBack()
  }

  @Test("a device is not held if the operator enters the hand-over first, and its former user's work comes")
  func enteredEarly() throws {
    try loseTimeOfBoth()
    giveToBen()
    try camp.carry("tablet", rounds: 4)
    try expectAllBack()
  }

  @Test("the first bundle that comes after the new epoch is held too, if its user is unknown")
  func firstBundle() throws {
    try workOfBoth()
    try putBack()
    // The earlier bundles of both users are on a lost stick. Only the newest bundle arrives.
    #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
    let refused = camp.hub("import", try camp.export("tablet"))
    #expect(refused.error.contains("brings work of ben"), "\(refused.out)\(refused.error)")
    #expect(try notes(office) == "a office, b office")
    giveToBen()
    try camp.carry("tablet", rounds: 4)
    try expectAllBack()
  }

  @Test("the former user's last work, on a bundle of the lost time, comes in that user's name")
  func lastWorkOfFormer() throws {
    try camp.sql(tablet, "INSERT INTO notes VALUES ('x', 'ann', 'by ann')")
    try camp.carry("tablet", rounds: 2)
    try camp.sql(tablet, "INSERT INTO notes VALUES ('z', 'ann', 'last by ann')")
    giveToBen()
    try camp.answer("tablet")
    try putBack()
    #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
    giveToBen()
    try camp.carry("tablet", rounds: 4)
    #expect(try notes(office) == "a office, b office, x by ann, z last by ann")
    #expect(try notes(tablet) == "b office")
    #expect(
      try camp.rows(office, "SELECT DISTINCT key, user FROM satchel_log WHERE device IS NOT NULL ORDER BY key")
        == "[\"x\"]|ann\n[\"z\"]|ann")
  }

  /// The operator gives the device to ben and back to ann. Then ben's work of the lost time arrives. Expects the work
  /// of both.
  private func expectBackWithAnn() throws {
    giveToBen()
    let back = camp.hub("device", "set", "tablet", "--user", "ann", "--yes")
    #expect(back.code == 0, "\(back.error)")
    try camp.carry("tablet", rounds: 5)
    #expect(try notes(office) == "a office, b of ben, x by ann, y by ben again")
    #expect(try notes(tablet) == "a office, x by ann")
    try expectAuthors()
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("a hand-over that is entered and taken back at once lets both users' work in")
  func givenBackAtOnce() throws {
    try loseTimeOfBoth()
    try expectBackWithAnn()
  }

  @Test("a device that gets a bundle for its former user first delivers the work of both users")
  func emittedFirst() throws {
    try workOfBoth()
    try putBack()
    // The hub has no bundle of the device since it was set back. So it does not know which users' work the device has.
    #expect(camp.hub("restore", "--in-place", "--yes").code == 0)
    try camp.answer("tablet")
    try expectBackWithAnn()
  }
}
