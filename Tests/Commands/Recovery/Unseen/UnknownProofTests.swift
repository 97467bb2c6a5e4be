import SatchelJSON
import Testing

/// The hub cannot compare a device's digests any more, because it no longer knows which rows the device should have.
@Suite("Proofs whose result is unknown")
struct UnknownProofTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.deliver("tablet")
  }

  private func proof() throws -> JSONValue {
    let devices = try camp.hub("status", "--json").json["devices"]?.arrayValue ?? []
    return try #require(devices.first { $0["name"] == "tablet" }?["proof"])
  }

  /// The tablet exports digests of its rows. Returns the path of this export, which is not delivered yet.
  private func prove() throws -> String {
    try #require(try camp.device("tablet", "export", "--prove", "--json").json["file"]?.stringValue)
  }

  /// Delivers the export. Expects that its result is unknown, and that the earlier result is still shown.
  private func expectUnknown(_ file: String, _ words: String) throws {
    let former = try proof()
    try #require(former["result"] == "verified" && former["verified"] == former["at"])
    let outcome = camp.hub("import", file)
    #expect(outcome.code == 0, "\(outcome.error)")
    let proof = try proof()
    #expect(proof["result"] == "unknown" && proof["verified"] == former["verified"], "\(proof)")
    #expect(proof["words"]?.stringValue == words)
    #expect(camp.hub("doctor").code == 0)
    let status = camp.hub("status").out
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("tablet ") }, "\(status)")
    #expect(line.hasSuffix("just now"), "\(status)")
  }

  @Test("rows of a former version of the dataset are not compared, and the time of the last proof stays")
  func formerVersion() throws {
    let file = try prove()
    let next = CommandLineFixture.definition.replacing(#""version": 1"#, with: #""version": 2"#)
    try camp.write("camp.json", next)
    #expect(camp.hub("dataset", "apply", camp.path("camp.json")).code == 0)
    try expectUnknown(file, "the dataset has another version by now")
  }

  @Test("if the hub forgot the rows that a device has, they are not compared, and the time of the last proof stays")
  func forgotten() throws {
    let file = try prove()
    try camp.letBeSilent("tablet", days: 60)
    let compacted = camp.hub("compact", "--older-than", "30", "--json")
    #expect(try compacted.json["devices"] == ["tablet"], "\(compacted.out)")
    try expectUnknown(file, "the hub no longer knows which rows the device has")
  }
}
