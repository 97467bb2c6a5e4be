import Foundation
import Testing

/// Camps in which bundles are on their way, for tests of the doctor.
extension CommandLineFixture {
  /// Makes a camp after one exchange of bundles. A second export of the tablet and an emission for the tablet have not
  /// arrived.
  static func onTheWay() throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'first' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 2)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'second' WHERE id = 'r1'")
    camp.device("tablet", "export")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Great lake' WHERE id = 'lake'")
    camp.hub("emit", "--device", "tablet")
    return camp
  }

  func move(_ name: String, to target: String) throws {
    try FileManager.default.moveItem(atPath: path(name), toPath: path(target))
  }

  /// The hub's next version adds a column to the reviews. The tablet imports it, writes a value into the column, and
  /// exports.
  func exportAfterMigration() throws {
    try write("two.json", Self.definition.replacingOccurrences(of: "\"version\": 1", with: "\"version\": 2"))
    try write("two.sql", "ALTER TABLE reviews ADD COLUMN \"more\" TEXT")
    let applied = hub("dataset", "apply", path("two.json"), "--migration", path("two.sql"))
    #expect(applied.code == 0, "\(applied.error)")
    answer("tablet", 3)
    try sql("tablet/data.sqlite", "UPDATE reviews SET \"more\" = 'exported' WHERE id = 'r0'")
    #expect(device("tablet", "export").code == 0)
  }
}
