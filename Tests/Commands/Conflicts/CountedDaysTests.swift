import SatchelJSON
import Testing

/// The office and two devices make the same rows, and each adds counts to them. All combinations of small counts occur,
/// also equal counts.
@Suite("A number is the sum of what everybody counted")
struct CountedDaysTests {
  private let camp: CommandLineFixture
  private static let counts = 0...2

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(
      """
      CREATE TABLE days (day TEXT PRIMARY KEY, n INTEGER NOT NULL DEFAULT 0);
      CREATE TABLE folded (id INTEGER PRIMARY KEY, day TEXT NOT NULL UNIQUE, n INTEGER NOT NULL DEFAULT 0);
      """,
      #"""
      { "dataset": "camp", "version": 1, "brake": { "delete": "100%", "change": "100%" }, "tables": {
        "days": { "columns": { "n": "sum" } }, "folded": { "unique": "fold", "columns": { "n": "sum" } } } }
      """#, devices: ["a", "b"])
  }

  /// One day for each combination of counts by the office, a and b. The name of a day shows its counts.
  private static let days: [(name: String, counts: [Int])] = counts.flatMap { office in
    counts.flatMap { a in counts.map { b in ("\(office)\(a)\(b)", [office, a, b]) } }
  }

  /// Each writer adds 1 to a day as many times as the day's name says.
  private func count(_ databases: [String] = ["office.sqlite", "a/data.sqlite", "b/data.sqlite"]) throws {
    for (place, database) in databases.enumerated() {
      var writes = "BEGIN;"
      for (number, day) in Self.days.enumerated() {
        for _ in 0..<day.counts[place] {
          let upsert = "ON CONFLICT (day) DO UPDATE SET n = n + 1;"
          writes += "INSERT INTO days (day, n) VALUES ('\(day.name)', 1) \(upsert)"
          // Each replica makes the day's row under its own primary key.
          let id = 1000 * (place + 1) + number
          writes += "INSERT INTO folded (id, day, n) VALUES (\(id), '\(day.name)', 1) \(upsert)"
        }
      }
      try camp.sql(database, writes + "COMMIT;")
    }
  }

  private func expectSums(times: Int) throws {
    let expected = Self.days.filter { $0.name != "000" }
      .map { "\($0.name)|\(times * $0.counts.reduce(0, +))" }.sorted().joined(separator: "\n")
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite"] {
      for table in ["days", "folded"] {
        #expect(try camp.rows(database, "SELECT day, n FROM \(table) ORDER BY day") == expected, "\(database) \(table)")
      }
    }
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts") == "0")
  }

  @Test(
    "in every order of bundles, and when they count again",
    arguments: ["Ua Ub", "Ub Ua", "Da Ua Db Ub", "Ua Db Ub Da", "Ub Da Db Ua", "Da Db Ua Ub"])
  func everyOrder(order: String) throws {
    for times in 1...2 {
      try count()
      for way in order.split(separator: " ") {
        let name = String(way.suffix(1))
        if way.hasPrefix("U") { try camp.deliver(name) } else { try camp.answer(name) }
      }
      for _ in 0..<3 { try camp.round(["a", "b"]) }
      try expectSums(times: times)
    }
  }

  @Test("a bundle that comes twice counts once")
  func twice() throws {
    try count()
    let file = try camp.export("a")
    for _ in 0..<2 { #expect(camp.hub("import", file).code == 0) }
    for _ in 0..<3 { try camp.round(["a", "b"]) }
    try expectSums(times: 1)
  }

  @Test("a copy of a device that imports the shared row first counts it once", arguments: [0, 2])
  func ofCopies(later: Int) throws {
    try camp.sql("a/data.sqlite", "INSERT INTO days VALUES ('shared', 3)")
    try camp.copy("a", to: "copy")
    try camp.deliver("a")
    if later > 0 { try camp.sql("copy/data.sqlite", "UPDATE days SET n = n + \(later)") }
    let request = camp.path("request.satchel")
    let renewed = camp.device("copy", "renew", "--name", "copy", "--request", request, "--json")
    let fingerprint = try #require(try renewed.json["fingerprint"]?.stringValue)
    #expect(camp.hub("device", "enrol", request, "--user", "ann", "--fingerprint", fingerprint).code == 0)
    try camp.answer("copy")
    for _ in 0..<2 { try camp.round(["copy", "a", "b"]) }
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite", "copy/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT n FROM days") == String(3 + later), "\(database)")
    }
  }
}
