import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import Testing

/// The operators of a hub, each with a name and a key.
@Suite("Operators of a hub")
struct OperatorTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    #expect(camp.hub("operator", "add", "mia").code == 0)
  }

  private func acts() throws -> [JSONValue] { try camp.hub("acts", "--json").json["acts"]?.arrayValue ?? [] }

  private func tier() throws -> String {
    try camp.rows("office.sqlite", "SELECT json_extract(attributes, '$.tier') FROM satchel_users WHERE name = 'ann'")
  }

  /// Both sides change the words of a review, and the hub has a conflict. Returns the conflict's id.
  private func conflict() throws -> String {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'loud' WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    return try #require(try camp.conflictIDs().first)
  }

  @Test("a hub with operators takes no act without a known name, and other commands need none")
  func name() throws {
    let silent = camp.hub("user", "set", "ann", "tier=2")
    #expect(silent.code == 2 && silent.error.contains("--operator NAME") && silent.error.contains("mia"), "\(silent)")
    let strange = camp.hub("user", "set", "ann", "tier=2", "--operator", "tom")
    #expect(strange.code == 2 && strange.error.contains("there is no operator tom"), "\(strange)")
    #expect(try tier() == "1")
    for words in [["status"], ["emit", "--all"], ["conflicts"], ["audit"]] {
      #expect(camp.hubAnywhere(["-C", camp.path("hub")] + words).code == 0, "\(words)")
    }
    #expect(try acts().isEmpty)
  }

  @Test("an act says who did what and why; a dry run and a failed command leave none")
  func record() throws {
    #expect(camp.hub("user", "set", "ann", "tier=2", "--operator", "mia", "--reason", "new area").code == 0)
    #expect(camp.hub("user", "set", "ann", "tier=1", "--operator", "mia", "--dry-run").code == 0)
    #expect(camp.hub("user", "add", "ann", "tier=1", "--operator", "mia").code == 1)
    let console = CollectingConsole(environment: ["SATCHEL_OPERATOR": "mia"])
    #expect(runHubTool(["-C", camp.path("hub"), "user", "add", "eve", "tier=1"], console: console) == 0)
    let found = try acts()
    #expect(found.map { $0["did"]?.stringValue } == ["user add", "user set"], "\(found)")
    #expect(found.last?["operator"]?.stringValue == "mia" && found.last?["why"]?.stringValue == "new area", "\(found)")
    #expect(found.last?["about"]?.arrayValue?.contains("ann") == true, "\(found)")
    #expect(camp.hub("acts", "--limit", "1").out.contains("eve"))
  }

  @Test("a decision has the operator's name and reason in its note, at the hub and on the device")
  func decision() throws {
    let id = try conflict()
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "hub").code == 2)
    let decided = camp.hub("conflicts", "resolve", id, "--keep", "hub", "--note", "asked ann", "--operator", "mia")
    #expect(decided.code == 0, "\(decided)")
    #expect(camp.hub("conflicts", "show", id).out.contains("mia: asked ann"))
    camp.answer("tablet", 2)
    #expect(camp.device("tablet", "conflicts", "show", id).out.contains("mia: asked ann"))
    let act = try #require(try acts().first)
    #expect(act["did"]?.stringValue == "conflicts resolve" && act["why"]?.stringValue == "asked ann", "\(act)")
    #expect(act["about"]?.arrayValue?.contains("--keep=hub") == true, "\(act)")
  }

  @Test("a hold of a device and its release are acts, and the note of the hold is the reason")
  func hold() throws {
    #expect(camp.hub("device", "hold", "tablet").code == 2)
    #expect(camp.hub("device", "hold", "tablet", "--note", "it is missing", "--operator", "mia").code == 0)
    #expect(camp.hub("device", "release", "tablet", "--operator", "mia", "--reason", "it was found").code == 0)
    let found = try acts()
    #expect(found.map { $0["did"]?.stringValue } == ["device release", "device hold"], "\(found)")
    #expect(found.map { $0["why"]?.stringValue } == ["it was found", "it is missing"], "\(found)")
  }

  @Test("a hold in the console has the name of the operator who started it")
  func holdInConsole() throws {
    try camp.inBrowser(options: ["--operator", "mia"]) { browser throws in
      let done = browser.work("/device-hold", ["name": "tablet", "act": "hold", "note": "by telephone"]).text
      #expect(done.contains("Put the device tablet on hold"), "\(done)")
    }
    let act = try #require(try acts().first)
    #expect(act["did"]?.stringValue == "device hold" && act["why"]?.stringValue == "by telephone", "\(act)")
  }

  @Test("a decision in the console has the name of the operator who started it")
  func console() throws {
    let id = try conflict()
    func decide(_ browser: Browser) -> Browser.Answer {
      let page = browser.get("/conflict?id=\(id)")
      return browser.post("/conflict", ["id": id, "row": page.rowMark, "keep": "hub", "note": "by telephone"])
    }
    try camp.inBrowser { browser throws in
      let refused = decide(browser)
      #expect(refused.status == 400 && refused.text.contains("name the operator"), "\(refused.text)")
    }
    try camp.inBrowser(options: ["--operator", "mia"]) { browser throws in
      let decided = decide(browser)
      #expect(decided.status == 303, "\(decided.text)")
    }
    let act = try #require(try acts().first)
    #expect(act["did"]?.stringValue == "console conflict" && act["why"]?.stringValue == "by telephone", "\(act)")
    #expect(camp.hub("conflicts", "show", id).out.contains("mia: by telephone"))
  }

  @Test(
    "audit verifies the record, and finds acts that were changed, removed, moved or invented",
    arguments: [
      "UPDATE satchel_acts SET act = replace(act, 'tier=2', 'tier=9') WHERE number = 1",
      "UPDATE satchel_acts SET act = replace(act, 'mia', 'tom') WHERE number = 2",
      "DELETE FROM satchel_acts WHERE number = 1", "DELETE FROM satchel_acts WHERE number = 2",
      "UPDATE satchel_acts SET signature = (SELECT signature FROM satchel_acts WHERE number = 1) WHERE number = 3",
      "INSERT INTO satchel_acts SELECT 4, act, signature FROM satchel_acts WHERE number = 3",
      "UPDATE satchel_acts SET act = '{}' WHERE number = 3", "DELETE FROM satchel_operators",
    ])
  func audit(change: String) throws {
    for tier in 2...4 { #expect(camp.hub("user", "set", "ann", "tier=\(tier)", "--operator", "mia").code == 0) }
    let sound = camp.hub("audit")
    #expect(sound.code == 0 && sound.out.contains("3 acts of operators verified."), "\(sound)")
    try camp.sql("office.sqlite", change)
    let found = camp.hub("audit")
    #expect(found.code == 1 && found.out.contains("The act "), "\(found)")
  }

  @Test("an operator who changes an own act and signs it again breaks the chain")
  func chain() throws {
    for tier in 2...3 { #expect(camp.hub("user", "set", "ann", "tier=\(tier)", "--operator", "mia").code == 0) }
    // The operator does the first act again with another reason. The forged record then has this act in place of the
    // first act.
    let record = try camp.rows("office.sqlite", "SELECT act, signature FROM satchel_acts WHERE number = 2")
    try camp.sql("office.sqlite", "CREATE TABLE kept AS SELECT * FROM satchel_acts; DELETE FROM satchel_acts")
    #expect(camp.hub("user", "set", "ann", "tier=4", "--operator", "mia", "--reason", "other").code == 0)
    try camp.sql(
      "office.sqlite", "INSERT INTO satchel_acts SELECT * FROM kept WHERE number = 2; DROP TABLE kept")
    #expect(try camp.rows("office.sqlite", "SELECT act, signature FROM satchel_acts WHERE number = 2") == record)
    let found = camp.hub("audit")
    #expect(found.code == 1 && found.out.contains("The act 2 of the operators: the act before it"), "\(found)")
  }

  @Test("an operator who was removed acts no more, and the acts stay verifiable")
  func removed() throws {
    #expect(camp.hub("operator", "add", "tom", "--operator", "mia").code == 0)
    #expect(camp.hub("user", "set", "ann", "tier=2", "--operator", "tom").code == 0)
    #expect(camp.hub("operator", "remove", "tom", "--operator", "mia").code == 0)
    #expect(!FileManager.default.fileExists(atPath: camp.path("hub/keys/operators/tom.key")))
    #expect(camp.hub("user", "set", "ann", "tier=1", "--operator", "tom").code == 2)
    #expect(camp.hub("operator", "add", "tom", "--operator", "mia").error.contains("There is or was an operator tom."))
    #expect(!camp.hub("operator", "list").out.contains("tom"))
    let sound = camp.hub("audit")
    #expect(sound.code == 0 && sound.out.contains("3 acts of operators verified."), "\(sound)")
  }

  @Test("an act with another key than the operator's, or without a key, changes nothing")
  func otherKey() throws {
    #expect(camp.hub("operator", "add", "tom", "--operator", "mia").code == 0)
    try camp.remove("hub/keys/operators/mia.key")
    let missing = camp.hub("user", "set", "ann", "tier=2", "--operator", "mia", "--json")
    #expect(try missing.json["error"]?["reason"]?.stringValue == "no-key", "\(missing)")
    try camp.copy("hub/keys/operators/tom.key", to: "hub/keys/operators/mia.key")
    let other = camp.hub("user", "set", "ann", "tier=2", "--operator", "mia", "--json")
    #expect(try other.json["error"]?["reason"]?.stringValue == "bad-key", "\(other)")
    #expect(try tier() == "1")
    #expect(try acts().count == 1)
  }
}
