import Foundation
import SatchelJSON
import Testing

/// Each place where a person could look says that histories parted, and what to do next.
@Suite("The way out of histories that parted")
struct WayOutTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.carry("tablet", rounds: 2)
    try camp.copy("hub", to: "copy")
    try camp.copy("office.sqlite", to: "copy.sqlite")
    let settings = String(decoding: try camp.read("copy/satchel.json"), as: UTF8.self)
    try camp.write("copy/satchel.json", settings.replacing("office.sqlite", with: "copy.sqlite"))
  }

  /// Expects the words in `status`, `doctor` and `report`, and the reason in `status --json`.
  private func expect(
    _ words: String, next: String, _ command: ([String]) -> CommandLineFixture.Outcome, json member: String,
    _ reason: String
  ) throws {
    for outcome in [command(["status"]), command(["doctor"])] {
      #expect(outcome.out.contains(words), "\(outcome.out)")
      #expect(outcome.out.contains(next), "\(outcome.out)")
    }
    #expect(command(["report", camp.path("report.html")]).code == 0)
    let page = String(decoding: try camp.read("report.html"), as: UTF8.self)
    #expect(page.contains(words))
    #expect(page.contains(next))
    let found = try command(["status", "--json"]).json[member]
    #expect(found?["reason"]?.stringValue == reason, "\(String(describing: found))")
    let hint = try #require(found?["hint"]?.stringValue)
    #expect(hint.contains(next))
  }

  private func tablet(_ words: [String]) -> CommandLineFixture.Outcome {
    camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
  }

  @Test("a hub that was set back")
  func setBack() throws {
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'later' WHERE id = 'lake'")
    try camp.carry("tablet", rounds: 2)
    let export = try camp.export("tablet")
    #expect(camp.hubAnywhere("-C", camp.path("copy"), "import", export).code == 3)
    try expect(
      "was set back", next: "satchel-hub restore --in-place",
      { camp.hubAnywhere(["-C", camp.path("copy")] + $0) }, json: "set_back", "set-back")
    // Devices that know nothing of the lost time wait too, so that the hub takes nothing twice.
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r2'")
    let other = camp.hubAnywhere("-C", camp.path("copy"), "import", try camp.export("phone"), "--json")
    #expect(other.code == 3 && other.out.contains(#""set-back""#), "\(other)")
    #expect(camp.hubAnywhere("-C", camp.path("copy"), "restore", "--in-place").code == 0)
    let accepted = camp.hubAnywhere("-C", camp.path("copy"), "import", try camp.export("phone"))
    #expect(accepted.code == 0, "\(accepted)")
  }

  @Test("a bundle of an epoch that the hub does not know, without proof, says that keys may be missing")
  func otherEpoch() throws {
    let rotated = try camp.hub("keys", "rotate", "--lost", "--yes", "--json").json
    let fingerprint = try #require(rotated["fingerprint"]?.stringValue)
    #expect(camp.device("tablet", "import", try camp.emit("tablet"), "--fingerprint", fingerprint).code == 0)
    let refused = camp.hubAnywhere("-C", camp.path("copy"), "import", try camp.export("tablet"), "--json")
    #expect(refused.code == 3 && refused.out.contains(#""other-epoch""#), "\(refused)")
    for outcome in [refused, camp.hubAnywhere("-C", camp.path("copy"), "doctor")] {
      #expect(outcome.out.contains("newest copy of its keys/"), "\(outcome)")
    }
  }

  @Test("a device that got a bundle of another history of its hub")
  func otherHistory() throws {
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'one' WHERE id = 'lake'")
    try camp.sql("copy.sqlite", "UPDATE sites SET name = 'two' WHERE id = 'lake'")
    let other = try camp.emit("tablet", from: "copy")
    try camp.carry("tablet")
    #expect(camp.device("tablet", "import", other).code == 3)
    try expect(
      "two copies of it are at work", next: "satchel sync", tablet, json: "estrangement",
      "other-history")
  }

  @Test("a device that got a bundle of another copy of its hub")
  func otherHub() throws {
    #expect(camp.hub("restore", "--in-place").code == 0)
    #expect(camp.hubAnywhere("-C", camp.path("copy"), "restore", "--in-place").code == 0)
    try camp.carry("tablet", rounds: 2)
    let other = try camp.emit("tablet", from: "copy")
    #expect(camp.device("tablet", "import", other).code == 3)
    try expect(
      "another copy of the hub", next: "--fingerprint", tablet, json: "estrangement", "other-hub")
  }
}
