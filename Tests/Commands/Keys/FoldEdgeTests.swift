import Foundation
import SatchelJSON
import Testing

@Suite("Hard cases of rows that become one")
struct FoldEdgeTests {
  static let schema = """
    CREATE TABLE rooms (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, tier INTEGER NOT NULL DEFAULT 1);
    CREATE TABLE bookings (
      id TEXT PRIMARY KEY, room TEXT NOT NULL REFERENCES rooms (id), day INTEGER NOT NULL, guest TEXT, note TEXT,
      UNIQUE (room, day));
    CREATE TABLE wishes (id TEXT PRIMARY KEY, booking TEXT REFERENCES bookings (id), words TEXT);
    INSERT INTO rooms (id, name) VALUES ('blue', 'Blue'), ('green', 'Green');
    """
  static let folding = #"""
    "rooms": { "unique": "fold", "conflict": "hub" }, "bookings": { "unique": "fold", "conflict": "newest" }, "wishes": {}
    """#
  static let all = [
    "SELECT id, name FROM rooms ORDER BY id", "SELECT id, room, day, guest, note FROM bookings ORDER BY id",
    "SELECT * FROM wishes ORDER BY id",
  ]
  static let one =
    """
    CREATE TABLE bookings (id TEXT PRIMARY KEY, room TEXT, day INTEGER, guest TEXT, note TEXT, UNIQUE (room, day)); \
    CREATE TABLE wishes (id TEXT PRIMARY KEY, booking TEXT REFERENCES bookings (id), words TEXT); INSERT INTO \
    bookings VALUES ('a', 'blue', 1, 'Ada', NULL);
    """

  @Test("a parent that becomes one on the device is a part of its children's natural key there too")
  func cascadeOnDevice() throws {
    let lab = try TwoDeviceFixture(Self.schema, Self.folding)
    for (name, id) in [("tablet", "t"), ("phone", "p")] {
      try lab.sql(
        name,
        """
        INSERT INTO rooms (id, name) VALUES ('\(id) room', 'Red');
        INSERT INTO bookings (id, room, day, guest) VALUES ('\(id) booking', '\(id) room', 7, 'Ada');
        INSERT INTO wishes VALUES ('\(id) wish', '\(id) booking', 'tea for \(id)');
        """)
    }
    try lab.cycle("tablet")
    try lab.answer("phone")
    try lab.peace(Self.all)
    #expect(try lab.kinds() == [])
    #expect(try lab.rows("office", "SELECT count(*) FROM wishes") == "2")
  }

  @Test(
    "a child that collides after its parent changed becomes one with the other row, or a conflict",
    arguments: [true, false],
    [Self.folding, #""rooms": { "unique": "fold" }, "bookings": { "conflict": "newest" }, "wishes": {}"#])
  func childCollides(hubFirst: Bool, _ rules: String) throws {
    let lab = try TwoDeviceFixture(Self.schema, rules)
    try lab.sql("office", "INSERT INTO bookings VALUES ('old', 'blue', 1, 'Olga', NULL)")
    try lab.cycle("phone")
    try lab.sql(
      "phone",
      """
      INSERT INTO rooms (id, name) VALUES ('mine', 'Red'); INSERT INTO bookings VALUES ('b', 'mine', 1, 'Ben', NULL); \
      INSERT INTO wishes VALUES ('w', 'b', 'tea')
      """
    )
    try lab.sql("office", "UPDATE rooms SET name = 'Red' WHERE id = 'blue'")
    if hubFirst { try lab.deliver("phone") }
    try lab.answer("phone")
    try lab.peace(Self.all)
  }

  @Test(
    "integer keys: two rows with one key and one natural key are one row", arguments: [true, false], ["5", "NULL"])
  func rekeyAndFold(hubFirst: Bool, guest: String) throws {
    let lab = try TwoDeviceFixture(
      """
      CREATE TABLE bookings (id INTEGER PRIMARY KEY, room TEXT, day INTEGER, guest TEXT, note TEXT, UNIQUE (room, \
      day)); CREATE TABLE wishes (id TEXT PRIMARY KEY, booking INTEGER REFERENCES bookings (id)); INSERT INTO \
      bookings VALUES (1, 'blue', 1, 'x', NULL)
      """,
      #""bookings": { "keys": "rekey", "unique": "fold", "conflict": "newest" }, "wishes": {}"#)
    try lab.sql("tablet", "INSERT INTO bookings VALUES (2, 'blue', 7, 'Ada', 't'); INSERT INTO wishes VALUES ('tw', 2)")
    try lab.sql("phone", "INSERT INTO bookings VALUES (2, 'blue', 7, 'Ben', NULL); INSERT INTO wishes VALUES ('pw', 2)")
    try lab.cycle("tablet")
    if hubFirst { try lab.deliver("phone") }
    try lab.answer("phone")
    try lab.peace(["SELECT id, room, day FROM bookings ORDER BY id", "SELECT * FROM wishes ORDER BY id"])
    #expect(try lab.rows("office", "SELECT id FROM bookings ORDER BY id") == "1\n2")
    #expect(try lab.kinds().allSatisfy { $0.hasPrefix("insert/insert") })
    #expect(try lab.rows("office", "SELECT booking FROM wishes") == "2\n2")
  }

  @Test("integer keys: rows become one with each other's keys", arguments: [true, false])
  func crossed(hubFirst: Bool) throws {
    let lab = try TwoDeviceFixture(
      """
      CREATE TABLE bookings (id INTEGER PRIMARY KEY, room TEXT, day INTEGER, guest TEXT, note TEXT, UNIQUE (room, \
      day)); CREATE TABLE wishes (id TEXT PRIMARY KEY, booking INTEGER REFERENCES bookings (id)); INSERT INTO \
      bookings VALUES (1, 'blue', 1, 'x', NULL)
      """,
      #""bookings": { "keys": "rekey", "unique": "fold", "conflict": "newest" }, "wishes": {}"#)
    try lab.sql(
      "tablet",
      """
      INSERT INTO bookings VALUES (2, 'blue', 7, 'Ada', NULL), (3, 'blue', 8, 'Ada', NULL); INSERT INTO wishes VALUES \
      ('tw7', 2), ('tw8', 3)
      """
    )
    try lab.sql(
      "phone",
      """
      INSERT INTO bookings VALUES (2, 'blue', 8, 'Ada', NULL), (3, 'blue', 7, 'Ada', NULL); INSERT INTO wishes VALUES \
      ('pw8', 2), ('pw7', 3)
      """
    )
    try lab.cycle("tablet")
    if hubFirst { try lab.deliver("phone") }
    try lab.answer("phone")
    try lab.peace(["SELECT id, room, day FROM bookings ORDER BY id", "SELECT * FROM wishes ORDER BY id"])
    #expect(try lab.rows("office", "SELECT id FROM bookings ORDER BY id") == "1\n2\n3")
    #expect(
      try lab.rows("office", "SELECT w.id, b.day FROM wishes AS w JOIN bookings AS b ON b.id = booking ORDER BY w.id")
        == "pw7|7\npw8|8\ntw7|7\ntw8|8")
    #expect(try lab.kinds() == [])
  }

  @Test("in a tree of rows a whole branch that was made twice becomes one", arguments: [true, false], ["a", "z"])
  func tree(hubFirst: Bool, child: String) throws {
    let lab = try TwoDeviceFixture(
      """
      CREATE TABLE folders (id TEXT PRIMARY KEY, parent TEXT REFERENCES folders (id), name TEXT NOT NULL, UNIQUE \
      (parent, name)); CREATE TABLE files (id TEXT PRIMARY KEY, folder TEXT REFERENCES folders (id)); INSERT INTO \
      folders VALUES ('root', NULL, '/')
      """,
      #""folders": { "unique": "fold", "conflict": "newest" }, "files": {}"#)
    for (name, id) in [("tablet", "t"), ("phone", "p")] {
      try lab.sql(
        name,
        """
        INSERT INTO folders VALUES ('m\(id)', 'root', 'dir'); INSERT INTO folders VALUES ('\(child)\(id)', 'm\(id)', \
        'sub'); INSERT INTO files VALUES ('file \(id)', '\(child)\(id)')
        """
      )
    }
    try lab.cycle("tablet")
    if hubFirst { try lab.deliver("phone") }
    try lab.answer("phone")
    try lab.peace(["SELECT * FROM folders ORDER BY id", "SELECT * FROM files ORDER BY id"])
    #expect(try lab.kinds() == [])
    #expect(try lab.rows("office", "SELECT count(*) FROM files") == "2")
  }

  @Test(
    "a row that the same bundle deletes or moves causes no collision",
    arguments: ["DELETE FROM bookings WHERE id = 'p'", "UPDATE bookings SET day = 9 WHERE id = 'p'"],
    [#""conflict": "newest""#, #""conflict": "newest", "unique": "fold""#, #""conflict": "hub""#])
  func takenBack(_ then: String, _ rule: String) throws {
    let lab = try TwoDeviceFixture(Self.schema, #""rooms": {}, "bookings": { \#(rule) }, "wishes": {}"#)
    try lab.sql("tablet", "INSERT INTO bookings VALUES ('t', 'blue', 7, 'Tess', NULL)")
    try lab.cycle("tablet")
    try lab.sql("phone", "INSERT INTO bookings VALUES ('p', 'blue', 7, 'Ben', NULL)")
    _ = try lab.export("phone")
    try lab.sql("phone", then)
    // The phone has another change that must wait: a wish for a booking that does not exist.
    try lab.sql("phone", "INSERT INTO wishes VALUES ('w', 'nowhere', 'tea')")
    try lab.deliver("phone")
    try lab.answer("phone")
    #expect(try lab.rows("office", "SELECT id, day FROM bookings WHERE id = 't'") == "t|7")
    if then.hasPrefix("UPDATE") { #expect(try lab.rows("office", "SELECT day FROM bookings WHERE id = 'p'") == "9") }
  }

  @Test("what a device wrote into both rows that became one is all kept", arguments: [true, false])
  func bothChanged(inFlight: Bool) throws {
    let lab = try TwoDeviceFixture(Self.schema, Self.folding)
    try lab.sql("office", "INSERT INTO bookings VALUES ('o', 'blue', 2, 'Olga', NULL)")
    try lab.cycle("phone")
    try lab.sql(
      "phone", "INSERT INTO bookings VALUES ('p', 'blue', 1, 'Olga', NULL); INSERT INTO wishes VALUES ('w', 'p', 'one')"
    )
    let first = try lab.export("phone")
    try lab.sql("office", "UPDATE bookings SET day = 1 WHERE id = 'o'")
    lab.hear(first)
    try lab.sql(
      "phone",
      """
      UPDATE bookings SET note = 'of p' WHERE id = 'p'; UPDATE bookings SET note = 'of o' WHERE id = 'o'; INSERT INTO \
      wishes VALUES ('w2', 'p', 'two')
      """
    )
    var second: String?
    if inFlight { second = try lab.export("phone") }
    try lab.answer("phone")
    if let second { lab.hear(second) }
    try lab.peace(Self.all)
    // The device's note for o must be kept. Otherwise it would be lost, and the conflict would show the note for p
    // instead.
    #expect(try lab.rows("office", "SELECT note FROM bookings WHERE id = 'o'") == "of o")
  }

  @Test("a number is not a text if keys have no type")
  func untyped() throws {
    let lab = try TwoDeviceFixture(
      """
      CREATE TABLE things (id PRIMARY KEY, name TEXT UNIQUE); CREATE TABLE parts (id TEXT PRIMARY KEY, thing \
      REFERENCES things (id)); INSERT INTO things VALUES ('5', 'text five')
      """,
      #""things": { "unique": "fold", "conflict": "newest" }, "parts": {}"#)
    try lab.sql("tablet", "INSERT INTO things VALUES (7, 'saw')")
    try lab.cycle("tablet")
    try lab.sql(
      "phone",
      """
      INSERT INTO things VALUES (5, 'saw'); INSERT INTO parts VALUES ('of number', 5), ('of text', '5'); UPDATE \
      things SET name = 'text fife' WHERE id = '5'
      """
    )
    try lab.deliver("phone")
    try lab.answer("phone")
    try lab.peace([
      "SELECT typeof(id), id, name FROM things ORDER BY name", "SELECT id, typeof(thing), thing FROM parts ORDER BY id",
    ])
    #expect(
      try lab.rows("office", "SELECT id, typeof(thing), thing FROM parts ORDER BY id")
        == "of number|integer|7\nof text|text|5")
    #expect(try lab.rows("office", "SELECT name FROM things WHERE typeof(id) = 'text'") == "text fife")
  }

  @Test(
    "a row that two others block becomes one row with neither", arguments: [true, false],
    ["hub", "device", "newest", "manual"])
  func twoRivals(hubFirst: Bool, policy: String) throws {
    let lab = try TwoDeviceFixture(
      "CREATE TABLE items (id TEXT PRIMARY KEY, code TEXT UNIQUE, name TEXT UNIQUE, note TEXT)",
      #""items": { "unique": "fold", "conflict": "\#(policy)" }"#)
    try lab.sql("tablet", "INSERT INTO items VALUES ('t1', 'X', 'M', NULL), ('t2', 'Y', 'N', NULL)")
    try lab.cycle("tablet")
    try lab.sql("phone", "INSERT INTO items VALUES ('p', 'X', 'N', 'phone')")
    if hubFirst { try lab.deliver("phone") }
    try lab.answer("phone")
    try lab.peace(["SELECT * FROM items ORDER BY id"])
    #expect(try lab.rows("office", "SELECT count(*) FROM items WHERE id LIKE 't%'") == "2")
  }

  @Test("a device gives back what the policy gave it, or says where that can be done")
  func givenBackOnDevice() throws {
    let lab = try TwoDeviceFixture(Self.one, #""bookings": { "conflict": "device" }, "wishes": {}"#)
    try lab.sql("office", "INSERT INTO bookings VALUES ('o', 'red', 7, 'Olga', NULL)")
    try lab.sql("tablet", "INSERT INTO bookings VALUES ('t', 'red', 7, 'Tess', NULL)")
    try lab.cycle("tablet")
    let id = try #require(try lab.conflicts("tablet").first?["id"]?.stringValue)
    let outcome = lab.camp.device("tablet", "conflicts", "resolve", id, "--keep", "hub")
    try lab.peace(["SELECT * FROM bookings ORDER BY id"])
    if outcome.code == 0 { #expect(try lab.rows("office", "SELECT guest FROM bookings WHERE room = 'red'") == "Olga") }
  }

  @Test("a device keeps out nothing that its user may not change", arguments: ["write"])
  func keepOutForbidden(how: String) throws {
    let rule = how == "write" ? #""write": "guest = :user", "# : ""
    let lab = try TwoDeviceFixture(Self.one, #""bookings": { \#(rule)"conflict": "device" }, "wishes": {}"#)
    try lab.sql("office", "INSERT INTO bookings VALUES ('o', 'red', 7, 'Olga', NULL)")
    try lab.sql("phone", "INSERT INTO bookings VALUES ('p', 'red', 7, 'ben', NULL)")
    try lab.answer("phone")
    try lab.peace(["SELECT * FROM bookings ORDER BY id"])
    #expect(try lab.rows("office", "SELECT guest FROM bookings WHERE room = 'red'") == "Olga")
    // No conflict says that the office's booking was deleted.
    #expect(try !lab.kinds().contains { $0.contains("delete [") || $0.contains(" delete ") })
  }

  @Test(
    "a row that waited, and whose natural key was taken meanwhile, waits no longer",
    arguments: ["hub", "device", "manual"])
  func heldTaken(policy: String) throws {
    let lab = try TwoDeviceFixture(Self.schema, #""rooms": {}, "bookings": { "conflict": "\#(policy)" }, "wishes": {}"#)
    try lab.sql("office", "DELETE FROM rooms WHERE id = 'green'")
    try lab.sql("phone", "INSERT INTO bookings VALUES ('p', 'green', 1, 'Ben', NULL)")
    try lab.deliver("phone")
    try lab.sql(
      "office",
      """
      INSERT INTO rooms (id, name) VALUES ('green', 'Green'); INSERT INTO bookings VALUES ('o', 'green', 1, 'Olga', \
      NULL)
      """
    )
    try lab.peace(Self.all)
    #expect(try lab.kinds().first?.contains("held") == false, "its parent is there, and its note says that it is not")
  }

  @Test("the key of a row that left the user's sight is not revealed")
  func twinOutOfSight() throws {
    let lab = try TwoDeviceFixture(
      Self.schema,
      #""rooms": { "visible": "tier <= :tier", "unique": "fold", "conflict": "hub" }, "bookings": {}, "wishes": {}"#)
    try lab.sql("office", "INSERT INTO rooms VALUES ('hidden-vault', 'Vault', 1)")
    try lab.sql("phone", "INSERT INTO rooms VALUES ('mine', 'Vault', 1)")
    try lab.deliver("phone")
    try lab.sql("office", "UPDATE rooms SET tier = 9 WHERE id = 'hidden-vault'")
    try lab.answer("phone")
    try lab.cycle("phone")
    #expect(try lab.rows("phone", "SELECT id FROM rooms ORDER BY id") == "blue\ngreen")
    let leaks = try lab.camp.everything().filter {
      $0.key.hasPrefix("phone/") && $0.value.range(of: Data("hidden-vault".utf8)) != nil
    }.map(\.key)
    #expect(leaks == [], "\(leaks)")
  }

  @Test("to keep the hub's side does not bring back what the hub deleted since")
  func keepHubDeleted() throws {
    let lab = try TwoDeviceFixture(Self.one, #""bookings": { "conflict": "manual" }, "wishes": {}"#)
    try lab.sql("office", "INSERT INTO bookings VALUES ('o', 'red', 7, 'Olga', NULL)")
    try lab.sql("tablet", "INSERT INTO bookings VALUES ('t', 'red', 7, 'Tess', NULL)")
    try lab.cycle("tablet")
    try lab.sql("office", "DELETE FROM bookings WHERE id = 'o'")
    let id = try #require(try lab.conflicts().first?["id"]?.stringValue)
    let refused = lab.camp.hub("conflicts", "resolve", id, "--keep", "hub")
    if let range = refused.error.range(of: "--row ") {
      let mark = String(refused.error[range.upperBound...].prefix { !$0.isWhitespace })
      #expect(lab.camp.hub("conflicts", "resolve", id, "--keep", "hub", "--row", mark).code == 0)
    }
    #expect(try lab.rows("office", "SELECT id FROM bookings WHERE room = 'red'") == "")
  }

  @Test(
    "a child with pending changes that collides when its parent became one stops no import",
    arguments: [Self.folding, #""rooms": { "unique": "fold" }, "bookings": { "conflict": "newest" }, "wishes": {}"#])
  func childCollidesTold(rules: String) throws {
    let lab = try TwoDeviceFixture(Self.schema, rules)
    try lab.sql("office", "INSERT INTO bookings VALUES ('old', 'blue', 1, 'Olga', NULL)")
    try lab.cycle("phone")
    try lab.sql(
      "phone",
      "INSERT INTO rooms (id, name) VALUES ('mine', 'Red'); INSERT INTO bookings VALUES ('b', 'mine', 1, 'Ben', NULL)")
    try lab.sql("office", "UPDATE rooms SET name = 'Red' WHERE id = 'blue'")
    try lab.deliver("phone")
    try lab.sql("phone", "UPDATE bookings SET note = 'late' WHERE id = 'b'")
    try lab.answer("phone")
    try lab.peace(Self.all)
  }

  @Test(
    "a child whose key contains its parent's key follows it, or is a conflict", arguments: [true, false],
    ["", "WITHOUT ROWID"])
  func seats(hubFirst: Bool, without: String) throws {
    let lab = try TwoDeviceFixture(
      """
      CREATE TABLE rooms (id TEXT PRIMARY KEY, name TEXT UNIQUE) \(without); CREATE TABLE seats (room TEXT REFERENCES \
      rooms (id), no INTEGER, who TEXT, note TEXT, PRIMARY KEY (room, no)) \(without); INSERT INTO rooms VALUES \
      ('blue', 'Blue'); INSERT INTO seats VALUES ('blue', 1, 'Olga', NULL)
      """,
      #""rooms": { "unique": "fold" }, "seats": { "conflict": "manual" }"#)
    try lab.cycle("phone")
    try lab.sql(
      "phone",
      """
      INSERT INTO rooms VALUES ('mine', 'Red'); INSERT INTO seats VALUES ('mine', 1, 'Ben', NULL), ('mine', 2, 'Bea', \
      NULL); UPDATE seats SET note = 'kept' WHERE room = 'blue'
      """
    )
    try lab.sql("office", "UPDATE rooms SET name = 'Red' WHERE id = 'blue'")
    if hubFirst { try lab.deliver("phone") }
    try lab.answer("phone")
    try lab.peace(["SELECT * FROM seats ORDER BY room, no"])
    #expect(try !lab.kinds().contains { $0.hasPrefix("foreign key held") })
    #expect(try lab.rows("office", "SELECT * FROM seats WHERE no = 2") == "blue|2|Bea|NULL")
    #expect(try lab.rows("office", "SELECT note FROM seats WHERE no = 1") == "kept")
  }

  @Test("of two rows in the way of a third none goes for nothing", arguments: ["code", "name"])
  func yieldThenKeepOut(older: String) throws {
    let lab = try TwoDeviceFixture(
      "CREATE TABLE items (id TEXT PRIMARY KEY, code TEXT UNIQUE, name TEXT UNIQUE, note TEXT)",
      #""items": { "conflict": "newest" }"#)
    try lab.sql("phone", "INSERT INTO items (id, \(older)) VALUES ('p1', 'X')")
    try lab.wait()
    try lab.sql("office", "INSERT INTO items VALUES ('o', 'X', 'X', NULL)")
    try lab.wait()
    try lab.sql("phone", "INSERT INTO items (id, \(older == "code" ? "name" : "code")) VALUES ('p2', 'X')")
    try lab.answer("phone")
    try lab.peace(["SELECT * FROM items ORDER BY id"])
    #expect(try lab.rows("office", "SELECT id FROM items ORDER BY id") != "p2")
  }

  @Test("what a user might not make becomes one with nothing")
  func forbiddenFolds() throws {
    let lab = try TwoDeviceFixture(
      Self.schema,
      #""rooms": { "write": "tier < 5", "unique": "fold", "conflict": "hub" }, "bookings": {}, "wishes": {}"#)
    try lab.sql("phone", "INSERT INTO rooms VALUES ('p', 'Red', 9)")
    try lab.cycle("phone")
    try lab.sql("tablet", "INSERT INTO rooms VALUES ('t', 'Red', 1)")
    try lab.cycle("tablet")
    let id = try #require(try lab.conflicts().first?["id"]?.stringValue)
    _ = lab.camp.hub("conflicts", "resolve", id, "--keep", "device", "--row", "0cf2d469")
    #expect(try lab.rows("office", "SELECT tier FROM rooms WHERE id = 't'") == "1")
  }

  @Test(
    "a row that its user may not change stays as it is, whichever side learns of the other first, and both are kept",
    arguments: [true, false])
  func mayNotChange(hubFirst: Bool) throws {
    let lab = try TwoDeviceFixture(
      """
      CREATE TABLE rooms (id TEXT PRIMARY KEY, name TEXT UNIQUE, owner TEXT, note TEXT); CREATE TABLE wishes (id TEXT \
      PRIMARY KEY, room TEXT REFERENCES rooms (id))
      """,
      #""rooms": { "visible": "1", "write": "owner = :user", "unique": "fold", "conflict": "newest" }, "wishes": { "write": "1" }"#
    )
    try lab.sql("office", "INSERT INTO rooms VALUES ('o', 'Red', 'ann', NULL)")
    // Two writes in one millisecond would have the same time, so neither would be newer.
    try lab.wait()
    try lab.sql("phone", "INSERT INTO rooms VALUES ('p', 'Red', 'ben', 'mine'); INSERT INTO wishes VALUES ('w', 'p')")
    if hubFirst { try lab.deliver("phone") }
    try lab.answer("phone")
    try lab.peace(["SELECT * FROM rooms", "SELECT * FROM wishes"])
    #expect(try lab.rows("office", "SELECT owner, note FROM rooms") == "ann|NULL")
    #expect(try lab.kinds().contains { $0.hasPrefix(hubFirst ? "unique" : "forbidden") })
  }

  @Test("where nothing entered, nothing is said to have entered")
  func releasedNothing() throws {
    let lab = try TwoDeviceFixture(Self.schema, #""rooms": {}, "bookings": { "conflict": "hub" }, "wishes": {}"#)
    try lab.sql("office", "INSERT INTO bookings VALUES ('a', 'blue', 1, 'Ada', NULL)")
    try lab.cycle("phone")
    try lab.sql("office", "DELETE FROM rooms WHERE id = 'green'")
    try lab.sql("phone", "UPDATE bookings SET room = 'green' WHERE id = 'a'")
    try lab.deliver("phone")
    try lab.sql("office", "DELETE FROM bookings WHERE id = 'a'")
    try lab.sql("tablet", "INSERT INTO wishes VALUES ('w', NULL, 'x')")
    let outcome = lab.camp.hub("import", try lab.export("tablet"))
    #expect(!outcome.out.contains("let in"), "\(outcome.out)")
  }

  @Test("a bundle that is taken back leaves what another device made too")
  func revertOther() throws {
    let lab = try TwoDeviceFixture(Self.schema, Self.folding)
    try lab.sql("tablet", "INSERT INTO bookings VALUES ('t', 'blue', 7, 'Tess', NULL)")
    try lab.deliver("tablet")
    try lab.sql("phone", "INSERT INTO bookings VALUES ('p', 'blue', 7, 'Tess', NULL)")
    try lab.deliver("phone")
    #expect(lab.camp.hub("revert", "tablet/1").code == 0)
    try lab.peace(Self.all)
    #expect(try lab.rows("office", "SELECT count(*) FROM bookings") == "1")
  }

  @Test(
    "who booked first cancels: what the second one booked does not go without a word",
    arguments: ["", "UPDATE bookings SET note = 'x' WHERE id = 'p';"])
  func firstCancels(_ more: String) throws {
    let lab = try TwoDeviceFixture(Self.schema, Self.folding)
    try lab.sql("tablet", "INSERT INTO bookings VALUES ('t', 'blue', 7, 'Tess', NULL)")
    try lab.deliver("tablet")
    try lab.sql("phone", "INSERT INTO bookings VALUES ('p', 'blue', 7, 'Tess', NULL); \(more)")
    try lab.deliver("phone")
    try lab.sql("tablet", "DELETE FROM bookings WHERE id = 't'")
    try lab.peace(Self.all)
    #expect(try lab.rows("office", "SELECT count(*) FROM bookings") == "1" || lab.kinds() != [])
  }
}
