import SatchelJSON
import Testing

/// The numbers of rows that an operator sees before the operator changes a user's rights.
@Suite("A look before rights change")
struct ScopePreviewTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
  }

  private func effect(_ outcome: CommandLineFixture.Outcome) throws -> JSONValue {
    try #require(outcome.json["effect"])
  }

  private func tier(_ user: String) throws -> Int64? {
    let users = try camp.hub("user", "list", "--json").json["users"]?.arrayValue
    return users?.first { $0["name"]?.stringValue == user }?["attributes"]?["tier"]?.integerValue
  }

  @Test("user set counts the rows by table and names the devices; a dry run only shows")
  func user() throws {
    let given = try effect(camp.hub("user", "set", "ann", "tier=2", "--dry-run", "--json"))
    #expect(
      given["rows"]?["sites"]?["given"]?.integerValue == 1 && given["rows"]?["sites"]?["taken"]?.integerValue == 0)
    #expect(given["rows"]?["reviews"]?["given"]?.integerValue == 1)
    let device = try #require(given["devices"]?.arrayValue?.first)
    #expect(device["device"]?.stringValue == "tablet" && device["given"]?.integerValue == 2)
    #expect(device["last_contact"] == .null && device["unsent"]?.boolValue == true)
    #expect(try tier("ann") == 1)
    let out = camp.hub("user", "set", "ben", "tier=1", "--dry-run").out
    #expect(
      out.contains("phone") && out.contains("TAKEN") && out.contains("may still come from these devices"), "\(out)")
  }

  @Test("rows are taken only after a person at the terminal agreed; a script is not asked")
  func asking() throws {
    let asked = camp.hub("user", "set", "ben", "tier=1", answers: ["n"], interactive: true)
    #expect(asked.code != 0 && asked.transcript.contains("This takes 2 rows away"), "\(asked.transcript)")
    #expect(try tier("ben") == 2)
    #expect(camp.hub("user", "set", "ben", "tier=1", answers: ["y"], interactive: true).code == 0)
    #expect(try tier("ben") == 1)
    // The user loses no row by this change, so the command asks no question.
    #expect(camp.hub("user", "set", "ben", "tier=2", interactive: true).code == 0)
    #expect(camp.hub("user", "set", "ben", "tier=1").code == 0)
    #expect(try tier("ben") == 1)
  }

  @Test("a device that gets another user's rows, and users from a table, are counted the same way")
  func others() throws {
    let moved = try effect(camp.hub("device", "set", "phone", "--user", "ann", "--dry-run", "--json"))
    #expect(moved["rows"]?["sites"]?["taken"]?.integerValue == 1)
    #expect(moved["devices"]?.arrayValue?.map { $0["device"]?.stringValue } == ["phone"])
    let asked = camp.hub("device", "set", "phone", "--user", "ann", answers: ["n"], interactive: true)
    #expect(asked.code != 0)
    try camp.write("team.csv", "user,tier\nann,2\nben,1\nnew,2\n")
    let team = try effect(camp.hub("user", "import", camp.path("team.csv"), "--dry-run", "--json"))
    #expect(team["rows"]?["sites"]?["given"]?.integerValue == 1 && team["rows"]?["sites"]?["taken"]?.integerValue == 1)
    #expect(team["devices"]?.arrayValue?.count == 2)
  }

  @Test("a new version of the dataset that takes rows asks before it changes anything")
  func dataset() throws {
    let next = CommandLineFixture.definition
      .replacing("\"version\": 1", with: "\"version\": 2").replacing("tier <= :tier", with: "tier < :tier")
    try camp.write("next.json", next)
    let asked = camp.hub("dataset", "apply", camp.path("next.json"), answers: ["n"], interactive: true)
    #expect(asked.code != 0 && asked.transcript.contains("away, from the next bundle on"), "\(asked.transcript)")
    #expect(try camp.hub("dataset", "show", "--json").json["version"]?.integerValue == 1)
    let rehearsed = try effect(camp.hub("dataset", "apply", camp.path("next.json"), "--dry-run", "--json"))
    #expect(rehearsed["rows"]?["sites"]?["taken"]?.integerValue == 3)
    #expect(camp.hub("dataset", "apply", camp.path("next.json"), answers: ["y"], interactive: true).code == 0)
    #expect(try camp.hub("dataset", "show", "--json").json["version"]?.integerValue == 2)
  }

  @Test("rows that users may no longer change are counted, and a person at the terminal is asked")
  func rights() throws {
    let next = CommandLineFixture.definition
      .replacing("\"version\": 1", with: "\"version\": 2").replacing("author = :user", with: "0")
    try camp.write("next.json", next)
    let asked = camp.hub("dataset", "apply", camp.path("next.json"), answers: ["n"], interactive: true)
    #expect(asked.code != 0 && asked.transcript.contains("This ends the right to change 2 rows"), "\(asked.transcript)")
    #expect(asked.transcript.contains("Users may no longer change 2 rows of reviews that they see."))
    #expect(asked.transcript.contains("may still come from these devices"), "\(asked.transcript)")
    let rehearsed = try effect(camp.hub("dataset", "apply", camp.path("next.json"), "--dry-run", "--json"))
    #expect(rehearsed["rows"]?["reviews"]?["read_only"]?.integerValue == 2)
    #expect(rehearsed["rows"]?["reviews"]?["taken"]?.integerValue == 0 && rehearsed["rows"]?["sites"] == nil)
    #expect(rehearsed["devices"]?.arrayValue?.map { $0["read_only"]?.integerValue } == [1, 1])
  }
}
