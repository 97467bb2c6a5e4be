import Foundation
import Testing

/// A device loses its database while exports are on their way. The files in `bundles` show that the device had a
/// database.
@Suite("A lost database and exports that did not arrive")
struct LostDatabaseTests {
  enum Harm: CaseIterable { case missing, empty, withoutRows, head, middle, garbage }
  enum Way { case sync, full, delta, doctor }

  /// How the database is lost, how many exports are on their way then, and which command follows.
  struct Story: Sendable, CustomTestStringConvertible {
    let harm: Harm
    let exports: Int
    let way: Way

    init(_ harm: Harm, _ exports: Int, _ way: Way) { (self.harm, self.exports, self.way) = (harm, exports, way) }

    var testDescription: String { "\(harm), exports: \(exports), \(way)" }
  }

  /// Each harm occurs with four combinations of exports and way. Each other combination occurs with two harms, so that
  /// all harms meet all ways.
  private static let stories =
    Harm.allCases.flatMap { harm in
      [Story(harm, 1, .full), Story(harm, 2, .sync), Story(harm, 5, .full), Story(harm, 5, .doctor)]
    } + [
      Story(.missing, 1, .sync), Story(.middle, 1, .sync),
      Story(.empty, 1, .delta), Story(.head, 1, .delta),
      Story(.withoutRows, 1, .doctor), Story(.garbage, 1, .doctor),
      Story(.empty, 2, .full), Story(.middle, 2, .full),
      Story(.missing, 2, .delta), Story(.garbage, 2, .delta),
      Story(.missing, 2, .doctor), Story(.head, 2, .doctor),
      Story(.withoutRows, 5, .sync), Story(.head, 5, .sync),
      Story(.withoutRows, 5, .delta), Story(.middle, 5, .delta),
    ]

  private let camp: CommandLineFixture
  private let database = "tablet/data.sqlite"
  private static let schema = "CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT, n INTEGER DEFAULT 0)"

  /// A tablet whose hub has merged its first change. `work` then makes exports that do not arrive.
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
    // Damages the pages of the app's table and of Satchel's table of exports.
    case .middle: for page in pages.split(separator: "\n") { damage(page: try #require(Int(page))) }
    case .garbage: bytes = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) })
    }
    try bytes.write(to: file)
  }

  private func notes(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id, words, n FROM notes ORDER BY id")
  }

  /// - Returns: the outcome of the command that rebuilds the database, or of the sync after it.
  private func goOn(_ way: Way) throws -> CommandLineFixture.Outcome {
    #expect(try camp.device("tablet", "status", "--json").json["state"] != "initial")
    switch way {
    case .sync:
      try camp.carry("tablet", rounds: 2)
      return camp.device("tablet", "sync", camp.path("stick"))
    case .full: return camp.device("tablet", "import", try camp.emit("tablet", full: true))
    case .delta:
      try camp.sql("office.sqlite", "UPDATE notes SET words = 'office' WHERE id = 'a'")
      let emitted = try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first
      #expect(emitted?["extent"]?.stringValue == "delta")
      return camp.device("tablet", "import", try #require(emitted?["file"]?.stringValue))
    case .doctor: return camp.device("tablet", "doctor", "--repair")
    }
  }

  /// Each harm occurs with two ways, and each way with three harms.
  private static let storiesWithoutArchive = [
    Story(.missing, 2, .sync), Story(.missing, 1, .full), Story(.empty, 2, .delta), Story(.empty, 1, .doctor),
    Story(.withoutRows, 2, .sync), Story(.withoutRows, 1, .doctor), Story(.head, 1, .full), Story(.head, 2, .delta),
    Story(.middle, 2, .sync), Story(.middle, 2, .delta), Story(.garbage, 1, .full), Story(.garbage, 1, .doctor),
  ]

  @Test(
    "nothing that was exported is overtaken or lost, also if the archive is gone with the database",
    arguments: Self.storiesWithoutArchive)
  func withoutArchive(story: Story) throws {
    try work(exports: story.exports)
    try lose(story.harm)
    try camp.remove("tablet/bundles/archive")
    _ = try goOn(story.way)
    try expectKept(story.way, exports: story.exports)
  }

  @Test(
    "a database that is made again goes on where its exports ended, however many of them the hub lacks",
    arguments: Self.stories)
  func withArchive(story: Story) throws {
    try work(exports: story.exports)
    try lose(story.harm)
    // One import of any bundle, or the doctor alone, brings back all exported changes.
    let built = try goOn(story.way)
    #expect(built.code == 0, "\(built.out)\(built.error)")
    #expect(try notes(database) == Self.expected(story.way, exports: story.exports))
    try expectKept(story.way, exports: story.exports)
  }

  private static func expected(_ way: Way, exports: Int) -> String {
    "a|\(way == .delta ? "office" : "1")|0\nb|w\(exports)|\(exports)\nx\(exports)|work|0"
  }

  private func expectKept(_ way: Way, exports: Int) throws {
    if way != .sync { try camp.carry("tablet", rounds: 2) }
    if way != .full { camp.device("tablet", "import", try camp.emit("tablet", full: true)) }
    try camp.carry("tablet", rounds: 3)
    let expected = Self.expected(way, exports: exports)
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
    #expect(synced.code == 5 && synced.error.contains("data.sqlite is missing."), "\(synced.out)\(synced.error)")
    camp.hub("sync", camp.path("stick"))
    #expect(try notes("office.sqlite") == "a|1|0\nb|w2|2\nx2|work|0")
  }
  @Test("a restored hub's bundle that meets a lost database says that the database was rebuilt")
  func restoredHub() throws {
    try camp.backUp()
    try work(exports: 1)
    try camp.carry("tablet", rounds: 2)
    try camp.restore()
    try camp.remove("stick")
    try camp.makeFolder("stick")
    camp.hub("sync", camp.path("stick"))
    try lose(.missing)
    let synced = camp.device("tablet", "sync", camp.path("stick"))
    #expect(synced.out.contains("The database was rebuilt from the bundles"), "\(synced)")
    #expect(synced.out.contains("Nothing of this bundle is applied yet. The bundles that the hub lacks"), "\(synced)")
    #expect(try notes(database) == "a|1|0\nb|w1|1\nx1|work|0")
  }
}
