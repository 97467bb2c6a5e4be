import SatchelJSON
import Testing

/// One table with a policy, and a device whose user sees all rows. The device and the office write before they exchange
/// bundles.
private struct Meeting {
  let camp: CommandLineFixture

  /// - Parameter rules: members of the table's rules, such as `"conflict": "device"`.
  init(_ rules: String) throws {
    camp = try CommandLineFixture()
    try camp.open(as: [#fileID, rules]) {
      try camp.sql(
        "office.sqlite",
        """
        CREATE TABLE rooms (id TEXT PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE guests (id TEXT PRIMARY KEY, room TEXT REFERENCES rooms (id), name TEXT NOT NULL, age INTEGER CHECK (age > 0));
        INSERT INTO rooms VALUES ('r', 'Blue');
        INSERT INTO guests VALUES ('g', 'r', 'Ada', 30);
        """)
      try camp.write(
        "d.json", #"{ "dataset": "inn", "version": 1, "tables": { "rooms": { \#(rules) }, "guests": { \#(rules) } } }"#)
      #expect(
        camp.hubAnywhere(
          "init", camp.path("hub"), "--dataset", camp.path("d.json"), "--database", camp.path("office.sqlite")
        ).code
          == 0)
      camp.hub("user", "add", "ann")
      for name in ["tablet", "other"] {
        camp.hub("device", "provision", name, "--user", "ann", "--into", camp.path(name))
      }
    }
  }

  /// The device delivers a bundle to the hub, and imports the hub's answer.
  func meet(_ device: String = "tablet") throws {
    let file = try camp.device(device, "export", "--json").json["file"]?.stringValue ?? ""
    #expect(camp.hub("import", file).code == 0)
    try answer(device)
  }

  func answer(_ device: String) throws {
    let emission = try camp.hub("emit", "--device", device, "--json").json["emissions"]?.arrayValue?.first
    if emission?["new"] == true {
      #expect(camp.device(device, "import", emission?["file"]?.stringValue ?? "").code == 0)
    }
  }

  func conflicts() throws -> [String] {
    try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.map {
      "\($0["kind"]?.stringValue ?? "") \($0["state"]?.stringValue ?? "")"
    } ?? []
  }

  func id() throws -> String {
    try #require(try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue)
  }

  func guests(_ database: String = "office.sqlite") throws -> String {
    try camp.rows(database, "SELECT * FROM guests ORDER BY id")
  }
}

@Suite("Disagreements, through the command line")
struct DisagreementTests {
  @Test(
    "both changed one column: the policy decides, and both sides end with the same row",
    arguments: [
      (#""conflict": "manual""#, "open", "Office"), (#""conflict": "hub""#, "settled", "Office"),
      (#""conflict": "device""#, "settled", "Tablet"),
      (#""conflict": "hub", "columns": { "name": "device" }"#, "settled", "Tablet"),
    ])
  func sameColumn(_ rules: String, state: String, name: String) throws {
    let meeting = try Meeting(rules)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET name = 'Tablet', age = 31 WHERE id = 'g'")
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET name = 'Office' WHERE id = 'g'")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["update/update \(state)"])
    #expect(try meeting.guests() == "g|r|\(name)|31")
    #expect(try meeting.guests("tablet/data.sqlite") == "g|r|\(name)|31")
  }

  @Test("newest: the later change wins, whoever made it", arguments: [true, false])
  func newest(deviceIsLater: Bool) throws {
    let meeting = try Meeting(#""conflict": "newest""#)
    let writes = [("office.sqlite", "Office"), ("tablet/data.sqlite", "Tablet")]
    // Two writes in one millisecond would have equal stamps. Therefore the test itself increases the later stamp.
    for (database, name) in deviceIsLater ? writes : writes.reversed() {
      try meeting.camp.sql(database, "UPDATE guests SET name = '\(name)' WHERE id = 'g'")
    }
    let later = deviceIsLater ? "tablet/data.sqlite" : "office.sqlite"
    try meeting.camp.sql(later, "UPDATE satchel_writes_guests SET satchel_written = satchel_written + 0.0001")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["update/update settled"])
    #expect(try meeting.guests() == "g|r|\(deviceIsLater ? "Tablet" : "Office")|30")
    #expect(try meeting.guests("tablet/data.sqlite") == meeting.guests())
  }

  @Test("different columns and equal changes are no disagreement")
  func noDisagreement() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET name = 'Both', age = 31 WHERE id = 'g'")
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET name = 'Both', room = NULL WHERE id = 'g'")
    try meeting.meet()
    #expect(try meeting.conflicts() == [])
    #expect(try meeting.guests() == "g|NULL|Both|31")
    #expect(try meeting.guests("tablet/data.sqlite") == "g|NULL|Both|31")
  }

  @Test("each of many undelivered changes of one row meets what the office wrote meanwhile, and nothing else")
  func manyChanges() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET name = 'Ben'")
    for age in 31...70 {
      try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET name = 'Ada \(age)', age = \(age)")
      #expect(meeting.camp.device("tablet", "export").code == 0)
    }
    try meeting.meet()
    #expect(try meeting.guests() == "g|r|Ben|70")
    #expect(try meeting.guests("tablet/data.sqlite") == "g|r|Ben|70")
    #expect(try meeting.conflicts() == Array(repeating: "update/update open", count: 40))
  }

  @Test("\"merge\": \"row\" takes whole rows: different columns meet")
  func wholeRows() throws {
    let meeting = try Meeting(#""conflict": "hub", "merge": "row""#)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET age = 31 WHERE id = 'g'")
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET name = 'Office' WHERE id = 'g'")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["update/update settled"])
    #expect(try meeting.guests() == "g|r|Office|30")
  }

  @Test("the device deleted a row that the office changed: the row stays until a person decides")
  func deleteMeetsUpdate() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "DELETE FROM guests")
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET name = 'Office'")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["delete/update open"])
    #expect(try meeting.guests("tablet/data.sqlite") == "g|r|Office|30")
    #expect(meeting.camp.hub("conflicts", "resolve", try meeting.id(), "--keep", "device").code == 0)
    try meeting.answer("tablet")
    #expect(try meeting.guests("tablet/data.sqlite") == "")
  }

  @Test("the device changed what the office deleted: an update brings no row back, a decision does")
  func updateMeetsDelete() throws {
    let meeting = try Meeting(#""conflict": "device""#)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET name = 'Tablet'")
    try meeting.camp.sql("office.sqlite", "DELETE FROM guests")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["update/delete open"])
    #expect(try meeting.guests("tablet/data.sqlite") == "")
    #expect(meeting.camp.hub("conflicts", "resolve", try meeting.id(), "--keep", "device").code == 0)
    try meeting.answer("tablet")
    #expect(try meeting.guests("tablet/data.sqlite") == "g|r|Tablet|30")
  }

  @Test(
    "the first decision to reach the hub counts: the device decided otherwise, and learns the decision and its author"
  )
  func overruled() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET name = 'Tablet'")
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET name = 'Office'")
    try meeting.meet()
    let id = try meeting.id()
    #expect(meeting.camp.hub("conflicts", "resolve", id, "--keep", "hub").code == 0)
    #expect(meeting.camp.device("tablet", "conflicts", "resolve", id, "--keep", "device", "--note", "surely").code == 0)
    let decision = "SELECT state, decision, decided_by, note FROM satchel_conflicts WHERE id = '\(id)'"
    let others = "SELECT state FROM satchel_conflicts WHERE id <> '\(id)'"
    #expect(try meeting.camp.rows("tablet/data.sqlite", decision) == "resolved|device|ann|surely")
    try meeting.meet()
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try meeting.camp.rows(database, decision) == "resolved|hub|hub|NULL", "\(database)")
      #expect(
        try meeting.camp.rows(database, others) == "settled", "what the device's decision wrote is kept in \(database)")
      #expect(try meeting.guests(database) == "g|r|Office|30", "\(database)")
    }
  }

  @Test(
    "a late decision counts for no other column: what the device wrote beside it is merged",
    arguments: [
      ("hub", "device", "Office", "resolved\nsettled"), ("hub", "hub", "Office", "resolved"),
      ("device", "device", "Tablet", "resolved"),
    ])
  func besideLateDecision(hub: String, device: String, name: String, states: String) throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET name = 'Tablet'")
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET name = 'Office'")
    try meeting.meet()
    let id = try meeting.id()
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET age = 31")
    #expect(meeting.camp.device("tablet", "conflicts", "resolve", id, "--keep", device).code == 0)
    #expect(meeting.camp.hub("conflicts", "resolve", id, "--keep", hub).code == 0)
    try meeting.meet()
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try meeting.guests(database) == "g|r|\(name)|31", "\(database)")
      #expect(
        try meeting.camp.rows(database, "SELECT state FROM satchel_conflicts ORDER BY state") == states, "\(database)")
    }
  }

  @Test("the device finds a conflict and its user decides it: the hub learns both from one bundle")
  func decidedOnTheDevice() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET name = 'Tablet'")
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET name = 'Office'")
    try meeting.answer("tablet")
    let found = try meeting.camp.device("tablet", "conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?
      .stringValue
    #expect(meeting.camp.device("tablet", "conflicts", "resolve", try #require(found), "--keep", "device").code == 0)
    try meeting.meet()
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      let decision = "SELECT state, decision, decided_by FROM satchel_conflicts"
      #expect(try meeting.camp.rows(database, decision) == "resolved|device|ann", "\(database)")
      #expect(try meeting.guests(database) == "g|r|Tablet|30", "\(database)")
    }
  }

  @Test("both made a row with one key: the hub's stays, the device's is kept and can be set column by column")
  func insertMeetsInsert() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "INSERT INTO guests VALUES ('n', 'r', 'Tablet', 1)")
    try meeting.camp.sql("office.sqlite", "INSERT INTO guests VALUES ('n', 'r', 'Office', 2)")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["insert/insert open"])
    #expect(try meeting.guests("tablet/data.sqlite") == "g|r|Ada|30\nn|r|Office|2")
    #expect(meeting.camp.hub("conflicts", "resolve", try meeting.id(), "--set", "age=7").code == 0)
    #expect(
      try meeting.camp.rows("office.sqlite", "SELECT name, age, typeof(age) FROM guests WHERE id = 'n'")
        == "Office|7|integer")
  }

  @Test("a row whose parent is not there waits, and enters by itself when the parent comes")
  func held() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "INSERT INTO guests VALUES ('n', 'new', 'Early', 1)")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["foreign key held"])
    #expect(try meeting.guests() == "g|r|Ada|30")
    #expect(try meeting.guests("tablet/data.sqlite") == "g|r|Ada|30")
    try meeting.camp.sql("other/data.sqlite", "INSERT INTO rooms VALUES ('new', 'Green')")
    try meeting.meet("other")
    #expect(try meeting.conflicts() == ["foreign key settled"])
    try meeting.answer("tablet")
    #expect(try meeting.guests("tablet/data.sqlite") == "g|r|Ada|30\nn|new|Early|1")
  }

  @Test("within one bundle rows come in any order: parents and children, values that rows trade with each other")
  func orderWithin() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql(
      "tablet/data.sqlite",
      """
      INSERT INTO guests VALUES ('a', 'z', 'Child first', 1);
      INSERT INTO rooms VALUES ('z', 'Zinc');
      UPDATE guests SET room = 'z' WHERE id = 'g';
      DELETE FROM rooms WHERE id = 'r';
      """)
    try meeting.meet()
    #expect(try meeting.conflicts() == [])
    #expect(try meeting.camp.rows("office.sqlite", "SELECT id FROM rooms") == "z")
    #expect(try meeting.guests() == "a|z|Child first|1\ng|z|Ada|30")
  }

  @Test("a value that only one row may have: the hub's row keeps it, the other device's row is kept as a conflict")
  func unique() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "INSERT INTO rooms VALUES ('t', 'Red')")
    try meeting.camp.sql("other/data.sqlite", "INSERT INTO rooms VALUES ('o', 'Red')")
    try meeting.meet("other")
    try meeting.meet("tablet")
    #expect(try meeting.conflicts() == ["unique open"])
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try meeting.camp.rows(database, "SELECT id, name FROM rooms ORDER BY id") == "o|Red\nr|Blue")
    }
  }

  @Test(
    """
    on the device too: a row that came from the hub takes the value, the device's own pending row is kept as a \
    conflict
    """
  )
  func uniqueOnTheDevice() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE rooms SET name = 'Red' WHERE id = 'r'")
    try meeting.camp.sql("office.sqlite", "INSERT INTO rooms VALUES ('o', 'Red')")
    try meeting.answer("tablet")
    #expect(try meeting.camp.rows("tablet/data.sqlite", "SELECT id, name FROM rooms ORDER BY id") == "o|Red\nr|Blue")
    try meeting.meet("tablet")
    #expect(try meeting.conflicts() == ["unique open"])
  }

  @Test("a row that the hub's database does not allow is held, and the others of its bundle are taken")
  func constraint() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql(
      "tablet/data.sqlite",
      """
      PRAGMA ignore_check_constraints = ON; UPDATE guests SET age = -1; INSERT INTO guests VALUES ('n', 'r', 'Next', \
      5)
      """
    )
    try meeting.meet()
    #expect(try meeting.conflicts() == ["constraint held"])
    #expect(try meeting.guests() == "g|r|Ada|30\nn|r|Next|5")
    #expect(try meeting.guests("tablet/data.sqlite") == "g|r|Ada|30\nn|r|Next|5")
  }

  @Test("a parent that the device deleted stays while others still have children of it")
  func parentWithChildren() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "DELETE FROM guests; DELETE FROM rooms")
    try meeting.camp.sql("office.sqlite", "INSERT INTO guests VALUES ('late', 'r', 'Late', 1)")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["foreign key open"])
    #expect(try meeting.guests("tablet/data.sqlite") == "late|r|Late|1")
    #expect(try meeting.camp.rows("tablet/data.sqlite", "SELECT id FROM rooms") == "r")
  }

  @Test("after the device's changes are acknowledged a full bundle brings a lost device back, pending changes included")
  func fullAgain() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET age = 31")
    try meeting.meet()
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET name = 'Pending'")
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET room = NULL; INSERT INTO rooms VALUES ('x', 'Xylo')")
    let file = try meeting.camp.hub("emit", "--device", "tablet", "--full", "--json").json["emissions"]?.arrayValue?
      .first?[
        "file"]?.stringValue
    #expect(meeting.camp.device("tablet", "import", file ?? "").code == 0)
    #expect(try meeting.guests("tablet/data.sqlite") == "g|NULL|Pending|31")
    #expect(try meeting.camp.device("tablet", "status", "--json").json["pending"]?["guests"] == 1)
    try meeting.meet()
    #expect(try meeting.guests() == "g|NULL|Pending|31")
  }

  @Test("an app that has made its empty database already gets the rows into it")
  func existingDatabase() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    let camp = meeting.camp
    let made = try camp.deviceAnywhere(
      "init", camp.path("laptop"), "--dataset", "inn", "--name", "laptop", "--request", camp.path("ask.satchel"),
      "--json"
    ).json
    try camp.sql(
      "laptop/data.sqlite",
      """
      CREATE TABLE rooms (id TEXT PRIMARY KEY, name TEXT UNIQUE);
      CREATE TABLE guests (id TEXT PRIMARY KEY, room TEXT REFERENCES rooms (id), name TEXT NOT NULL, age INTEGER CHECK (age > 0));
      CREATE TABLE settings (word TEXT); INSERT INTO settings VALUES ('mine');
      INSERT INTO rooms VALUES ('stray', 'Stray');
      """)
    camp.hub(
      "device", "enrol", camp.path("ask.satchel"), "--user", "ann", "--fingerprint",
      made["fingerprint"]?.stringValue ?? "")
    let first = camp.path("hub/bundles/outbox/inn-hub-laptop-1.satchel")
    let hub = try camp.hub("status", "--json").json["fingerprint"]?.stringValue ?? ""
    #expect(camp.device("laptop", "import", first, "--fingerprint", hub).code == 0)
    #expect(try camp.rows("laptop/data.sqlite", "SELECT count(*) FROM rooms WHERE id = 'stray'") == "1")
    #expect(try camp.rows("laptop/data.sqlite", "SELECT * FROM settings") == "mine")
    try camp.sql("laptop/data.sqlite", "UPDATE guests SET age = 40")
    #expect(try camp.device("laptop", "status", "--json").json["pending"]?["guests"] == 1)
  }

  @Test("rows that trade a value that only one of them may have are taken together")
  func swap() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("office.sqlite", "INSERT INTO rooms VALUES ('s', 'Red')")
    try meeting.answer("tablet")
    try meeting.camp.sql(
      "tablet/data.sqlite",
      """
      UPDATE rooms SET name = 'x' WHERE id = 'r'; UPDATE rooms SET name = 'Blue' WHERE id = 's'; UPDATE rooms SET \
      name = 'Red' WHERE id = 'r'
      """
    )
    try meeting.meet()
    #expect(try meeting.conflicts() == [])
    #expect(try meeting.camp.rows("office.sqlite", "SELECT id, name FROM rooms ORDER BY id") == "r|Red\ns|Blue")
  }

  @Test("a parent that gets another key, and its children with it, is taken together")
  func renamedParent() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql(
      "tablet/data.sqlite",
      "UPDATE rooms SET id = 'new' WHERE id = 'r'; UPDATE guests SET room = 'new' WHERE room = 'r'")
    try meeting.meet()
    #expect(try meeting.conflicts() == [])
    #expect(try meeting.camp.rows("office.sqlite", "SELECT id, name FROM rooms") == "new|Blue")
    #expect(try meeting.guests() == "g|new|Ada|30")
  }

  @Test("later changes of a row that waits wait behind it, and all enter in their order, at the next emission too")
  func heldInOrder() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "INSERT INTO guests VALUES ('n', 'new', 'first', 1)")
    meeting.camp.device("tablet", "export")
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET name = 'second' WHERE id = 'n'")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["foreign key held", "foreign key held"])
    try meeting.camp.sql("office.sqlite", "INSERT INTO rooms VALUES ('new', 'Green')")
    try meeting.answer("tablet")
    #expect(try meeting.conflicts() == ["foreign key settled", "foreign key settled"])
    #expect(try meeting.guests("tablet/data.sqlite") == "g|r|Ada|30\nn|new|second|1")
  }

  @Test("a row waits for its parent with its own children, and all enter when that comes", arguments: [true, false])
  func heldWithChildren(inOneBundle: Bool) throws {
    let camp = try CommandLineFixture()
    try camp.sql(
      "office.sqlite",
      """
      CREATE TABLE a (id TEXT PRIMARY KEY); CREATE TABLE b (id TEXT PRIMARY KEY, a TEXT REFERENCES a (id)); CREATE \
      TABLE c (id TEXT PRIMARY KEY, b TEXT REFERENCES b (id))
      """
    )
    try camp.write("camp.json", #"{ "dataset": "camp", "version": 1, "tables": { "a": {}, "b": {}, "c": {} } }"#)
    camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann")
    for name in ["tablet", "phone"] {
      camp.hub("device", "provision", name, "--user", "ann", "--into", camp.path(name))
    }
    try camp.sql("tablet/data.sqlite", "INSERT INTO c VALUES ('c', 'b')")
    if !inOneBundle { camp.deliver("tablet", 1) }
    try camp.sql("tablet/data.sqlite", "INSERT INTO b VALUES ('b', 'a')")
    camp.deliver("tablet", inOneBundle ? 1 : 2)
    #expect(try camp.hub("status", "--json").json["held_conflicts"] == 2)
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT count(*) FROM c") == "0")
    try camp.sql("phone/data.sqlite", "INSERT INTO a VALUES ('a')")
    camp.deliver("phone", 1)
    #expect(try camp.rows("office.sqlite", "SELECT c.id FROM c JOIN b ON b.id = c.b JOIN a ON a.id = b.a") == "c")
    camp.answer("tablet", 3)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT c.id FROM c JOIN b ON b.id = c.b JOIN a ON a.id = b.a") == "c")
  }

  @Test("a change that waited and met another one meanwhile enters, and is a disagreement as any other")
  func heldAndOvertaken() throws {
    let meeting = try Meeting(#""conflict": "manual""#)
    try meeting.camp.sql("tablet/data.sqlite", "UPDATE guests SET room = 'new', name = 'Tablet' WHERE id = 'g'")
    try meeting.meet()
    #expect(try meeting.conflicts() == ["foreign key held"])
    try meeting.camp.sql("office.sqlite", "UPDATE guests SET name = 'Office' WHERE id = 'g'")
    try meeting.camp.sql("office.sqlite", "INSERT INTO rooms VALUES ('new', 'Green')")
    try meeting.answer("tablet")
    #expect(try meeting.conflicts() == ["update/update open"])
    for database in ["office.sqlite", "tablet/data.sqlite"] {
      #expect(try meeting.guests(database) == "g|new|Office|30")
    }
    let told = try meeting.camp.device("tablet", "conflicts", "--all", "--json").json["conflicts"]?.arrayValue
    #expect(told?.map { $0["kind"]?.stringValue } == ["update/update"])
    #expect(meeting.camp.hub("conflicts", "resolve", try meeting.id(), "--keep", "device").code == 0)
    try meeting.answer("tablet")
    #expect(try meeting.guests("tablet/data.sqlite") == "g|new|Tablet|30")
  }

  @Test(
    "what the app's schema says of conflicts does not act when a bundle is merged", arguments: ["REPLACE", "IGNORE"])
  func conflictClauseInTheSchema(_ clause: String) throws {
    let camp = try CommandLineFixture()
    try camp.sql("office.sqlite", "CREATE TABLE t (id TEXT PRIMARY KEY, u TEXT UNIQUE ON CONFLICT \(clause), v TEXT)")
    try camp.write("d.json", #"{ "dataset": "d", "version": 1, "tables": { "t": {} } }"#)
    camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("d.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann")
    camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    try camp.sql("office.sqlite", "INSERT INTO t VALUES ('1', 'x', 'precious')")
    try camp.sql("tablet/data.sqlite", "INSERT INTO t VALUES ('2', 'x', 'mine')")
    camp.device("tablet", "export")
    camp.hub("import", camp.path("tablet/bundles/outbox/d-tablet-hub-1.satchel"))
    #expect(try camp.rows("office.sqlite", "SELECT v FROM t") == "precious")
    #expect(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["kind"] == "unique")
  }
}
