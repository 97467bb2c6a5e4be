import SatchelJSON
import Testing

/// Two users make a person with the same PIN, and children of these persons. The policy decides which person stays at
/// the hub.
@Suite("Rows that refer to a row that lost a conflict")
struct LostParentTests {
  private static let schema = """
    CREATE TABLE people (id TEXT PRIMARY KEY, pin TEXT UNIQUE);
    CREATE TABLE children (id TEXT PRIMARY KEY, parent TEXT REFERENCES people (id), name TEXT);
    CREATE TABLE toys (id TEXT PRIMARY KEY, child TEXT REFERENCES children (id));
    """

  /// Makes a hub that has the tablet's person. The phone has its own person, and has not exchanged bundles since.
  private func openBeforeExchange(_ policy: String) throws -> CommandLineFixture {
    let camp = try TwoDeviceFixture(
      Self.schema, #""people": { "conflict": "\#(policy)" }, "children": {}, "toys": {}"#
    ).camp
    try camp.sql("tablet/data.sqlite", "INSERT INTO people VALUES ('ua', '7')")
    try camp.sql(
      "phone/data.sqlite",
      """
      INSERT INTO people VALUES ('ub', '7'); INSERT INTO children VALUES ('cb', 'ub', 'Bo');
      INSERT INTO toys VALUES ('tb', 'cb')
      """)
    try camp.deliver("tablet")
    return camp
  }

  private func open(_ policy: String = "hub", importsFirst: Bool = false) throws -> CommandLineFixture {
    let camp = try openBeforeExchange(policy)
    if importsFirst { try camp.answer("phone") }
    try camp.deliver("phone")
    try camp.answer("phone")
    return camp
  }

  private func states(_ camp: CommandLineFixture, _ database: String = "office.sqlite") throws -> String {
    try camp.rows(database, "SELECT table_name, kind, state FROM satchel_conflicts ORDER BY table_name")
  }

  private func id(_ camp: CommandLineFixture, _ table: String) throws -> String {
    try camp.rows("office.sqlite", "SELECT id FROM satchel_conflicts WHERE table_name = '\(table)'")
  }

  private static let opened = "children|foreign key|open\npeople|unique|settled\ntoys|foreign key|open"

  @Test("they wait for a person, and both sides name the next step", arguments: [false, true])
  func opened(importsFirst: Bool) throws {
    let camp = try open(importsFirst: importsFirst)
    #expect(try states(camp) == Self.opened)
    #expect(try states(camp, "phone/data.sqlite") == Self.opened)
    let status = camp.device("phone", "status")
    #expect(status.out.contains("satchel conflicts"), "\(status.out)")
    #expect(camp.hub("status").out.contains("satchel-hub conflicts"))
  }

  @Test("`resolve --all` drops them for the hub, and says for the device which conflict to decide")
  func all() throws {
    let camp = try open()
    let device = camp.hub("conflicts", "resolve", "--all", "--policy", "device")
    let parent = try id(camp, "people").prefix(8)
    #expect((device.out + device.error).contains("conflicts resolve \(parent) --keep device"), "\(device.out)")
    #expect(camp.hub("conflicts", "resolve", "--all", "--policy", "hub").code == 0)
    #expect(camp.hub("conflicts").out == "No conflict waits for a decision.\n")
    try camp.answer("phone")
    #expect(!camp.device("phone", "status").out.contains("Kept aside"))
  }

  @Test("a decision for the row that lost brings all of them", arguments: [false, true])
  func together(importsFirst: Bool) throws {
    let camp = try open(importsFirst: importsFirst)
    let child = camp.hub("conflicts", "resolve", try id(camp, "children"), "--keep", "device")
    let parent = try id(camp, "people")
    #expect(child.code == 1)
    #expect(child.error.contains("satchel-hub conflicts resolve \(parent.prefix(8)) --keep device"), "\(child.error)")
    let onDevice = camp.device("phone", "conflicts", "resolve", try id(camp, "children"), "--keep", "device")
    #expect(onDevice.error.contains("satchel conflicts resolve \(parent.prefix(8)) --keep device"), "\(onDevice.error)")
    let decided = camp.hub("conflicts", "resolve", parent, "--keep", "device")
    #expect(decided.code == 0, "\(decided.error)")
    try camp.answer("phone")
    for database in ["office.sqlite", "phone/data.sqlite"] {
      #expect(
        try camp.rows(database, "SELECT id FROM people UNION ALL SELECT id FROM children UNION ALL SELECT id FROM toys")
          == "ub\ncb\ntb")
    }
    #expect(camp.hub("conflicts").out == "No conflict waits for a decision.\n")
  }

  @Test("a person who decides against the row opens them, and reopening the decision brings all of them")
  func decided() throws {
    let camp = try open("manual")
    #expect(try states(camp) == "children|foreign key|held\npeople|unique|open\ntoys|foreign key|held")
    let parent = try id(camp, "people")
    #expect(camp.hub("conflicts", "resolve", parent, "--keep", "hub").code == 0)
    #expect(try states(camp) == "children|foreign key|open\npeople|unique|resolved\ntoys|foreign key|open")
    let child = camp.hub("conflicts", "resolve", try id(camp, "children"), "--keep", "device")
    #expect(child.error.contains("satchel-hub conflicts reopen \(parent.prefix(8))"), "\(child.error)")
    #expect(camp.hub("conflicts", "reopen", parent).code == 0)
    #expect(camp.hub("conflicts", "resolve", parent, "--keep", "device").code == 0)
    try camp.answer("phone")
    #expect(try camp.rows("office.sqlite", "SELECT id FROM toys") == "tb")
    #expect(try camp.rows("phone/data.sqlite", "SELECT id FROM toys") == "tb")
  }

  /// - Parameter isReported: whether the hub already knows the conflicts from the device's report.
  @Test(
    "a user who decides against the row on the device can decide about them there at once", arguments: [false, true])
  func decidedOnDevice(isReported: Bool) throws {
    let camp = try openBeforeExchange("manual")
    try camp.answer("phone")
    if isReported { try camp.deliver("phone") }
    let waiting = "children|foreign key|held\npeople|unique|open\ntoys|foreign key|held"
    #expect(try states(camp, "phone/data.sqlite") == waiting)
    let parent = try camp.rows("phone/data.sqlite", "SELECT id FROM satchel_conflicts WHERE table_name = 'people'")
    let decided = camp.device("phone", "conflicts", "resolve", parent, "--keep", "hub")
    #expect(decided.code == 0, "\(decided.error)")
    let opened = "children|foreign key|open\npeople|unique|resolved\ntoys|foreign key|open"
    #expect(try states(camp, "phone/data.sqlite") == opened)
    #expect(camp.device("phone", "conflicts", "resolve", "--all", "--policy", "hub").code == 0)
    #expect(camp.device("phone", "conflicts").out == "No conflict waits for a decision.\n")
    try expectNoConflicts(camp)
  }

  @Test("on the device, `resolve --all` for the hub drops them with the row", arguments: [false, true])
  func allOnDevice(isReported: Bool) throws {
    let camp = try openBeforeExchange("manual")
    try camp.answer("phone")
    if isReported { try camp.deliver("phone") }
    let all = camp.device("phone", "conflicts", "resolve", "--all", "--policy", "hub")
    #expect(all.code == 0 && all.out.contains("3 conflicts"), "\(all.out)\(all.error)")
    #expect(camp.device("phone", "conflicts").out == "No conflict waits for a decision.\n")
    try expectNoConflicts(camp)
  }

  private func expectNoConflicts(_ camp: CommandLineFixture) throws {
    try camp.deliver("phone")
    #expect(camp.hub("conflicts").out == "No conflict waits for a decision.\n")
    try camp.answer("phone")
    #expect(camp.device("phone", "conflicts").out == "No conflict waits for a decision.\n")
  }
}
