import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// The programs in a workspace's folder `hooks/`.
@Suite("Hooks of a workspace")
struct HooksTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    for folder in ["stick", "hub/hooks", "tablet/hooks", "seen"] { try camp.makeFolder(folder) }
  }

  /// Makes a hook that stores its input in a file, and then runs `script`.
  private func hook(_ name: String, in workspace: String = "hub", mode: Int = 0o755, _ script: String = "") throws {
    let path = "\(workspace)/hooks/\(name)"
    try camp.write(path, "#!/bin/sh\ncat > \(camp.path("seen/\(name)"))\n\(script)\n")
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: camp.path(path))
  }

  private func seen(_ name: String) throws -> JSONValue? {
    guard FileManager.default.fileExists(atPath: camp.path("seen/\(name)")) else { return nil }
    return try JSONValue.parse(camp.read("seen/\(name)"))
  }

  private func disagree() throws {
    try camp.sql("office.sqlite", "UPDATE reviews SET words = 'theirs' WHERE id = 'r1'")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
  }

  @Test("each hook gets the command's document after its event, and no other hook runs")
  func events() throws {
    for name in ["after-import", "after-sync", "on-conflict", "on-refused"] { try hook(name) }
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    #expect(try seen("after-sync")?["answer"]?["bundles"] == [] && seen("after-import") == nil)
    try disagree()
    #expect(camp.hub("sync", camp.path("stick"), "--dry-run").code == 0)
    #expect(try seen("after-import") == nil)
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    for name in ["after-import", "on-conflict"] {
      let document = try #require(try seen(name))
      #expect(document["hook"]?.stringValue == name && document["workspace"]?.stringValue == camp.path("hub"))
      #expect(document["answer"]?["bundles"]?.arrayValue?.first?["device"] == "tablet")
    }
    #expect(try seen("on-refused") == nil)
    try camp.write("junk.satchel", "no bundle")
    #expect(camp.hub("import", camp.path("junk.satchel")).code == 3)
    #expect(try seen("on-refused")?["answer"]?["bundles"]?.arrayValue?.first?["verdict"] == "refused")
    // The hooks' input leaves no file in the inbox.
    #expect(try HostFileSystem().list(camp.path("hub/bundles/inbox")).isEmpty)
  }

  @Test("a hook runs after the commit and outside the lock: it may use the workspace itself")
  func usesWorkspace() throws {
    try disagree()
    let (database, count) = (camp.path("office.sqlite"), camp.path("seen/count"))
    try hook("on-conflict", "sqlite3 \(database) 'SELECT count(*) FROM satchel_conflicts' > \(count)")
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    #expect(try String(decoding: camp.read("seen/count"), as: UTF8.self) == "1\n")
  }

  @Test("a hook that imports or syncs itself starts no hooks")
  func endless() throws {
    try hook("after-sync", "printenv SATCHEL_HOOK > \(camp.path("seen/variable"))")
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    #expect(try String(decoding: camp.read("seen/variable"), as: UTF8.self) == "after-sync\n")
    try camp.remove("seen/after-sync")
    let console = CollectingConsole(environment: ["SATCHEL_HOOK": "after-sync"])
    #expect(runHubTool(["-C", camp.path("hub"), "sync", camp.path("stick")], platform: .real, console: console) == 0)
    #expect(try seen("after-sync") == nil)
  }

  @Test("while a hook runs, nothing of it is in the workspace for the doctor to find")
  func doctorMeanwhile() throws {
    try hook("after-sync", "ls -a \(camp.path("hub/bundles/inbox")) > \(camp.path("seen/inbox"))")
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    #expect(try !String(decoding: camp.read("seen/inbox"), as: UTF8.self).contains("hooks"))
  }

  @Test("hooks of a device run after import and apply, too")
  func ofDevice() throws {
    try hook("after-import", in: "tablet")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    camp.answer("tablet", 2)
    #expect(try seen("after-import")?["answer"]?["bundles"]?.arrayValue?.first?["verdict"] == "imported")
    try camp.remove("seen/after-import")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Lake' WHERE id = 'lake'")
    camp.hub("emit", "--device", "tablet")
    camp.device("tablet", "import", "--stage", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel"))
    #expect(try seen("after-import") == nil)
    #expect(camp.device("tablet", "apply").code == 0)
    #expect(try seen("after-import") != nil)
  }

  @Test("a hook that fails is named, and the work of the command stays", arguments: ["exit 3", "kill -9 $$"])
  func fails(script: String) throws {
    try hook("after-sync", script)
    try disagree()
    let outcome = camp.hub("sync", camp.path("stick"), "--json")
    #expect(outcome.code == 5)
    let words = script.contains("3") ? "ended with the code 3." : "was killed by the signal 9."
    #expect(try outcome.json["hook_failures"] == [.string("after-sync \(words)")])
    #expect(camp.hub("sync", camp.path("stick")).error.contains("The hook after-sync \(words)"))
    #expect(camp.hub("conflicts").out.contains("r1"))
  }

  @Test("a program that others can write or exchange is not run")
  func open() throws {
    try hook("after-sync", mode: 0o777)
    #expect(camp.hub("sync", camp.path("stick")).error.contains("after-sync: "))
    try hook("after-sync", mode: 0o644)
    let plain = camp.hub("sync", camp.path("stick"))
    #expect(plain.code == 5 && plain.error.contains("is not executable. If you wrote it, run: chmod 755"), "\(plain)")
    try camp.remove("hub/hooks/after-sync")
    try camp.makeFolder("hub/hooks/after-sync")
    #expect(camp.hub("sync", camp.path("stick")).error.contains("hub/hooks/after-sync is a folder."))
    try camp.remove("hub/hooks/after-sync")
    try hook("after-sync")
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: camp.path("hub/hooks"))
    #expect(camp.hub("sync", camp.path("stick")).error.contains("Others can put programs into the folder"))
    #expect(try seen("after-sync") == nil)
  }

  @Test("Ctrl-C during a hook ends the hook and starts no later one, and the command gives its answer")
  func interrupted() throws {
    for name in ["after-import", "after-sync"] { try hook(name, "kill -INT $PPID; sleep 60") }
    try disagree()
    let process = try ChildProcess(
      builtProgram("satchel-hub"), ["-C", camp.path("hub"), "sync", camp.path("stick"), "--json"])
    let document = try JSONValue.parse(process.readToEnd())
    #expect(process.wait() == 5 && !process.wasKilled)
    #expect(
      document["hook_failures"] == [.string("after-import was ended on request. Later hooks did not run.")],
      "\(document)")
    #expect(try seen("after-sync") == nil)
    #expect(camp.hub("conflicts").out.contains("r1"))
  }

  @Test("a program that takes too long is killed with the programs that it started")
  func overdue() throws {
    try camp.write("slow", "#!/bin/sh\nsleep 600 & wait\n")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: camp.path("slow"))
    let program = Program(path: camp.path("slow"), input: "/dev/null", variables: [], longest: 50)
    #expect(try HostPrograms().run(program, opened: {}) == .overdue)
  }
}
