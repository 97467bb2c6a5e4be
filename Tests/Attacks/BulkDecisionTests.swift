import SatchelJSON
import TestSupport
import Testing

/// An attacker's changes become conflicts. Then a person decides all conflicts at once.
@Suite("A decision about many conflicts")
struct BulkDecisionTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture(definition: Self.definition, schema: Self.schema) }

  /// The fixture's tables, and further tables. In the further tables a user may change every row that the user may see.
  private static let definition = AttackFixture.definition.replacing(
    #""prices":"#,
    with: """
      "camps": { "visible": "owner = :user" },
      "members": { "visible": "name = :user" },
      "walks": { "visible": "owner = :user", "late": "accept", "conflict": "manual" },
      "guests": { "parents": ["camps"], "late": "accept", "conflict": "manual" },
      "clubs": { "visible": "id IN (SELECT club FROM members WHERE name = :user AND open = 1) \
                             OR id IN (SELECT club FROM guests WHERE name = :user)" },
      "beds": { "parents": ["camps"] },
      "wells": { "visible": "owner = :user", "delete": "never", "conflict": "manual" },
      "prices":
      """, maxReplacements: 1)

  private static let schema =
    AttackFixture.schema + """
      CREATE TABLE camps (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, words TEXT);
      CREATE TABLE beds (
        id INTEGER PRIMARY KEY, camp INTEGER NOT NULL REFERENCES camps (id), words TEXT,
        other INTEGER REFERENCES camps (id));
      CREATE TABLE walks (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, words TEXT);
      CREATE TABLE members (id INTEGER PRIMARY KEY, name TEXT NOT NULL, club INTEGER, open INTEGER, words TEXT);
      CREATE TABLE guests (
        id INTEGER PRIMARY KEY, camp INTEGER REFERENCES camps (id), name TEXT, club INTEGER, words TEXT);
      CREATE TABLE clubs (id INTEGER PRIMARY KEY, words TEXT);
      CREATE TABLE wells (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, code TEXT UNIQUE);
      INSERT INTO camps VALUES (1, 'ann', 'north'), (2, 'ben', 'SECRET-CAMP'), (3, 'ann', 'south');
      INSERT INTO beds (id, camp, words) VALUES (1, 1, 'top'), (2, 2, 'SECRET-BED'), (3, 3, 'low');
      INSERT INTO wells VALUES (1, 'ann', 'w1'), (2, 'ann', 'w2');
      INSERT INTO walks VALUES (1, 'ann', 'there');
      INSERT INTO members VALUES (1, 'ann', 1, 1, 'first'), (2, 'ann', 2, 0, 'second');
      INSERT INTO guests VALUES (1, 1, 'ann', 1, 'one'), (2, 1, 'ann', NULL, 'two'), (4, 1, 'ann', 1, 'four');
      INSERT INTO clubs VALUES (1, 'chess'), (2, 'SECRET-CLUB');
      """

  private static let rows = [
    "camps": "SELECT id, owner, words FROM camps ORDER BY id", "beds": "SELECT id, camp, words FROM beds ORDER BY id",
    "wells": "SELECT id, owner, code FROM wells ORDER BY id",
    "members": "SELECT id, name, club, open, words FROM members ORDER BY id",
    "clubs": "SELECT id, words FROM clubs ORDER BY id",
  ]

  /// Expects that a decision about all conflicts changes no row of these further tables.
  private func expectNothingDecided(location: SourceLocation = #_sourceLocation) throws {
    let before = try lab.atHub(Self.rows)
    lab.decideAll()
    #expect(try lab.atHub(Self.rows) == before, sourceLocation: location)
    #expect(try !lab.tellsSecrets(to: "evil"), sourceLocation: location)
  }

  /// - Parameter emission: the emission that the device claims to have had when it made the change; nil: the true one.
  private func send(_ change: JSONValue, receiving emission: (number: Int64, digest: String)? = nil) throws {
    let bundle = try lab.forger.bundle {
      $0.add(change, to: .changes)
      guard let emission else { return }
      $0.set("received", .integer(emission.number))
      $0.set("received_digest", .string(emission.digest))
    }
    #expect(try lab.refusal(of: bundle) == nil)
  }

  /// The newest emission for the device.
  private func newestEmission() throws -> (number: Int64, digest: String) {
    let newest = try lab.atHub(
      """
      SELECT number, digest
      FROM satchel_emissions
      WHERE device = (SELECT id FROM satchel_devices WHERE name = 'evil')
      ORDER BY number DESC
      """
    ).first?.split(separator: "|").map(String.init)
    return try (#require(newest?.first.flatMap { Int64($0) }), #require(newest?.last))
  }

  /// A change that claims to be a minute older, so that the device seems to have made it before its user lost the row.
  private func early(_ change: JSONValue, by forger: Forger) -> JSONValue {
    var members = change.objectValue ?? []
    members.set("stamp", .string(forger.stamp(later: -60_000)))
    return .object(members)
  }

  private func conflicts() throws -> [String] {
    try lab.atHub("SELECT kind, state FROM satchel_conflicts ORDER BY id")
  }

  private func write(_ sql: String) throws {
    try lab.write(sql, in: lab.hub.folder)
    lab.tick()
    // Before the hub merges the attacker's bundle, it records the office's change in the log.
    #expect(lab.tool("emit", "--device", "victim").code == 0)
  }

  @Test("writes no row that the user could see but never write, after the row was hidden")
  func neverWritten() throws {
    try write("UPDATE prices SET tier = 9 WHERE id = 1")
    let before = try Protected(lab)
    try send(lab.forger.update("prices", 1, set: ["cents": 1], was: ["cents": 300]))
    #expect(try conflicts() == ["revoked|open"])
    lab.decideAll()
    #expect(try before.changedRows(in: Protected(lab)) == [])
    #expect(try conflicts() == ["revoked|open"])
  }

  @Test("writes no row that the device never had")
  func neverHeld() throws {
    let before = try Protected(lab)
    try send(lab.forger.update("prices", 3, set: ["cents": 1], was: ["cents": 99999]))
    try send(lab.forger.delete("tasks", 2, was: ["id": 2, "owner": "ben", "words": "x"]))
    lab.decideAll()
    #expect(try before.changedRows(in: Protected(lab)) == [])
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("makes no deleted row again that the user may not make")
  func deleted() throws {
    try write("DELETE FROM prices WHERE id = 3")
    let before = try Protected(lab)
    try send(lab.forger.update("prices", 3, set: ["cents": 1, "tier": 0], was: ["cents": 99999, "tier": 9]))
    lab.decideAll()
    #expect(try before.changedRows(in: Protected(lab)) == [])
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("believes no device that says that its user lost a right", arguments: ["revoked", "forbidden"])
  func reported(kind: String) throws {
    let before = try Protected(lab)
    for row in ["n3", "n9"] {
      let line = try lab.forger.conflict("notes", .string(row), was: ["body": "x"], now: ["body": "forged"]) {
        $0.set("kind", .string(kind))
      }
      #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [line] }) == nil)
    }
    #expect(try conflicts() == ["forbidden|open", "forbidden|open"])
    lab.decideAll()
    #expect(try before.changedRows(in: Protected(lab)) == [])
  }

  @Test("sends no file that the device names in a report and never had")
  func namedFile() throws {
    // In the round with this seed, a report about a note of ann names a file of the office.
    var attack = MutatedBundles()
    try attack.play(seed: 643_769_978_901, atMost: 1000, isCopied: false)
  }

  @Test("takes the late work of a user who could write the row")
  func late() throws {
    try write("UPDATE tasks SET owner = 'ben' WHERE id = 1")
    try send(lab.forger.update("tasks", 1, set: ["words": "swept"], was: ["words": "sweep"]))
    #expect(try conflicts() == ["revoked|open"])
    lab.decideAll()
    #expect(try lab.atHub("SELECT owner, words FROM tasks WHERE id = 1") == ["ben|swept"])
  }

  @Test("does not take late work that gives the row away")
  func givenAway() throws {
    try write("UPDATE tasks SET owner = 'ben' WHERE id = 1")
    try send(
      lab.forger.update("tasks", 1, set: ["owner": "boss", "words": "x"], was: ["owner": "ann", "words": "sweep"]))
    lab.decideAll()
    #expect(try lab.atHub("SELECT owner, words FROM tasks WHERE id = 1") == ["ben|sweep"])
  }

  @Test("takes late work in a row that left the user's sight, if all visible rows may be changed")
  func lateInVisible() throws {
    try write("UPDATE camps SET owner = 'ben' WHERE id = 1")
    try send(lab.forger.update("camps", 1, set: ["words": "swept"], was: ["words": "north"]))
    try send(lab.forger.update("beds", 1, set: ["words": "made"], was: ["words": "top"]))
    try send(lab.forger.insert("beds", 4, ["id": 4, "camp": 1, "words": "new", "other": nil]))
    try send(lab.forger.update("beds", 4, set: ["words": "newer"], was: ["words": "new"]))
    #expect(try Set(conflicts()) == ["revoked|open", "revoked|held", "foreign key|held"])
    lab.decideAll()
    #expect(try lab.atHub("SELECT owner, words FROM camps WHERE id = 1") == ["ben|swept"])
    #expect(
      try lab.atHub("SELECT camp, words FROM beds ORDER BY id") == ["1|made", "2|SECRET-BED", "3|low", "1|newer"])
  }

  @Test("takes late work in a row that the device made and no bundle of the hub showed")
  func ownRow() throws {
    try send(lab.forger.insert("camps", 9, ["id": 9, "owner": "ann", "words": "own"]))
    try lab.write("UPDATE camps SET owner = 'ben' WHERE id = 9", in: lab.hub.folder)
    try send(lab.forger.update("camps", 9, set: ["words": "still own"], was: ["words": "own"]))
    #expect(try conflicts() == ["revoked|open"])
    lab.decideAll()
    #expect(try lab.atHub("SELECT owner, words FROM camps WHERE id = 9") == ["ben|still own"])
  }

  @Test("writes no values that the user could never write, if all visible rows may be changed")
  func valuesInVisible() throws {
    try write("UPDATE camps SET owner = 'ben' WHERE id = 1")
    try send(lab.forger.update("camps", 1, set: ["owner": "boss"], was: ["owner": "ann"]))
    // Each line names a camp that the device never had.
    try send(lab.forger.update("beds", 1, set: ["camp": 2], was: ["camp": 1]))
    try send(lab.forger.insert("beds", 4, ["id": 4, "camp": 2, "words": "new", "other": nil]))
    try send(lab.forger.insert("camps", 1, ["id": 1, "owner": "boss", "words": "forged"]))
    try expectNothingDecided()
  }

  @Test("makes no row below a row that left the user's sight, if the user could never make the row")
  func newRowInVisible() throws {
    try write("UPDATE notes SET author = 'boss' WHERE id = 'n1'")
    let before = try Protected(lab)
    try send(lab.forger.insert("replies", "r9", ["id": "r9", "note": "n4", "body": "never had"]))
    try send(lab.forger.update("replies", "r1", set: ["note": "n4"], was: ["note": "n2"]))
    lab.decideAll()
    #expect(try before.changedRows(in: Protected(lab)) == [])
  }

  @Test("deletes no row of a table whose rows are never deleted")
  func neverDeleted() throws {
    try write("UPDATE wells SET code = 'w1 of the hub' WHERE id = 1")
    try send(lab.forger.delete("wells", 1, was: ["id": 1, "owner": "ann", "code": "w1"]))
    try write("UPDATE wells SET owner = 'ben' WHERE id = 2")
    try send(lab.forger.delete("wells", 2, was: ["id": 2, "owner": "ann", "code": "w2"]))
    // Another row already has this value. A decision for the device would delete that row.
    try write("INSERT INTO wells VALUES (7, 'ann', 'w7')")
    try send(lab.forger.insert("wells", 8, ["id": 8, "owner": "ann", "code": "w7"]))
    #expect(try lab.atHub("SELECT count(*) FROM satchel_conflicts WHERE state IN ('open', 'held')") != ["0"])
    try expectNothingDecided()
  }

  @Test("writes nothing for a device that may change nothing")
  func readOnly() throws {
    _ = try lab.hub.setDevice("evil", readOnly: true)
    try write("UPDATE camps SET owner = 'ben' WHERE id = 1; DELETE FROM camps WHERE id = 3")
    try send(lab.forger.update("camps", 1, set: ["words": "swept"], was: ["words": "north"]))
    try send(lab.forger.update("camps", 3, set: ["words": "back"], was: ["words": "south"]))
    try expectNothingDecided()
    // The device may write again. This gives it no right to the changes that it made before.
    _ = try lab.hub.setDevice("evil", readOnly: false)
    let moved = try lab.atHub("SELECT words FROM camps WHERE id = 1")
    lab.decideAll()
    #expect(try lab.atHub("SELECT words FROM camps WHERE id = 1") == moved)
  }

  @Test("makes no row below two hidden rows, if the device never had one of them", arguments: [[1, 2], [2, 1]])
  func belowTwo(camps: [Int64]) throws {
    try write("UPDATE camps SET owner = 'ben' WHERE id = 1")
    let (camp, other) = (JSONValue.integer(camps[0]), JSONValue.integer(camps[1]))
    try send(lab.forger.insert("beds", 4, ["id": 4, "camp": camp, "words": "new", "other": other]))
    #expect(try conflicts().count == 1)
    try expectNothingDecided()
  }

  @Test("lets no later change of a waiting new row move it below a row that the device never had")
  func movedAfterInsert() throws {
    try write("UPDATE camps SET owner = 'ben' WHERE id = 1")
    try send(lab.forger.insert("beds", 4, ["id": 4, "camp": 1, "words": "new", "other": nil]))
    try send(lab.forger.update("beds", 4, set: ["camp": 2], was: ["camp": 1]))
    try expectNothingDecided()
  }

  @Test("gives back no right with a write for which the user has only a former right")
  func setBack() throws {
    try write("UPDATE camps SET owner = 'ben' WHERE id = 1; INSERT INTO beds VALUES (5, 1, 'SECRET-LATER', NULL)")
    try send(lab.forger.update("camps", 1, set: ["owner": "ann"], was: ["owner": "x"]))
    try send(lab.forger.update("beds", 5, set: ["words": "forged"], was: ["words": "x"]))
    try send(lab.forger.insert("beds", 6, ["id": 6, "camp": 1, "words": "new", "other": nil]))
    lab.decideAll()
    #expect(try lab.atHub("SELECT owner FROM camps WHERE id = 1") == ["ben"])
    #expect(try lab.atHub("SELECT words FROM beds WHERE id = 5") == ["SECRET-LATER"])
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("brings back no deleted row that the device never had, with values that show it to the user")
  func claimed() throws {
    try write("DELETE FROM beds WHERE id = 2; DELETE FROM camps WHERE id = 2")
    try send(lab.forger.update("camps", 2, set: ["owner": "ann"], was: ["owner": "x"]))
    try send(lab.forger.update("beds", 2, set: ["camp": 3], was: ["camp": 1]))
    #expect(try conflicts() == ["update/delete|open", "update/delete|open"])
    try expectNothingDecided()
  }

  @Test("makes a new row of the values that the device sent alone, also if a hidden row had the key")
  func sameKey() throws {
    try write("DELETE FROM replies WHERE note = 'n4'; DELETE FROM notes WHERE id = 'n4'")
    try send(
      lab.forger.insert(
        "notes", "n4", ["id": "n4", "author": "ann", "pub": 0, "body": "mine", "likes": 1, "photo": nil]))
    #expect(try conflicts() == ["update/delete|open"])
    lab.tool("conflicts", "resolve", "--all", "--policy", "device")
    #expect(try lab.atHub("SELECT author, body, likes FROM notes WHERE id = 'n4'") == ["ann|mine|1"])
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("makes no new row with a key that waits for a person")
  func highKey() throws {
    let key = JSONValue.integer((1 << 53) - 1)
    let report = try lab.forger.conflict("tasks", key, was: .null, now: ["id": key, "owner": "ann", "words": "last"]) {
      $0.set("op", "insert")
      $0.set("kind", "insert/insert")
    }
    #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [report] }) == nil)
    #expect(try conflicts() == ["insert/insert|open"])
    lab.decideAll()
    #expect(try lab.atHub("SELECT max(id) FROM tasks") == ["2"])
  }

  @Test("compares later changes of a new row with that row, not with a deleted row of its key")
  func movedToFormerPlace() throws {
    try write("INSERT INTO beds (id, camp, words) VALUES (9, 2, 'SECRET-OLD')")
    try write("DELETE FROM beds WHERE id = 9; UPDATE camps SET words = 'far south' WHERE id = 3")
    #expect(lab.tool("emit", "--device", "evil").code == 0)
    let newest = try newestEmission()
    try write("UPDATE camps SET owner = 'ben' WHERE id = 1")
    let row: JSONValue = ["id": 9, "camp": 1, "words": "new", "other": nil]
    var insert = try lab.forger.insert("beds", 9, row).objectValue ?? []
    // The device made this row only once. So the deleted row with the same key was another row.
    insert.set("first", insert.first { $0.name == "stamp" }?.value ?? .null)
    try send(.object(insert), receiving: newest)
    try send(lab.forger.update("beds", 9, set: ["camp": 2], was: ["camp": 1]), receiving: newest)
    #expect(try lab.atHub("SELECT count(*) FROM satchel_former_rights") == ["1"])
    try expectNothingDecided()
  }

  @Test("makes no row below a hidden row that came later with the key of the device's own row")
  func belowLaterRow() throws {
    try write("UPDATE camps SET owner = 'ben' WHERE id = 1")
    try send(lab.forger.insert("camps", 50, ["id": 50, "owner": "boss", "words": "own"]))
    let bundle = try lab.forger.bundle {
      for change in [
        try lab.forger.insert("beds", 4, ["id": 4, "camp": 50, "words": "new", "other": nil]),
        try lab.forger.update("camps", 1, set: ["words": "late"], was: ["words": "north"]),
      ] {
        var members = change.objectValue ?? []
        members.set("unit", 1)
        $0.add(.object(members), to: .changes)
      }
    }
    #expect(try lab.refusal(of: bundle) == nil)
    lab.tick()
    try write("INSERT INTO camps VALUES (50, 'ben', 'SECRET-FIFTY')")
    lab.tool("conflicts", "resolve", "--all", "--policy", "device")
    #expect(try lab.atHub("SELECT count(*) FROM beds WHERE camp = 50") == ["0"])
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("a report without the values of another row does not stop the decision about all others")
  func incompleteReport() throws {
    try write("UPDATE tasks SET owner = 'ben' WHERE id = 1")
    try send(lab.forger.update("tasks", 1, set: ["words": "swept"], was: ["words": "sweep"]))
    let report = try lab.forger.conflict("kinds", 1, was: ["code": "ash"], now: ["code": "oak"]) {
      $0.set("kind", "unique")
      $0.set("state", "open")
      $0.set("winner", "device")
      $0.set("hub_values", ["id": 77])
    }
    #expect(try lab.refusal(of: lab.forger.bundle { $0.conflicts = [report] }) == nil)
    for policy in ["newest", "hub"] {
      #expect(lab.tool("conflicts", "resolve", "--all", "--policy", policy).code == 0)
    }
    #expect(try lab.atHub("SELECT state FROM satchel_conflicts WHERE table_name = 'tasks'") == ["resolved"])
  }

  @Test("writes no row that was made again under the key of a row that the user could change")
  func madeAgain() throws {
    try write("DELETE FROM tasks WHERE id = 1")
    try write("INSERT INTO tasks VALUES (1, 'ben', 'SECRET-NEW')")
    try send(lab.forger.update("tasks", 1, set: ["words": "forged"], was: ["words": "sweep"]))
    #expect(try conflicts() == ["revoked|open"])
    lab.tool("conflicts", "resolve", "--all", "--policy", "device")
    #expect(try lab.atHub("SELECT owner, words FROM tasks WHERE id = 1") == ["ben|SECRET-NEW"])
  }

  @Test("brings back a deleted row that its user may change")
  func broughtBack() throws {
    try write("DELETE FROM beds WHERE id = 3")
    try send(lab.forger.update("beds", 3, set: ["words": "kept"], was: ["words": "low"]))
    lab.decideAll()
    #expect(try lab.atHub("SELECT camp, words FROM beds WHERE id = 3") == ["3|kept"])
  }

  @Test("writes no row by a former right that a rule of another table reads")
  func readByRule() throws {
    try write("UPDATE members SET name = 'ben' WHERE id = 2")
    try send(lab.forger.update("members", 2, set: ["open": 1], was: ["open": 0]))
    try send(lab.forger.update("members", 2, set: ["words": "late"], was: ["words": "second"]))
    lab.decideAll()
    #expect(try lab.atHub("SELECT name, open, words FROM members WHERE id = 2") == ["ben|0|late"])
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("takes no late work that a rule of another table reads, and takes other work of the same table")
  func lateReadByRule() throws {
    try write("UPDATE camps SET owner = 'ben' WHERE id = 1; UPDATE satchel_devices SET stamp = 0")
    let forger = try lab.forger
    let bundle = try forger.bundle {
      for change in [
        forger.update("guests", 1, set: ["club": 2], was: ["club": 1]),
        forger.update("guests", 2, set: ["words": "late"], was: ["words": "two"]),
        forger.insert("guests", 3, ["id": 3, "camp": 1, "name": "ann", "club": 2, "words": "new"]),
        forger.delete("guests", 4, was: ["id": 4, "camp": 1, "name": "ann", "club": 1, "words": "four"]),
      ] {
        $0.add(early(change, by: forger), to: .changes)
      }
    }
    #expect(try lab.refusal(of: bundle) == nil)
    #expect(
      try lab.atHub("SELECT * FROM guests ORDER BY id") == ["1|1|ann|1|one", "2|1|ann|NULL|late", "4|1|ann|1|four"])
  }

  @Test("takes no work because of work that was taken late")
  func afterLate() throws {
    // The stamp 0 imitates a device that wrote nothing after the row left its user's sight.
    try write("UPDATE walks SET owner = 'ben' WHERE id = 1; UPDATE satchel_devices SET stamp = 0")
    #expect(lab.tool("emit", "--device", "evil").code == 0)
    let forger = try lab.forger
    try send(early(forger.update("walks", 1, set: ["words": "late"], was: ["words": "there"]), by: forger))
    #expect(try lab.atHub("SELECT words FROM walks WHERE id = 1") == ["late"])
    let newest = try newestEmission()
    // The device claims to have made the first change before it received the newest emission. This bundle proves that
    // the device has that emission. Then the hub forgets the earlier emissions and the row in them.
    for words in ["first", "second"] {
      try send(
        lab.forger.update("walks", 1, set: ["words": .string(words)], was: ["words": "late"]), receiving: newest)
      lab.tool("compact")
    }
    #expect(try lab.atHub("SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == ["2"])
    lab.tool("conflicts", "resolve", "--all", "--policy", "device")
    #expect(try lab.atHub("SELECT words FROM walks WHERE id = 1") == ["first"])
  }

  @Test("a right to change a row makes no row of another owner under its key, after the row was deleted")
  func ownerOfMissingRow() throws {
    // The first unit also changes this trip, so the hub does not accept the unit.
    try lab.write("DELETE FROM trips WHERE id = 't1'", in: lab.hub.folder)
    lab.tick()
    let forger = try lab.forger
    func inUnit(_ line: JSONValue, of generation: Int64) -> JSONValue {
      var members = line.objectValue ?? []
      members.set("unit", 1)
      members.set("generation", .integer(generation))
      return .object(members)
    }
    let bundle = try forger.bundle(later: 2) { content in
      content.changes = [
        inUnit(forger.update("trees", "u1", set: ["kind": nil], was: ["kind": 1]), of: forger.sequence),
        inUnit(forger.update("trips", "t1", set: ["km": 2], was: ["km": 1]), of: forger.sequence),
        inUnit(
          forger.insert("trees", "u1", ["uuid": "u1", "owner": "boss", "kind": 1]), of: forger.sequence + 1),
      ]
    }
    #expect(try lab.refusal(of: bundle) == nil)
    let found = try lab.atHub("SELECT kind, state FROM satchel_conflicts WHERE operation = 'insert'")
    #expect(found == ["unit|open"], "\(found)")
    let rights = """
      SELECT operation FROM satchel_conflicts JOIN satchel_former_rights ON conflict = id
      WHERE table_name = 'trees' ORDER BY operation
      """
    #expect(try lab.atHub(rights) == ["update"])
    try lab.write("DELETE FROM trees WHERE uuid = 'u1'", in: lab.hub.folder)
    lab.tick()
    lab.decideAll()
    #expect(try lab.atHub("SELECT owner FROM trees WHERE uuid = 'u1'") == [])
  }
}
