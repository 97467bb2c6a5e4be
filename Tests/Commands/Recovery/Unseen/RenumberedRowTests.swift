import Foundation
import SatchelJSON
import Testing

/// Writes that capture does not record. A bundle then gives some of the device's rows other keys.
@Suite("Unseen writes under keys that change")
struct RenumberedRowTests {
  private let camp: CommandLineFixture

  init() throws { camp = try CommandLineFixture() }

  private func write(_ sql: String) throws { try camp.sql("tablet/data.sqlite", sql) }
  private func writeUnseen(_ sql: String) throws { try camp.writeUnseen("tablet/data.sqlite", sql) }
  private func deliver(_ device: String) throws { try camp.deliver(device) }

  private func rows(_ query: String) throws -> String { try camp.rows("tablet/data.sqlite", query) }

  /// The tablet's conflicts of the kind `unseen`.
  private func kept() throws -> [JSONValue] {
    try camp.listedConflicts(of: "tablet").filter { $0["kind"] == "unseen" }
  }

  private func kept(_ column: String) throws -> [String] {
    try kept().map { $0["device_values"]?[column]?.stringValue ?? "gone" }.sorted()
  }

  // MARK: new keys from the hub

  /// The tablet's ash and the phone's elm both have the key 2. The hub has merged the elm. The tablet's export is on
  /// its way.
  private func plantTwoTrees() throws -> String {
    try camp.openWoods()
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (2, 'elm')")
    try write("INSERT INTO trees VALUES (2, 'ash')")
    let export = try camp.export("tablet")
    try deliver("phone")
    return export
  }

  @Test(
    "if a row that gets a new key and the row that has this key were written unseen, both are kept",
    arguments: [false, true])
  func both(isFull: Bool) throws {
    let export = try plantTwoTrees()
    try writeUnseen("UPDATE trees SET name = 'stump' WHERE id = 2; INSERT INTO trees VALUES (3, 'ghost')")
    #expect(camp.hub("import", export).code == 0)
    try camp.sql("office.sqlite", "UPDATE trees SET name = 'old ash' WHERE name = 'ash'")
    try camp.answer("tablet", full: isFull)
    #expect(try kept("name") == ["ghost", "stump"])
    #expect(try rows("SELECT * FROM trees ORDER BY id") == "1|oak\n2|elm\n3|old ash")
  }

  @Test(
    "a bundle of a version that the hub does not know the device to have keeps what was inserted unseen under a new key"
  )
  func ofUnknownVersion() throws {
    try camp.openWoods()
    try write("INSERT INTO trees VALUES (2, 'ash')")
    let export = try camp.export("tablet")
    let next = CommandLineFixture.woods.replacingOccurrences(of: #""version": 1"#, with: #""version": 2"#)
    try camp.write("camp.json", next)
    #expect(camp.hub("dataset", "apply", camp.path("camp.json")).code == 0)
    try camp.answer("tablet")
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (2, 'elm')")
    try deliver("phone")
    #expect(camp.hub("import", export).code == 0)
    try write("UPDATE trees SET name = 'old ash' WHERE id = 2")
    try writeUnseen("INSERT INTO trees VALUES (3, 'ghost')")
    try camp.answer("tablet")
    #expect(try kept("name") == ["ghost"])
    #expect(try rows("SELECT * FROM trees ORDER BY id") == "1|oak\n2|elm\n3|old ash")
  }

  @Test("a row that was inserted unseen, and moves because its parent gets another key, is kept before it is deleted")
  func movedWithParent() throws {
    try camp.open(
      """
      CREATE TABLE trees (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE walks (
        tree INTEGER REFERENCES trees (id), day TEXT, note TEXT, PRIMARY KEY (tree, day)) WITHOUT ROWID;
      INSERT INTO trees VALUES (1, 'oak');
      """, CommandLineFixture.definition(#"{ "trees": { "keys": "rekey" }, "walks": {} }"#),
      devices: ["tablet", "phone"])
    try deliver("tablet")
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (2, 'elm')")
    try deliver("phone")
    try write("INSERT INTO trees VALUES (2, 'ash')")
    // By itself, the tablet moves its ash to the key 3. The phone makes another tree with the key 3.
    try camp.answer("tablet")
    #expect(try rows("SELECT id FROM trees WHERE name = 'ash'") == "3")
    try camp.sql("phone/data.sqlite", "INSERT INTO trees VALUES (3, 'fir')")
    try deliver("phone")
    try deliver("tablet")
    try writeUnseen("INSERT INTO walks VALUES (3, 'monday', 'ghost')")
    try camp.answer("tablet", full: true)
    #expect(try rows("SELECT * FROM trees ORDER BY id") == "1|oak\n2|elm\n3|fir\n4|ash")
    #expect(try rows("SELECT count(*) FROM walks") == "0")
    #expect(try kept("note") == ["ghost"])
    let record = try #require(try kept().first)
    #expect(record["key"] == [4, "monday"] && record["device_values"]?["tree"] == 4)
  }

  // MARK: rows that become one with rows of the hub

  private static let woods = """
    CREATE TABLE trees (id TEXT PRIMARY KEY, name TEXT UNIQUE, note TEXT);
    CREATE TABLE nests (
      id TEXT PRIMARY KEY, name TEXT, tree TEXT REFERENCES trees (id), note TEXT, UNIQUE (tree, name));
    CREATE TABLE walks (
      tree TEXT REFERENCES trees (id), day TEXT, note TEXT, PRIMARY KEY (tree, day)) WITHOUT ROWID;
    INSERT INTO trees VALUES ('hubs', 'oak', 'old');
    INSERT INTO nests VALUES ('hubs', 'owl', 'hubs', 'old');
    INSERT INTO walks VALUES ('hubs', 'monday', 'old');
    """

  /// The tablet has a tree of its own, with a nest and a walk. A tree of the hub gets the same name, so the two trees
  /// become one.
  /// - Parameter unseen: writes of the tablet that capture does not record.
  private func joinTrees(_ unseen: String, isFull: Bool) throws {
    try camp.open(
      Self.woods,
      CommandLineFixture.definition(
        #"{ "trees": { "unique": "fold" }, "nests": { "unique": "fold" }, "walks": {} }"#), devices: ["tablet"])
    try deliver("tablet")
    try write(
      """
      INSERT INTO trees VALUES ('own', 'elm', 'new'); INSERT INTO nests VALUES ('own', 'owl', 'own', 'new');
      INSERT INTO walks VALUES ('own', 'monday', 'new');
      """)
    try writeUnseen(unseen)
    try camp.sql("office.sqlite", "UPDATE trees SET name = 'elm' WHERE id = 'hubs'")
    try camp.answer("tablet", full: isFull)
    #expect(try rows("SELECT id FROM trees") == "hubs")
    #expect(try rows("SELECT id, tree FROM nests") == "hubs|hubs")
    #expect(try rows("SELECT tree FROM walks") == "hubs")
  }

  @Test(
    "a row of the device that joins a row of the hub keeps what was written unseen into the hub's row",
    arguments: ["trees", "nests", "walks"], [false, true])
  func joined(table: String, isFull: Bool) throws {
    let key = table == "walks" ? "tree" : "id"
    try joinTrees("UPDATE \(table) SET note = 'ghost' WHERE \(key) = 'hubs'", isFull: isFull)
    #expect(try kept("note") == ["ghost"])
    #expect(try kept().first?["hub_values"]?["note"] == "old")
  }

  @Test(
    "if nothing was written unseen, a row that joins a row of the hub is no reason for a conflict of that kind",
    arguments: [false, true])
  func joinedAsItIs(isFull: Bool) throws {
    try joinTrees("", isFull: isFull)
    #expect(try kept() == [])
  }
}
