import SatchelJSON
import Testing

/// Two devices add to one counter, and put elements into one set. The hub is lost before it receives these changes.
/// There is one table for each policy.
@Suite("Counters and sets that several devices bring to a new hub")
struct JoinedCounterTests {
  private let camp: CommandLineFixture
  private static let policies = ["device", "hub", "manual", "newest"]
  private static let schema = policies.map { "CREATE TABLE \($0) (id TEXT PRIMARY KEY, n INTEGER, tags TEXT);" }
    .joined()
  /// The values on each device: a number, and a set as JSON. At the lost hub the number was 10, and the set was empty.
  private static let brought = ["a": #"74|["a"]"#, "b": #"266|["b"]"#]

  init() throws {
    camp = try CommandLineFixture()
    let tables = Self.policies.map {
      #""\#($0)": { "conflict": "\#($0)", "columns": { "n": "sum", "tags": "union" } }"#
    }
    let rows = Self.policies.map { "INSERT INTO \($0) VALUES ('x', 10, '[]');" }
    try camp.open(
      Self.schema + rows.joined(), CommandLineFixture.definition("{ \(tables.joined(separator: ", ")) }"),
      devices: ["a", "b"])
    for (name, more) in [("a", 64), ("b", 256)] {
      for table in Self.policies {
        try camp.sql("\(name)/data.sqlite", "UPDATE \(table) SET n = n + \(more), tags = '[\"\(name)\"]'")
      }
      camp.awaitLaterTime()
    }
    try camp.remove("hub")
    try camp.sql("next.sqlite", Self.schema)
    camp.makeHub("hub", over: "next.sqlite")
    camp.hub("user", "add", "ann")
  }

  private func join(_ name: String) throws {
    let key = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let left = camp.device(name, "renew", "--hub", "--request", camp.path("request-\(name)"), "--json")
    let fingerprint = try #require(try left.json["fingerprint"]?.stringValue, "\(left.error)")
    #expect(camp.enrol(camp.path("request-\(name)"), fingerprint).code == 0)
    #expect(camp.device(name, "import", try camp.emit(name), "--fingerprint", key).code == 0)
  }

  /// Expects that all replicas have the first device's number and set. In each table, a conflict about the second
  /// device's values is open.
  private func expectOpen(_ kind: String, first: String, second: String) throws {
    for name in ["a", "b", "a", "b"] {
      try camp.deliver(name)
      try camp.answer(name)
    }
    let stays = try #require(Self.brought[first])
    let waits = try #require(Self.brought[second])
    for database in ["next.sqlite", "a/data.sqlite", "b/data.sqlite"] {
      for table in Self.policies {
        #expect(try camp.rows(database, "SELECT n, tags FROM \(table)") == stays, "\(table) in \(database)")
      }
    }
    let conflicts = try camp.rows(
      "next.sqlite",
      """
      SELECT table_name, kind, state, json_extract(device_values, '$.n'), json_extract(device_values, '$.tags'),
        json_extract(hub_values, '$.n'), json_extract(hub_values, '$.tags')
      FROM satchel_conflicts ORDER BY table_name
      """)
    #expect(conflicts == Self.policies.map { "\($0)|\(kind)|open|\(waits)|\(stays)" }.joined(separator: "\n"))
  }

  @Test(
    "if both devices have the new hub's first bundle before they deliver, no policy settles an addition away",
    arguments: [["a", "b"], ["b", "a"]])
  func bothJoined(order: [String]) throws {
    for name in order { try join(name) }
    for name in order { try camp.deliver(name) }
    try expectOpen("insert/insert", first: order[0], second: order[1])
    let notes = try camp.rows("next.sqlite", "SELECT DISTINCT note FROM satchel_conflicts")
    #expect(notes.hasSuffix("Enter the right value."))
  }

  @Test(
    "a device that imports the other device's number before it delivers asks a person, whatever the policy",
    arguments: [["a", "b"], ["b", "a"]])
  func importedFirst(order: [String]) throws {
    for name in order { try join(name) }
    try camp.deliver(order[0])
    try camp.answer(order[1])
    let found = try camp.rows("\(order[1])/data.sqlite", "SELECT DISTINCT state, note FROM satchel_conflicts")
    #expect(found.hasPrefix("open|") && found.hasSuffix("Enter the right value."), "\(found)")
    try expectOpen("insert/insert", first: order[0], second: order[1])
  }

  @Test(
    "if one device joins after the other device has delivered, no policy settles an addition away",
    arguments: [["a", "b"], ["b", "a"]])
  func joinedLater(order: [String]) throws {
    for name in order {
      try join(name)
      try camp.deliver(name)
    }
    try expectOpen("update/update", first: order[0], second: order[1])
    let notes = try camp.rows("next.sqlite", "SELECT DISTINCT note FROM satchel_conflicts")
    #expect(notes.hasSuffix("Enter the right value."))
  }

  /// How the second device brings its row to the next hub.
  enum Bringing: CaseIterable {
    /// Both devices join before the first of them delivers.
    case asNewRow
    /// The first device has delivered before the second device joins.
    case asChange
  }

  private func bring(_ bringing: Bringing) throws {
    if bringing == .asNewRow { for name in ["a", "b"] { try join(name) } }
    for name in ["a", "b"] {
      if bringing == .asChange { try join(name) }
      try camp.deliver(name)
    }
    try camp.answer("b")
  }

  private func id(_ table: String, in database: String = "next.sqlite") throws -> String {
    try camp.rows(database, "SELECT id FROM satchel_conflicts WHERE table_name = '\(table)'")
  }

  private func expectRefused(_ decided: CommandLineFixture.Outcome) throws {
    #expect(decided.code != 0, "\(decided)")
    #expect(try decided.json["error"]?["reason"]?.stringValue == "unknown-start", "\(decided)")
  }

  @Test(
    "a decision for the device is refused, because its number may repeat work of the hub's number",
    arguments: Bringing.allCases)
  func keptDevice(bringing: Bringing) throws {
    try bring(bringing)
    let (newest, manual, own) = (try id("newest"), try id("manual"), try id("device", in: "b/data.sqlite"))
    for keep in [
      [newest, "--keep", "device"], [newest, manual, "--keep", "device"], [newest, "--keep", "n=device"],
      [newest, "--keep", "n=hub", "--keep", "TAGS=device"],
    ] {
      try expectRefused(camp.hubAnywhere(["-C", camp.path("hub"), "conflicts", "resolve", "--json"] + keep))
    }
    for keep in ["device", "n=device"] {
      try expectRefused(camp.device("b", "conflicts", "resolve", own, "--keep", keep, "--json"))
    }
    let said = camp.hub("conflicts", "resolve", newest, "--keep", "device").error
    #expect(said.contains("--keep hub") && said.contains("--set n=VALUE --set tags=VALUE"), "\(said)")
    for database in ["next.sqlite", "b/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT DISTINCT n, tags FROM newest") == #"74|["a"]"#)
      #expect(try camp.rows(database, "SELECT DISTINCT state FROM satchel_conflicts") == "open")
    }
    let set = camp.hub("conflicts", "resolve", newest, "--keep", "tags=hub", "--set", "n=330")
    #expect(set.code == 0, "\(set.error)")
    #expect(try camp.rows("next.sqlite", "SELECT n, tags FROM newest") == #"330|["a"]"#)
  }

  @Test("an unknown value before the change is not shown as a value, and cannot be kept", arguments: Bringing.allCases)
  func keptBefore(bringing: Bringing) throws {
    try bring(bringing)
    let (newest, own) = (try id("newest"), try id("device", in: "b/data.sqlite"))
    for column in ["n", "tags"] {
      let keep = "\(column)=before"
      try expectRefused(camp.hub("conflicts", "resolve", newest, "--keep", keep, "--json"))
      try expectRefused(camp.device("b", "conflicts", "resolve", own, "--keep", keep, "--json"))
    }
    let shown = camp.hub("conflicts", "show", newest).out
    #expect(shown.contains("not known") && !shown.contains("?"), "\(shown)")
    let values = try camp.hub("conflicts", "show", newest, "--json").json["conflict"]?["base_values"]
    #expect(values?["n"] == nil && values?["tags"] == nil, "\(String(describing: values))")
  }

  @Test("the console refuses the device's number and an unknown value before the change, too")
  func keptInConsole() throws {
    try bring(.asChange)
    let newest = try id("newest")
    try camp.inBrowser { browser throws in
      let shown = ["id": newest, "row": browser.get("/conflict?id=\(newest)").rowMark]
      for choice in [
        ["keep": "device"], ["keep": "columns", "pick0": "device"], ["keep": "columns", "pick0": "base"],
      ] {
        let answer = browser.post("/conflict", shown.merging(choice) { $1 })
        #expect(answer.status == 409 && answer.text.contains("--set n=VALUE"), "\(choice): \(answer.text)")
      }
    }
    #expect(try camp.rows("next.sqlite", "SELECT n, tags FROM newest") == #"74|["a"]"#)
  }

  @Test("a rule for many conflicts leaves them, and says how many and why", arguments: Bringing.allCases)
  func manyAtOnce(bringing: Bringing) throws {
    try bring(bringing)
    func expectLeft(_ decided: CommandLineFixture.Outcome) throws {
      #expect(try decided.json["resolved"]?.arrayValue?.isEmpty == true, "\(decided)")
      let reasons = try decided.json["left"]?.arrayValue?.compactMap { $0["reason"]?.stringValue }
      #expect(reasons == Self.policies.map { _ in "unknown-start" }, "\(decided)")
    }
    for policy in ["newest", "device", "hub"] {
      try expectLeft(camp.hub("conflicts", "resolve", "--all", "--policy", policy, "--json"))
    }
    try expectLeft(camp.device("b", "conflicts", "resolve", "--all", "--policy", "device", "--json"))
    let said = camp.hub("conflicts", "resolve", "--all", "--policy", "newest").out
    #expect(said.contains("Left 4 conflicts, because:") && said.contains("--set n=VALUE --set tags=VALUE"), "\(said)")
    #expect(try camp.rows("next.sqlite", "SELECT DISTINCT state FROM satchel_conflicts") == "open")
  }

  @Test("the number that a person enters is the number everywhere, and later additions count")
  func entered() throws {
    for name in ["a", "b"] { try join(name) }
    for name in ["a", "b"] { try camp.deliver(name) }
    let id = try camp.rows("next.sqlite", "SELECT id FROM satchel_conflicts WHERE table_name = 'newest'")
    #expect(camp.hub("conflicts", "resolve", id, "--set", "n=330").code == 0)
    for name in ["a", "b"] { try camp.answer(name) }
    for name in ["a", "b"] { try camp.sql("\(name)/data.sqlite", "UPDATE newest SET n = n + 1") }
    for name in ["a", "b"] { try camp.deliver(name) }
    #expect(try camp.rows("next.sqlite", "SELECT n FROM newest") == "332")
  }
}
