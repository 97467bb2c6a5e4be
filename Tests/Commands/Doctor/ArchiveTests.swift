import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// The archives of hub and device keep every merged bundle, whatever fails in between.
@Suite("Bundles that were taken are in the archive")
struct ArchiveTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.carry("tablet")
    try camp.carry("phone")
  }

  private func bundles(in folder: String, _ prefix: String) throws -> [String] {
    try HostFileSystem().list(camp.path(folder)).filter { $0.hasPrefix(prefix) && $0.hasSuffix(".satchel") }
  }

  private func check(_ camp: CommandLineFixture, _ place: String = "") {
    for outcome in [camp.hub("audit"), camp.hub("doctor"), camp.device("tablet", "doctor")] {
      #expect(outcome.code == 0, "\(place): \(outcome.out)\(outcome.error)")
    }
  }

  @Test(
    """
    whatever change to a file fails in an import at the hub, a bundle that was merged is in the archive, though its \
    device stops carrying it
    """
  )
  func failedImport() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(camp.device("tablet", "export").code == 0)
    var number = 0
    while true {
      number += 1
      let copy = try CommandLineFixture(copyOf: camp)
      let file = try copy.export("tablet")
      let fault = TroubledFiles.Fault(at: number)
      copy.platform = Platform(files: TroubledFiles(fault: fault), clock: SystemClock(), random: SystemRandom())
      copy.hub("import", file)
      copy.platform = .real
      // If the bundle was merged before the failure, the device receives the acknowledgement and stops carrying the
      // bundle.
      try copy.answer("tablet")
      try copy.carry("tablet", rounds: 2)
      #expect(try copy.rows(office, "SELECT stars FROM reviews WHERE id = 'r1'") == "1", "call \(number)")
      check(copy, "call \(number)")
      if !fault.wasReached { break }
    }
    #expect(number > 10)
  }

  @Test("a bundle that was merged and waits for its name counts as archived, and the next command names it")
  func pendingName() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try camp.deliver("tablet")
    let archive = camp.path("hub/bundles/archive")
    let name = try #require(try bundles(in: "hub/bundles/archive", "camp-tablet-").last)
    let known = try camp.rows(office, "SELECT bundle, digest FROM satchel_ledger WHERE direction = 'in' ORDER BY entry")
      .split(separator: "\n").last?.split(separator: "|")
    let (bundle, digest) = (try #require(known?.first), try #require(known?.last?.prefix(64)))
    let pending = "pending-\(bundle)~\(digest)"
    let files = HostFileSystem()
    try files.rename(Paths.join(archive, name), to: Paths.join(archive, pending))
    // This file in the archive imitates a bundle that was never merged. The next command removes it.
    try files.copy(
      Paths.join(archive, pending), to: Paths.join(archive, "pending-\(bundle)~\(String(repeating: "0", count: 64))"),
      mode: 0o644)
    #expect(camp.hub("audit").code == 0)
    #expect(camp.hub("emit", "--all").code == 0)
    #expect(try files.list(archive).contains(name))
    #expect(try !files.list(archive).contains { $0.hasPrefix("pending-") })
    check(camp)
  }

  @Test("a bundle that the hub's archive lost, or that was damaged there, is put back by importing it once more")
  func importedAgain() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    let file = try camp.export("tablet")
    #expect(camp.hub("import", file).code == 0)
    let name = try #require(try bundles(in: "hub/bundles/archive", "camp-tablet-").last)
    let path = "hub/bundles/archive/\(name)"
    let good = try camp.read(path)
    try camp.remove(path)
    #expect(camp.hub("audit").out.contains("satchel-hub import FILE"))
    #expect(camp.hub("import", file).out.contains("imported before"))
    #expect(try camp.read(path) == good)
    check(camp)
    var bad = good
    bad[bad.count / 2] ^= 1
    try Data(bad).write(to: URL(filePath: camp.path(path)))
    #expect(camp.hub("audit").code == 1)
    #expect(camp.hub("import", file).code == 0)
    #expect(try camp.read(path) == good)
    check(camp)
  }

  @Test("a bundle from the hub that a device's archive lost is put back by importing it once more")
  func importedAgainOnDevice() throws {
    try camp.sql(office, "UPDATE sites SET name = 'Pond' WHERE id = 'lake'")
    try camp.carry("tablet")
    let names = try bundles(in: "tablet/bundles/archive", "camp-hub-tablet-")
    #expect(names.count > 1)
    try camp.makeFolder("away")
    for name in names {
      try camp.copy("tablet/bundles/archive/\(name)", to: "away/\(name)")
      try camp.remove("tablet/bundles/archive/\(name)")
    }
    #expect(camp.device("tablet", "doctor").code == 1)
    for name in names {
      #expect(camp.device("tablet", "import", camp.path("away/\(name)"), "--dry-run").code == 0)
    }
    #expect(try bundles(in: "tablet/bundles/archive", "camp-hub-tablet-").isEmpty)
    for name in names {
      let again = camp.device("tablet", "import", camp.path("away/\(name)"))
      #expect(again.code == 0 && again.out.contains("before"), "\(again.out)\(again.error)")
    }
    #expect(try bundles(in: "tablet/bundles/archive", "camp-hub-tablet-") == names)
    check(camp)
    // A newer full bundle has the same content, so the older bundle does not come back.
    try camp.answer("tablet", full: true)
    let kept = try bundles(in: "tablet/bundles/archive", "camp-hub-tablet-")
    #expect(kept.count == 1)
    for name in names { camp.device("tablet", "import", camp.path("away/\(name)")) }
    #expect(try bundles(in: "tablet/bundles/archive", "camp-hub-tablet-") == kept)
    check(camp)
  }

  @Test("what the hub has leaves the outbox by the next import, though that brings nothing new")
  func leavesOutbox() throws {
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    let export = try camp.export("tablet")
    #expect(camp.hub("import", export).code == 0)
    let emission = try camp.emit("tablet")
    #expect(camp.device("tablet", "import", emission).code == 0)
    let sent = "tablet/bundles/sent/\(Paths.name(of: export))"
    try camp.copy(sent, to: "tablet/bundles/outbox/\(Paths.name(of: export))")
    try camp.remove(sent)
    // The outbox also gets a bundle from the hub itself. The hub had lost this bundle for a while.
    let own = Paths.name(of: emission)
    try camp.copy("tablet/bundles/archive/\(own)", to: "tablet/bundles/outbox/\(own)")
    #expect(camp.device("tablet", "doctor").out.contains("need not be carried"))
    #expect(camp.device("tablet", "import", emission).code == 0)
    #expect(try HostFileSystem().list(camp.path("tablet/bundles/outbox")).isEmpty)
    check(camp)
  }

  @Test("a bundle that a failed import left in the archive is on the medium before a database is made of it")
  func foundInArchive() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    for name in try bundles(of: camp).map({ "bundles/archive/\($0)" }) + ["data.sqlite"] {
      try camp.remove("tablet/\(name)")
    }
    let emission = try camp.emit("tablet", full: true)
    func importing(_ files: TroubledFiles) {
      camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
      camp.device("tablet", "import", emission)
      camp.platform = .real
    }
    var number = 0
    while try bundles(of: camp).isEmpty {
      number += 1
      importing(TroubledFiles(fault: .init(at: number)))
    }
    let database = "name \(camp.path("tablet/data.sqlite"))"
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet/data.sqlite")))
    let record = TroubledFiles.Record()
    importing(TroubledFiles(record: record))
    let synced = try #require(record.calls.firstIndex(of: "sync \(camp.path("tablet/bundles/archive"))"))
    let made = try #require(record.calls.firstIndex(of: database), "\(record.calls)")
    #expect(synced < made)
    check(camp)
  }

  private func bundles(of camp: CommandLineFixture) throws -> [String] {
    try HostFileSystem().list(camp.path("tablet/bundles/archive")).filter { $0.hasSuffix(".satchel") }
  }

  // MARK: the lost time

  private let lost = "hub/bundles/archive/lost"

  /// In the lost time the office writes, and only the tablet receives it. The phone's bundle of that time is lost with
  /// its stick. After the restore, the tablet has delivered its bundle, and the hub waits for the phone.
  private func collect() throws {
    try camp.backUp()
    try camp.sql(office, "UPDATE sites SET name = 'of the lost time' WHERE id = 'lake'")
    try camp.carry("tablet")
    try camp.remove("stick/SATCHEL/camp/phone")
    try camp.restore()
    try camp.carry("tablet", rounds: 3)
    #expect(try bundles(in: lost, "camp-hub-").count == 1)
    #expect(try name() == "Lake")
  }

  private func name() throws -> String { try camp.rows(office, "SELECT name FROM sites WHERE id = 'lake'") }
  private func recovery() throws -> JSONValue? { try camp.hub("status", "--json").json["recovery"] }

  @Test("a hub that is restored while it collects what it lost has what it collected, from the backup")
  func restoredMeanwhile() throws {
    try collect()
    try camp.remove("safe")
    try camp.backUp("tuesday.satchel")
    #expect(camp.hub("backup", "--verify", camp.path("tuesday.satchel")).code == 0)
    try camp.restore("tuesday.satchel")
    #expect(try bundles(in: lost, "camp-hub-").count == 1)
    for device in ["tablet", "phone", "tablet", "phone"] { try camp.carry(device, rounds: 2) }
    #expect(try name() == "of the lost time")
    #expect(try recovery() == .null)
    for device in ["tablet", "phone"] {
      #expect(try camp.rows("\(device)/data.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "of the lost time")
    }
    check(camp)
  }

  @Test("a collected bundle that is gone or damaged stops no import; it is named, and merged when it is brought back")
  func gone() throws {
    try collect()
    let path = try "\(lost)/\(#require(bundles(in: lost, "camp-hub-").first))"
    let good = try camp.read(path)
    var bad = good
    bad[bad.count / 2] ^= 1
    for content in [bad, nil] {
      try camp.remove(path)
      if let content { try Data(content).write(to: URL(filePath: camp.path(path))) }
      try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = stars + 1 WHERE id = 'r1'")
      let taken = camp.hub("import", try camp.export("phone"))
      #expect(taken.code == 0, "\(taken.error)")
      try camp.answer("phone")
      for command in ["audit", "doctor"] {
        let outcome = camp.hub(command)
        #expect(outcome.code == 1 && outcome.out.contains("is missing or damaged"), "\(outcome.out)\(outcome.error)")
      }
      #expect(try name() == "Lake")
    }
    #expect(try recovery()?["missing"]?.arrayValue?.count == 1)
    #expect(camp.hub("status").out.contains(Paths.name(of: path)))
    try Data(good).write(to: URL(filePath: camp.path(path)))
    try camp.carry("phone", rounds: 2)
    #expect(try name() == "of the lost time")
    check(camp)
  }

  @Test("what was collected and is gone is given up by restore --finish, which says so")
  func givenUp() throws {
    try collect()
    try camp.remove("\(lost)/\(#require(bundles(in: lost, "camp-hub-").first))")
    let finished = camp.hub("restore", "--finish", "--json")
    #expect(finished.code == 0, "\(finished.error)")
    #expect(try finished.json["recovery"]?["unreadable"] == .integer(1))
    #expect(try recovery() == .null)
    check(camp)
  }

  @Test("a restored hub whose backup lacks what it had collected says so, and takes it from the device's folder")
  func collectedAgain() throws {
    try collect()
    let file = try #require(bundles(in: lost, "camp-hub-").first)
    try camp.remove("\(lost)/\(file)")
    try camp.remove("safe")
    try camp.backUp("tuesday.satchel")
    try camp.restore("tuesday.satchel")
    for device in ["tablet", "phone", "tablet", "phone"] { try camp.carry(device, rounds: 2) }
    #expect(try name() == "Lake")
    let audit = camp.hub("audit")
    #expect(audit.code == 1 && audit.out.contains("bundles/archive/former"), "\(audit.out)")
    let number = try #require(file.split(separator: "-").dropFirst(2).first)
    let imported = camp.hub("import", camp.path("tablet/bundles/archive/former/camp-hub-tablet-\(number).satchel"))
    #expect(imported.code == 0, "\(imported.error)")
    #expect(try recovery() == .null)
    #expect(try name() == "of the lost time")
    try camp.carry("phone")
    check(camp)
  }

  @Test("what a device still brings, a restored hub does not take for collected if its backup lacks it")
  func untold() throws {
    try collect()
    try camp.sql(office, "UPDATE satchel_lost_emissions SET told = NULL")
    let file = try #require(bundles(in: lost, "camp-hub-").first)
    try camp.remove("\(lost)/\(file)")
    #expect(camp.hub("restore", "--in-place").code == 0)
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_lost_emissions WHERE merged = 0") == "0")
  }
}
