import Foundation
import Testing

/// A device that loses a row must not learn whether the row was deleted, or only hidden from its user.
@Suite("Rows that go from a device")
struct LostRowTests {
  private static let schema = """
    CREATE TABLE sites (id TEXT PRIMARY KEY, tier INTEGER, name TEXT);
    CREATE TABLE notes (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), words TEXT);
    INSERT INTO sites VALUES ('lake', 1, 'Lake'), ('hill', 1, 'Hill');
    INSERT INTO notes VALUES ('n', 'hill', 'first');
    """

  /// What the device does, by generation.
  private static let acts = [
    ["UPDATE sites SET name = 'mine' WHERE id = 'lake'"],
    ["UPDATE sites SET name = 'mine' WHERE id = 'lake'", "UPDATE sites SET name = 'again' WHERE id = 'lake'"],
    ["DELETE FROM sites WHERE id = 'lake'"],
    ["DELETE FROM sites WHERE id = 'lake'", "INSERT INTO sites VALUES ('lake', 1, 'again')"],
    ["INSERT INTO notes VALUES ('m', 'lake', 'mine')"],
    ["INSERT INTO notes VALUES ('m', 'lake', 'mine')", "UPDATE notes SET words = 'again' WHERE id = 'm'"],
    ["UPDATE notes SET site = 'lake', words = 'moved' WHERE id = 'n'"],
    ["UPDATE sites SET name = 'mine' WHERE id = 'lake'; INSERT INTO notes VALUES ('m', 'lake', 'mine')"],
  ]

  /// - Returns: what the device has, and what it is told, after the row went from it.
  private func outcome(_ office: String, _ acts: [String], policy: String, importsFirst: Bool) throws -> [String] {
    let quarrel = try Quarrel(
      Self.schema,
      #""sites": { "visible": "tier <= :tier", "conflict": "\#(policy)" }, "notes": { "conflict": "\#(policy)" }"#)
    let camp = quarrel.camp
    for act in acts {
      try camp.sql("tablet/data.sqlite", act)
      _ = try camp.export("tablet")
    }
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", office)
    if importsFirst { try camp.answer("tablet") }
    try camp.deliver("tablet")
    try camp.answer("tablet")
    return try [
      camp.rows("tablet/data.sqlite", "SELECT * FROM sites ORDER BY id"),
      camp.rows("tablet/data.sqlite", "SELECT * FROM notes ORDER BY id"),
      camp.rows(
        "tablet/data.sqlite",
        """
        SELECT table_name, key, operation, kind, state, base_values, hub_values, device_values, winners, winner, note
        FROM satchel_conflicts
        ORDER BY table_name, key, generation
        """),
    ]
  }

  @Test(
    "a device is told the same of a row that was deleted and of one that was hidden", arguments: acts,
    ["hub", "device", "newest", "manual"])
  func alike(_ acts: [String], policy: String) throws {
    for importsFirst in [false, true] {
      let deleted = try outcome(
        "DELETE FROM sites WHERE id = 'lake'", acts, policy: policy, importsFirst: importsFirst)
      let hidden = try outcome(
        "UPDATE sites SET tier = 9 WHERE id = 'lake'", acts, policy: policy, importsFirst: importsFirst)
      #expect(deleted == hidden, "imports first: \(importsFirst)")
      #expect(!deleted[0].contains("lake"))
    }
  }
}
