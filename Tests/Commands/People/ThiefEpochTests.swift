import Foundation
import SatchelJSON
import Testing

/// A thief has the lost key of the hub, and signs a bundle in the epoch that began with the hub's new key.
@Suite("A thief in a new epoch")
struct ThiefEpochTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  /// Makes a copy of the hub for the thief. Call it before the hub's key is replaced.
  private func copyHub() throws {
    try FileManager.default.copyItem(atPath: camp.path("hub"), toPath: camp.path("thief"))
    try FileManager.default.copyItem(atPath: camp.path("office.sqlite"), toPath: camp.path("copy.sqlite"))
    let settings = String(decoding: try camp.read("thief/satchel.json"), as: UTF8.self)
    try camp.write("thief/satchel.json", settings.replacing("office.sqlite", with: "copy.sqlite"))
  }

  /// Every bundle of the hub names the present epoch, so the thief knows it. Returns a bundle that the thief makes in
  /// this epoch.
  private func forge() throws -> String {
    let epoch = "SELECT epoch FROM satchel_hub"
    let (former, present) = try (camp.rows("copy.sqlite", epoch), camp.rows("office.sqlite", epoch))
    try camp.sql(
      "copy.sqlite",
      """
      UPDATE sites SET name = 'forged' WHERE id = 'lake'; INSERT INTO satchel_epochs VALUES ('\(former)', 0);
      UPDATE satchel_hub SET epoch = '\(present)'
      """)
    return try emit(from: "thief")
  }

  private func emit(from hub: String) throws -> String {
    let emitted = camp.hubAnywhere("-C", camp.path(hub), "emit", "--device", "tablet", "--full", "--json")
    return try #require(try emitted.json["emissions"]?.arrayValue?.first?["file"]?.stringValue)
  }

  @Test("work on a thief's bundle of the new epoch comes in after one more new key, as its refusal says")
  func newEpoch() throws {
    try copyHub()
    #expect(camp.hub("keys", "rotate", "--lost", "--yes").code == 0)
    let misled = camp.device("tablet", "import", try forge())
    #expect(misled.code == 0, "\(misled.error)")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    let exported = try #require(try camp.device("tablet", "export", "--json").json["file"]?.stringValue)
    let refused = camp.hub("import", exported)
    #expect(refused.code != 0 && refused.error.contains("a lost key of this hub signed"), "\(refused.error)")
    #expect(refused.error.contains("satchel-hub keys rotate --lost --again"), "\(refused.error)")

    let again = camp.hub("keys", "rotate", "--lost", "--again", "--yes", "--json")
    let made = try #require(try again.json["fingerprint"]?.stringValue)
    let back = camp.device("tablet", "import", try emit(from: "hub"), "--fingerprint", made)
    #expect(back.code == 0, "\(back.error)")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "mine")
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT name FROM sites WHERE id = 'lake'") == "Lake")
    }
  }
}
