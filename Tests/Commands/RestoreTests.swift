import SatchelJSON
import Testing

/// A hub that was lost and comes back from a backup, worked by the commands.
@Suite struct RestoreTests {
  private let camp: Camp

  init() throws {
    camp = try Camp()
    try camp.open()
  }

  /// Makes a backup, with a copy of the keys as somebody keeps one.
  private func backUp(_ name: String = "monday.satchel") throws {
    #expect(camp.hub("backup", camp.path(name)).code == 0)
    try camp.copy("hub/keys", to: "safe")
  }

  /// The disk breaks, and the hub comes back from the backup. Its database lies in its folder from then on.
  private func restore(_ name: String = "monday.satchel") throws {
    try camp.remove("hub")
    try camp.remove("office.sqlite")
    let outcome = camp.hubAnywhere("restore", camp.path(name), camp.path("hub"), "--keys", camp.path("safe"))
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  private let office = "hub/office.sqlite"

  /// A stick goes from the device to the hub and back, so often.
  private func carry(_ device: String, rounds: Int = 1) throws {
    try camp.makeFolder("stick")
    for _ in 0..<rounds {
      camp.device(device, "sync", camp.path("stick"))
      camp.hub("sync", camp.path("stick"))
    }
    camp.device(device, "sync", camp.path("stick"))
  }

  private func reviews(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, stars, words FROM reviews ORDER BY id")
  }

  private func write(_ device: String, _ sql: String) throws { try camp.sql("\(device)/data.sqlite", sql) }

  @Test("what a device delivered after the backup comes back from bundles/sent, with what it wrote since on top")
  func redelivery() throws {
    try carry("tablet")
    try backUp()
    // Two bundles that the hub takes and acknowledges, and then loses.
    try write("tablet", "INSERT INTO reviews VALUES ('n1', 'lake', 'ann', 3, 'new'), ('n2', 'lake', 'ann', 3, 'gone soon')")
    try carry("tablet")
    try write("tablet", "UPDATE reviews SET words = 'calm' WHERE id = 'r1'; DELETE FROM reviews WHERE id = 'n2'")
    try carry("tablet", rounds: 2)
    // What no export holds yet is written into a row that the restored hub has never seen.
    try write(
      "tablet", "UPDATE reviews SET stars = 5 WHERE id = 'n1'; INSERT INTO reviews VALUES ('n3', 'hill', 'ann', 1, 'late')")
    let before = try reviews("tablet/data.sqlite")

    try restore()
    #expect(try reviews(office) == "r1|4|quiet\nr2|5|dark")
    camp.hub("emit", "--all")
    let outcome = camp.device("tablet", "import", try camp.newestBundle(in: "hub/bundles/outbox", "camp-hub-tablet-"))
    #expect(outcome.code == 0)
    #expect(outcome.out.contains("restored from a backup"))
    #expect(try reviews("tablet/data.sqlite") == before)

    try carry("tablet", rounds: 3)
    #expect(try reviews(office) == "n1|5|new\nn3|1|late\nr1|4|calm\nr2|5|dark")
    #expect(try reviews("tablet/data.sqlite") == "n1|5|new\nn3|1|late\nr1|4|calm")
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_conflicts") == "0")
    let status = try camp.device("tablet", "status", "--json").json
    #expect(status["not_exported"] == 0)
    #expect(status["redeliver"]?.arrayValue?.isEmpty == true)
    for outcome in [camp.hub("doctor"), camp.hub("audit"), camp.device("tablet", "doctor")] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
  }
}
