import Foundation
import SatchelJSON
import SatchelPlatform
import Testing

/// Writes that capture does not record, because an app or a person dropped the triggers.
extension CommandLineFixture {
  static let dropTriggers = ["before_insert", "before_update", "before_delete", "tidy"]
    .map { #"DROP TRIGGER "satchel_\#($0):reviews";"# }.joined(separator: "\n")

  static let writeUnseen = """
    UPDATE reviews SET words = 'unseen' WHERE id = 'r1';
    INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep');
    DELETE FROM reviews WHERE id = 'r0';
    """

  /// A fixture whose tablet has one more review, r0, which both sides know.
  static func watched() throws -> CommandLineFixture {
    let camp = try CommandLineFixture()
    try camp.open(as: ["watched"]) {
      try camp.open()
      try camp.sql("tablet/data.sqlite", "INSERT INTO reviews VALUES ('r0', 'lake', 'ann', 1, 'cold')")
      camp.deliver("tablet", 1)
      camp.answer("tablet", 2)
      #expect(camp.device("tablet", "doctor").out == "All is well.\n")
    }
    return camp
  }

  /// A dataset with trees, whose primary keys may change, and sites.
  static let woods = """
    { "dataset": "camp", "version": 1, "attributes": { "tier": "integer" },
      "tables": { "trees": { "keys": "rekey" }, "sites": {} } }
    """

  static let treesAndSites = """
    CREATE TABLE trees (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT UNIQUE);
    INSERT INTO trees VALUES (1, 'oak');
    INSERT INTO sites VALUES ('lake', 'Lake'), ('hill', 'Hill');
    """

  func openWoods(_ schema: String = treesAndSites, as definition: String = woods) throws {
    try open(as: ["woods", schema, definition]) {
      try open(schema, definition, attributes: "tier=1", devices: ["tablet", "phone"])
      deliver("tablet", 1)
    }
  }

  /// Imports a bundle on the tablet. Returns the command's JSON about this bundle.
  /// - Parameter bundle: the path of the bundle; nil: the hub emits the bundle first.
  func fetchForTablet(_ bundle: String? = nil) throws -> JSONValue {
    let outcome = device("tablet", "import", try bundle ?? emit("tablet"), "--json")
    #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    return try #require(try outcome.json["bundles"]?.arrayValue?.first)
  }

  /// For each of the tablet's conflicts of the kind `unseen`: the device's value of the column, or "gone" if the row
  /// was deleted. For every other conflict: its kind.
  func keptUnseen(_ column: String = "name") throws -> [String] {
    let conflicts = try listedConflicts(of: "tablet")
    return conflicts.map { conflict in
      guard conflict["kind"]?.stringValue == "unseen" else { return conflict["kind"]?.stringValue ?? "" }
      return conflict["device_values"]?[column]?.stringValue ?? "gone"
    }.sorted()
  }

  /// Runs the tablet's doctor with `--repair`. Expects these numbers of unseen changes.
  func expectRepair(_ inserted: Int64, _ updated: Int64, _ deleted: Int64) throws {
    let looked = device("tablet", "doctor", "--json")
    #expect(looked.code == 1)
    let outcome = device("tablet", "doctor", "--repair", "--json")
    #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    for document in [try looked.json, try outcome.json] {
      let unseen = document["unseen"]?["reviews"]
      #expect(unseen?["inserted"]?.integerValue ?? 0 == inserted)
      #expect(unseen?["updated"]?.integerValue ?? 0 == updated)
      #expect(unseen?["deleted"]?.integerValue ?? 0 == deleted)
    }
    let again = device("tablet", "doctor")
    #expect(again.out == "All is well.\n", "\(again.error)")
  }

  func reviews(_ database: String = "office.sqlite") throws -> String {
    try rows(database, "SELECT id, words FROM reviews WHERE author = 'ann' ORDER BY id")
  }

  /// Replaces the tablet's database by a new file, as an app does that saves its rows into a new file.
  func replaceFile(_ statements: String = "") throws {
    let rows = try self.rows(
      "tablet/data.sqlite",
      """
      SELECT 'INSERT INTO reviews VALUES (' || quote(id) || ',' || quote(site) || ',' || quote(author) || ',' || \
      quote(stars) || ',' || quote(words) || ');' FROM reviews
      """
    )
    let sites = try self.rows(
      "tablet/data.sqlite",
      "SELECT 'INSERT INTO sites VALUES (' || quote(id) || ',' || quote(name) || ',' || quote(tier) || ');' FROM sites")
    try FileManager.default.removeItem(atPath: path("tablet/data.sqlite"))
    try sql(
      "tablet/data.sqlite",
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT, tier INTEGER);
      CREATE TABLE reviews (id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), author TEXT, stars INTEGER, words TEXT);
      CREATE TABLE settings (name TEXT);
      \(sites) \(rows) \(statements)
      """)
  }
}
