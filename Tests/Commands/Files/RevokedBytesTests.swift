import Foundation
import SatchelPlatform
import SatchelSQLite
import TestSupport
import Testing

/// After a revoke, the bytes of the removed rows must not remain in the device's files.
@Suite("Revoked bytes")
struct RevokedBytesTests {
  let camp: CommandLineFixture

  private static let count = 300
  private static let revoked = (0..<count).filter { $0 % 3 != 0 }.map { Marker("Revoked\(100_000 + $0)") }

  init() throws {
    camp = try CommandLineFixture()
    // The rows have different lengths. One of them needs many pages.
    let rows = (0..<Self.count).map { number in
      let words = String(
        repeating: number % 3 == 0 ? "Seen \(number) " : "Revoked\(100_000 + number) ",
        count: number == 7 ? 1500 : number % 40 + 1)
      return "(\(number), \(number % 3 == 0 ? 1 : 2), '\(words)', 'x')"
    }
    try camp.sql(
      "office.sqlite",
      """
      CREATE TABLE notes (id INTEGER PRIMARY KEY, tier INTEGER NOT NULL, words TEXT, more TEXT);
      CREATE INDEX notes_by_words ON notes (words);
      INSERT INTO notes VALUES \(rows.joined(separator: ", "));
      """)
    try camp.write(
      "camp.json",
      """
      { "dataset": "camp", "version": 1, "brake": { "delete": "100%" }, "attributes": { "tier": "integer" },
        "tables": { "notes": { "visible": "tier <= :tier" } } }
      """
    )
    camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann", "tier=2")
    #expect(camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet")).code == 0)
  }

  /// The markers of revoked rows that these files still contain.
  private func left(in names: [String]) throws -> [String] {
    let files = names.filter { FileManager.default.fileExists(atPath: camp.path("tablet/\($0)")) }
    let bytes = try files.flatMap { try camp.read("tablet/\($0)") }
    return Self.revoked.filter { $0.isIn(bytes) }.map(\.text)
  }

  private static let database = ["data.sqlite", "data.sqlite-wal", "data.sqlite-journal", "data.sqlite-shm"]

  @Test(
    """
    none of their bytes are in the database, its log or its journal, while an app has it open, which would leave them \
    there itself
    """,
    arguments: ["DELETE", "WAL"])
  func database(journal: String) throws {
    let app = try Database(path: camp.path("tablet/data.sqlite"), mode: .readWrite)
    try app.execute("PRAGMA journal_mode = \(journal); PRAGMA secure_delete = OFF; PRAGMA wal_autocheckpoint = 0")
    try app.execute("UPDATE notes SET more = 'pending' WHERE id IN (1, 7); UPDATE notes SET more = 'sent' WHERE id = 2")
    #expect(try left(in: Self.database).count == Self.revoked.count)
    camp.hub("user", "set", "ann", "tier=1")
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM notes WHERE tier = 2") == "0")
    let left = try left(in: Self.database)
    #expect(left == [])
    // The conflict keeps ann's own values. Nothing else of these rows remains.
    let kept = try camp.rows("tablet/data.sqlite", "SELECT group_concat(device_values, ' ') FROM satchel_conflicts")
    #expect(kept.contains(#"{"more":"pending"}"#))
    withExtendedLifetime(app) {}
  }

  @Test("where a program reads for long, the import does not wait for it, and the log goes with the next one")
  func reader() throws {
    let app = try Database(path: camp.path("tablet/data.sqlite"), mode: .readWrite)
    try app.execute("PRAGMA journal_mode = WAL; BEGIN")
    let before = try app.first("SELECT count(*) FROM notes") { $0.integer(0) }
    camp.hub("user", "set", "ann", "tier=1")
    camp.answer("tablet", 2)
    let during = try app.first("SELECT count(*) FROM notes") { $0.integer(0) }
    #expect(before == during)
    try app.execute("COMMIT")
    try camp.sql("office.sqlite", "UPDATE notes SET more = 'again' WHERE id = 0")
    camp.answer("tablet", 3)
    let left = try left(in: Self.database)
    #expect(left == [])
  }

  @Test("the bundles that brought them go with the next full one")
  func archive() throws {
    func archived() throws -> [UInt8] {
      try FileManager.default.contentsOfDirectory(atPath: camp.path("tablet/bundles/archive")).flatMap {
        try StockTool.zstd("-dc", camp.path("tablet/bundles/archive/\($0)"), in: camp.root).output
      }
    }
    camp.hub("user", "set", "ann", "tier=1")
    camp.answer("tablet", 2)
    let before = try archived()
    #expect(Self.revoked.contains { $0.isIn(before) })
    camp.hub("emit", "--device", "tablet", "--full")
    #expect(camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel")).code == 0)
    let after = try archived()
    #expect(!Self.revoked.contains { $0.isIn(after) })
  }
}
