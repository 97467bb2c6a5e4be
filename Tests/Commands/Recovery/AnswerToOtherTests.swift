import TestSupport
import Testing

/// A device's folder is restored from a backup. The hub then answers exports that the restored folder never made.
@Suite("After an answer to exports that it does not know, a device shows the hub its own history")
struct AnswerToOtherTests {
  private let camp: CommandLineFixture

  /// Makes a camp in which the hub's clock is an hour ahead of the device's clock.
  init() throws {
    camp = try CommandLineFixture()
    let first = try camp.by(SetClock(camp.platform.clock.milliseconds() + 3_600_000)) {
      try camp.open(
        "CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT)", CommandLineFixture.definition(#"{ "t": {} }"#),
        devices: ["tablet"])
      return try camp.emit("tablet")
    }
    #expect(camp.device("tablet", "import", first).code == 0)
  }

  private func write(_ row: String) throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO t VALUES ('\(row)', 'x')")
  }

  /// The number of the newest export that the device's folder knows.
  private func newest() throws -> String {
    try camp.rows("tablet/data.sqlite", "SELECT max(sequence) FROM satchel_exports")
  }

  /// Makes a backup of the folder, delivers another export, and restores the folder. Returns the hub's answer to this
  /// export.
  private func putBack() throws -> String {
    try camp.copy("tablet", to: "backup")
    try write("lost")
    try camp.deliver("tablet")
    let answer = try camp.emit("tablet")
    try camp.remove("tablet")
    try camp.copy("backup", to: "tablet")
    return answer
  }

  private func expectRefusal(of answer: String) throws {
    let refused = camp.device("tablet", "import", answer, "--json")
    #expect(try refused.json["bundles"]?.arrayValue?.first?["error"]?["reason"] == "older-database")
  }

  @Test("also if its database was rebuilt, and the hub's clock is ahead")
  func rebuilt() throws {
    try write("before the backup")
    try camp.deliver("tablet")
    let answer = try putBack()
    try camp.loseDatabase(of: "tablet")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(try newest() == "1")
    try expectRefusal(of: answer)
    let second = camp.hub("import", try camp.export("tablet"), "--json")
    #expect(try newest() == "2")
    #expect(try second.json["bundles"]?.arrayValue?.first?["error"]?["reason"] == "fork", "\(second.out)")
    let settled = camp.hub("device", "fork", "tablet", "--restored", "--keep", "2")
    #expect(settled.code == 0, "\(settled.error)")
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM t ORDER BY id") == "before the backup\nlost")
  }

  @Test("also if the device's clock was ahead at its last export, and is right now")
  func clockSetBack() throws {
    try write("before the backup")
    try camp.deliver("tablet")
    try write("in the backup")
    _ = try camp.by(SetClock(camp.platform.clock.milliseconds() + 86_400_000)) { try camp.export("tablet") }
    let answer = try putBack()
    try expectRefusal(of: answer)
    _ = try camp.export("tablet")
    #expect(try newest() == "3")
  }

  @Test("a record of an export that is made again has the time of the device's clock")
  func timeOfRecord() throws {
    try write("x")
    _ = try camp.export("tablet")
    let before = try camp.rows("tablet/data.sqlite", "SELECT created / 1000 FROM satchel_exports")
    try camp.loseDatabase(of: "tablet")
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT created / 1000 FROM satchel_exports") == before)
  }
}
