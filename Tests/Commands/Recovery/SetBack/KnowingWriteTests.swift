import Testing

/// Device a knew a write of device b, and overwrote it. Then the hub is set back, and both devices deliver again.
@Suite("Changes that knew another change, at a hub that was set back")
struct KnowingWriteTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  enum Act: CaseIterable {
    case update, delete, insertAndDelete, freedValue, formerValue, formerRow

    /// The first statement is from b. The second is from a, and overwrites the result of the first.
    var statements: (first: String, second: String) {
      switch self {
      case .update:
        ("UPDATE notes SET name = 'by b' WHERE id = 'x'", "UPDATE notes SET name = 'by a' WHERE id = 'x'")
      case .delete: ("UPDATE notes SET name = 'by b' WHERE id = 'x'", "DELETE FROM notes WHERE id = 'x'")
      case .insertAndDelete: ("INSERT INTO notes VALUES ('new', 'by b')", "DELETE FROM notes WHERE id = 'new'")
      case .freedValue:
        (
          "UPDATE notes SET name = 'taken' WHERE id = 'x'",
          "UPDATE notes SET name = 'free' WHERE id = 'x'; INSERT INTO notes VALUES ('y', 'taken')"
        )
      case .formerValue:
        ("UPDATE notes SET name = 'by b' WHERE id = 'x'", "UPDATE notes SET name = 'office' WHERE id = 'x'")
      case .formerRow: ("DELETE FROM notes WHERE id = 'x'", "INSERT INTO notes VALUES ('x', 'office')")
      }
    }
  }

  private func rows(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, name FROM notes ORDER BY id")
  }

  @Test(
    "the later change counts by every policy, whichever device delivers again first",
    arguments: ["manual", "hub", "device", "newest"], Act.allCases)
  func laterChange(policy: String, act: Act) throws {
    try camp.open(
      "CREATE TABLE notes (id TEXT PRIMARY KEY, name TEXT UNIQUE); INSERT INTO notes VALUES ('x', 'office');",
      CommandLineFixture.definition(#"{ "notes": { "conflict": "\#(policy)" } }"#), devices: ["a", "b"])
    for device in ["a", "b"] { try camp.carry(device, rounds: 2) }
    try camp.keepHub()
    try camp.sql("b/data.sqlite", act.statements.first)
    for device in ["b", "a"] { try camp.carry(device) }
    camp.awaitLaterTime()
    try camp.sql("a/data.sqlite", act.statements.second)
    for device in ["a", "b"] { try camp.carry(device) }
    let truth = try rows("office.sqlite")
    #expect(try rows("b/data.sqlite") == truth)
    for first in ["a", "b"] {
      try camp.putBackHub()
      try camp.copy("a", to: "a-\(first)")
      try camp.copy("b", to: "b-\(first)")
      #expect(camp.hub("restore", "--in-place").code == 0)
      for _ in 1...3 { for device in [first, first == "a" ? "b" : "a"] { try camp.carry(device) } }
      for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite"] {
        #expect(try rows(database) == truth, "\(database), \(first) first")
      }
      let open = "SELECT count(*) FROM satchel_conflicts WHERE state IN ('open', 'held')"
      #expect(try camp.rows("office.sqlite", open) == "0", "\(first) first")
      for device in ["a", "b"] {
        try camp.remove(device)
        try camp.copy("\(device)-\(first)", to: device)
      }
      try camp.remove("stick")
    }
  }
}
