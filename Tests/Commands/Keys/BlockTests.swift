import Foundation
import SatchelJSON
import Testing

/// A hub and two devices. In all three databases, SQLite assigns the primary keys of new rows.
@Suite("Each replica hands out keys of its own, and the app need not know")
struct BlockTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open(as: [#fileID]) {
      try camp.sql(
        "office.sqlite",
        """
        CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE);
        CREATE TABLE lines (id INTEGER PRIMARY KEY AUTOINCREMENT, of INTEGER REFERENCES orders (id), name TEXT);
        INSERT INTO orders (name) VALUES ('first'), ('second');
        """)
      try camp.write(
        "camp.json",
        """
        { "dataset": "camp", "version": 1,
          "tables": { "orders": { "keys": "blocks", "block": 100 }, "lines": { "keys": "blocks" } } }
        """)
      let made = camp.hubAnywhere(
        "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
      #expect(made.code == 0, "\(made.error)")
      camp.hub("user", "add", "ann")
      for name in ["tablet", "phone"] {
        let made = camp.hub("device", "provision", name, "--user", "ann", "--into", camp.path(name))
        #expect(made.code == 0, "\(made.error)")
      }
    }
  }

  private func order(_ database: String, _ name: String) throws {
    try camp.sql(
      database,
      """
      INSERT INTO orders (name) VALUES ('\(name)'); INSERT INTO lines (of, name) VALUES (last_insert_rowid(), \
      '\(name)')
      """
    )
  }

  private func orders(_ database: String) throws -> String {
    try camp.rows(
      database,
      "SELECT o.id, o.name, l.id FROM orders AS o LEFT JOIN lines AS l ON l.of = o.id AND l.name = o.name ORDER BY 1")
  }

  private func expectAlike() throws {
    #expect(try camp.hub("conflicts", "--all", "--json").json["conflicts"] == [])
    #expect(
      try camp.rows(
        "office.sqlite", "SELECT count(*) FROM lines AS l JOIN orders AS o ON o.id = l.of WHERE o.name <> l.name")
        == "0")
    for name in ["tablet", "phone"] { #expect(try orders("\(name)/data.sqlite") == orders("office.sqlite"), "\(name)") }
  }

  private func round(_ number: Int) {
    for name in ["tablet", "phone"] { camp.deliver(name, number) }
    for name in ["tablet", "phone"] { camp.answer(name, number + 1) }
  }

  @Test("rows made offline at three places never collide, also after all sides have all rows")
  func apart() throws {
    for (database, name) in [("office.sqlite", "o"), ("tablet/data.sqlite", "t"), ("phone/data.sqlite", "p")] {
      try order(database, name)
      try order(database, name + name)
    }
    #expect(
      try camp.rows("tablet/data.sqlite", "SELECT id, name FROM orders") == "1|first\n2|second\n103|t\n104|tt")
    round(1)
    try expectAlike()
    for (database, name) in [("office.sqlite", "o3"), ("tablet/data.sqlite", "t3"), ("phone/data.sqlite", "p3")] {
      try order(database, name)
    }
    round(2)
    try expectAlike()
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_rekeyed") == "0")
    #expect(try camp.rows("office.sqlite", "SELECT count(*), count(DISTINCT name) FROM orders") == "11|11")
  }

  @Test("a range above all arriving keys is not exchanged for another")
  func kept() throws {
    let before = try camp.device("phone", "status", "--json").json["blocks"]
    try order("office.sqlite", "o")
    try order("tablet/data.sqlite", "t")
    round(1)
    try order("phone/data.sqlite", "p")
    round(2)
    let after = try camp.device("phone", "status", "--json").json["blocks"]?.arrayValue?.first
    #expect(after?["first"] == before?.arrayValue?.first?["first"])
    #expect(after?["left"] == 99)
    try expectAlike()
  }

  @Test("a range that runs short is warned of, goes on beyond its end, and what collides there gets new keys")
  func usedUp() throws {
    // The tablet's range of keys ends at the beginning of the phone's range.
    for number in 1...92 { try camp.sql("tablet/data.sqlite", "INSERT INTO orders (name) VALUES ('t\(number)')") }
    #expect(camp.device("tablet", "status").out.contains("8 keys left for new rows of orders"))
    for number in 93...103 { try camp.sql("tablet/data.sqlite", "INSERT INTO orders (name) VALUES ('t\(number)')") }
    #expect(camp.device("tablet", "status").out.contains("0 keys left for new rows of orders"))
    try order("phone/data.sqlite", "p")
    round(1)
    round(2)
    try expectAlike()
    #expect(try camp.rows("office.sqlite", "SELECT count(*), count(DISTINCT name) FROM orders") == "106|106")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_rekeyed") == "1")
    #expect(!camp.device("tablet", "status").out.contains("left for new rows"))
  }

  @Test("a key that an app chose by itself waits for a person, who lets the row in or drops it")
  func chosen() throws {
    try camp.sql("tablet/data.sqlite", "INSERT INTO orders VALUES (3, 't')")
    try camp.sql("phone/data.sqlite", "INSERT INTO orders VALUES (4, 'p')")
    round(1)
    let held = try #require(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue)
    #expect(held.map { $0["kind"] } == ["constraint", "constraint"] && held.map { $0["state"] } == ["held", "held"])
    func id(ofKey key: Int64) throws -> String {
      try #require(held.first { $0["key"]?.arrayValue?.first == .integer(key) }?["id"]?.stringValue)
    }
    let (tablet, phone) = (try id(ofKey: 3), try id(ofKey: 4))
    #expect(camp.hub("conflicts", "show", tablet).out.contains("in none of the ranges of keys"))
    #expect(camp.hub("conflicts", "resolve", tablet, "--keep", "device").code == 0)
    #expect(camp.hub("conflicts", "resolve", phone, "--keep", "hub").code == 0)
    round(2)
    for database in ["office.sqlite", "tablet/data.sqlite", "phone/data.sqlite"] {
      #expect(try camp.rows(database, "SELECT id, name FROM orders") == "1|first\n2|second\n3|t", "\(database)")
    }
    #expect(try camp.hub("conflicts", "--json").json["conflicts"] == [])
  }

  @Test("two rows that wait under one key become two rows")
  func chosenTwice() throws {
    for name in ["tablet", "phone"] { try camp.sql("\(name)/data.sqlite", "INSERT INTO orders VALUES (3, '\(name)')") }
    round(1)
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM orders") == "2")
    let held = try #require(try camp.hub("conflicts", "--json").json["conflicts"]?.arrayValue)
    #expect(held.count == 2)
    let id = try #require(held.first?["id"]?.stringValue)
    #expect(camp.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    round(2)
    round(3)
    #expect(try camp.rows("office.sqlite", "SELECT count(DISTINCT id), count(DISTINCT name) FROM orders") == "4|4")
    for name in ["tablet", "phone"] { #expect(try orders("\(name)/data.sqlite") == orders("office.sqlite"), "\(name)") }
  }

  @Test("rows from before a device joined keep their keys; what it makes later has keys of its range")
  func joined() throws {
    try camp.makeFolder("barge")
    try camp.sql(
      "barge/data.sqlite",
      """
      CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE);
      CREATE TABLE lines (id INTEGER PRIMARY KEY AUTOINCREMENT, of INTEGER REFERENCES orders (id), name TEXT);
      INSERT INTO orders VALUES (2, 'own'), (60, 'b60'), (700, 'b700');
      INSERT INTO lines VALUES (5, 700, 'b700');
      """)
    let made = try camp.deviceAnywhere(
      "init", camp.path("barge"), "--dataset", "camp", "--name", "barge", "--request", camp.path("barge.request"),
      "--json"
    ).json
    let fingerprint = try #require(made["fingerprint"]?.stringValue)
    #expect(
      camp.hub("device", "enrol", camp.path("barge.request"), "--user", "ann", "--fingerprint", fingerprint).code == 0)
    let first = try #require(
      try camp.hub("emit", "--device", "barge", "--json").json["emissions"]?.arrayValue?.first?["file"]?.stringValue)
    let office = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let joined = camp.device("barge", "import", first, "--fingerprint", office)
    #expect(joined.code == 0, "\(joined.error)")
    // The barge has no range of keys yet. So SQLite assigns the key after the greatest one, until the hub's answer
    // brings a range.
    try order("barge/data.sqlite", "later")
    try camp.sql("barge/data.sqlite", "INSERT INTO orders VALUES (50, 'chosen')")
    let export = try #require(try camp.device("barge", "export", "--json").json["file"]?.stringValue)
    #expect(camp.hub("import", export).code == 0)
    try order("barge/data.sqlite", "later still")
    try camp.carry("barge", rounds: 2)
    try order("barge/data.sqlite", "last")
    try camp.carry("barge")
    let held = try camp.rows("office.sqlite", "SELECT key FROM satchel_conflicts WHERE state = 'held'")
    #expect(held == "[50]")
    let names = try camp.rows("office.sqlite", "SELECT name FROM orders WHERE id > 2 ORDER BY name")
    #expect(names == "b60\nb700\nlast\nlater\nlater still\nown")
    #expect(try camp.rows("office.sqlite", "SELECT id FROM orders WHERE name LIKE 'b%' ORDER BY id") == "60\n700")
    #expect(try camp.rows("office.sqlite", "SELECT id > 802 FROM orders WHERE name = 'last'") == "1")
  }

  @Test("a hub that was restored gives no range that it gave before and forgot")
  func restored() throws {
    try camp.backUp()
    for number in 1...60 {
      try order("tablet/data.sqlite", "t\(number)")
      try order("phone/data.sqlite", "p\(number)")
    }
    for device in ["tablet", "phone", "tablet"] { try camp.carry(device, rounds: 2) }
    // Each device now has a range that the backup does not contain.
    for number in 61...130 {
      try order("tablet/data.sqlite", "t\(number)")
      try order("phone/data.sqlite", "p\(number)")
    }
    for device in ["tablet", "phone"] { try camp.carry(device) }
    try camp.restore()
    for _ in 0..<2 { for device in ["phone", "tablet"] { try camp.carry(device, rounds: 3) } }
    for (database, name) in [("office.sqlite", "o"), ("tablet/data.sqlite", "t"), ("phone/data.sqlite", "p")] {
      try order(database, name)
    }
    for device in ["phone", "tablet", "phone"] { try camp.carry(device, rounds: 2) }
    try expectAlike()
    #expect(try camp.rows("office.sqlite", "SELECT count(*), count(DISTINCT name) FROM orders") == "265|265")
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_rekeyed") == "0")
  }

  @Test("a bundle that gives a range may be lost, and come twice")
  func lost() throws {
    try order("phone/data.sqlite", "p")
    camp.deliver("phone", 1)
    camp.hub("emit", "--device", "tablet")
    try order("tablet/data.sqlite", "t")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 3)
    camp.device("tablet", "import", camp.path("hub/bundles/sent/camp-hub-tablet-2.satchel"))
    camp.device("tablet", "import", camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel"))
    try order("tablet/data.sqlite", "t2")
    camp.deliver("tablet", 2)
    camp.answer("phone", 2)
    camp.answer("tablet", 4)
    try expectAlike()
    #expect(try camp.rows("office.sqlite", "SELECT count(*) FROM satchel_rekeyed") == "0")
  }

  @Test(
    "a recreated table continues in the range of its device, if SQLite's count went with it",
    arguments: ["tablet", "hub"])
  func madeAnew(place: String) throws {
    let database = place == "hub" ? "office.sqlite" : "tablet/data.sqlite"
    for name in ["third", "fourth"] { try order(database, name) }
    round(1)
    let counted = try #require(Int(try camp.rows(database, "SELECT seq FROM sqlite_sequence WHERE name = 'orders'")))
    try camp.sql(
      database,
      """
      CREATE TABLE made (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE);
      INSERT INTO made SELECT * FROM orders WHERE id < 2;
      DROP TABLE orders;
      ALTER TABLE made RENAME TO orders;
      """)
    let status = place == "hub" ? camp.hub("status") : camp.device("tablet", "status")
    #expect(status.out.contains("the table orders was created again"))
    if place == "tablet" { #expect(status.out.contains("new rows of orders get keys from 2 on")) }
    let repaired = place == "hub" ? camp.hub("doctor", "--repair") : camp.device("tablet", "doctor", "--repair")
    #expect(repaired.code == 0, "\(repaired.out)\(repaired.error)")
    try order(database, "fifth")
    #expect(try camp.rows(database, "SELECT id FROM orders WHERE name = 'fifth'") == "\(counted + 1)")
    #expect(try camp.rows(database, "SELECT count(*) FROM orders") == "5")
  }

  @Test("a count of keys that an app cleared is noticed and mended")
  func countCleared() throws {
    try camp.sql("tablet/data.sqlite", "DELETE FROM sqlite_sequence")
    let status = camp.device("tablet", "status")
    #expect(status.out.contains("new rows of lines get keys from 1 on"), "\(status.out)")
    #expect(status.out.contains("doctor --repair"))
    #expect(camp.device("tablet", "doctor").code == 1)
    #expect(camp.device("tablet", "doctor", "--repair").code == 0)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    try order("tablet/data.sqlite", "tenth")
    #expect(Int(try camp.rows("tablet/data.sqlite", "SELECT max(id) FROM orders")) ?? 0 > 100)
  }
}
