import Foundation
import Testing

/// The database records a bundle before the bundle's file gets its name. In these tests the file never gets its name.
@Suite("A bundle whose file could not be written")
struct UnwrittenTests {
  /// Makes a folder under the name of a file, so that the file cannot be written.
  private func block(_ camp: CommandLineFixture, _ file: String) throws {
    try FileManager.default.createDirectory(atPath: camp.path("\(file)/full"), withIntermediateDirectories: true)
  }

  private func free(_ camp: CommandLineFixture, _ file: String) throws {
    try FileManager.default.removeItem(atPath: camp.path(file))
  }

  @Test("of a device: all that was in it is in the next export, and the hub takes that")
  func export() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('new', 'lake', 'ann', 3, 'first')")
    try block(camp, "tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    #expect(camp.device("tablet", "export").code == 1)
    try free(camp, "tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'second' WHERE id = 'new'")
    camp.deliver("tablet", 2)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'new'") == "second")
    #expect(camp.device("tablet", "export").out.contains("Nothing"))
  }

  @Test("of the hub: all that was in it is in the next one, and the device takes that")
  func emission() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Great Lake' WHERE id = 'lake'")
    try block(camp, "hub/bundles/outbox/camp-hub-tablet-2.satchel")
    #expect(camp.hub("emit", "--device", "tablet").code == 1)
    try free(camp, "hub/bundles/outbox/camp-hub-tablet-2.satchel")
    camp.answer("tablet", 3)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Great Lake")
  }
}
