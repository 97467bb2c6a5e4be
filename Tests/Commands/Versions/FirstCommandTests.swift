import Foundation
import Testing

@testable import SatchelCommands

/// In a workspace of release 0.1, the first command of this release upgrades Satchel's own tables, whichever command it
/// is.
@Suite("The first command in a workspace of release 0.1")
struct FirstCommandTests: ReleasedStory {
  let camp: CommandLineFixture

  init() throws {
    camp = try Self.openCamp()
    for folder in ["stick", "media/red/SATCHEL", "card"] { try camp.makeFolder(folder) }
    try camp.write("users.csv", "name,area\nann,north\neve,south\n")
    let next = "SELECT json_set(definition, '$.version', json_extract(definition, '$.version') + 1) FROM satchel_hub"
    try camp.write("next.json", camp.rows(office, next))
    try camp.write("password", "tent")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: camp.path("password"))
  }

  private func hub(_ words: [String]) -> CommandLineFixture.Outcome {
    camp.hubAnywhere(["-C", camp.path("hub")] + expanded(words))
  }

  /// Runs a command on the device b.
  private func device(_ words: [String]) -> CommandLineFixture.Outcome {
    camp.deviceAnywhere(["-C", camp.path("b")] + expanded(words))
  }

  private func expanded(_ words: [String]) -> [String] {
    words.map { $0.replacingOccurrences(of: "HERE", with: camp.root) }
  }

  /// Carries a stick to all replicas once. Once is enough here, although other tests carry it three times.
  private func syncOnce() throws { try syncAll(rounds: 1) }

  /// The first digits of the id of a conflict. It is open at the hub and on the device b.
  private static let conflict = "2eed6875"

  // MARK: the hub

  private static let hubCommands: [[String]] = [
    ["status"], ["report", "HERE/report.html"], ["log"], ["doctor"], ["doctor", "--repair"], ["audit"], ["conflicts"],
    ["conflicts", "list"], ["conflicts", "show", conflict], ["conflicts", "export"],
    ["conflicts", "resolve", conflict, "--keep", "device"], ["conflicts", "resolve", "--all", "--policy", "hub"],
    ["history", "reviews", "2"], ["revert", "a/2"], ["scope", "show", "ann"],
    ["scope", "explain", "ann", "camps", "c1"], ["user", "list"], ["user", "set", "ann", "area=north"],
    ["user", "add", "dan", "area=south"], ["user", "import", "HERE/users.csv"], ["device", "list"],
    ["device", "show", "a"], ["device", "set", "a", "--edits", "yes"], ["device", "hold", "a"],
    ["device", "provision", "new", "--user", "ann", "--into", "HERE/new"], ["device", "revoke", "c"],
    ["dataset", "show"], ["dataset", "apply", "HERE/next.json"], ["keys", "show"], ["keys", "revoke", "c"],
    ["keys", "rotate", "--lost", "--yes"], ["keys", "unprotect"], ["emit", "--all"],
    ["emit", "--device", "a", "--full"], ["compact"], ["compact", "--older-than", "1", "--shrink"],
    ["restore", "--in-place"], ["compare", "a"], ["backup", "HERE/monday.satchel"], ["sync", "HERE/stick"],
    ["quarantine", "list"], ["quarantine", "drop", "--all"], ["operator", "add", "mia"], ["operator", "list"], ["acts"],
    ["import", "HERE/a/bundles/outbox/camps-a-hub-2.satchel"],
    ["verify", "HERE/a/bundles/outbox/camps-a-hub-2.satchel"],
    ["inspect", "HERE/a/bundles/outbox/camps-a-hub-2.satchel"],
  ]

  @Test("every command of the hub may be the first", arguments: hubCommands)
  func hubCommand(words: [String]) throws {
    check(hub(words), "\(words)")
    try checkHub(after: words)
  }

  private func checkHub(after words: [String]) throws {
    check(camp.hub("doctor"), "doctor after \(words)")
    check(camp.hub("status"), "status after \(words)")
  }

  private static let mergedAfter: [[String]] = [
    ["check"], ["device", "fork", "a"], ["watch", "--once", "HERE/media"],
  ]

  @Test("all work is merged after a command of the hub that decides nothing", arguments: mergedAfter)
  func merged(words: [String]) throws {
    check(hub(words), "\(words)")
    try syncOnce()
    try checkMerged()
  }

  /// Commands that the hub refuses, because there is nothing to do, with a part of the answer.
  private static let refusedHubCommands: [([String], String)] = [
    (["device", "fork", "a", "--restored"], "Nothing came from the device a since it was put back."),
    (["device", "unflag", "a"], "The device a is not flagged."),
    (["device", "release", "a"], "The device a is not on hold."),
    (["restore", "--finish"], "This hub collects nothing from the devices"),
    (["user", "remove", "ann"], "The user ann still has the device a."),
    (["keys", "rotate"], "A new key was made already"),
    (["operator", "remove", "mia"], "There is no operator mia."),
    (["conflicts", "reopen", conflict], "No person has decided the conflict 2eed6875 yet."),
  ]

  @Test("a command that is refused may be the first, and all work is merged after it", arguments: refusedHubCommands)
  func refusedHubCommand(words: [String], answer: String) throws {
    let outcome = hub(words)
    #expect(outcome.code == 1 && outcome.error.contains(answer), "\(outcome.out)\(outcome.error)")
    try syncOnce()
    try checkMerged()
  }

  @Test("the console may be the first, with any of its pages", arguments: ["/", "/conflicts", "/devices", "/log"])
  func console(page: String) throws {
    try camp.inBrowser { browser throws in #expect(browser.get(page).status == 200) }
    try checkHub(after: ["console"])
    if page == "/" {
      try syncAll()
      try checkMerged()
    }
  }

  @Test("the enrolment of a new device may be the first, and the device gets what its user may see")
  func enrolment() throws {
    let request = camp.path("request.satchel")
    let made = camp.deviceAnywhere(
      "init", camp.path("new"), "--dataset", "camps", "--name", "new", "--request", request, "--json")
    let fingerprint = try #require(try made.json["fingerprint"]?.stringValue, "\(made.error)")
    let enrolled = camp.hub("device", "enrol", request, "--user", "ann", "--fingerprint", fingerprint, "--json")
    check(enrolled, "device enrol")
    try checkHub(after: ["device", "enrol"])
    try syncAll()
    try checkMerged()
    let hub = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    check(camp.device("new", "sync", camp.path("stick"), "--fingerprint", hub), "sync")
    #expect(try rows("new/data.sqlite") == rows("a/data.sqlite"))
    check(camp.device("new", "doctor"), "doctor")
  }

  // MARK: a device

  private static let deviceCommands: [[String]] = [
    ["status"], ["report", "HERE/report.html"], ["log"], ["doctor"], ["doctor", "--repair"], ["conflicts"],
    ["conflicts", "list"], ["conflicts", "show", conflict], ["conflicts", "export"], ["keys", "show"],
    ["keys", "rotate"], ["keys", "unprotect"], ["keys", "request", "HERE/request"], ["export"],
    ["export", "--snapshot"], ["export", "--prove"], ["apply"],
    ["import", "HERE/hub/bundles/outbox/camps-hub-b-3.satchel"],
    ["import", "--stage", "HERE/hub/bundles/outbox/camps-hub-b-3.satchel"],
    ["sync", "HERE/stick"], ["watch", "--once", "HERE/media"], ["compact"], ["quarantine", "list"],
    ["quarantine", "drop", "--all"], ["verify", "HERE/hub/bundles/outbox/camps-hub-b-3.satchel"],
    ["inspect", "HERE/hub/bundles/outbox/camps-hub-b-3.satchel"],
  ]

  @Test("every command of a device may be the first, and then all work is merged", arguments: deviceCommands)
  func deviceCommand(words: [String]) throws {
    check(device(words), "\(words)")
    try checkDevice(after: words)
    try syncOnce()
    try checkMerged()
  }

  private func checkDevice(after words: [String]) throws {
    check(camp.device("b", "doctor"), "doctor after \(words)")
    check(camp.device("b", "status"), "status after \(words)")
  }

  private static let renewals: [[String]] = [
    ["renew", "--name", "other", "--request", "HERE/request"], ["renew", "--hub", "--request", "HERE/request"],
  ]

  @Test("a renewal may be the first", arguments: renewals)
  func renewal(words: [String]) throws { check(device(words), "\(words)") }

  @Test("a decision on the device may be the first, and the hub records it")
  func decision() throws {
    check(device(["conflicts", "resolve", Self.conflict, "--keep", "hub"]), "resolve")
    try checkDevice(after: ["conflicts", "resolve"])
    try syncAll()
    #expect(try rows(office) == Self.merged)
    let decided = "SELECT state, decision, decided_by FROM satchel_conflicts WHERE id LIKE '\(Self.conflict)%'"
    #expect(try camp.rows(office, decided) == "resolved|hub|ben")
    try checkHealth()
  }

  @Test("what release 0.1 had staged is applied by the first command")
  func staged() throws {
    let name = "camps-hub-b-3.satchel"
    try camp.makeFolder("b/bundles/staged")
    try camp.copy("hub/bundles/outbox/\(name)", to: "b/bundles/staged/\(name)")
    let applied = device(["apply", "--json"])
    check(applied, "apply")
    let bundles = try applied.json["bundles"]?.arrayValue ?? []
    #expect(bundles.map { $0["verdict"]?.stringValue } == ["imported"], "\(bundles)")
    #expect(bundles.first?["number"]?.integerValue == 3, "\(bundles)")
    try checkDevice(after: ["apply"])
    try syncAll()
    try checkMerged()
  }

  @Test("dock may be the first: the database goes to the tablet, and its work is merged from there")
  func dock() throws {
    let database = "card/camps.sqlite"
    check(device(["dock", "HERE/card", "--database", "camps.sqlite"]), "dock")
    for _ in 1...4 {
      for name in ["a", "c"] { check(camp.device(name, "sync", camp.path("stick")), "\(name) sync") }
      check(device(["dock", "HERE/card", "--stick", "HERE/stick"]), "dock --stick")
      check(camp.hub("sync", camp.path("stick")), "hub sync")
    }
    #expect(try rows(office) == Self.merged)
    for name in ["a", "c"] { try checkRows(of: name) }
    try checkRows(of: "b", in: database)
    check(camp.hub("doctor"), "doctor")
    check(camp.hub("audit"), "audit")
  }

  @Test("the window may be the first, and then all work is merged")
  func window() throws {
    try camp.inWindow(of: "b") { browser throws in #expect(browser.get("/").status == 200) }
    try checkDevice(after: ["window"])
    try syncAll()
    try checkMerged()
  }

  // MARK: both

  @Test("a password for the secret keys may be the first, and all work is merged with it", arguments: ["hub", "b"])
  func password(folder: String) throws {
    let run = { folder == "hub" ? hub($0) : device($0) }
    check(run(["keys", "protect", "--new-password-file", "HERE/password"]), "keys protect")
    #expect(run(folder == "hub" ? ["emit", "--all"] : ["export"]).code == 1)
    check(run(["keys", "unprotect", "--password-file", "HERE/password"]), "keys unprotect")
    try syncAll()
    try checkMerged()
  }

  @Test("no command is left out, except for those that need no workspace")
  func complete() {
    let special = [["console"], ["device", "enrol"], ["keys", "protect"]]
    let ofHub = Self.hubCommands + Self.mergedAfter + Self.refusedHubCommands.map(\.0) + special
    #expect(untried(HubTool.spec, ofHub) == ["init", "dataset check", "completion", "man"])
    let ownTests = [["conflicts", "resolve"], ["dock"], ["window"], ["keys", "protect"]]
    let ofDevice = Self.deviceCommands + Self.renewals + ownTests
    #expect(untried(DeviceTool.spec, ofDevice) == ["init", "completion", "man"])
  }

  private func untried(_ tool: ToolSpec<CommandContext>, _ tried: [[String]]) -> [String] {
    tool.commands.map(\.path).filter { path in !tried.contains { $0.starts(with: path) } }
      .map { $0.joined(separator: " ") }
  }
}
