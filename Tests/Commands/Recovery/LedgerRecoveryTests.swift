import Foundation
import SatchelJSON
import Testing

/// Another file has replaced a device's database. The device must still know what the hub's bundles stated.
@Suite("A rebuilt database knows again all that the hub's bundles stated")
struct LedgerRecoveryTests {
  enum Loss: CaseIterable { case deleted, oldCopy, madeByApp }

  /// Replaces the tablet's database in this way, and repairs it.
  private func lose(_ loss: Loss, on camp: CommandLineFixture) throws {
    switch loss {
    case .deleted: try camp.remove("tablet/data.sqlite")
    case .oldCopy:
      try camp.remove("tablet/data.sqlite")
      try camp.copy("old.sqlite", to: "tablet/data.sqlite")
    case .madeByApp: try camp.replaceFile("DELETE FROM reviews; DELETE FROM sites;")
    }
    let repaired = camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.error)")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  /// The tablet exports and imports. By the export, Satchel can later recognise an old copy of the database.
  private func exchange(_ camp: CommandLineFixture) throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = stars + 1 WHERE id = 'r1'")
    try camp.deliver("tablet")
    try camp.answer("tablet")
  }

  @Test("the keys that are revoked", arguments: Loss.allCases)
  func revokedKeys(loss: Loss) throws {
    let camp = try CommandLineFixture.watched()
    try camp.copy("tablet/data.sqlite", to: "old.sqlite")
    #expect(camp.hub("keys", "revoke", "phone").code == 0)
    try exchange(camp)
    let revoked = { try camp.device("tablet", "keys", "show", "--json").json["revoked"]?.arrayValue }
    let known = try revoked()
    #expect(known?.count == 1)
    try lose(loss, on: camp)
    #expect(try revoked() == known)
  }

  @Test("the epochs of the hub: a late bundle of a former one is nothing new", arguments: [Loss.deleted, .madeByApp])
  func formerEpochs(loss: Loss) throws {
    let camp = try CommandLineFixture.watched()
    try exchange(camp)
    let file = try camp.emit("tablet", full: true)
    try FileManager.default.copyItem(atPath: file, toPath: camp.path("late.satchel"))
    #expect(camp.hub("restore", "--in-place").code == 0)
    try camp.answer("tablet")
    try lose(loss, on: camp)
    let late = camp.device("tablet", "import", camp.path("late.satchel"))
    #expect(late.code == 0, "\(late.error)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM satchel_estrangement") == "0")
  }

  @Test("what the hub can read: the next export proves the rows", arguments: Loss.allCases)
  func proof(loss: Loss) throws {
    let camp = try CommandLineFixture.watched()
    try camp.copy("tablet/data.sqlite", to: "old.sqlite")
    try exchange(camp)
    try lose(loss, on: camp)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    #expect(try camp.device("tablet", "export", "--prove", "--json").json["proof"] == true)
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.hub("compare", "tablet", "--json").json["proof"]?["result"]?.stringValue == "verified")
  }

  @Test("what columns were called: one got another name, and a new one has its name", arguments: Loss.allCases)
  func renamedColumn(loss: Loss) throws {
    let camp = try CommandLineFixture.watched()
    try camp.write(
      "two.json", CommandLineFixture.definition.replacingOccurrences(of: "\"version\": 1", with: "\"version\": 2"))
    try camp.write(
      "two.sql",
      """
      ALTER TABLE reviews RENAME COLUMN words TO text;
      ALTER TABLE reviews ADD COLUMN words TEXT DEFAULT 'none';
      """)
    let applied = camp.hub("dataset", "apply", camp.path("two.json"), "--migration", camp.path("two.sql"))
    #expect(applied.code == 0, "\(applied.error)")
    try exchange(camp)
    try camp.copy("tablet/data.sqlite", to: "old.sqlite")
    try exchange(camp)
    let query = "SELECT id, text, words FROM reviews WHERE author = 'ann' ORDER BY id"
    let known = try camp.rows("tablet/data.sqlite", query)
    if loss == .madeByApp {
      try camp.remove("tablet/data.sqlite")
      try camp.sql(
        "tablet/data.sqlite",
        """
        CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT, tier INTEGER);
        CREATE TABLE reviews (
          id TEXT PRIMARY KEY, site TEXT, author TEXT, stars INTEGER, text TEXT, words TEXT DEFAULT 'none');
        """)
      #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    } else {
      try lose(loss, on: camp)
    }
    #expect(try camp.rows("tablet/data.sqlite", query) == known)
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", query) == known)
    #expect(try camp.hub("compare", "tablet", "--json").json["proof"]?["result"]?.stringValue == "verified")
  }
}
