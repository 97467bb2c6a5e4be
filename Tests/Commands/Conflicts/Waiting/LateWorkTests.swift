import Foundation
import SatchelJSON
import Testing

/// The office moves an area to another user while the area's worker, ann, is out. Tables with `"late": "accept"` still
/// accept her work.
@Suite("Work that comes late")
struct LateWorkTests {
  private static let schema = """
    CREATE TABLE sites (id TEXT PRIMARY KEY, tier INTEGER, name TEXT);
    CREATE TABLE notes (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), author TEXT, words TEXT);
    CREATE TABLE shots (id TEXT PRIMARY KEY, note TEXT REFERENCES notes (id));
    INSERT INTO sites VALUES ('lake', 1, 'Lake'), ('hill', 1, 'Hill');
    INSERT INTO notes VALUES ('old', 'lake', 'ann', 'old'), ('other', 'lake', 'ben', 'other');
    """
  private static let accepting =
    #""sites": { "visible": "tier <= :tier", "late": "accept" }, "notes": { "late": "accept" }, "shots": { "late": "accept" }"#
  private static let moves = "UPDATE sites SET tier = 9 WHERE id = 'lake'"

  private func open(_ tables: String = accepting) throws -> CommandLineFixture {
    let camp = try TwoDeviceFixture(Self.schema, tables).camp
    // These exports prove to the hub which emissions the devices have.
    for device in ["tablet", "phone"] { try camp.deliver(device) }
    return camp
  }

  private func conflicts(_ camp: CommandLineFixture, _ database: String = "office.sqlite") throws -> String {
    try camp.rows(
      database,
      "SELECT table_name, operation, kind, state, winner FROM satchel_conflicts ORDER BY table_name, operation")
  }

  private static let work = """
    UPDATE sites SET name = 'mine' WHERE id = 'lake';
    DELETE FROM notes WHERE id = 'old';
    INSERT INTO notes VALUES ('new', 'lake', 'ann', 'new');
    INSERT INTO shots VALUES ('shot', 'new');
    """

  @Test(
    "it is taken in the user's name, whoever finds first that the right is lost, and the rows stay out of sight",
    arguments: [false, true])
  func taken(importsFirst: Bool) throws {
    let camp = try open()
    try camp.sql("tablet/data.sqlite", Self.work)
    try camp.sql("tablet/data.sqlite", "UPDATE notes SET words = 'newer' WHERE id = 'new'")
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", Self.moves)
    if importsFirst { try camp.answer("tablet") }
    let imported = camp.hub("import", try camp.export("tablet"))
    #expect(imported.out.contains("4 changes were accepted although ann has lost the right"), "\(imported.out)")
    #expect(try camp.rows("office.sqlite", "SELECT tier, name FROM sites WHERE id = 'lake'") == "9|mine")
    #expect(try camp.rows("office.sqlite", "SELECT id, words FROM notes ORDER BY id") == "new|newer\nother|other")
    #expect(try camp.rows("office.sqlite", "SELECT note FROM shots") == "new")
    #expect(
      try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_log WHERE user = 'ann' AND device IS NOT NULL")
        == "4")
    let answered = camp.device("tablet", "import", try camp.emit("tablet"))
    #expect(
      answered.out.contains("The hub took 3 changes of yours in rows that have left this device"), "\(answered.out)")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT id FROM sites") == "hill")
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM notes, shots") == "0")
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT DISTINCT state, winner FROM satchel_conflicts") == "settled|device")
    #expect(camp.device("tablet", "conflicts").out == "No conflict waits for a decision.\n")
    #expect(camp.hub("conflicts").out == "No conflict waits for a decision.\n")
    #expect(camp.device("tablet", "export", "--prove").code == 0)
    try camp.deliver("tablet")
    #expect(camp.hub("compare", "tablet").out == "The hub knows no row of tablet that differs.\n")
    // The office gives the area back to ann. Her device receives it together with all of her work.
    try camp.sql("office.sqlite", "UPDATE sites SET tier = 1 WHERE id = 'lake'")
    try camp.answer("tablet")
    for table in ["sites", "notes", "shots"] {
      let query = "SELECT * FROM \(table) ORDER BY id"
      #expect(try camp.rows("tablet/data.sqlite", query) == camp.rows("office.sqlite", query))
    }
    #expect(camp.device("tablet", "doctor").code == 0)
    #expect(camp.hub("audit").code == 0)
  }

  @Test(
    "a row and the rows that its delete took along are taken together or not at all", arguments: ["manual", "device"],
    [false, true])
  func family(policy: String, importsFirst: Bool) throws {
    let camp = try TwoDeviceFixture(
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, tier INTEGER, name TEXT);
      CREATE TABLE notes (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id) ON DELETE CASCADE, words TEXT);
      INSERT INTO sites VALUES ('lake', 1, 'Lake'), ('hill', 1, 'Hill');
      INSERT INTO notes VALUES ('one', 'lake', 'one'), ('two', 'lake', 'two');
      """,
      #"""
      "sites": { "visible": "tier <= :tier", "conflict": "\#(policy)", "late": "accept" },
      "notes": { "late": "accept" }
      """#
    ).camp
    for device in ["tablet", "phone"] { try camp.deliver(device) }
    try camp.sql("tablet/data.sqlite", "PRAGMA foreign_keys = ON; DELETE FROM sites WHERE id = 'lake'")
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", Self.moves)
    if importsFirst { try camp.answer("tablet") }
    try camp.deliver("tablet")
    // The office changed the site too. Under `manual`, a person decides about the site and everything below it.
    let isTaken = policy == "device"
    #expect(
      try camp.rows("office.sqlite", "SELECT (SELECT count(*) FROM sites), (SELECT count(*) FROM notes)")
        == (isTaken ? "1|0" : "2|2"))
    #expect(
      try camp.rows(
        "office.sqlite",
        "SELECT count(*), count(DISTINCT unit), min(state), max(state), min(winner) FROM satchel_conflicts")
        == (isTaken ? "3|1|settled|settled|device" : "3|1|open|open|hub"))
    #expect(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.count == (isTaken ? 0 : 1))
  }

  @Test(
    "it changes no row that another writer made later under the same key",
    arguments: ["UPDATE sites SET name = 'mine' WHERE id = 'hill'", "DELETE FROM sites WHERE id = 'hill'"])
  func madeAgain(act: String) throws {
    let camp = try open(
      #""sites": { "visible": "tier <= :tier", "conflict": "device", "late": "accept" }, "notes": {}, "shots": {}"#)
    try camp.sql("tablet/data.sqlite", act)
    camp.awaitLaterTime()
    for sql in ["DELETE FROM sites WHERE id = 'hill'", "INSERT INTO sites VALUES ('hill', 9, 'Another')"] {
      try camp.sql("office.sqlite", sql)
      try camp.deliver("phone")
    }
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT * FROM sites WHERE id = 'hill'") == "hill|9|Another")
    #expect(try !conflicts(camp).contains("settled"))
  }

  @Test("a row that was accepted late and then deleted gives no right to the next row under its key")
  func madeAgainBelow() throws {
    let camp = try open(Self.accepting.replacing(#""notes": {"#, with: #""notes": { "conflict": "device","#))
    try camp.sql("tablet/data.sqlite", "INSERT INTO notes VALUES ('new', 'lake', 'ann', 'new')")
    let insert = try camp.export("tablet")
    // Only the next export has this update. The device writes it before the office moves the area, so its time alone
    // does not refuse it.
    try camp.sql("tablet/data.sqlite", "UPDATE notes SET words = 'mine' WHERE id = 'new'")
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", Self.moves)
    #expect(camp.hub("import", insert).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM notes WHERE id = 'new'") == "new")
    for sql in ["DELETE FROM notes WHERE id = 'new'", "INSERT INTO notes VALUES ('new', 'lake', 'ben', 'another')"] {
      try camp.sql("office.sqlite", sql)
      try camp.deliver("phone")
    }
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT words FROM notes WHERE id = 'new'") == "another")
    #expect(try conflicts(camp) == "notes|insert|revoked|settled|device\nnotes|update|revoked|open|hub")
  }

  @Test("a new row that its device moves below another parent is no late work")
  func movedAway() throws {
    let camp = try open(#""sites": { "visible": "tier <= :tier" }, "notes": {}, "shots": {}"#)
    try camp.sql("tablet/data.sqlite", "INSERT INTO notes VALUES ('new', 'lake', 'ann', 'new')")
    try camp.sql("office.sqlite", Self.moves)
    try camp.deliver("tablet")
    try camp.sql("tablet/data.sqlite", "UPDATE notes SET site = 'hill' WHERE id = 'new'")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT site FROM notes WHERE id = 'new'") == "hill")
    try camp.answer("tablet")
    let insert = "SELECT kind, state, winner FROM satchel_conflicts WHERE operation = 'insert'"
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try camp.rows(database, insert) == "foreign key|settled|device")
    }
    #expect(try !camp.rows("tablet/data.sqlite", "SELECT note FROM satchel_conflicts").contains("may not be seen"))
  }

  @Test("where the table does not say so, a person decides", arguments: [false, true])
  func byDefault(importsFirst: Bool) throws {
    let camp = try open(#""sites": { "visible": "tier <= :tier" }, "notes": {}, "shots": {}"#)
    try camp.sql("tablet/data.sqlite", Self.work)
    try camp.sql("office.sqlite", Self.moves)
    if importsFirst { try camp.answer("tablet") }
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Lake")
    #expect(try camp.rows("office.sqlite", "SELECT id FROM notes ORDER BY id") == "old\nother")
    #expect(!(try conflicts(camp).contains("settled")))
  }

  @Test(
    "a user who is given another area: what she made and changed in the former one is taken", arguments: [false, true])
  func otherUser(importsFirst: Bool) throws {
    let rules =
      #""sites": { "visible": "tier = :tier", "late": "accept" }, "notes": { "write": "author = :user", "late": "accept" }, "shots": {}"#
    let camp = try open(rules)
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE sites SET name = 'mine' WHERE id = 'lake';
      INSERT INTO sites VALUES ('sea', 1, 'Sea');
      INSERT INTO notes VALUES ('new', 'lake', 'ann', 'new'), ('false', 'lake', 'ben', 'in his name');
      UPDATE notes SET words = 'hers' WHERE id = 'old';
      UPDATE notes SET words = 'not hers' WHERE id = 'other';
      """)
    camp.awaitLaterTime()
    camp.hub("user", "set", "ann", "tier=2")
    if importsFirst { try camp.answer("tablet") }
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT id, name FROM sites ORDER BY id") == "hill|Hill\nlake|mine\nsea|Sea")
    #expect(
      try camp.rows("office.sqlite", "SELECT id, words FROM notes ORDER BY id") == "new|new\nold|hers\nother|other")
  }

  @Test("a person decides about work written after the hub took the right away, whatever the device received")
  func afterwards() throws {
    let camp = try open()
    try camp.sql("office.sqlite", Self.moves)
    _ = try camp.emit("phone")
    camp.awaitLaterTime()
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'late' WHERE id = 'lake'")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Lake")
    #expect(try conflicts(camp) == "sites|update|revoked|open|hub")
  }

  @Test("a move that came by another device counts from when the hub took it")
  func movedByDevice() throws {
    let camp = try open()
    camp.hub("user", "set", "ben", "tier=9")
    try camp.sql("phone/data.sqlite", Self.moves)
    camp.awaitLaterTime()
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'mine' WHERE id = 'lake'")
    camp.awaitLaterTime()
    try camp.deliver("phone")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT tier, name FROM sites WHERE id = 'lake'") == "9|mine")
  }

  @Test("a device that has shown a later time is not believed when it dates a change back")
  func datedBack() throws {
    let camp = try open()
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", Self.moves)
    _ = try camp.emit("phone")
    camp.awaitLaterTime()
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'hill' WHERE id = 'hill'")
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'Hills' WHERE id = 'hill'")
    try camp.deliver("tablet")
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'false' WHERE id = 'lake'")
    // Imitates a forged device: it sets its clock of stamps back, which a real device never does.
    try camp.sql(
      "tablet/data.sqlite",
      "UPDATE satchel_writes_sites SET satchel_written = satchel_written - 1; UPDATE satchel_capture SET stamp = 0")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Lake")
    #expect(try conflicts(camp) == "sites|update|revoked|open|hub")
  }

  @Test("a device that proved the emission without the row has no right in it any more, whatever it says afterwards")
  func emissionNamedAgain() throws {
    let camp = try open()
    let stand = try camp.rows(
      "tablet/data.sqlite", "SELECT received, received_digest, received_signature FROM satchel_device"
    ).split(separator: "|")
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", Self.moves)
    try camp.answer("tablet")
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'Hills' WHERE id = 'hill'")
    try camp.deliver("tablet")
    try camp.writeUnseen("tablet/data.sqlite", "INSERT INTO sites VALUES ('lake', 1, 'Lake')")
    try camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE sites SET name = 'false' WHERE id = 'lake';
      UPDATE satchel_writes_sites SET satchel_written = satchel_written - 1;
      UPDATE satchel_capture SET stamp = 0;
      UPDATE satchel_device SET received = \(stand[0]), received_digest = '\(stand[1])', received_signature = '\(stand[2])';
      """)
    _ = camp.hub("import", try camp.export("tablet"))
    #expect(try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Lake")
    #expect(!(try conflicts(camp).contains("device")))
  }

  @Test("conflicts that a device invents about rows that it does not have any more change nothing")
  func invented() throws {
    let camp = try open()
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'mine' WHERE id = 'lake'")
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", Self.moves)
    try camp.answer("tablet")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "mine")
    // The device reports the same conflict with a false value, under another id and in a later export.
    try camp.sql(
      "tablet/data.sqlite",
      """
      INSERT INTO satchel_conflicts
      SELECT replace(id, substr(id, 1, 8), '01234567'), device, user, table_name, key, 2, stamp, operation, kind, 'open',
        base_values, NULL, '{"name":"false"}', winners, 'hub', note, bundle, noted, NULL, 0, NULL, NULL, NULL, NULL, NULL
      FROM satchel_conflicts
      """)
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "mine")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == "1")
  }

  @Test(
    "late work gives no user a right that the rules never gave",
    arguments: [
      "UPDATE sites SET tier = 1 WHERE id = 'lake'", "UPDATE notes SET site = 'hill' WHERE id = 'old'",
      "INSERT INTO notes VALUES ('new', 'cave', 'ann', 'new')", "DELETE FROM sites WHERE id = 'lake'",
    ])
  func never(act: String) throws {
    let camp = try TwoDeviceFixture(
      Self.schema + "INSERT INTO sites VALUES ('cave', 9, 'Cave');",
      #""sites": { "visible": "tier <= :tier", "delete": "never", "late": "accept" }, "notes": { "late": "accept" }, "shots": {}"#
    ).camp
    for device in ["tablet", "phone"] { try camp.deliver(device) }
    try camp.sql(
      "tablet/data.sqlite",
      act == "UPDATE sites SET tier = 1 WHERE id = 'lake'"
        ? "UPDATE sites SET tier = 0 WHERE id = 'lake'" : act)
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", Self.moves)
    let before = try camp.rows("office.sqlite", "SELECT * FROM sites, notes ORDER BY 1, 4")
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT * FROM sites, notes ORDER BY 1, 4") == before)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_conflicts WHERE winner = 'device'") == "0")
  }

  @Test("a rule of a version before this one counts as it was then, and a device of a former epoch is not asked")
  func versions() throws {
    let camp = try open(#""sites": { "visible": "tier <= :tier", "write": "none" }, "notes": {}, "shots": {}"#)
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'never hers' WHERE id = 'lake'")
    camp.awaitLaterTime()
    let definition = String(decoding: try camp.read("camp.json"), as: UTF8.self)
    try camp.write(
      "next.json",
      definition.replacingOccurrences(of: #""version": 1"#, with: #""version": 2"#)
        .replacingOccurrences(of: #""write": "none""#, with: #""late": "accept""#))
    let applied = camp.hub("dataset", "apply", camp.path("next.json"))
    #expect(applied.code == 0, "\(applied.error)")
    try camp.sql("office.sqlite", Self.moves)
    try camp.deliver("tablet")
    #expect(try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == "Lake")
  }

  @Test(
    "what meets another change is decided by policy, and what loses is kept",
    arguments: ["newest", "device", "hub", "manual"])
  func disagreement(policy: String) throws {
    let camp = try open(
      #""sites": { "visible": "tier <= :tier", "conflict": "\#(policy)", "late": "accept" }, "notes": {}, "shots": {}"#)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'office' WHERE id = 'lake'")
    // The emission makes the hub log the office's change. The move then gets another log entry.
    _ = try camp.emit("phone")
    camp.awaitLaterTime()
    try camp.sql("tablet/data.sqlite", "UPDATE sites SET name = 'mine' WHERE id = 'lake'")
    camp.awaitLaterTime()
    try camp.sql("office.sqlite", Self.moves)
    try camp.deliver("tablet")
    let wins = policy == "newest" || policy == "device"
    #expect(try camp.rows("office.sqlite", "SELECT name FROM sites WHERE id = 'lake'") == (wins ? "mine" : "office"))
    #expect(
      try camp.rows(
        "office.sqlite", "SELECT state, hub_values ->> 'name', device_values ->> 'name' FROM satchel_conflicts")
        == "\(policy == "manual" ? "open" : "settled")|office|mine")
  }
}
