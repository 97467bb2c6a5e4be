import SatchelJSON
import Testing

/// Writes to the hub's own database that capture does not record.
@Suite("Unseen writes at the hub")
struct UnseenAtHubTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.openWoods()
    try camp.writeUnseen("office.sqlite", "UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
  }

  private func office() throws -> String { try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") }

  @Test("the hub's doctor finds what was written unseen there, and a repair sends it to the devices")
  func repaired() throws {
    let looked = camp.hub("doctor", "--json")
    #expect(looked.code == 1)
    #expect(try looked.json["unseen"]?["sites"]?["updated"] == 1, "\(looked.out)")
    #expect(camp.hub("doctor", "--repair").code == 0)
    try camp.answer("tablet")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Swamp")
  }

  @Test("a device's change replaces what was written unseen at the hub, and only the row's history has the value then")
  func replaced() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    try camp.deliver("tablet")
    #expect(try office() == "Pond")
    #expect(try camp.hub("conflicts", "--json").json["conflicts"] == [])
    #expect(camp.hub("doctor").code == 0)
    let changes = try camp.hub("history", "sites", "lake", "--json").json["changes"]?.arrayValue ?? []
    #expect(changes.last?["was"]?["name"] == "Swamp", "\(changes)")
  }
}
