import SatchelPlatform
import Synchronization
import Testing

/// A clock that advances five seconds with each reading.
private final class HastyClock: WallClock {
  private let now = Atomic<Int64>(SystemClock().milliseconds())

  func milliseconds() -> Int64 { now.add(5_000, ordering: .relaxed).newValue }
  func pause(milliseconds: Int64) {}
}

extension CommandLineFixture {
  /// Runs `body` while the tools use this clock.
  fileprivate func inHaste<T>(_ body: () throws -> T) rethrows -> T {
    let usual = platform
    platform = Platform(files: usual.files, clock: HastyClock(), random: usual.random)
    defer { platform = usual }
    return try body()
  }
}

/// SQL from other people may never end. Satchel stops it after a time limit, and undoes its effects.
@Suite("SQL that does not end")
struct EndlessTests {
  private static let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
  /// SQL that needs some million steps of SQLite. It really takes a moment, but by the hasty clock it exceeds the time
  /// limit.
  private static let costly =
    "\(endless) SELECT count(*) FROM (SELECT i FROM n LIMIT 300000);\nALTER TABLE sites ADD COLUMN height"

  @Test("a migration that does not end is ended at the hub, which says where, and nothing has changed")
  func atTheHub() throws {
    let camp = try VersionFixture()
    let before = try camp.office("SELECT sql FROM sqlite_schema ORDER BY name")
    let outcome = try camp.camp.inHaste {
      try camp.tryToApply(
        VersionTests.definition(2), "ALTER TABLE sites ADD COLUMN height;\n\(Self.endless) SELECT count(*) FROM n")
    }
    #expect(outcome.code == 1 && outcome.error.contains("fails at line 2: it does not come to an end"), "\(outcome)")
    #expect(try camp.office("SELECT sql FROM sqlite_schema ORDER BY name") == before)
    #expect(camp.camp.hub("doctor").out == "All is well.\n")
    try camp.apply(VersionTests.definition(2), Self.costly)
  }

  @Test("a migration that took too long on a device changes nothing there, and the bundle can be applied again")
  func onADevice() throws {
    let camp = try VersionFixture()
    try camp.apply(VersionTests.definition(2), Self.costly)
    try camp.write("tablet", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    let bundle = try camp.camp.emit("tablet")
    let before = try camp.tablet("SELECT sql FROM sqlite_schema ORDER BY name")
    let archive = try camp.camp.everything().keys.filter { $0.hasPrefix("tablet/bundles/archive/") }.sorted()
    let outcome = camp.camp.inHaste { camp.camp.device("tablet", "import", bundle) }
    #expect(outcome.code == 3 && outcome.error.contains("fails at line 1: it does not come to an end"), "\(outcome)")
    #expect(try camp.tablet("SELECT sql FROM sqlite_schema ORDER BY name") == before)
    #expect(try camp.camp.everything().keys.filter { $0.hasPrefix("tablet/bundles/archive/") }.sorted() == archive)
    #expect(camp.camp.device("tablet", "doctor").out == "All is well.\n")
    let applied = camp.camp.device("tablet", "apply")
    #expect(applied.code == 0, "\(applied)")
    let row = try camp.tablet("SELECT words, height FROM reviews JOIN sites ON sites.id = site WHERE reviews.id = 'r1'")
    #expect(row == "mine|NULL")
    try camp.settle()
  }

  @Test("a rule that does not end is ended, and is named", arguments: ["visible", "write"])
  func rule(member: String) throws {
    let camp = try CommandLineFixture()
    try camp.sql("office.sqlite", "CREATE TABLE sites (id TEXT PRIMARY KEY)")
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('lake')")
    for id in 1...100 { try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('s\(id)')") }
    // WITH RECURSIVE is refused in a rule. This rule needs some thousand years without it.
    let rule = "(SELECT count(*) FROM sites a, sites b, sites c, sites d, sites e, sites f, sites g, sites h) > 0"
    try camp.write("camp.json", CommandLineFixture.definition("{ \"sites\": { \"\(member)\": \"\(rule)\" } }"))
    camp.makeHub("hub", over: "office.sqlite")
    camp.hub("user", "add", "ann")
    let outcomes = camp.inHaste {
      (member == "visible" ? [camp.hub("scope", "show", "ann")] : [])
        + [camp.hub("scope", "explain", "ann", "sites", "lake")]
    }
    for outcome in outcomes {
      #expect(outcome.code == 1 && outcome.error.contains("tables.sites: its rules"), "\(outcome)")
      #expect(outcome.error.contains("parents' rules do not end"), "\(outcome)")
    }
  }
}
