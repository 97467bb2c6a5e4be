import Foundation
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// A workspace that release 0.1 made, used with the commands of this release: a hub, and the devices a, b and c with
/// undelivered work.
@Suite("A workspace of release 0.1")
struct UpgradeTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    let archive = PackageFolder.file("Tests/Workspaces/release-0.1.tar.zst")
    try StockTool.bash("-euc", "zstd -dc '\(archive.path)' | tar -x", in: camp.root)
  }

  private let office = "hub/office.sqlite"
  private static let devices = ["a", "b", "c"]

  /// Runs a command that must succeed.
  private func check(
    _ outcome: CommandLineFixture.Outcome, _ words: String = "", _ place: SourceLocation = #_sourceLocation
  ) {
    #expect(outcome.code == 0, "\(words): \(outcome.out)\(outcome.error)", sourceLocation: place)
  }

  /// A stick goes round all devices and the hub, and back.
  private func syncAll(rounds: Int = 3) throws {
    try camp.makeFolder("stick")
    for _ in 0..<rounds {
      for device in Self.devices { check(camp.device(device, "sync", camp.path("stick")), "\(device) sync") }
      check(camp.hub("sync", camp.path("stick")), "hub sync")
    }
    try fetch()
  }

  /// The first rounds after a hub was restored: what it lacks comes with the second round, and newer exports wait for
  /// that.
  private func syncAllAfterRestore() throws {
    for device in Self.devices { check(camp.device(device, "sync", camp.path("stick")), "\(device) sync") }
    let outcome = camp.hub("sync", camp.path("stick"))
    #expect(outcome.code == 3 && outcome.error.contains("bundles/inbox/waiting"), "\(outcome.out)\(outcome.error)")
    try syncAll()
  }

  private func fetch() throws {
    for device in Self.devices { check(camp.device(device, "sync", camp.path("stick")), "\(device) sync") }
  }

  private static let tables = ["camps": "id", "reviews": "id", "tickets": "id", "visits": "camp, day"]

  private func rows(_ database: String) throws -> [String: String] {
    var rows: [String: String] = [:]
    for (table, key) in Self.tables {
      rows[table] = try camp.rows(database, "SELECT * FROM \(table) ORDER BY \(key)").replacingOccurrences(
        of: "NULL", with: "")
    }
    return rows
  }

  /// The merged work of all devices.
  private static let merged = [
    "camps": "c1|north|Oak of a\nc2|south|Elm of the office\nc3|south|Ash\nc4|north|New",
    "reviews": "2|c2|5|2|[]|office|\n3|c3|5|0|[]|third|\n4|c1|2|0|[]|by a|\n5|c2|2|0|[]|by b|",
    "tickets": "1|c1|t1\n10002|c2|by a",
    "visits": "c1|2026-01-01|9\nc2|2026-02-02|1",
  ]

  /// The rows of a camp's area, by the test's own arithmetic.
  private static func seen(_ camps: [Substring]) -> [String: String] {
    merged.mapValues { text in text }.merging(
      ["camps": 0, "reviews": 1, "tickets": 1].map { table, column in
        let lines = (merged[table] ?? "").split(separator: "\n")
        let kept = lines.filter { camps.contains($0.split(separator: "|", omittingEmptySubsequences: false)[column]) }
        return (table, kept.joined(separator: "\n"))
      }
    ) { $1 }
  }

  private static let scopes: [String: [Substring]] = [
    "a": ["c1", "c4"], "b": ["c1", "c2", "c3", "c4"], "c": ["c2", "c3"],
  ]

  private func checkMerged(_ place: SourceLocation = #_sourceLocation) throws {
    #expect(try rows(office) == Self.merged, sourceLocation: place)
    for (device, camps) in Self.scopes {
      #expect(try rows("\(device)/data.sqlite") == Self.seen(camps), "\(device)", sourceLocation: place)
    }
    let conflicts = "SELECT state, kind, table_name, key FROM satchel_conflicts WHERE state = 'held' ORDER BY id"
    #expect(try camp.rows(office, conflicts) == "held|foreign key|tickets|[20002]", sourceLocation: place)
    let open = try camp.rows(office, "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'")
    #expect(open == "3", sourceLocation: place)
    try checkHealth(place)
  }

  private func checkHealth(_ place: SourceLocation = #_sourceLocation) throws {
    for outcome in [camp.hub("doctor")] + Self.devices.map({ camp.device($0, "doctor") }) {
      #expect(
        outcome.code == 0 && outcome.out == "All is well.\n", "\(outcome.out)\(outcome.error)", sourceLocation: place)
    }
    check(camp.hub("audit"), "audit", place)
  }

  // MARK: the promises

  @Test(
    "after three rounds of sync all work is merged, each device has what its user may see, and the doctors find nothing"
  )
  func rounds() throws {
    try syncAll()
    try checkMerged()
    // Nothing is left to send: a further round makes no bundle.
    let count = "SELECT count(*) FROM satchel_emissions"
    let before = try camp.rows(office, count)
    try syncAll(rounds: 1)
    #expect(try camp.rows(office, count) == before)
    // The files came along.
    #expect(FileManager.default.fileExists(atPath: camp.path("hub/files/photos/oak.jpg")))
  }

  @Test("the same by export, import and emit, one file after the other")
  func files() throws {
    for _ in 0..<3 {
      for device in Self.devices {
        check(camp.device(device, "export"), "\(device) export")
        check(
          camp.hub("import", try camp.newestBundle(in: "\(device)/bundles/outbox", "camps-\(device)-hub-")),
          "hub import")
      }
      check(camp.hub("emit", "--all"), "emit")
      for device in Self.devices {
        let outcome = camp.device(
          device, "import", try camp.newestBundle(in: "hub/bundles/outbox", "camps-hub-\(device)-"))
        check(outcome, "\(device) import")
      }
    }
    try checkMerged()
  }

  @Test("a bundle that release 0.1 left in an outbox is taken as any other")
  func leftInOutbox() throws {
    for device in Self.devices {
      check(
        camp.hub("import", try camp.newestBundle(in: "\(device)/bundles/outbox", "camps-\(device)-hub-")), "hub import")
      let outcome = camp.device(
        device, "import", try camp.newestBundle(in: "hub/bundles/outbox", "camps-hub-\(device)-"))
      check(outcome, "\(device) import")
    }
    try syncAll()
    try checkMerged()
  }

  /// Commands that may be the first of this release in a workspace.
  private static let hubCommands: [[String]] = [
    ["status"], ["report", "HERE/report.html"], ["log"], ["doctor"], ["doctor", "--repair"], ["audit"], ["conflicts"],
    ["conflicts", "export"], ["history", "reviews", "2"], ["scope", "show", "ann"],
    ["scope", "explain", "ann", "camps", "c1"],
    ["user", "list"], ["user", "set", "ann", "area=north"], ["user", "add", "dan", "area=south"], ["device", "list"],
    ["device", "set", "a", "--edits", "yes"], ["device", "provision", "new", "--user", "ann", "--into", "HERE/new"],
    ["device", "revoke", "c"], ["dataset", "show"], ["keys", "show"], ["keys", "rotate", "--lost", "--yes"],
    ["emit", "--all"],
    ["emit", "--device", "a", "--full"], ["compact"], ["compact", "--older-than", "1", "--shrink"],
    ["restore", "--in-place"], ["compare", "a"], ["dataset", "apply", "HERE/next.json"],
    ["backup", "HERE/monday.satchel"], ["sync", "HERE/stick"], ["revert", "a/2"],
    ["conflicts", "resolve", "--all", "--policy", "hub"],
    ["import", "HERE/a/bundles/outbox/camps-a-hub-2.satchel"],
    ["verify", "HERE/a/bundles/outbox/camps-a-hub-2.satchel"],
    ["inspect", "HERE/a/bundles/outbox/camps-a-hub-2.satchel"],
  ]

  @Test("every command of the hub may be the first", arguments: hubCommands)
  func hubCommand(words: [String]) throws {
    try camp.makeFolder("stick")
    let next = "SELECT json_set(definition, '$.version', json_extract(definition, '$.version') + 1) FROM satchel_hub"
    try camp.write("next.json", camp.rows(office, next))
    let words = words.map { $0.replacingOccurrences(of: "HERE", with: camp.root) }
    check(camp.hubAnywhere(["-C", camp.path("hub")] + words), "\(words)")
    check(camp.hub("doctor"), "doctor after \(words)")
    check(camp.hub("status"), "status after \(words)")
  }

  private static let deviceCommands: [[String]] = [
    ["status"], ["report", "HERE/report.html"], ["log"], ["doctor"], ["doctor", "--repair"], ["conflicts"],
    ["conflicts", "export"], ["keys", "show"], ["keys", "rotate"], ["export"], ["export", "--snapshot"],
    ["import", "HERE/hub/bundles/outbox/camps-hub-b-3.satchel"],
    ["import", "--stage", "HERE/hub/bundles/outbox/camps-hub-b-3.satchel"],
    ["sync", "HERE/stick"], ["compact"], ["renew", "--name", "other", "--request", "HERE/request"],
    ["renew", "--hub", "--request", "HERE/request"], ["export", "--prove"],
    ["verify", "HERE/hub/bundles/outbox/camps-hub-b-3.satchel"],
    ["inspect", "HERE/hub/bundles/outbox/camps-hub-b-3.satchel"],
  ]

  @Test("every command of a device may be the first", arguments: deviceCommands)
  func deviceCommand(words: [String]) throws {
    try camp.makeFolder("stick")
    let words = words.map { $0.replacingOccurrences(of: "HERE", with: camp.root) }
    check(camp.deviceAnywhere(["-C", camp.path("b")] + words), "\(words)")
    if words[0] == "renew" { return }
    check(camp.device("b", "doctor"), "doctor after \(words)")
    check(camp.device("b", "status"), "status after \(words)")
    try syncAll()
    try checkMerged()
  }

  @Test("a rehearsal leaves every byte as release 0.1 made it")
  func rehearsal() throws {
    let before = try camp.everything()
    check(camp.hub("import", "--dry-run", camp.path("a/bundles/outbox/camps-a-hub-2.satchel")))
    check(camp.hub("emit", "--all", "--dry-run"))
    check(camp.device("a", "export", "--dry-run"))
    let after = try camp.everything()
    for (name, bytes) in before where after[name] != bytes {
      // A command upgrades Satchel's own tables to its release first. Rows and files stay.
      #expect(name.hasSuffix(".sqlite"), "\(name)")
    }
  }

  @Test("a device's database that is lost comes back from the bundles that release 0.1 kept", arguments: [false, true])
  func lostDatabase(isEmptied: Bool) throws {
    // Changes in no export are lost with their file.
    check(camp.device("b", "export"), "export")
    let before = try rows("b/data.sqlite")
    try camp.remove("b/data.sqlite")
    if isEmptied { try camp.write("b/data.sqlite", "") }
    #expect(camp.device("b", "export").code == 1)
    check(camp.device("b", "doctor", "--repair"), "doctor --repair")
    #expect(try rows("b/data.sqlite") == before)
    try syncAll()
    try checkMerged()
  }

  @Test("a device that syncs without its database delivers what lay there, and is whole again after the next rounds")
  func lostBeforeSync() throws {
    check(camp.device("b", "export"), "export")
    try camp.remove("b/data.sqlite")
    try camp.makeFolder("stick")
    let stranded = camp.device("b", "sync", camp.path("stick"))
    #expect(stranded.code == 5 && stranded.out.contains("2 files that lay here"), "\(stranded.out)\(stranded.error)")
    check(camp.hub("sync", camp.path("stick")), "hub sync")
    try syncAll()
    try checkMerged()
  }

  @Test("a hub of release 0.1 that is restored in place gets everything delivered again, and collects what it had sent")
  func restoredInPlace() throws {
    try camp.copy("hub", to: "copy")
    try syncAll()
    // In the time that is lost the office writes a row that devices know.
    try camp.sql(
      office, "INSERT INTO camps VALUES ('c5', 'north', 'Elder'); UPDATE camps SET name = 'Oak of all' WHERE id = 'c1'")
    try camp.sql("a/data.sqlite", "UPDATE reviews SET note = 'later' WHERE id = 4")
    try syncAll(rounds: 2)
    try camp.remove("hub")
    try FileManager.default.moveItem(atPath: camp.path("copy"), toPath: camp.path("hub"))
    let outcome = camp.hub("restore", "--in-place")
    check(outcome, "restore --in-place")
    try syncAllAfterRestore()
    #expect(camp.hub("restore", "--finish").code == 1)
    #expect(try camp.rows(office, "SELECT name FROM camps WHERE id IN ('c1', 'c5') ORDER BY id") == "Oak of all\nElder")
    #expect(try camp.rows(office, "SELECT note FROM reviews WHERE id = 4") == "later")
    #expect(try camp.rows(office, "SELECT likes FROM reviews WHERE id = 2") == "2")
    #expect(
      try camp.rows("a/data.sqlite", "SELECT id, name FROM camps ORDER BY id") == "c1|Oak of all\nc4|New\nc5|Elder")
    let seen = try camp.rows(office, "SELECT * FROM reviews ORDER BY id")
    #expect(try camp.rows("b/data.sqlite", "SELECT * FROM reviews ORDER BY id") == seen)
    try checkHealth()
  }

  @Test("a hub of release 0.1 that was set back without a word finds it out, and says what to do")
  func setBack() throws {
    try syncAll(rounds: 1)
    try camp.copy("hub", to: "copy")
    try camp.sql("a/data.sqlite", "UPDATE reviews SET note = 'later' WHERE id = 4")
    try camp.sql(office, "UPDATE camps SET name = 'Oak of all' WHERE id = 'c1'")
    try syncAll(rounds: 2)
    try camp.remove("hub")
    try FileManager.default.moveItem(atPath: camp.path("copy"), toPath: camp.path("hub"))
    try camp.sql("a/data.sqlite", "UPDATE reviews SET stars = 3 WHERE id = 4")
    check(camp.device("a", "sync", camp.path("stick")))
    let outcome = camp.hub("sync", camp.path("stick"))
    #expect(outcome.code == 3 && outcome.error.contains("restore --in-place"), "\(outcome.out)\(outcome.error)")
    #expect(camp.hub("emit", "--all").code == 3)
    check(camp.hub("restore", "--in-place"))
    try syncAllAfterRestore()
    #expect(try camp.rows(office, "SELECT note, stars FROM reviews WHERE id = 4") == "later|3")
    #expect(try camp.rows(office, "SELECT name FROM camps WHERE id = 'c1'") == "Oak of all")
    try checkHealth()
  }
}
