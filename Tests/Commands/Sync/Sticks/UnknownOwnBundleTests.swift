import Foundation
import SatchelJSON
import TestSupport
import Testing

/// A replica's files were set back to a copy. Only a file on a stick has the replica's newer history.
@Suite("Own bundles on a stick that their sender does not know")
struct UnknownOwnBundleTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.makeFolder("stick")
  }

  private var stick: String { camp.path("stick") }

  private func add(_ id: String, to database: String = "tablet/data.sqlite", words: String = "'work'") throws {
    try camp.sql(database, "INSERT INTO reviews VALUES ('\(id)', 'lake', 'ann', 3, \(words))")
  }

  private func hasRow(_ id: String, _ database: String) throws -> Bool {
    try camp.rows(database, "SELECT count(*) FROM reviews WHERE id = '\(id)'") == "1"
  }

  private func onStick() throws -> [String: Data] {
    try camp.everything().filter { $0.key.hasPrefix("stick/SATCHEL/") && $0.key.hasSuffix(".satchel") }
  }

  private func own(_ sender: String) throws -> [String: Data] {
    try onStick().filter { $0.key.contains("/camp-\(sender)-") }
  }

  /// Restores the tablet's folder from a backup. Its later row `day2` is only on the stick.
  /// - Parameter words: the command that puts the row on the stick.
  private func putTabletBack(value: String = "'work'", words: [String] = ["sync"]) throws -> [String: Data] {
    try camp.copy("tablet", to: "backup")
    try add("day1")
    camp.device("tablet", "sync", stick)
    #expect(camp.hub("sync", stick).code == 0)
    camp.device("tablet", "sync", stick)
    try add("day2", words: value)
    let outcome = camp.deviceAnywhere(["-C", camp.path("tablet")] + words + [stick])
    #expect(outcome.code == 0, "\(outcome)")
    try camp.remove("tablet")
    try camp.copy("backup", to: "tablet")
    let lost = try own("tablet")
    #expect(!lost.isEmpty)
    return lost
  }

  private func expectKept(_ lost: [String: Data]) throws {
    let present = try onStick()
    for (name, bytes) in lost { #expect(present[name] == bytes, "\(name) of \(present.keys.sorted())") }
  }

  @Test("a tablet that was put back leaves its newer export on the stick, and says so", arguments: [true, false])
  func tablet(hasNewWork: Bool) throws {
    let lost = try putTabletBack()
    if hasNewWork { try add("day3") }
    let outcome = camp.device("tablet", "sync", stick)
    #expect(outcome.code == 3 && outcome.error.contains("the database here did not make it"), "\(outcome)")
    #expect(outcome.error.contains("device fork NAME --restored"), "\(outcome)")
    try expectKept(lost)
    camp.hub("sync", stick)
    #expect(camp.hub("device", "fork", "tablet", "--restored").code == 0)
    #expect(try hasRow("day2", "office.sqlite"))
    if hasNewWork { #expect(try hasRow("day3", "office.sqlite")) }
    for _ in 0..<3 {
      camp.hub("sync", stick)
      camp.device("tablet", "sync", stick)
    }
    #expect(try hasRow("day2", "tablet/data.sqlite"))
  }

  @Test("an export with the same number as the unknown export goes beside it")
  func sameNumber() throws {
    let lost = try putTabletBack()
    for day in 3...6 {
      try add("day\(day)")
      #expect(camp.device("tablet", "sync", stick).code == 3)
      try expectKept(lost)
      #expect(try own("tablet").count == lost.count + 1)
    }
  }

  @Test("an encrypted export is recognized too")
  func encrypted() throws {
    let lost = try putTabletBack(words: ["sync", "--encrypt"])
    try add("day3")
    #expect(camp.device("tablet", "sync", "--encrypt", stick).code == 3)
    try expectKept(lost)
  }

  @Test("volumes of a newer export stay too")
  func volumes() throws {
    try camp.makeFolder("stick/SATCHEL")
    let lost = try putTabletBack(
      value: "hex(randomblob(200000))", words: ["export", "--volume-size", "64K", "--parity", "1", "--to"])
    #expect(lost.count > 3)
    try add("day3")
    #expect(camp.device("tablet", "sync", stick).code == 3)
    try expectKept(lost)
  }

  @Test("--to writes over no export that the tablet does not know")
  func to() throws {
    try camp.makeFolder("plain")
    try camp.copy("tablet", to: "backup")
    try add("day1")
    #expect(camp.device("tablet", "export", "--to", camp.path("plain")).code == 0)
    let lost = try camp.read("plain/camp-tablet-hub-1.satchel")
    try camp.remove("tablet")
    try camp.copy("backup", to: "tablet")
    try add("day2")
    let outcome = camp.device("tablet", "export", "--to", camp.path("plain"))
    #expect(outcome.code == 1 && outcome.error.contains("which this workspace does not know"), "\(outcome)")
    #expect(try camp.read("plain/camp-tablet-hub-1.satchel") == lost)
  }

  /// Sets the hub back to a copy. The office's later row `day2` is only on the stick.
  private func putHubBack(encrypted: Bool = false) throws -> [String: Data] {
    camp.device("tablet", "sync", stick)
    camp.hub("sync", stick)
    camp.device("tablet", "sync", stick)
    camp.hub("sync", stick)
    try camp.keepHub()
    try add("day2", to: "office.sqlite")
    let words = ["-C", camp.path("hub"), "sync", stick] + (encrypted ? ["--encrypt"] : [])
    #expect(camp.hubAnywhere(words).code == 0)
    try camp.putBackHub()
    let lost = try own("hub").filter { $0.key.contains("camp-hub-tablet-") }
    #expect(!lost.isEmpty)
    return lost
  }

  @Test("a hub that was put back finds the proof on the stick, and writes over nothing", arguments: [true, false])
  func hub(hasNewWork: Bool) throws {
    let lost = try putHubBack()
    if hasNewWork { try add("day3", to: "office.sqlite") }
    let outcome = camp.hub("sync", stick)
    #expect(outcome.code == 3 && outcome.error.contains("This hub was set back"), "\(outcome)")
    try expectKept(lost)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_set_back") == "1")
    #expect(camp.hub("restore", "--in-place").code == 0)
    for _ in 0..<3 {
      camp.hub("sync", stick)
      for name in ["tablet", "phone"] { camp.device(name, "sync", stick) }
    }
    #expect(try hasRow("day2", "office.sqlite"))
    if hasNewWork { #expect(try hasRow("day3", "office.sqlite")) }
  }

  @Test("an encrypted emission is a proof too")
  func encryptedHub() throws {
    let lost = try putHubBack(encrypted: true)
    #expect(camp.hub("sync", stick, "--encrypt").code == 3)
    try expectKept(lost)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_set_back") == "1")
  }

  @Test("emit --to finds the proof on the stick")
  func emitTo() throws {
    let lost = try putHubBack()
    try add("day3", to: "office.sqlite")
    #expect(camp.hub("emit", "--all", "--to", stick).code == 3)
    try expectKept(lost)
  }

  @Test("a database that was put back alone does not write over an emission in the outbox")
  func outbox() throws {
    try camp.copy("office.sqlite", to: "office-copy.sqlite")
    try add("day2", to: "office.sqlite")
    let file = try camp.emit("tablet")
    let lost = try Data(contentsOf: URL(fileURLWithPath: file))
    for suffix in ["", "-wal", "-shm"] { try camp.removeIfThere("office.sqlite\(suffix)") }
    try camp.copy("office-copy.sqlite", to: "office.sqlite")
    try add("day3", to: "office.sqlite")
    let outcome = camp.hub("emit", "--device", "tablet")
    #expect(outcome.code == 3 && outcome.error.contains("This hub was set back"), "\(outcome)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == lost)
  }
}
