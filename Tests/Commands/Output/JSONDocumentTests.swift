import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import Testing

@Suite("What programs read")
struct JSONDocumentTests {
  /// Runs many commands in one story, and collects the JSON output of each command.
  private final class Season {
    let camp: CommandLineFixture
    private(set) var documents: [String: [JSONValue]] = [:]

    init() throws { camp = try CommandLineFixture() }

    @discardableResult
    func device(_ name: String, _ words: String...) throws -> JSONValue {
      try note("satchel", camp.deviceAnywhere(["-C", camp.path(name)] + words + ["--json"]))
    }

    @discardableResult
    func hub(_ words: String...) throws -> JSONValue {
      try note("satchel-hub", camp.hubAnywhere(["-C", camp.path("hub")] + words + ["--json"]))
    }

    @discardableResult
    func note(_ tool: String, _ outcome: CommandLineFixture.Outcome) throws -> JSONValue {
      let document = try outcome.json
      let command = try #require(document["command"]?.stringValue)
      #expect(document["ok"]?.boolValue == (outcome.code == 0))
      documents["\(tool) \(command)", default: []].append(document)
      return document
    }

    func path(_ name: String) -> String { camp.path(name) }
    func outbox(_ name: String, _ file: String) -> String { camp.path("\(name)/bundles/outbox/\(file).satchel") }
  }

  /// A web server that gets no request.
  private struct QuietServer: WebServer {
    func serve(
      port: UInt16, until end: any EndRequest, ready: (UInt16) -> Void,
      receive: @escaping @Sendable (WebRequest) -> WebIntake, answer: @escaping @Sendable (WebRequest) -> WebResponse
    ) { ready(1) }
  }

  @Test("docs/JSON.md lists the fields of every command's document, and each of them is printed")
  func documents() throws {
    let season = try Season()
    try begin(season)
    try exchange(season)
    try handOver(season)
    try dock(season)
    try disagree(season)
    try look(season)
    try manage(season)
    try fork(season)
    let reference = try JSONReference()
    #expect(reference.commands == Set(season.documents.keys))
    var differences: [String] = []
    for (command, documents) in season.documents.sorted(by: { $0.key < $1.key }) {
      differences += reference.differences(command, documents)
    }
    #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
  }

  private func begin(_ season: Season) throws {
    let camp = season.camp
    try camp.makeOffice()
    try camp.write("camp.json", CommandLineFixture.definition)
    let words = [
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"), "--json",
    ]
    try season.note("satchel-hub", camp.hubAnywhere(words + ["--dry-run"]))
    try season.note("satchel-hub", camp.hubAnywhere(words))
    try camp.sql("counted.sqlite", "CREATE TABLE c (id INTEGER PRIMARY KEY)")
    try camp.write("counted.json", #"{ "dataset": "counted", "version": 1, "tables": { "c": {} } }"#)
    try season.hub("dataset", "check", camp.path("counted.json"), camp.path("counted.sqlite"))
    let counted = [
      "--dataset", camp.path("counted.json"), "--database", camp.path("counted.sqlite"), "--dry-run", "--json",
    ]
    try season.note("satchel-hub", camp.hubAnywhere(["init", camp.path("counted")] + counted))
    try camp.write("users.csv", "user,tier\nben,2\n")
    try season.hub("user", "add", "ann", "tier=1")
    try season.hub("user", "set", "ann", "tier=1")
    try season.hub("user", "import", camp.path("users.csv"))
    try season.hub("user", "list")
    try season.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    try season.hub("device", "provision", "phone", "--user", "ben", "--into", camp.path("phone"))
    let request = camp.path("radio.satchel")
    let radio = ["init", camp.path("radio"), "--dataset", "camp", "--name", "radio", "--request", request, "--json"]
    try season.note("satchel", camp.deviceAnywhere(radio + ["--dry-run"]))
    let made = try season.note("satchel", camp.deviceAnywhere(radio))
    try season.device("radio", "status")
    let print = try #require(made["fingerprint"]?.stringValue)
    for more in [["--dry-run"], []] {
      let words = [
        "-C", camp.path("hub"), "device", "enrol", request, "--user", "ben", "--fingerprint", print, "--json",
      ]
      try season.note("satchel-hub", camp.hubAnywhere(words + more))
    }
  }

  private func exchange(_ season: Season) throws {
    let camp = season.camp
    try camp.makeFolder("stick")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try season.device("tablet", "export", "--dry-run")
    try season.device("tablet", "export", "--volume-size", "64K")
    let file = season.outbox("tablet", "camp-tablet-hub-1")
    try season.hub("verify", file)
    try season.hub("inspect", "--rows", file)
    try season.hub("import", "--dry-run", file)
    try season.hub("import", file)
    try camp.writeDamagedBundle("broken.satchel")
    try season.hub("import", camp.path("broken.satchel"), file)
    try camp.sql("office.sqlite", "UPDATE reviews SET words = hex(randomblob(9000)) WHERE id = 'r2'")
    try season.hub("emit", "--all", "--dry-run", "--size", "4K")
    try season.hub("emit", "--all")
    let answer = season.outbox("hub", "camp-hub-tablet-2")
    try season.device("tablet", "verify", answer)
    try season.device("tablet", "inspect", "--rows", answer)
    try season.device("tablet", "import", "--stage", answer)
    try season.device("tablet", "import", camp.path("broken.satchel"), answer)
    try season.device("tablet", "apply")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r2'")
    try season.device("phone", "sync", camp.path("stick"))
    try season.hub("sync", camp.path("stick"))
    try season.device("phone", "sync", camp.path("stick"))
    try season.hub("emit", "--device", "tablet")
    let news = season.outbox("hub", "camp-hub-tablet-3")
    try season.device("tablet", "inspect", "--rows", news)
    try season.device("tablet", "import", "--stage", news)
    try season.device("tablet", "apply")
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r2'")
    try season.device("phone", "watch", "--once", camp.path("stick"))
    try season.hub("watch", "--once", camp.path("stick"))
    try season.device("phone", "watch", "--once", camp.path("stick"))
  }

  /// Docks a tablet on which Satchel is not installed.
  private func dock(_ season: Season) throws {
    let camp = season.camp
    try season.hub("device", "provision", "slate", "--user", "ann", "--into", camp.path("slate"))
    try camp.makeFolder("card")
    try season.device("slate", "dock", camp.path("card"), "--database", "camp.sqlite", "--dry-run")
    try season.device("slate", "dock", camp.path("card"), "--database", "camp.sqlite")
    try camp.sql("card/camp.sqlite", "INSERT INTO reviews VALUES ('slate', 'lake', 'ann', 1, 'docked')")
    try season.device("slate", "dock", camp.path("card"), "--stick", camp.path("stick"))
    try season.hub("sync", camp.path("stick"))
    try season.device("slate", "dock", camp.path("card"), "--stick", camp.path("stick"))
    try season.device("slate", "status")
  }

  /// A device with changes that were not delivered is given to another user.
  private func handOver(_ season: Season) throws {
    let camp = season.camp
    try season.hub("device", "provision", "pad", "--user", "ann", "--into", camp.path("pad"))
    try camp.sql("pad/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    try season.hub("device", "set", "pad", "--user", "ben")
    try season.hub("emit", "--device", "pad")
    try season.device("pad", "import", season.outbox("hub", "camp-hub-pad-2"))
    try season.device("pad", "status")
  }

  /// Both sides change the same words, four times.
  private func disagree(_ season: Season) throws {
    let camp = season.camp
    for round in 1...4 {
      try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine \(round)' WHERE id = 'r1'")
      try camp.sql("office.sqlite", "UPDATE reviews SET words = 'ours \(round)' WHERE id = 'r1'")
      try season.device("tablet", "sync", camp.path("stick"))
      try season.hub("sync", camp.path("stick"), "--dry-run")
      try season.hub("sync", camp.path("stick"))
      try season.device("tablet", "sync", camp.path("stick"))
      try season.hub("status")
      try season.device("tablet", "status")
      let list = try season.hub("conflicts", "list")
      let id = list["conflicts"]?.arrayValue?.first?["id"]?.stringValue ?? ""
      try season.hub("conflicts")
      try season.hub("conflicts", "show", id)
      try season.device("tablet", "conflicts")
      try season.device("tablet", "conflicts", "list")
      try season.device("tablet", "conflicts", "show", id)
      switch round {
      case 1: try season.hub("conflicts", "resolve", id, "--keep", "hub", "--note", "asked")
      case 2: try season.device("tablet", "conflicts", "resolve", id, "--keep", "device")
      case 3: try season.device("tablet", "conflicts", "resolve", "--all", "--policy", "hub")
      default: try season.hub("conflicts", "resolve", "--all", "--policy", "device")
      }
    }
    try season.hub("conflicts", "reopen", "--decided-since", "2020-01-01")
    try season.hub("conflicts", "resolve", "--all", "--policy", "device")
    try season.hub("conflicts", "export")
    try season.device("tablet", "conflicts", "export")
  }

  private func look(_ season: Season) throws {
    try season.hub("compare", "tablet")
    let camp = season.camp
    for tool in ["satchel", "satchel-hub"] {
      for words in [["completion", "bash", "--json"], ["man", "--json"]] {
        try season.note(tool, tool == "satchel" ? camp.deviceAnywhere(words) : camp.hubAnywhere(words))
      }
    }
    try season.hub("device", "show", "tablet")
    try season.hub("report", camp.path("r.html"))
    try season.device("tablet", "report", camp.path("t.csv"))
    try season.hub("log")
    try season.device("tablet", "log")
    try season.hub("history", "reviews", "r1")
    try season.hub("scope", "show", "ann")
    try season.hub("scope", "explain", "ann", "sites", "cave")
    try season.hub("dataset", "show")
    try season.hub("check", "--silent-days", "14", "--conflicts", "0", "--backup-days", "7")
    try season.hub("audit")
    try season.hub("operator", "add", "mia")
    try season.hub("operator", "list")
    try season.hub("user", "set", "ann", "tier=1", "--operator", "mia", "--reason", "asked")
    try season.hub("acts")
    try season.hub("operator", "remove", "mia", "--operator", "mia")
    try season.hub("keys", "show")
    try season.device("tablet", "keys", "show")
    try season.device("tablet", "keys", "request", season.camp.path("again.satchel"))
    let console = CollectingConsole()
    let code = runHubTool(["-C", camp.path("hub"), "console", "--json"], console: console, webServer: QuietServer())
    try season.note(
      "satchel-hub", CommandLineFixture.Outcome(code: code, out: console.outText, error: console.errorText))
    let window = CollectingConsole()
    let words = ["-C", camp.path("tablet"), "window", "--json"]
    let ended = runDeviceTool(words, console: window, webServer: QuietServer())
    try season.note(
      "satchel", CommandLineFixture.Outcome(code: ended, out: window.outText, error: window.errorText))
  }

  /// A tablet's folder is copied, and both copies are used.
  private func fork(_ season: Season) throws {
    let camp = season.camp
    try FileManager.default.copyItem(atPath: camp.path("tablet"), toPath: camp.path("copy"))
    for (name, stars) in [("tablet", 4), ("copy", 5)] {
      try camp.sql("\(name)/data.sqlite", "UPDATE reviews SET stars = \(stars) WHERE id = 'r1'")
      let file = try #require(season.device(name, "export")["file"]?.stringValue)
      try season.hub("import", file)
    }
    try season.hub("device", "fork", "tablet")
    try season.hub("device", "fork", "tablet", "--keep", "1", "--dry-run")
    try season.hub("device", "fork", "tablet", "--keep", "1")
    try season.device("copy", "renew", "--name", "second", "--request", camp.path("second.satchel"), "--dry-run")
    try season.device("copy", "renew", "--name", "second", "--request", camp.path("second.satchel"))
    try season.device("tablet", "compact")
    try season.device("tablet", "quarantine", "list")
    try season.device("tablet", "quarantine", "drop", "--all")
    try putBack(season)
  }

  /// The tablet's folder is restored from its own backup. A stick that was written before then deletes many rows.
  private func putBack(_ season: Season) throws {
    let camp = season.camp
    let user = try camp.rows("office.sqlite", "SELECT user FROM satchel_devices WHERE name = 'tablet'")
    try camp.sql(
      "office.sqlite",
      """
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO reviews (id, site, author) SELECT 'many' || i, 'lake', '\(user)' FROM n
      """)
    try camp.answer("tablet", in: "tablet")
    try FileManager.default.copyItem(atPath: camp.path("tablet"), toPath: camp.path("backup"))
    try camp.sql("tablet/data.sqlite", "DELETE FROM reviews WHERE id LIKE 'many%'")
    try camp.copy("tablet", to: "former")
    try camp.remove("tablet")
    try camp.copy("backup", to: "tablet")
    let old = try camp.export("former")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'many1'")
    try season.hub("import", camp.export("tablet"))
    try season.hub("import", old)
    try season.hub("device", "fork", "tablet", "--restored")
  }

  private func manage(_ season: Season) throws {
    let camp = season.camp
    try camp.sql("office.sqlite", "DROP TRIGGER \"satchel_before_update:sites\"")
    try camp.sql(
      "phone/data.sqlite", "DROP TRIGGER \"satchel_before_update:sites\"; UPDATE sites SET name = 'x' WHERE id = 'lake'"
    )
    for more in [[], ["--repair"]] {
      try season.note("satchel-hub", camp.hubAnywhere(["-C", camp.path("hub"), "doctor", "--json"] + more))
      try season.note("satchel", camp.deviceAnywhere(["-C", camp.path("phone"), "doctor", "--json"] + more))
    }
    try camp.write(
      "camp-2.json",
      CommandLineFixture.definition.replacingOccurrences(of: "\"version\": 1", with: "\"version\": 2")
        .replacingOccurrences(of: "\"reviews\": {", with: "\"reviews\": { \"references\": { \"next\": \"sites\" },"))
    try camp.write(
      "camp-2.sql",
      """
      ALTER TABLE reviews ADD COLUMN photo TEXT;
      ALTER TABLE reviews ADD COLUMN next TEXT;
      UPDATE reviews SET photo = 'none';
      """)
    try season.hub("dataset", "apply", camp.path("camp-2.json"), "--migration", camp.path("camp-2.sql"))
    try season.hub("revert", "tablet/1")
    try season.hub("device", "list")
    try season.hub("device", "set", "phone", "--edits", "no")
    try season.hub("device", "hold", "phone", "--note", "missing")
    try season.hub("device", "release", "phone")
    // Flags the tablet, as if two copies of it had delivered.
    try camp.sql("office.sqlite", "UPDATE satchel_devices SET state = 'flagged' WHERE name = 'tablet'")
    try season.hub("device", "unflag", "tablet")
    try season.hub("device", "revoke", "radio")
    try season.hub("keys", "rotate")
    try season.device("phone", "keys", "rotate")
    try camp.write("password", "correct horse\n")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: camp.path("password"))
    for (words, option) in [(["keys", "protect"], "--new-password-file"), (["keys", "unprotect"], "--password-file")] {
      let more = [option, camp.path("password"), "--json"]
      try season.note("satchel-hub", camp.hubAnywhere(["-C", camp.path("hub")] + words + more))
      try season.note("satchel", camp.deviceAnywhere(["-C", camp.path("phone")] + words + more))
    }
    try season.hub("keys", "revoke", "phone")
    try season.hub("backup", camp.path("monday.satchel"))
    try season.hub("compact")
    try season.hub("quarantine", "list")
    try season.hub("quarantine", "drop", "--all")
    let words = ["restore", camp.path("monday.satchel"), camp.path("hub-2"), "--keys", camp.path("hub/keys"), "--json"]
    try season.note("satchel-hub", camp.hubAnywhere(words))
    try season.hub("device", "revoke", "pad")
    try season.hub("user", "remove", "ben")
  }
}
