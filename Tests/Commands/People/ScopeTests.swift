import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

@Suite("Scopes")
struct ScopeTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
  }

  private static let tree = """
    CREATE TABLE parts (id INTEGER PRIMARY KEY, inside INTEGER REFERENCES parts (id), tier INTEGER NOT NULL, name TEXT);
    INSERT INTO parts VALUES (1, NULL, 1, 'ship'), (2, 1, 1, 'deck'), (3, 2, 1, 'boat'), (4, 1, 2, 'safe'), (5, 4, 1, 'gold'), (6, 5, 1, 'coin'),
      (7, 8, 1, 'egg'), (8, 7, 1, 'hen');
    """

  @Test("in a tree of rows nothing below a hidden row is visible, at any depth; a circle ends")
  func trees() throws {
    try camp.open(
      Self.tree,
      #"{ "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": { "parts": { "visible": "tier <= :tier" } } }"#
    )
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT group_concat(name) FROM (SELECT name FROM parts ORDER BY id)")
        == "ship,deck,boat,egg,hen")
    // Only the parents change, and so this row becomes visible.
    try camp.sql("office.sqlite", "UPDATE parts SET tier = 1 WHERE id = 4; UPDATE parts SET tier = 2 WHERE id = 2")
    camp.answer("tablet", 2)
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT group_concat(name) FROM (SELECT name FROM parts ORDER BY id)")
        == "ship,safe,gold,coin,egg,hen")
    // The user has no right to make a child of a row that the user may not see.
    try camp.sql(
      "tablet/data.sqlite", "INSERT INTO parts VALUES (9, 1, 1, 'rope'); UPDATE parts SET inside = 2 WHERE id = 6")
    camp.deliver("tablet", 1)
    #expect(try camp.rows("office.sqlite", "SELECT inside FROM parts WHERE id IN (6, 9) ORDER BY id") == "5\n1")
    #expect(camp.hub("conflicts").out.contains("forbidden"))
    let why = camp.hub("scope", "explain", "ann", "parts", "3").out
    #expect(why.contains("not to be seen") && why.contains("no   every row of parts above it"))
  }

  @Test("with all parents or with any of them, as the rule says", arguments: [true, false])
  func severalParents(any: Bool) throws {
    try camp.open(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, tier INTEGER); CREATE TABLE b (id INTEGER PRIMARY KEY, tier INTEGER);
      CREATE TABLE links (id INTEGER PRIMARY KEY, a INTEGER REFERENCES a (id), b INTEGER REFERENCES b (id));
      INSERT INTO a VALUES (1, 1), (2, 2); INSERT INTO b VALUES (1, 1), (2, 2);
      INSERT INTO links VALUES (11, 1, 1), (12, 1, 2), (22, 2, 2), (10, 1, NULL), (20, 2, NULL), (0, NULL, NULL);
      """,
      """
      { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
        "tables": { "a": { "visible": "tier <= :tier" }, "b": { "visible": "tier <= :tier" },
          "links": { "parents": \(any ? #"{ "any": ["a", "b"] }"# : #"["a", "b"]"#) } } }
      """)
    let seen = camp.hub("scope", "show", "ann", "--json")
    #expect(try seen.json["tables"]?["links"]?["seen"]?.integerValue == (any ? 4 : 3))
    let numbers = try camp.rows("tablet/data.sqlite", "SELECT group_concat(id) FROM (SELECT id FROM links ORDER BY id)")
    // Link 12 has one visible parent and one hidden parent. The device has this link only if the rule says `any`.
    #expect(numbers == (any ? "0,10,11,12" : "0,10,11"))
  }

  @Test("scope show counts, and scope explain names the rule that keeps a row out")
  func explaining() throws {
    try camp.open()
    let shown = camp.hub("scope", "show", "ann").out
    #expect(shown.contains("sites") && shown.contains("2") && shown.contains("3"))
    #expect(camp.hub("scope", "explain", "ann", "sites", "lake").out.contains("is to be seen by ann"))
    let hidden = camp.hub("scope", "explain", "ann", "reviews", "r2").out
    #expect(hidden.contains("is not to be seen") && hidden.contains("no   the row of sites that site names"))
    let json = try camp.hub("scope", "explain", "ann", "sites", "cave", "--json").json
    #expect(json["visible"]?.boolValue == false && json["conditions"]?.arrayValue?.first?["holds"]?.boolValue == false)
    #expect(camp.hub("scope", "show", "nobody").error.contains("There is no user"))
    #expect(camp.hub("scope", "explain", "ann", "sites", "moon").error.contains("There is and was no row"))
  }

  @Test("users come from a table, all or none")
  func importing() throws {
    try camp.open()
    try camp.write("team.csv", "\u{feff}user,tier\r\nann,2\r\n\"O'Neil, Zoë\",1\r\neve,\r\n")
    #expect(camp.hub("user", "import", camp.path("team.csv")).out.contains("Added 2 users, changed 1"))
    let listed = camp.hub("user", "list").out
    #expect(listed.contains("O'Neil, Zoë") && listed.contains("ann") && listed.contains("tier=2"))
    for (text, words) in [
      ("user,tier\nnew,1\nbad,x\n", "Line 3: The attribute tier must be of the type integer, and \"x\" is not"),
      ("user,height\nnew,1\n", "no attribute height"),
      ("user\nnew,1\n", "Line 2: it has 2 fields"),
      ("", "no header"), ("user\n\"new", "a quote is not closed"),
    ] {
      try camp.write("team.csv", text)
      let outcome = camp.hub("user", "import", camp.path("team.csv"))
      #expect(outcome.code == 1 && outcome.error.contains(words), "\(outcome.error)")
    }
    #expect(!camp.hub("user", "list").out.contains("new"))
  }

  @Test(
    "a table of users may be separated by semicolons or tabs, as some spreadsheets write it", arguments: [";", "\t"])
  func separated(by separator: String) throws {
    try camp.open()
    let rows = [["user", "tier"], ["nurse, \"north\"", "2"], ["nurse1", "1"]]
    let lines = rows.map { $0.map { $0.contains(",") ? "\"nurse, \"\"north\"\"\"" : $0 }.joined(separator: separator) }
    try camp.write("team.csv", lines.joined(separator: "\r\n"))
    #expect(camp.hub("user", "import", camp.path("team.csv")).out.contains("Added 2 users"))
    let users = try camp.hub("user", "list", "--json").json["users"]?.arrayValue?.compactMap { $0["name"]?.stringValue }
    #expect(users?.contains("nurse1") == true && users?.contains("nurse, \"north\"") == true)
  }

  @Test("Excel's line that names the separator is not the header")
  func namedSeparator() throws {
    try camp.open()
    try camp.write("team.csv", "\u{feff}sep=;\r\nuser;tier\r\n\"nurse, north, ward 2\";2\r\n")
    let outcome = camp.hub("user", "import", camp.path("team.csv"))
    #expect(outcome.out.contains("Added 1 user,"), "\(outcome)")
    #expect(camp.hub("user", "list").out.contains("nurse, north, ward 2"))
  }

  @Test("an expired device is shown as expired, and a last day that is over asks the person at the terminal")
  func shownAsExpired() throws {
    try camp.open()
    let asked = camp.hub("device", "set", "tablet", "--expires", "2020-01-01", answers: ["n"], interactive: true)
    #expect(asked.code == 1 && asked.error.contains("2020-01-01 is over"), "\(asked)")
    #expect(!camp.hub("device", "list").out.contains("expired"))
    #expect(camp.hub("device", "set", "tablet", "--expires", "2020-01-01", "--yes", interactive: true).code == 0)
    for command in ["device list", "status"] {
      let lines = (command == "status" ? camp.hub("status") : camp.hub("device", "list")).out.split(separator: "\n")
      #expect(lines.contains { $0.contains("tablet") && $0.contains("expired") }, "\(lines)")
      #expect(lines.contains { $0.contains("phone") && $0.contains("active") }, "\(lines)")
    }
  }

  @Test("nothing is made for a user or a device after the last day, and what was written after it is not taken")
  func expiry() throws {
    try camp.open()
    #expect(camp.hub("user", "set", "ann", "--expires", "2020-02-29").code == 0)
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    let refused = camp.hub("emit", "--device", "tablet")
    #expect(refused.code == 1 && refused.error.contains("expired on 2020-03-01"))
    let all = camp.hub("emit", "--all")
    #expect(all.code == 0 && all.out.contains("tablet: expired") && all.out.contains("phone (ben): bundle 2"))
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.device("tablet", "export")
    let file = camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel")
    #expect(camp.hub("import", file).error.contains("was to deliver until"))
    #expect(camp.hub("user", "set", "ann", "--expires", "never").code == 0)
    #expect(camp.hub("import", file).out.contains("1 change taken"))
    #expect(camp.hub("device", "set", "tablet", "--expires", "2020-01-01").code == 0)
    #expect(camp.hub("emit", "--device", "tablet").code == 1)
    for word in ["2026-02-29", "tomorrow", "2026-1-1"] {
      #expect(camp.hub("user", "set", "ann", "--expires", word).code == 2)
    }
  }

  @Test("a device that may not edit: its changes become conflicts, and it gets the true rows back")
  func readOnly() throws {
    try camp.open()
    #expect(camp.hub("device", "set", "tablet", "--edits", "no").code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    camp.deliver("tablet", 1)
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "4")
    camp.answer("tablet", 2)
    #expect(try camp.rows("tablet/data.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "4")
    #expect(camp.device("tablet", "conflicts", "--all").out.contains("forbidden"))
    #expect(camp.hub("device", "set", "tablet").code == 2)
  }

  @Test("a user with several devices: each has the same rows, and what one delivers reaches the other")
  func severalDevices() throws {
    try camp.open()
    #expect(camp.hub("device", "provision", "laptop", "--user", "ann", "--into", camp.path("laptop")).code == 0)
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET words = 'from the tablet' WHERE id = 'r1'")
    try camp.sql("laptop/data.sqlite", "INSERT INTO reviews VALUES ('r5', 'hill', 'ann', 3, 'from the laptop')")
    for device in ["tablet", "laptop"] { camp.deliver(device, 1) }
    for device in ["tablet", "laptop"] { camp.answer(device, 2) }
    for database in ["tablet/data.sqlite", "laptop/data.sqlite"] {
      #expect(
        try camp.rows(database, "SELECT id, words FROM reviews ORDER BY id") == "r1|from the tablet\nr5|from the laptop"
      )
    }
    // An expired device gets no bundle, but the user's other device still does.
    camp.hub("device", "set", "laptop", "--expires", "2020-01-01")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Sea' WHERE id = 'lake'")
    let emitted = camp.hub("emit", "--user", "ann").out
    #expect(emitted.contains("laptop: expired") && emitted.contains("tablet (ann): bundle 3"), "\(emitted)")
  }

  @Test("if no user may write, a device needs no key: it imports without one, and says why it delivers nothing")
  func withoutKeys() throws {
    try camp.open(
      Self.tree,
      #"{ "dataset": "camp", "version": 1, "attributes": { "tier": "integer" }, "tables": { "parts": { "visible": "tier <= :tier", "write": "none" } } }"#
    )
    #expect(
      camp.hub("device", "provision", "screen", "--user", "ann", "--into", camp.path("screen"), "--no-keys").code == 0)
    let names = try HostFileSystem().list(camp.path("screen/keys"))
    #expect(!names.contains { $0.hasSuffix(".key") || $0.hasSuffix(".identity") })
    for number in 2...3 {
      try camp.sql("office.sqlite", "UPDATE parts SET name = 'deck \(number)' WHERE id = 2")
      camp.answer("screen", Int(number))
      #expect(try camp.rows("screen/data.sqlite", "SELECT name FROM parts WHERE id = 2") == "deck \(number)")
    }
    let refused = camp.device("screen", "export")
    #expect(refused.code == 1 && refused.error.contains("no key of its own"))
    #expect(camp.device("screen", "status").code == 0)
    #expect(camp.device("screen", "doctor").out == "All is well.\n")
    try FileManager.default.createDirectory(atPath: camp.path("stick"), withIntermediateDirectories: true)
    try camp.sql("office.sqlite", "UPDATE parts SET name = 'by stick' WHERE id = 2")
    camp.hub("sync", camp.path("stick"))
    let synced = camp.device("screen", "sync", camp.path("stick"))
    #expect(synced.code == 0 && synced.out.contains("no key of its own"), "\(synced.out)\(synced.error)")
    #expect(try camp.rows("screen/data.sqlite", "SELECT name FROM parts WHERE id = 2") == "by stick")
  }
}
