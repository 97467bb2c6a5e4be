import SatchelJSON
import Testing

/// If histories have parted, every report that a person may read says so, with the next step.
@Suite("The way out of histories that parted")
struct WayOutTests {
  typealias Parting = PartedHubFixture.Parting

  private let parted: PartedHubFixture
  private var camp: CommandLineFixture { parted.camp }

  init() throws { parted = try PartedHubFixture() }

  /// Expects `words` in `status`, `doctor` and `report`. Expects the reason in `status --json` and `doctor --json`.
  private func expect(_ words: String, next: String, _ parting: Parting) throws {
    let (status, doctor) = (parted.run(parting, ["status"]), parted.run(parting, ["doctor"]))
    for outcome in [status, doctor] {
      #expect(outcome.out.contains(words), "\(outcome.out)")
      #expect(outcome.out.contains(next), "\(outcome.out)")
    }
    #expect(status.code == 0 && doctor.code == 1)
    #expect(parted.run(parting, ["report", camp.path("report.html")]).code == 0)
    let page = String(decoding: try camp.read("report.html"), as: UTF8.self)
    #expect(page.contains(words))
    #expect(page.contains(next))
    let member = parting == .setBack ? "set_back" : "estrangement"
    let found = try parted.run(parting, ["status", "--json"]).json[member]
    #expect(found?["reason"]?.stringValue == parting.rawValue, "\(String(describing: found))")
    let hint = try #require(found?["hint"]?.stringValue)
    #expect(hint.contains(next))
    try expectFinding(parting, words, next: hint)
  }

  /// Expects that the parting is the only finding of `doctor --json`.
  private func expectFinding(_ parting: Parting, _ words: String, next hint: String) throws {
    let outcome = parted.run(parting, ["doctor", "--json"])
    #expect(outcome.code == 1, "\(outcome.out)")
    let document = try outcome.json
    #expect(document["ok"] == false && document["well"] == false && document["repaired"] == false, "\(document)")
    #expect(document["unseen"] == [:] && document["restored"] == [:], "\(document)")
    let findings = document["findings"]?.arrayValue ?? []
    try #require(findings.count == 1, "\(findings)")
    #expect(findings[0]["reason"]?.stringValue == parting.rawValue)
    #expect(findings[0]["message"]?.stringValue?.contains(words) == true, "\(findings)")
    #expect(findings[0]["hint"]?.stringValue == hint, "\(findings)")
  }

  @Test("a hub that was set back")
  func setBack() throws {
    _ = try parted.part(.setBack)
    try expect("was set back", next: "satchel-hub restore --in-place", .setBack)
    // Bundles of devices that know nothing of the lost time wait too. Otherwise the hub might merge the same work
    // twice.
    try camp.sql("phone/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r2'")
    try parted.expectRefused(parted.copy(["import", try camp.export("phone"), "--json"]), "set-back")
    #expect(parted.copy(["restore", "--in-place"]).code == 0)
    let accepted = parted.copy(["import", try camp.export("phone")])
    #expect(accepted.code == 0, "\(accepted)")
  }

  @Test("a bundle of an epoch that the hub does not know, without proof, says that keys may be missing")
  func otherEpoch() throws {
    let rotated = try camp.hub("keys", "rotate", "--lost", "--yes", "--json").json
    let fingerprint = try #require(rotated["fingerprint"]?.stringValue)
    #expect(camp.device("tablet", "import", try camp.emit("tablet"), "--fingerprint", fingerprint).code == 0)
    let refused = parted.copy(["import", try camp.export("tablet"), "--json"])
    try parted.expectRefused(refused, "other-epoch")
    for outcome in [refused, parted.copy(["doctor"])] {
      #expect(outcome.out.contains("newest copy of its keys/"), "\(outcome)")
    }
  }

  @Test("a device that got a bundle of another history of its hub")
  func otherHistory() throws {
    _ = try parted.part(.otherHistory)
    try expect("two copies of it are at work", next: "satchel sync", .otherHistory)
  }

  @Test("a device that got a bundle of another copy of its hub")
  func otherHub() throws {
    _ = try parted.part(.otherHub)
    try expect("another copy of the hub", next: "--fingerprint", .otherHub)
  }

  @Test(
    "no repair ends a parting: the doctor names it after a repair too, and ends with 1", arguments: Parting.allCases)
  func repaired(parting: Parting) throws {
    _ = try parted.part(parting)
    let outcome = parted.run(parting, ["doctor", "--repair", "--json"])
    #expect(outcome.code == 1, "\(outcome.out)")
    let document = try outcome.json
    #expect(document["well"] == false && document["repaired"] == true, "\(document)")
    let reasons = document["findings"]?.arrayValue?.map { $0["reason"]?.stringValue }
    #expect(reasons == [parting.rawValue], "\(document)")
    #expect(parted.run(parting, ["doctor"]).code == 1)
  }
}
