import Foundation
import SatchelJSON
import Testing

/// Two devices and an office make bookings under their own ids. Bookings with the same room and day are folded into one
/// row.
@Suite("A row that was made twice becomes one, and its children hang on that")
struct FoldTests {
  let camp: CommandLineFixture

  private static let definition = """
    { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
      "tables": {
        "rooms": { "visible": "tier <= :tier", "write": "1", "unique": "fold", "conflict": "hub" },
        "bookings": { "unique": "fold", "conflict": "newest", "columns": { "beds": "max", "guest": "manual" } },
        "wishes": {} } }
    """

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(as: [#fileID]) {
      try camp.sql(
        "office.sqlite",
        """
        CREATE TABLE rooms (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, tier INTEGER NOT NULL DEFAULT 1);
        CREATE TABLE bookings (
          id TEXT PRIMARY KEY, room TEXT NOT NULL REFERENCES rooms (id), day INTEGER NOT NULL, guest TEXT, note TEXT, beds INTEGER,
          UNIQUE (room, day));
        CREATE TABLE wishes (id TEXT PRIMARY KEY, booking TEXT REFERENCES bookings (id), words TEXT);
        INSERT INTO rooms (id, name) VALUES ('blue', 'Blue');
        """)
      try camp.write("camp.json", Self.definition)
      let made = camp.hubAnywhere(
        "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
      #expect(made.code == 0, "\(made.error)")
      for (user, device) in [("ann", "tablet"), ("ben", "phone")] {
        camp.hub("user", "add", user, "tier=1")
        camp.hub("device", "provision", device, "--user", user, "--into", camp.path(device))
      }
    }
  }

  private func book(_ database: String, _ id: String, day: Int = 1, guest: String = "Ada", beds: Int = 1) throws {
    try camp.sql(
      database,
      """
      INSERT INTO bookings (id, room, day, guest, beds) VALUES ('\(id)', 'blue', \(day), '\(guest)', \(beds));
      INSERT INTO wishes VALUES ('\(id) wish', '\(id)', 'tea for \(id)');
      """)
  }

  private func bookings(_ database: String) throws -> String {
    try camp.rows(
      database,
      """
      SELECT b.id, r.name, b.day, b.guest, b.note, b.beds,
        (SELECT group_concat(words) FROM (SELECT words FROM wishes AS w WHERE w.booking = b.id ORDER BY words))
      FROM bookings AS b JOIN rooms AS r ON r.id = b.room ORDER BY b.id
      """)
  }

  private func kinds() throws -> [String] {
    try camp.hub("conflicts", "--all", "--json").json["conflicts"]?.arrayValue?.map {
      "\($0["kind"]?.stringValue ?? "") \($0["state"]?.stringValue ?? "")"
    } ?? []
  }

  /// The device delivers a bundle to the hub, and imports the hub's bundle.
  private func cycle(_ name: String) throws {
    try camp.deliver(name)
    try answer(name)
  }

  private func answer(_ name: String) throws { try camp.answer(name) }

  private func expectPeace(_ expected: String) throws {
    for name in ["tablet", "phone", "tablet", "phone"] { try cycle(name) }
    #expect(try bookings("office.sqlite") == expected)
    for name in ["tablet", "phone"] {
      #expect(try bookings("\(name)/data.sqlite") == expected, "\(name)")
      #expect(
        try camp.rows("\(name)/data.sqlite", "SELECT count(*) FROM wishes")
          == camp.rows("office.sqlite", "SELECT count(*) FROM wishes"))
      #expect(try camp.device(name, "status", "--json").json["pending"] == .object([]))
      #expect(camp.device(name, "doctor").code == 0)
    }
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("two devices make the same booking: one row everywhere, with the wishes of both")
  func twoDevices() throws {
    try book("tablet/data.sqlite", "t", beds: 2)
    try book("phone/data.sqlite", "p", beds: 3)
    try cycle("tablet")
    let imported = camp.hub(
      "import", try #require(try camp.device("phone", "export", "--json").json["file"]?.stringValue), "--json")
    #expect(
      try imported.json["bundles"]?.arrayValue?.first?["folded"] == [["table": "bookings", "key": "p", "to": "t"]])
    #expect(try bookings("office.sqlite") == "t|Blue|1|Ada|NULL|3|tea for p,tea for t")
    try expectPeace("t|Blue|1|Ada|NULL|3|tea for p,tea for t")
    // The record keeps only the smaller number of beds.
    #expect(try kinds() == ["insert/insert settled"])
    #expect(camp.hub("history", "bookings", "p").out.contains("A row that phone made under this key is [t] here."))
  }

  @Test("the policy decides about values that differ in the two rows, and a person about the rest")
  func differing() throws {
    try book("tablet/data.sqlite", "t", guest: "Ada")
    try book("phone/data.sqlite", "p", guest: "Ben")
    try cycle("tablet")
    try cycle("phone")
    #expect(try kinds() == ["insert/insert open"])
    let id = try #require(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue?.first?["id"]?.stringValue)
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    try expectPeace("t|Blue|1|Ben|NULL|1|tea for p,tea for t")
  }

  @Test("a booking that was not delivered yet becomes one with the hub's by itself, and later changes of it travel")
  func undelivered() throws {
    try book("office.sqlite", "o")
    try book("phone/data.sqlite", "p")
    try answer("phone")
    #expect(try bookings("phone/data.sqlite") == "o|Blue|1|Ada|NULL|1|tea for o,tea for p")
    try camp.sql("phone/data.sqlite", "UPDATE bookings SET note = 'late' WHERE id = 'o'")
    try expectPeace("o|Blue|1|Ada|late|1|tea for o,tea for p")
    #expect(try kinds() == [])
  }

  @Test(
    "changes made after the delivery, before the device knows of the other row, are that row's, and meet nothing",
    arguments: [true, false])
  func pending(isDeliveredFirst: Bool) throws {
    try book("tablet/data.sqlite", "t")
    try book("phone/data.sqlite", "p")
    try cycle("tablet")
    camp.hub("import", try #require(try camp.device("phone", "export", "--json").json["file"]?.stringValue))
    try camp.sql(
      "phone/data.sqlite",
      """
      UPDATE bookings SET note = 'late' WHERE id = 'p'; INSERT INTO wishes VALUES ('more', 'p', 'milk'); DELETE FROM \
      wishes WHERE id = 'p wish'
      """
    )
    if isDeliveredFirst {
      try camp.deliver("phone")
    } else {
      try answer("phone")
      #expect(try bookings("phone/data.sqlite") == "t|Blue|1|Ada|late|1|milk,tea for t")
    }
    try expectPeace("t|Blue|1|Ada|late|1|milk,tea for t")
    #expect(try kinds() == [])
  }

  @Test("if the two rows differ in one column, a later change of another column meets nothing")
  func laterChange() throws {
    try book("tablet/data.sqlite", "t", beds: 2)
    try book("phone/data.sqlite", "p", beds: 3)
    try cycle("tablet")
    try camp.deliver("phone")
    // Both devices made the booking without a note. The numbers of beds differ, so the hub does not treat the tablet's
    // row as known to the phone.
    try camp.sql("phone/data.sqlite", "UPDATE bookings SET note = 'late' WHERE id = 'p'")
    try camp.deliver("phone")
    #expect(try kinds() == ["insert/insert settled"])
    try expectPeace("t|Blue|1|Ada|late|3|tea for p,tea for t")
    #expect(try kinds() == ["insert/insert settled"])
  }

  @Test(
    """
    a bundle on its way speaks of the old key, and the next one of the new: both are understood, in any order of \
    arrival
    """
  )
  func onTheWay() throws {
    try book("office.sqlite", "o")
    try book("phone/data.sqlite", "p")
    let early = try #require(try camp.device("phone", "export", "--json").json["file"]?.stringValue)
    let copy = camp.path("early.satchel")
    try FileManager.default.copyItem(atPath: early, toPath: copy)
    try answer("phone")
    try camp.sql("phone/data.sqlite", "UPDATE bookings SET note = 'late' WHERE id = 'o'")
    let late = try #require(try camp.device("phone", "export", "--json").json["file"]?.stringValue)
    for file in [copy, late, copy] { #expect(camp.hub("import", file).code == 0) }
    try expectPeace("o|Blue|1|Ada|late|1|tea for o,tea for p")
    #expect(try kinds() == [])
  }

  @Test("a parent that became one is a part of its children's natural key: they become one too")
  func cascade() throws {
    for (name, id) in [("tablet", "t"), ("phone", "p")] {
      try camp.sql(
        "\(name)/data.sqlite",
        """
        INSERT INTO wishes VALUES ('\(id) wish', '\(id) booking', 'tea for \(id)');
        INSERT INTO bookings (id, room, day, guest) VALUES ('\(id) booking', '\(id) room', 7, 'Ada');
        INSERT INTO rooms (id, name) VALUES ('\(id) room', 'Red');
        """)
    }
    try expectPeace("t booking|Red|7|Ada|NULL|NULL|tea for p,tea for t")
    #expect(try camp.rows("phone/data.sqlite", "SELECT id FROM rooms ORDER BY id") == "blue\nt room")
    #expect(try kinds() == [])
  }

  @Test("a row does not become one with a row that its user may not see: a person decides")
  func unseen() throws {
    try camp.sql("office.sqlite", "INSERT INTO rooms VALUES ('hidden-vault', 'Vault', 9)")
    try camp.sql("phone/data.sqlite", "INSERT INTO rooms VALUES ('mine', 'Vault', 1)")
    try cycle("phone")
    #expect(try kinds() == ["unique settled"])
    #expect(try camp.rows("office.sqlite", "SELECT id FROM rooms ORDER BY id") == "blue\nhidden-vault")
    #expect(try camp.rows("phone/data.sqlite", "SELECT id FROM rooms ORDER BY id") == "blue")
    #expect(
      try !camp.everything().contains {
        $0.key.hasPrefix("phone/") && $0.value.range(of: Data("hidden-vault".utf8)) != nil
      })
  }

  @Test("two rows that are known everywhere do not become one by an edit that makes them alike")
  func edited() throws {
    try book("office.sqlite", "a", day: 1)
    try book("office.sqlite", "b", day: 2)
    try answer("phone")
    try camp.sql("phone/data.sqlite", "DELETE FROM wishes WHERE id = 'a wish'; DELETE FROM bookings WHERE id = 'a'")
    try camp.sql(
      "phone/data.sqlite",
      "UPDATE bookings SET day = 1 WHERE id = 'b'; INSERT INTO bookings (id, room, day) VALUES ('c', 'blue', 2)")
    try expectPeace("b|Blue|1|Ada|NULL|1|tea for b\nc|Blue|2|NULL|NULL|NULL|NULL")
    #expect(try kinds() == [])
  }

  @Test("a booking that waited for its room becomes one with the booking that came meanwhile")
  func waited() throws {
    // The hub gives the room another id before either device imports this change.
    try camp.sql("office.sqlite", "UPDATE rooms SET id = 'azure'")
    try book("phone/data.sqlite", "p")
    try cycle("phone")
    #expect(try kinds().contains("foreign key held"))
    try book("tablet/data.sqlite", "t")
    try camp.sql("tablet/data.sqlite", "UPDATE rooms SET name = 'Blue' WHERE id = 'blue'")
    try cycle("tablet")
    try camp.sql("office.sqlite", "INSERT INTO rooms VALUES ('blue', 'Navy', 1)")
    for name in ["tablet", "phone", "tablet", "phone"] { try cycle(name) }
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM bookings") == "1")
    #expect(
      try camp.rows("office.sqlite", "SELECT count(*) FROM wishes WHERE booking = (SELECT id FROM bookings)") == "2")
    #expect(try bookings("phone/data.sqlite") == bookings("office.sqlite"))
    #expect(try bookings("tablet/data.sqlite") == bookings("office.sqlite"))
  }

  @Test("changes of the row that stays, made on the same device, stay that row's, and the other ones are kept")
  func bothChanged() throws {
    try book("office.sqlite", "o", day: 2)
    try answer("phone")
    try book("phone/data.sqlite", "p", day: 1)
    camp.hub("import", try #require(try camp.device("phone", "export", "--json").json["file"]?.stringValue))
    // The phone's booking has arrived at the hub. The office moves it to day 3, and moves its own booking to day 1.
    try camp.sql(
      "office.sqlite", "UPDATE bookings SET day = 3 WHERE id = 'p'; UPDATE bookings SET day = 1 WHERE id = 'o'")
    try camp.sql(
      "phone/data.sqlite",
      "UPDATE bookings SET note = 'of p' WHERE id = 'p'; UPDATE bookings SET note = 'of o' WHERE id = 'o'")
    try expectPeace("o|Blue|1|Ada|of o|1|tea for o\np|Blue|3|Ada|of p|1|tea for p")
  }

  @Test(
    "a definition that asks for it where it cannot be is refused, with the reason",
    arguments: [
      ("a INTEGER, b TEXT, PRIMARY KEY (a, b)", "single column"), ("a TEXT PRIMARY KEY, b TEXT", "no UNIQUE index"),
      ("a TEXT PRIMARY KEY COLLATE NOCASE, b TEXT UNIQUE", "another collation"),
      ("a TEXT PRIMARY KEY REFERENCES rooms (id), b TEXT UNIQUE", "a reference to another"),
    ])
  func refused(_ columns: String, words: String) throws {
    let camp = try CommandLineFixture()
    try camp.sql("d.sqlite", "CREATE TABLE rooms (id TEXT PRIMARY KEY); CREATE TABLE t (\(columns))")
    try camp.write("d.json", #"{ "dataset": "d", "version": 1, "tables": { "rooms": {}, "t": { "unique": "fold" } } }"#)
    let outcome = camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("d.json"), "--database", camp.path("d.sqlite"))
    #expect(
      outcome.code == 1 && outcome.error.contains("tables.t.unique") && outcome.error.contains(words),
      "\(outcome.error)")
  }
}
