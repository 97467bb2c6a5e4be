import Foundation
import Testing

/// A device's database is gone or useless while exports are on their way. Its files in `bundles` show that it had one.
@Suite("A lost database and exports that did not arrive")
struct LostDatabaseTests {
  enum Harm: CaseIterable { case missing, empty, withoutRows, head, middle, garbage }
  enum Way: CaseIterable { case sync, full, delta, doctor }

  private let camp: CommandLineFixture
  private let database = "tablet/data.sqlite"
  private static let schema = "CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT, n INTEGER DEFAULT 0)"

  /// A tablet whose hub knows its first work. More work is in exports that did not arrive.
  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      "\(Self.schema); INSERT INTO notes (id, words) VALUES ('a', '0'), ('b', '0')",
      CommandLineFixture.definition(#"{ "notes": { "columns": { "n": "sum" } } }"#), devices: ["tablet"])
    try camp.sql(database, "UPDATE notes SET words = '1' WHERE id = 'a'")
    try camp.carry("tablet", rounds: 2)
  }

  private func work(exports: Int) throws {
    for number in 1...exports {
      try camp.sql(
        database,
        """
        INSERT INTO notes (id, words) VALUES ('x\(number)', 'work'); DELETE FROM notes WHERE id = 'x\(number - 1)';
        UPDATE notes SET n = n + 1, words = 'w\(number)' WHERE id = 'b'
        """)
      _ = try camp.export("tablet")
    }
  }

  private func lose(_ harm: Harm) throws {
    let file = URL(fileURLWithPath: camp.path(database))
    let pages = try camp.rows(
      database, "SELECT rootpage FROM sqlite_schema WHERE name IN ('notes', 'satchel_exports')")
    var bytes = try Data(contentsOf: file)
    func damage(page: Int) {
      bytes.replaceSubrange((page - 1) * 4096..<page * 4096, with: Data(repeating: 0x5a, count: 4096))
    }
    try camp.loseDatabase(of: "tablet")
    switch harm {
    case .missing: return
    case .empty: bytes = Data()
    case .withoutRows: return try camp.sql(database, Self.schema)
    case .head: damage(page: 1)
    // The pages of the app's table and of Satchel's list of exports.
    case .middle: for page in pages.split(separator: "\n") { damage(page: try #require(Int(page))) }
    case .garbage: bytes = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) })
    }
    try bytes.write(to: file)
  }

  private func notes(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, words, n FROM notes ORDER BY id")
  }

  private func goOn(_ way: Way) throws {
    switch way {
    case .sync: break
    case .full: camp.device("tablet", "import", try camp.emit("tablet", full: true))
    case .delta:
      try camp.sql("office.sqlite", "UPDATE notes SET words = 'office' WHERE id = 'a'")
      camp.device("tablet", "import", try camp.emit("tablet"))
    case .doctor: camp.device("tablet", "doctor", "--repair")
    }
  }

  @Test(
    "nothing that was exported is overtaken or lost, also if the archive is gone with the database",
    arguments: Harm.allCases, Way.allCases)
  func withoutArchive(harm: Harm, way: Way) throws {
    try expectKept(harm, way, exports: way == .sync || way == .delta ? 2 : 1) {
      try camp.remove("tablet/bundles/archive")
    }
  }

  @Test(
    "a database that is made again goes on where its exports ended, however many of them the hub lacks",
    arguments: Harm.allCases, [(1, Way.full), (2, .sync), (5, .full), (5, .doctor)])
  func withArchive(harm: Harm, story: (exports: Int, way: Way)) throws {
    try expectKept(harm, story.way, exports: story.exports) {}
  }

  private func expectKept(_ harm: Harm, _ way: Way, exports: Int, alsoLosing loss: () throws -> Void) throws {
    try work(exports: exports)
    try lose(harm)
    try loss()
    #expect(try camp.device("tablet", "status", "--json").json["state"] != "initial")
    try goOn(way)
    for _ in 1...2 { try camp.carry("tablet") }
    if way != .full { camp.device("tablet", "import", try camp.emit("tablet", full: true)) }
    for _ in 1...3 { try camp.carry("tablet") }
    let expected = "a|\(way == .delta ? "office" : "1")|0\nb|w\(exports)|\(exports)\nx\(exports)|work|0"
    #expect(try notes("office.sqlite") == expected)
    #expect(try notes(database) == expected)
    let doctor = camp.device("tablet", "doctor")
    #expect(doctor.code == 0, "\(doctor.out)\(doctor.error)")
  }

  @Test("sync carries the exports of a workspace that has nothing else left")
  func outboxAlone() throws {
    try work(exports: 2)
    try lose(.missing)
    try camp.remove("tablet/bundles/archive")
    let synced = camp.device("tablet", "sync", camp.path("stick"))
    #expect(synced.code != 0 && (synced.out + synced.error).contains("database is missing"), "\(synced.out)")
    camp.hub("sync", camp.path("stick"))
    #expect(try notes("office.sqlite") == "a|1|0\nb|w2|2\nx2|work|0")
  }
}
