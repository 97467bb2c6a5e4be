import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import TestSupport
import Testing

@Suite("One command a stick")
struct SyncTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try FileManager.default.createDirectory(atPath: camp.path("stick"), withIntermediateDirectories: true)
  }

  private var stick: String { camp.path("stick") }

  /// The dataset's bundles on the stick, each as `recipient/sender/name`.
  private var carried: [String] {
    get throws {
      try camp.everything().keys.filter { $0.hasPrefix("stick/SATCHEL/camp/") && $0.hasSuffix(".satchel") }
        .map { String($0.dropFirst("stick/SATCHEL/camp/".count)) }.sorted()
    }
  }

  @Test("a stick goes around: what each has to say arrives, and what has arrived is taken off it")
  func around() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 2 WHERE id = 'r2'")
    let first = camp.device("tablet", "sync", stick)
    #expect(
      first.code == 0 && first.out.contains("For hub: bundle 1, 1 change.")
        && first.out.hasSuffix("everything is in the folder.\n"))
    let second = camp.device("phone", "sync", stick)
    #expect(second.out.contains("1 bundle for others stays as it is"))
    #expect(try carried == ["hub/phone/camp-phone-hub-1.satchel", "hub/tablet/camp-tablet-hub-1.satchel"])
    let hub = camp.hub("sync", stick)
    #expect(hub.code == 0 && hub.out.contains("Bundle 1 of tablet: 1 change taken"))
    #expect(
      try camp.rows("office.sqlite", "SELECT group_concat(stars) FROM (SELECT stars FROM reviews ORDER BY id)") == "1,2"
    )
    #expect(try carried == ["phone/hub/camp-hub-phone-2.satchel", "tablet/hub/camp-hub-tablet-2.satchel"])
    camp.device("tablet", "sync", stick)
    camp.device("phone", "sync", stick)
    #expect(camp.hub("sync", stick).code == 0)
    for name in ["tablet", "phone"] { camp.device(name, "sync", stick) }
    #expect(try camp.rows("phone/data.sqlite", "SELECT count(*) FROM reviews") == "2")
    #expect(try String(contentsOfFile: camp.path("stick/SATCHEL/README.txt"), encoding: .utf8).contains("give it back"))
    #expect(try camp.device("tablet", "status", "--json").json["pending"] == .object([]))
  }

  /// Reasons why a device cannot export.
  enum Obstacle: CaseIterable {
    case triggersGone, columnRenamed, oldCopy, folder, brokenLink, otherDevice, replacedWithRows, locked

    var words: String {
      switch self {
      case .triggersGone, .columnRenamed: "satchel doctor --repair"
      case .oldCopy: "was replaced by an older copy"
      case .folder, .brokenLink: "cannot be opened"
      case .otherDevice: "belongs to the device phone, this workspace to tablet"
      case .replacedWithRows: "Another program put a new file in the place of"
      case .locked: "Another program is writing to the database"
      }
    }

    /// The expected exit code of a `sync` that still carries the outbox.
    var code: Int32 { self == .locked ? 4 : 5 }
  }

  private func put(_ obstacle: Obstacle) throws {
    let database = "tablet/data.sqlite"
    switch obstacle {
    case .locked: break
    case .replacedWithRows: try camp.replaceFile()
    case .otherDevice:
      try camp.loseDatabase(of: "tablet")
      try camp.copy("phone/data.sqlite", to: database)
    case .triggersGone: try camp.sql(database, CommandLineFixture.dropTriggers)
    case .columnRenamed: try camp.sql(database, "ALTER TABLE reviews RENAME COLUMN words TO text")
    case .oldCopy, .folder, .brokenLink:
      for suffix in ["", "-wal", "-shm"] { try camp.removeIfThere(database + suffix) }
      switch obstacle {
      case .folder: try camp.makeFolder(database)
      case .brokenLink:
        try FileManager.default.createSymbolicLink(
          atPath: camp.path(database), withDestinationPath: camp.path("nowhere/data.sqlite"))
      default: try camp.copy("old.sqlite", to: database)
      }
    }
  }

  @Test("what lies in the outbox is delivered whatever state the database is in", arguments: Obstacle.allCases)
  func outboxInAnyState(obstacle: Obstacle) throws {
    try camp.sql("tablet/data.sqlite", "PRAGMA wal_checkpoint(TRUNCATE)")
    try camp.copy("tablet/data.sqlite", to: "old.sqlite")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(camp.device("tablet", "export").code == 0)
    // This bundle from the hub cannot be imported either.
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    #expect(camp.hub("sync", stick).code == 0)
    try put(obstacle)
    let app = try obstacle == .locked ? Database(path: camp.path("tablet/data.sqlite"), mode: .readWrite) : nil
    try app?.execute("BEGIN IMMEDIATE")
    let outcome = camp.device("tablet", "sync", stick)
    #expect(outcome.code == obstacle.code && outcome.error.contains(obstacle.words), "\(outcome.out)\(outcome.error)")
    #expect(outcome.error.contains("QGIS") == (obstacle == .locked), "\(outcome.error)")
    // The hub has nothing to do with it.
    #expect(outcome.error.split(separator: "\n").allSatisfy { !$0.hasPrefix("hub: ") }, "\(outcome.error)")
    #expect(outcome.out.contains("2 files that lay here."), "\(outcome.out)")
    #expect(try carried.contains("hub/tablet/camp-tablet-hub-1.satchel"))
    #expect(camp.hub("sync", stick).out.contains("Bundle 1 of tablet: 1 change taken"))
  }

  @Test("while another command works on the workspace, sync carries nothing away from under it")
  func outboxOfBusyWorkspace() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(camp.device("tablet", "export").code == 0)
    let held = try camp.whileHeld("tablet") { camp.device("tablet", "sync", stick, "--json") }
    #expect(try held.code == 4 && held.json["error"]?["reason"] == "busy")
    #expect(try carried.isEmpty)
  }

  @Test(
    "an import that the database refuses keeps no export from the hub, and status reports it until an import succeeds")
  func refusedImport() throws {
    // An app made an index over the rows that refers to a missing table.
    try camp.sql(
      "tablet/data.sqlite",
      """
      CREATE VIRTUAL TABLE found USING fts5 (words);
      CREATE TRIGGER words_kept AFTER UPDATE ON sites BEGIN UPDATE found SET words = NEW.name WHERE rowid = missing(); END;
      UPDATE reviews SET stars = 1 WHERE id = 'r1'
      """)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    #expect(camp.hub("sync", stick).code == 0)
    let failed = camp.device("tablet", "sync", stick)
    #expect(failed.code == 5 && failed.error.contains("words_kept"), "\(failed)")
    #expect(failed.out.contains("For hub: bundle 1, 1 change."), "\(failed)")
    #expect(camp.device("tablet", "status").out.contains("Failed"))
    #expect(camp.hub("sync", stick).out.contains("Bundle 1 of tablet: 1 change taken"))
    try camp.sql("tablet/data.sqlite", "DROP TRIGGER words_kept")
    #expect(camp.device("tablet", "sync", stick).code == 0)
    #expect(!camp.device("tablet", "status").out.contains("Failed"))
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Pond")
  }

  @Test("a lost stick costs nothing, and an older bundle on a stick is replaced by the newer one")
  func lost() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "sync", stick)
    try FileManager.default.removeItem(atPath: camp.path("stick/SATCHEL"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'x' WHERE id = 'r1'")
    camp.device("tablet", "sync", stick)
    #expect(try carried == ["hub/tablet/camp-tablet-hub-2.satchel"])
    // Nothing is new. But the hub is not known to have the bundle, so the bundle is put on another stick too.
    try FileManager.default.removeItem(atPath: camp.path("stick/SATCHEL"))
    camp.device("tablet", "sync", stick)
    #expect(try carried == ["hub/tablet/camp-tablet-hub-2.satchel"])
    #expect(camp.device("tablet", "sync", stick).out.contains("It is on the stick already"))
  }

  @Test("a rehearsal says what would be done, and changes nothing on either side")
  func rehearsal() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    let before = try camp.everything()
    let outcome = camp.device("tablet", "sync", "--dry-run", stick)
    #expect(outcome.code == 0 && outcome.out.contains("A dry run") && outcome.out.contains("bundle 1, 1 change"))
    #expect(try camp.everything() == before)
  }

  @Test("a damaged bundle stays on the stick and is named, and all the rest is done")
  func damaged() throws {
    for name in ["tablet", "phone"] {
      try camp.sql("\(name)/data.sqlite", "UPDATE reviews SET stars = 3")
      camp.device(name, "sync", stick)
    }
    let path = camp.path("stick/SATCHEL/camp/hub/tablet/camp-tablet-hub-1.satchel")
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(filePath: path))
    let outcome = camp.hub("sync", stick)
    #expect(outcome.code == 3 && outcome.error.contains("camp-tablet-hub-1.satchel"))
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r2'") == "3")
    #expect(try carried.contains("hub/tablet/camp-tablet-hub-1.satchel"))
    #expect(try carried.contains("phone/hub/camp-hub-phone-2.satchel"))
  }

  @Test("a missing stick, a full stick and a read-only stick are reported in plain words")
  func trouble() throws {
    #expect(camp.device("tablet", "sync", camp.path("nowhere")).error.contains("Is the stick mounted?"))
    let json = try camp.device("tablet", "sync", "--json", stick).json
    #expect(json["ok"]?.boolValue == true && json["outgoing"]?.arrayValue?.count == 1)
  }

  @Test("what a device says is its own: another one whose name begins alike makes no answer due")
  func namesThatBeginAlike() throws {
    camp.hub("device", "provision", "tablet-2", "--user", "ann", "--into", camp.path("tablet-2"))
    for (number, stars) in [(1, 1), (2, 2)] {
      try camp.sql("tablet-2/data.sqlite", "UPDATE reviews SET stars = \(stars) WHERE id = 'r1'")
      camp.deliver("tablet-2", number)
      camp.answer("tablet", number + 1)
      // The tablet has the change of tablet-2, and has nothing more to send.
      camp.deliver("tablet", number)
    }
    #expect(try camp.rows("tablet/data.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "2")
    #expect(
      try camp.hub("emit", "--device", "tablet", "--json").json["emissions"]?.arrayValue?.first?["new"]?.boolValue
        == false)
  }

  @Test("a device that has no data yet takes its first bundle from a stick")
  func firstBundle() throws {
    camp.deviceAnywhere(
      "init", camp.path("radio"), "--dataset", "camp", "--name", "radio", "--request", camp.path("radio.satchel"))
    let print = try #require(try camp.device("radio", "status", "--json").json["fingerprint"]?.stringValue)
    camp.hub("device", "enrol", camp.path("radio.satchel"), "--user", "ben", "--fingerprint", print)
    camp.hub("sync", stick)
    let hub = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    #expect(camp.device("radio", "sync", stick, "--fingerprint", hub).code == 0)
    #expect(try camp.rows("radio/data.sqlite", "SELECT count(*) FROM reviews") == "2")
  }

  @Test("a bundle that cannot be put on the stick is reported, with all that was done for the others")
  func oneInTrouble() throws {
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r2'")
    camp.device("phone", "sync", stick)
    try camp.write("stick/SATCHEL/camp/tablet", "")
    let outcome = camp.hub("sync", stick)
    // One bundle is missing on the stick. Its error is printed before the last line.
    #expect(outcome.code == 5 && outcome.error.contains("tablet: "))
    let end = outcome.error + "Not everything is on the stick: see above.\n"
    #expect(outcome.transcript.hasSuffix(end), "\(outcome.transcript)")
    #expect(outcome.out.contains("Bundle 1 of phone: 1 change taken"), "\(outcome.out)")
    #expect(outcome.out.contains("Not everything is on the stick"), "\(outcome.out)")
    #expect(outcome.out.contains("It could not be put on the stick"))
    #expect(try carried == ["phone/hub/camp-hub-phone-2.satchel"])
  }

  @Test("what a stick of many devices brought and takes fits a screen")
  func screen() throws {
    for number in 1...14 {
      let name = "radio\(number)"
      camp.hub("device", "provision", name, "--user", "ann", "--into", camp.path(name))
      try camp.sql("\(name)/data.sqlite", "INSERT INTO reviews VALUES ('\(name)', 'lake', 'ann', \(number), NULL)")
      camp.device(name, "sync", stick)
    }
    let outcome = camp.hub("sync", stick)
    #expect(outcome.code == 0 && outcome.out.contains("Bundle 1 of radio1: 1 change taken."))
    #expect(outcome.out.contains("lines more; satchel-hub log has them all."))
    #expect(outcome.out.split(separator: "\n").count <= 24, "\(outcome.out)")
    #expect(try camp.hub("sync", "--json", stick).json["outgoing"]?.arrayValue?.count == 16)
  }
}
