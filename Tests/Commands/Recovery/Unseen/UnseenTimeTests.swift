import Foundation
import SatchelJSON
import Testing

/// If capture did not record a write, nothing shows when the row was written.
@Suite("Unseen writes under the policy newest")
struct UnseenTimeTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openWoods(
      as: CommandLineFixture.woods.replacingOccurrences(
        of: #""sites": {}"#, with: #""sites": { "conflict": "newest" }"#))
  }

  @Test("an unseen write that an import takes up wins over no row of the office: a person decides")
  func takenUp() throws {
    try camp.writeUnseen(
      "tablet/data.sqlite",
      "INSERT INTO sites VALUES ('bog', 'Fen'); UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
    try camp.sql(
      "office.sqlite", "INSERT INTO sites VALUES ('marsh', 'Fen'); UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    #expect(try camp.fetchForTablet()["taken_up"]?.integerValue == 2)
    let rows = "SELECT id || ' ' || name FROM sites ORDER BY id"
    #expect(try camp.rows("tablet/data.sqlite", rows) == "hill Hill\nlake Sea\nmarsh Fen")
    #expect(try camp.keptUnseen() == ["unique", "update/update"])
    camp.deliver("tablet", 2)
    let atHub = try camp.listedConflicts()
    #expect(Set(atHub.map { $0["device_values"]?["name"]?.stringValue }) == ["Fen", "Swamp"], "\(atHub)")
    #expect(atHub.allSatisfy { $0["state"]?.stringValue == "open" })
    #expect(try camp.rows("office.sqlite", rows) == "hill Hill\nlake Sea\nmarsh Fen")
  }
}
