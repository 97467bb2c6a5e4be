import SatchelJSON
import Testing

/// A hub, its devices, and a copy of the hub with the hub's keys. The histories of hub and copy part.
struct PartedHubFixture {
  /// How the histories part. The raw value is the reason of the refusal.
  enum Parting: String, CaseIterable {
    case setBack = "set-back"
    case otherHistory = "other-history"
    case otherHub = "other-hub"
  }

  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.carry("tablet", rounds: 2)
    try camp.copy("hub", to: "copy")
    try camp.copy("office.sqlite", to: "copy.sqlite")
    let settings = String(decoding: try camp.read("copy/satchel.json"), as: UTF8.self)
    try camp.write("copy/satchel.json", settings.replacing("office.sqlite", with: "copy.sqlite"))
  }

  func tablet(_ words: [String]) -> CommandLineFixture.Outcome {
    camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
  }

  func copy(_ words: [String]) -> CommandLineFixture.Outcome {
    camp.hubAnywhere(["-C", camp.path("copy")] + words)
  }

  /// The folder of the replica that refuses a bundle.
  static func folder(_ parting: Parting) -> String { parting == .setBack ? "copy" : "tablet" }

  /// Runs a command at the replica that refuses a bundle.
  func run(_ parting: Parting, _ words: [String]) -> CommandLineFixture.Outcome {
    parting == .setBack ? copy(words) : tablet(words)
  }

  /// Makes the histories part. The replica refuses a bundle.
  /// - Returns: the path of the bundle that was refused.
  func part(_ parting: Parting) throws -> String {
    let bundle =
      switch parting {
      case .setBack: try exportAboveCopy()
      case .otherHistory: try emissionWithOneNumber()
      case .otherHub: try emissionOfOtherEpoch()
      }
    try expectRefused(run(parting, ["import", bundle, "--json"]), parting.rawValue)
    return bundle
  }

  /// Makes an export of the tablet after the tablet has imported a bundle that the copy does not know.
  private func exportAboveCopy() throws -> String {
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'later' WHERE id = 'lake'")
    #expect(camp.device("tablet", "import", try camp.emit("tablet")).code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    return try camp.export("tablet")
  }

  /// Makes an emission of the copy. The tablet already has an emission of the hub with the same number.
  private func emissionWithOneNumber() throws -> String {
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'one' WHERE id = 'lake'")
    camp.awaitLaterTime()
    try camp.sql("copy.sqlite", "UPDATE sites SET name = 'two' WHERE id = 'lake'")
    let other = try camp.emit("tablet", from: "copy")
    try camp.carry("tablet")
    return other
  }

  /// Makes an emission of the copy. The hub and the copy have each begun a new epoch, and the tablet is in the hub's
  /// epoch.
  private func emissionOfOtherEpoch() throws -> String {
    #expect(camp.hub("restore", "--in-place").code == 0)
    #expect(copy(["restore", "--in-place"]).code == 0)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'one' WHERE id = 'lake'")
    camp.awaitLaterTime()
    try camp.sql("copy.sqlite", "UPDATE sites SET name = 'two' WHERE id = 'lake'")
    try camp.carry("tablet", rounds: 2)
    return try camp.emit("tablet", from: "copy")
  }

  /// Expects that an `import --json` of one bundle refused this bundle for this reason.
  func expectRefused(_ outcome: CommandLineFixture.Outcome, _ reason: String) throws {
    #expect(outcome.code == 3, "\(outcome.out)\(outcome.error)")
    let reasons = try outcome.json["bundles"]?.arrayValue?.map { $0["error"]?["reason"]?.stringValue }
    #expect(reasons == [reason], "\(outcome.out)")
  }
}
