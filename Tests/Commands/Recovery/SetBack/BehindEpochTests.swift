import Foundation
import SatchelJSON
import TestSupport
import Testing

/// The hub is set back to a time before one of its epochs began. Its devices are already in this epoch.
@Suite("A hub that is put back behind an epoch")
struct BehindEpochTests {
  private let camp: CommandLineFixture
  private let office = "office.sqlite"

  init() throws { camp = try CommandLineFixture() }

  private var stick: String { camp.path("stick") }

  /// Makes a hub with sites. All its devices have all sites.
  private func open(_ devices: [String]) throws {
    try camp.open(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT);
      INSERT INTO sites VALUES ('hill', 'Hill'), ('lake', 'Lake');
      """, CommandLineFixture.definition(#"{ "sites": {} }"#), devices: devices)
    for device in devices { try camp.carry(device, rounds: 2) }
  }

  private func write(_ site: String, in database: String) throws {
    try camp.sql(database, "INSERT INTO sites VALUES ('\(site)', '')")
  }

  private func sites(_ database: String) throws -> String {
    try camp.rows(database, "SELECT group_concat(id, ' ') FROM (SELECT id FROM sites ORDER BY id)")
  }

  private func beginEpoch() {
    let begun = camp.hub("restore", "--in-place", "--yes")
    #expect(begun.code == 0, "\(begun.error)")
  }

  /// Sets the hub back. A new, empty stick replaces the old one, which would show the hub its later state.
  private func putBack() throws {
    try camp.putBackHub()
    try camp.remove("stick")
    try camp.makeFolder("stick")
  }

  private func expectSetBack(by words: String...) {
    let refused = words.isEmpty ? camp.hub("sync", stick) : camp.hub(words[0], words[1])
    #expect(refused.code == 3 && refused.error.contains("set back"), "\(refused.out)\(refused.error)")
  }

  /// Carries a stick from the device to the hub and back. The hub accepts everything.
  private func exchange(_ device: String) {
    camp.device(device, "sync", stick)
    let taken = camp.hub("sync", stick)
    #expect(!taken.error.contains("set back"), "\(device): \(taken.error)")
    camp.device(device, "sync", stick)
  }

  /// Which bundle shows the hub that it was set back.
  enum Proof: CaseIterable { case export, emission }

  @Test(
    "behind two epochs: after one more epoch everything goes on, and all rows are there",
    arguments: Proof.allCases, [false, true])
  func behindTwoEpochs(proof: Proof, isPhoneBehind: Bool) throws {
    try open(["tablet", "phone"])
    try camp.keepHub()
    for epoch in 1...2 {
      beginEpoch()
      let devices = epoch == 2 && isPhoneBehind ? ["tablet"] : ["tablet", "phone"]
      for device in devices { try camp.carry(device, rounds: 3) }
      for device in devices { try write("\(device)-\(epoch)", in: "\(device)/data.sqlite") }
      try write("office-\(epoch)", in: office)
      for device in devices { try camp.carry(device, rounds: 2) }
    }
    let all = try sites(office)
    #expect(all == "hill lake office-1 office-2 phone-1 \(isPhoneBehind ? "" : "phone-2 ")tablet-1 tablet-2")
    try putBack()
    switch proof {
    case .export:
      camp.device("tablet", "sync", stick)
      expectSetBack()
    case .emission:
      expectSetBack(by: "import", try camp.newestBundle(in: "tablet/bundles/archive", "camp-hub-tablet-"))
    }
    beginEpoch()
    for _ in 1...5 { for device in ["phone", "tablet"] { exchange(device) } }
    for database in [office, "tablet/data.sqlite", "phone/data.sqlite"] { #expect(try sites(database) == all) }
    #expect(try camp.rows(office, "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == "0")
    #expect(!camp.hub("status").out.contains("Recovers"))
  }

  @Test("a device that names very many former epochs leaves the hub room for its own epochs")
  func manyEpochs() throws {
    try open(["tablet"])
    try camp.keepHub()
    beginEpoch()
    try camp.carry("tablet", rounds: 2)
    try write("tablet-1", in: "tablet/data.sqlite")
    try camp.carry("tablet", rounds: 2)
    try camp.sql(
      "tablet/data.sqlite",
      """
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 2000)
      INSERT INTO satchel_former_epochs SELECT printf('%08x-0000-4000-8000-000000000000', n) FROM numbers
      """)
    try putBack()
    try write("tablet-2", in: "tablet/data.sqlite")
    camp.device("tablet", "sync", stick)
    expectSetBack()
    beginEpoch()
    for _ in 1...3 { exchange("tablet") }
    for database in [office, "tablet/data.sqlite"] { #expect(try sites(database) == "hill lake tablet-1 tablet-2") }
    // A bundle has room for 1,024 former epochs.
    let epochs = try #require(Int(try camp.rows(office, "SELECT count(*) FROM satchel_epochs")))
    #expect(epochs > 500 && epochs < 520)
  }

  @Test("a device that has nothing to deliver shows the hub that a later epoch began", arguments: ["tablet", "kiosk"])
  func idleDevice(name: String) throws {
    try open(name == "tablet" ? [name] : [])
    if name == "kiosk" {
      camp.hub("device", "provision", name, "--user", "ann", "--no-keys", "--into", camp.path(name))
    }
    try camp.carry(name)
    try camp.keepHub()
    beginEpoch()
    // The hub has imported the device's first export in the new epoch.
    try camp.carry(name, rounds: 3)
    try putBack()
    // A bundle gives its time in whole seconds, so the clock advances by more than one second.
    try camp.by(SetClock(camp.platform.clock.milliseconds() + 2_000)) {
      try write("new", in: office)
      camp.hub("sync", stick)
      let refused = camp.device(name, "sync", stick)
      #expect(refused.code == 3 && refused.error.contains("was set back"), "\(refused.out)\(refused.error)")
      #expect(camp.device(name, "status").out.contains("was set back"))
      expectSetBack()
      beginEpoch()
      try camp.carry(name, rounds: 2)
      #expect(try sites("\(name)/data.sqlite") == "hill lake new")
      #expect(!camp.device(name, "status").out.contains("was set back"))
    }
  }

  @Test("a bundle with a number that the device has passed shows that the hub was set back, if it was made later")
  func passedNumber() throws {
    try open(["tablet"])
    try camp.keepHub()
    let late = camp.path("late.satchel")
    try write("first", in: office)
    try FileManager.default.copyItem(atPath: camp.emit("tablet"), toPath: late)
    try write("second", in: office)
    #expect(camp.device("tablet", "import", try camp.emit("tablet")).code == 0)
    // The tablet imports the earlier bundle late.
    #expect(camp.device("tablet", "import", late).code == 0)
    try putBack()
    try camp.by(SetClock(camp.platform.clock.milliseconds() + 2_000)) {
      try write("third", in: office)
      let refused = camp.device("tablet", "import", try camp.emit("tablet"))
      #expect(refused.code == 3 && refused.error.contains("was set back"), "\(refused.out)\(refused.error)")
    }
  }

  @Test("a late stick of a former epoch is no trouble, also from a time that the hub lost", arguments: [false, true])
  func lateStick(isOfLostTime: Bool) throws {
    try open(["tablet"])
    try camp.keepHub()
    try write("late", in: office)
    let late = camp.path("late.satchel")
    try FileManager.default.copyItem(atPath: camp.emit("tablet"), toPath: late)
    if isOfLostTime { try putBack() }
    beginEpoch()
    try camp.carry("tablet", rounds: 3)
    let export = try camp.export("tablet")
    let came = camp.device("tablet", "import", late, "--json")
    #expect(came.code == 0, "\(came.error)")
    #expect(try came.json["bundles"]?.arrayValue?.first?["verdict"] == "repeated", "\(came.out)")
    #expect(!camp.device("tablet", "status").out.contains("set back"))
    #expect(try camp.export("tablet") == export)
  }

  @Test("the lost time is not merged while the hub is known to be set back again")
  func finishWhileSetBack() throws {
    try open(["tablet", "phone"])
    try camp.keepHub()
    try write("office-1", in: office)
    try camp.carry("tablet", rounds: 2)
    try putBack()
    camp.device("tablet", "sync", stick)
    expectSetBack()
    beginEpoch()
    // The phone has not delivered yet. So the hub does not merge the rows that the tablet brings back.
    try camp.carry("tablet", rounds: 3)
    for name in ["kept", "kept.sqlite"] { try camp.remove(name) }
    try camp.keepHub()
    try write("tablet-1", in: "tablet/data.sqlite")
    try camp.carry("tablet", rounds: 2)
    try putBack()
    try write("tablet-2", in: "tablet/data.sqlite")
    camp.device("tablet", "sync", stick)
    expectSetBack()
    expectSetBack(by: "restore", "--finish")
    #expect(try sites(office) == "hill lake")
    beginEpoch()
    let finished = camp.hub("restore", "--finish")
    #expect(finished.code == 0, "\(finished.error)")
    #expect(try sites(office) == "hill lake office-1")
  }
}
