import SatchelJSON
import Testing

/// Names in bundles that release 0.1 does not know. A writer uses such a name only if the reader has announced that it
/// understands the name. Names that a reader may ignore are excepted.
@Suite("Bundles for readers that announce nothing")
struct AnnouncedNameTests {
  enum Reader: CaseIterable {
    case ofThisRelease, ofTheFirst
  }

  private let camp: CommandLineFixture

  /// Hub and tablet have exchanged bundles. The tablet has an unseen change.
  init() throws {
    camp = try CommandLineFixture()
    try camp.openWoods()
    try camp.carry("tablet")
    try camp.writeUnseen("tablet/data.sqlite", "UPDATE sites SET name = 'Swamp' WHERE id = 'lake'")
  }

  /// Makes the hub believe that the tablet has this release.
  private func setTablet(_ reader: Reader) throws {
    if reader == .ofThisRelease { return }
    try camp.sql("office.sqlite", "UPDATE satchel_devices SET understands = '' WHERE name = 'tablet'")
  }

  /// Makes the tablet believe that the hub has this release.
  private func setHub(_ reader: Reader) throws {
    if reader == .ofThisRelease { return }
    try camp.sql("tablet/data.sqlite", "UPDATE satchel_device SET hub_understands = ''")
  }

  /// The tablet sends digests of its rows. The hub finds that they differ. Its next bundle will ask for the rows.
  private func showDifference() throws {
    #expect(camp.device("tablet", "export", "--prove").code == 0)
    let file = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
    #expect(camp.hub("import", file).code == 0)
    #expect(camp.hub("compare", "tablet").out.contains("asks which rows differ"))
  }

  /// The tablet keeps the unseen value as a conflict, and the hub imports this conflict.
  private func keepUnseen() throws {
    try camp.answer("tablet", full: true)
    #expect(try camp.keptUnseen() == ["Swamp"])
  }

  private func sites(_ database: String) throws -> String {
    try camp.rows(database, "SELECT id || ' ' || name FROM sites ORDER BY id")
  }

  private func expectWell() {
    for outcome in [camp.hub("doctor"), camp.device("tablet", "doctor")] {
      #expect(outcome.out == "All is well.\n", "\(outcome.out)\(outcome.error)")
    }
  }

  @Test(
    "the hub's question, and former versions of rows, are only in bundles for a device that understands them",
    arguments: Reader.allCases, [false, true])
  func fromHub(reader: Reader, isFull: Bool) throws {
    try showDifference()
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    try setTablet(reader)
    let bundle = try camp.emit("tablet", full: isFull)
    let inDelta: Set<String> = isFull ? [] : ["critical unseen", "changes.jsonl before"]
    let expected = reader == .ofTheFirst ? [] : inDelta.union(["manifest.json compare"])
    #expect(try BundleNames.new(in: bundle) == expected)
    let imported = camp.device("tablet", "import", bundle)
    #expect(imported.code == 0, "\(imported.error)")
    #expect(try sites("tablet/data.sqlite") == "hill Hill\nlake Sea")
    #expect(try camp.keptUnseen() == ["Swamp"])
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT kind, state FROM satchel_conflicts") == "unseen|open")
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("a decision about a row that was written unseen goes to the device, which made the conflict")
  func decisionFromHub() throws {
    try keepUnseen()
    try camp.deliver("tablet")
    let id = try #require(camp.conflictIDs().first)
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "hub").code == 0)
    try camp.sql("office.sqlite", "UPDATE trees SET name = 'old oak' WHERE id = 1")
    let bundle = try camp.emit("tablet")
    #expect(
      try BundleNames.new(in: bundle) == ["critical unseen", "changes.jsonl before", "conflicts.jsonl kind unseen"])
    let imported = camp.device("tablet", "import", bundle)
    #expect(imported.code == 0, "\(imported.error)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT name FROM trees") == "old oak")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT state FROM satchel_conflicts") == "resolved")
    expectWell()
  }

  @Test(
    "digests of the device's rows, and answers about them, are only in exports for a hub that understands them",
    arguments: Reader.allCases)
  func fromDevice(reader: Reader) throws {
    try showDifference()
    try camp.answer("tablet")
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET name = 'my oak' WHERE id = 1")
    try setHub(reader)
    #expect(camp.device("tablet", "export", "--prove").code == 0)
    let bundle = try camp.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
    #expect(
      try BundleNames.new(in: bundle) == (reader == .ofTheFirst ? [] : ["critical state", "entry state.json"]))
    let imported = camp.hub("import", bundle)
    #expect(imported.code == 0, "\(imported.error)")
    #expect(try camp.rows("office.sqlite", "SELECT name FROM trees") == "my oak")
  }

  @Test("a conflict about a row that was written unseen goes to the hub, whose bundle made it known")
  func conflictFromDevice() throws {
    try keepUnseen()
    try camp.sql("tablet/data.sqlite", "UPDATE trees SET name = 'my oak' WHERE id = 1")
    let bundle = try camp.export("tablet")
    let expected: Set = ["critical state", "entry state.json", "critical unseen", "conflicts.jsonl kind unseen"]
    #expect(try BundleNames.new(in: bundle) == expected)
    let imported = camp.hub("import", bundle)
    #expect(imported.code == 0, "\(imported.error)")
    #expect(try camp.rows("office.sqlite", "SELECT name FROM trees") == "my oak")
    try camp.carry("tablet", rounds: 2)
    #expect(try camp.rows("office.sqlite", "SELECT kind, state FROM satchel_conflicts") == "unseen|open")
    expectWell()
  }
}
