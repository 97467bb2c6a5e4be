import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// A bundle shows that two histories have parted. The replica refuses it and keeps it in `bundles/inbox/waiting` until
/// a person decides.
@Suite("Refused bundles of histories that parted")
struct KeptAsideTests {
  typealias Parting = PartedHubFixture.Parting

  private let parted: PartedHubFixture
  private var camp: CommandLineFixture { parted.camp }

  init() throws {
    parted = try PartedHubFixture()
    try camp.makeFolder("empty")
    try camp.makeFolder("other-stick")
  }

  /// The files in the waiting folder of the replica that refuses the bundle, with their bytes.
  private func waiting(_ parting: Parting) throws -> [String: [UInt8]] {
    let folder = "\(PartedHubFixture.folder(parting))/bundles/inbox/waiting"
    guard FileManager.default.fileExists(atPath: camp.path(folder)) else { return [:] }
    let names = try FileManager.default.contentsOfDirectory(atPath: camp.path(folder))
    return try names.reduce(into: [:]) { $0[$1] = try camp.read("\(folder)/\($1)") }
  }

  /// Makes the histories part. Expects that only the refused bundle is in the waiting folder.
  /// - Returns: the bundle's name in the waiting folder.
  private func part(_ parting: Parting) throws -> String {
    let refused = try parted.part(parting)
    let kept = try waiting(parting)
    #expect(Array(kept.values) == [Array(try Data(contentsOf: URL(fileURLWithPath: refused)))])
    return try #require(kept.keys.first)
  }

  private func lake(_ database: String) throws -> String {
    try camp.rows(database, "SELECT name FROM sites WHERE id = 'lake'")
  }

  private func expectWell(_ outcomes: [CommandLineFixture.Outcome]) {
    for outcome in outcomes { #expect(outcome.out == "All is well.\n", "\(outcome.out)\(outcome.error)") }
  }

  /// The tablet exchanges bundles with the copy of the hub. The copy begins an epoch as soon as it knows that it was
  /// set back.
  private func carryToCopy() {
    let stick = camp.path("other-stick")
    for _ in 1...5 {
      _ = parted.tablet(["sync", stick])
      if parted.copy(["sync", stick]).code == 3 { _ = parted.copy(["restore", "--in-place"]) }
    }
    _ = parted.tablet(["sync", stick])
  }

  @Test(
    "the refused bundle waits with all its bytes, and is there after the next commands", arguments: Parting.allCases)
  func waits(parting: Parting) throws {
    let name = try part(parting)
    let kept = try waiting(parting)
    let make = parting == .setBack ? ["emit", "--all"] : ["export"]
    let commands = [
      ["status"], ["doctor"], ["doctor", "--repair"], make, ["sync", camp.path("empty")], ["conflicts"], ["compact"],
    ]
    for words in commands {
      let outcome = parted.run(parting, words)
      #expect(outcome.code != 2, "\(words): \(outcome.error)")
      #expect(try waiting(parting) == kept, "\(words)")
    }
    // An import of the kept file is refused again, and the file stays.
    let again = parted.run(parting, ["import", "bundles/inbox/waiting/\(name)", "--json"])
    try parted.expectRefused(again, parting.rawValue)
    #expect(try waiting(parting) == kept)
  }

  @Test("status names the waiting bundle by the name of its file", arguments: Parting.allCases)
  func named(parting: Parting) throws {
    let name = try part(parting)
    let status = try parted.run(parting, ["status", "--json"]).json
    if parting == .setBack {
      let waiting = status["waiting"]?.arrayValue ?? []
      try #require(waiting.count == 1, "\(status)")
      #expect(waiting[0]["file"]?.stringValue == name && waiting[0]["reason"] == "set-back", "\(waiting)")
      #expect(waiting[0]["device"] == "tablet" && waiting[0]["number"] == 2, "\(waiting)")
    } else {
      #expect(status["estrangement"]?["file"]?.stringValue == name, "\(status)")
      #expect(name.hasSuffix("-\(try #require(status["estrangement"]?["number"]?.integerValue)).satchel"), "\(name)")
    }
  }

  @Test("the export that proved that a hub was set back is merged by the first import of the new epoch")
  func merged() throws {
    _ = try part(.setBack)
    #expect(try camp.rows("copy.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "quiet")
    #expect(parted.copy(["restore", "--in-place"]).code == 0)
    #expect(try waiting(.setBack).count == 1)
    let due = try parted.copy(["status", "--json"]).json["waiting"]?.arrayValue?.map { $0["reason"]?.stringValue }
    #expect(due == ["due"])
    let imported = parted.copy(["import", try camp.export("phone"), "--json"])
    #expect(imported.code == 0, "\(imported.out)\(imported.error)")
    let taken = try imported.json["bundles"]?.arrayValue ?? []
    #expect(taken.map { $0["device"]?.stringValue } == ["tablet", "phone"], "\(taken)")
    #expect(taken.map { $0["verdict"]?.stringValue } == ["imported", "imported"], "\(taken)")
    #expect(try waiting(.setBack).isEmpty)
    #expect(try camp.rows("copy.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "mine")
  }

  @Test("the tablet takes the kept bundle of the other copy of the hub when a person gives the fingerprint")
  func chosen() throws {
    let name = try part(.otherHub)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    #expect(try lake("tablet/data.sqlite") == "one")
    let fingerprint = try #require(try parted.copy(["status", "--json"]).json["fingerprint"]?.stringValue)
    let imported = parted.tablet(["import", "bundles/inbox/waiting/\(name)", "--fingerprint", fingerprint, "--json"])
    #expect(imported.code == 0, "\(imported.out)\(imported.error)")
    #expect(try imported.json["bundles"]?.arrayValue?.map { $0["verdict"]?.stringValue } == ["imported"])
    #expect(try waiting(.otherHub).isEmpty)
    #expect(try lake("tablet/data.sqlite") == "two")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT words FROM reviews WHERE id = 'r1'") == "mine")
    #expect(try parted.tablet(["status", "--json"]).json["estrangement"] == .null)
    expectWell([parted.tablet(["doctor"])])
  }

  @Test(
    "the next bundle of the copy that continues ends the parting, and the bundle of the other copy goes",
    arguments: [Parting.otherHistory, .otherHub])
  func hubContinues(parting: Parting) throws {
    _ = try part(parting)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'three' WHERE id = 'lake'")
    try camp.carry("tablet", rounds: 2)
    #expect(try waiting(parting).isEmpty)
    #expect(try lake("tablet/data.sqlite") == "three")
    #expect(try parted.tablet(["status", "--json"]).json["estrangement"] == .null)
    expectWell([parted.tablet(["doctor"])])
  }

  @Test("a copy whose bundle was of another history continues in a new epoch, and its value reaches the tablet")
  func copyContinues() throws {
    _ = try part(.otherHistory)
    #expect(try lake("tablet/data.sqlite") == "one")
    carryToCopy()
    // The copy ends its recovery without the phone, because the phone does not come.
    #expect(parted.copy(["restore", "--finish"]).code == 0)
    carryToCopy()
    #expect(try waiting(.otherHistory).isEmpty)
    #expect(try lake("tablet/data.sqlite") == "two")
    #expect(try lake("copy.sqlite") == "two")
    let kept = try parted.copy(["conflicts", "--all", "--json"]).json["conflicts"]?.arrayValue ?? []
    #expect(kept.map { $0["device_values"]?["name"]?.stringValue } == ["one"], "\(kept)")
    #expect(kept.first?["state"]?.stringValue == "settled", "\(kept)")
    expectWell([parted.tablet(["doctor"]), parted.copy(["doctor"])])
  }
}
