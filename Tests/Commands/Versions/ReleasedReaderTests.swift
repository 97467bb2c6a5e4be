import SatchelJSON
import Testing

/// The first bundles of this release must use only names that release 0.1 knows. The other side may still have release
/// 0.1, because its last bundles announced nothing.
@Suite("Bundles of this release for release 0.1")
struct ReleasedReaderTests: ReleasedStory {
  let camp: CommandLineFixture

  init() throws { camp = try Self.openCamp() }

  private func emission(for device: String, _ words: String...) throws -> String {
    let emitted = camp.hubAnywhere(["-C", camp.path("hub"), "emit", "--device", device, "--json"] + words)
    return try #require(try emitted.json["emissions"]?.arrayValue?.first?["file"]?.stringValue, "\(emitted.error)")
  }

  private func export(_ device: String, _ words: String...) throws -> String {
    let exported = camp.deviceAnywhere(["-C", camp.path(device), "export", "--json"] + words)
    return try #require(try exported.json["file"]?.stringValue, "\(exported.error)")
  }

  @Test("the hub's first bundle for a device of release 0.1 has only names of that release", arguments: [false, true])
  func fromHub(isFull: Bool) throws {
    try camp.sql(office, "UPDATE reviews SET note = 'of the office' WHERE id = 2")
    for device in Self.devices {
      let bundle = isFull ? try emission(for: device, "--full") : try emission(for: device)
      #expect(try BundleNames.new(in: bundle) == [], "\(device)")
      check(camp.device(device, "import", bundle), "\(device) import")
      let note = try camp.rows("\(device)/data.sqlite", "SELECT note FROM reviews WHERE id = 2")
      #expect(note == (device == "a" ? "" : "of the office"), "\(device)")
    }
    // With these exports, the devices announce to the hub what this release understands.
    for device in Self.devices { check(camp.hub("import", try export(device)), "import from \(device)") }
    try camp.sql(office, "UPDATE reviews SET note = 'office' WHERE id = 2")
    #expect(try BundleNames.new(in: emission(for: "b")).contains("changes.jsonl before"))
    try syncAll()
    try checkMerged()
  }

  @Test("a device's first export for a hub of release 0.1 has only names of that release", arguments: devices)
  func fromDevice(device: String) throws {
    let bundle = try export(device, "--prove")
    #expect(try BundleNames.new(in: bundle) == [])
    check(camp.hub("import", bundle), "import")
    check(camp.device(device, "import", try emission(for: device)), "\(device) import")
    // With its emission, the hub announced what this release understands.
    #expect(try BundleNames.new(in: export(device, "--prove")) == ["critical state", "entry state.json"])
    try syncAll()
    try checkMerged()
  }

  @Test("what was written unseen is in no export for a hub of release 0.1, and its bundle is imported all the same")
  func unseen() throws {
    try camp.writeUnseen("b/data.sqlite", "UPDATE camps SET name = 'unseen' WHERE id = 'c2'")
    check(camp.device("b", "import", camp.path("hub/bundles/outbox/camps-hub-b-3.satchel")), "import")
    #expect(try camp.rows("b/data.sqlite", "SELECT area, name FROM camps WHERE id = 'c2'") == "south|Elm")
    #expect(try BundleNames.new(in: export("b", "--prove")) == [])
    try syncAll()
    try checkMerged()
  }
}
