import Foundation
import Testing

/// Two devices make the same row and count in it. A new row waits at the hub because its parent is missing.
@Suite("Counters of new rows that waited")
struct WaitingCounterTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  enum Kind: String, CaseIterable { case sameKey, folded }

  /// Makes a hub with the devices a and b. The office deletes the site `s`, which both devices still have.
  private func open(_ kind: Kind, policy: String = "manual") throws {
    let rules = #""conflict": "\#(policy)", "# + (kind == .folded ? #""unique": "fold", "keys": "rekey", "# : "")
    try camp.open(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY);
      CREATE TABLE counts (
        id INTEGER PRIMARY KEY, name TEXT UNIQUE, site TEXT REFERENCES sites (id), n INTEGER, tags TEXT);
      INSERT INTO sites VALUES ('s'), ('t');
      """,
      CommandLineFixture.definition(
        #"{ "sites": {}, "counts": { \#(rules)"columns": { "n": "sum", "tags": "union" } } }"#), devices: ["a", "b"])
    try camp.sql("office.sqlite", "DELETE FROM sites WHERE id = 's'")
  }

  private func make(_ kind: Kind, on device: String, at site: String, _ n: Int) throws {
    let id = kind == .folded && device == "b" ? 6 : 5
    try camp.sql("\(device)/data.sqlite", "INSERT INTO counts VALUES (\(id), 'oaks', '\(site)', \(n), '[1]')")
    try camp.deliver(device)
  }

  private func expect(_ rows: String) throws {
    try camp.round(["a", "b"])
    try camp.round(["a", "b"])
    for database in ["office.sqlite", "a/data.sqlite", "b/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT name, n, tags FROM counts") == rows, "\(database)")
    }
  }

  @Test("equal counts of two devices are added, if the first row waited", arguments: Kind.allCases, [3, 5])
  func firstWaited(_ kind: Kind, _ other: Int) throws {
    try open(kind)
    try make(kind, on: "a", at: "s", 5)
    #expect(try camp.rows("office.sqlite", "SELECT state FROM satchel_conflicts") == "held")
    try make(kind, on: "b", at: "t", other)
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('s')")
    try expect("oaks|\(5 + other)|[1]")
  }

  @Test("equal counts of two devices are added, if both rows waited", arguments: Kind.allCases)
  func bothWaited(_ kind: Kind) throws {
    try open(kind)
    for device in ["a", "b"] { try make(kind, on: device, at: "s", 5) }
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('s')")
    try expect("oaks|10|[1]")
  }

  /// The policy prefers the row of a, but this row waits at the hub because its parent is missing.
  ///
  /// The other device counts 3 or 5. With 3, a adds 2 to the hub's count, so the hub's count is 5 when the waiting row
  /// enters. The waiting row also has the count 5.
  @Test("a device that counts on the other row before its own row enters loses no count", arguments: [3, 5])
  func countedMeanwhile(_ other: Int) throws {
    try open(.sameKey, policy: "device")
    try make(.sameKey, on: "a", at: "s", 5)
    try make(.sameKey, on: "b", at: "t", other)
    try camp.answer("a")
    try camp.sql("a/data.sqlite", "UPDATE counts SET n = n + 2")
    try camp.deliver("a")
    #expect(try camp.rows("office.sqlite", "SELECT n FROM counts") == "\(other + 2)")
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('s')")
    try expect("oaks|\(5 + other + 2)|[1]")
  }

  @Test("rows that two sites had before they joined are not added up, also if one of them waited")
  func joined() throws {
    try open(.sameKey)
    let fingerprint = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    for (name, site) in [("north", "s"), ("south", "t")] {
      let request = camp.path("\(name).request")
      let made = camp.deviceAnywhere(
        "init", camp.path(name), "--dataset", "camp", "--name", name, "--request", request, "--json")
      let own = try #require(try made.json["fingerprint"]?.stringValue, "\(made.error)")
      let enrolled = camp.hub("device", "enrol", request, "--user", "ann", "--fingerprint", own)
      #expect(enrolled.code == 0, "\(enrolled.error)")
      try camp.sql(
        "\(name)/data.sqlite",
        """
        CREATE TABLE sites (id TEXT PRIMARY KEY);
        CREATE TABLE counts (
          id INTEGER PRIMARY KEY, name TEXT UNIQUE, site TEXT REFERENCES sites (id), n INTEGER, tags TEXT);
        INSERT INTO counts VALUES (5, 'oaks', '\(site)', 7, '[1]');
        """)
      let imported = camp.device(name, "import", try camp.emit(name), "--fingerprint", fingerprint)
      #expect(imported.code == 0, "\(imported.error)")
      try camp.deliver(name)
    }
    try camp.sql("office.sqlite", "INSERT INTO sites VALUES ('s')")
    try camp.round(["north", "south"])
    #expect(try camp.rows("office.sqlite", "SELECT n FROM counts") == "7")
  }
}
