import Foundation
import Testing

/// New versions of the dataset. Bundles carry the migrations. Devices may have pending changes when a migration
/// arrives.
@Suite("New versions of a dataset")
struct VersionTests {
  /// The definition of the camp. A test may give other JSON for its tables.
  static func definition(_ version: Int, _ tables: String = Self.tables) -> String {
    #"{ "dataset": "camp", "version": \#(version), "attributes": { "tier": "integer" }, "tables": { \#(tables) } }"#
  }

  static let sites = #""sites": { "visible": "tier <= :tier", "write": "none" }"#
  static let reviews = #""reviews": { "write": "author = :user", "conflict": "manual" }"#
  static let tables = "\(sites), \(reviews)"

  /// Adds a column to the reviews, renames a column, and makes each site record the number of its reviews.
  static let migration = """
    ALTER TABLE reviews ADD COLUMN season TEXT DEFAULT 'summer';
    ALTER TABLE reviews RENAME COLUMN words TO text;
    -- Whoever sees a part of the reviews would count wrong.
    ALTER TABLE sites ADD COLUMN reviewed INTEGER NOT NULL DEFAULT 0;
    UPDATE sites SET reviewed = (SELECT count(*) FROM reviews WHERE site = sites.id);
    """

  private let camp: VersionFixture

  init() throws { camp = try VersionFixture() }

  @Test(
    """
    a migration travels with the next bundle, and changes that were pending on exactly those rows arrive in the new \
    columns
    """
  )
  func travels() throws {
    try camp.write(
      "tablet",
      """
      UPDATE reviews SET words = 'very quiet', stars = 5 WHERE id = 'r1';
      INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep');
      """)
    try camp.apply(Self.definition(2), Self.migration)
    #expect(try camp.office("SELECT id, reviewed FROM sites ORDER BY id") == "cave|1\nhill|0\nlake|1")
    camp.camp.answer("tablet", 2)
    #expect(
      try camp.tablet("SELECT id, text, season FROM reviews ORDER BY id") == "r1|very quiet|summer\nr3|steep|summer")
    let status = try camp.camp.device("tablet", "status", "--json").json
    #expect(status["version"]?.integerValue == 2 && status["pending"]?["reviews"]?.integerValue == 2)
    camp.camp.deliver("tablet", 1)
    #expect(
      try camp.office("SELECT id, stars, text, season FROM reviews ORDER BY id")
        == "r1|5|very quiet|summer\nr2|5|dark|summer\nr3|3|steep|summer")
    try camp.settle()
    #expect(try camp.office("SELECT count(*) FROM satchel_conflicts") == "0")
    #expect(try camp.version(of: "tablet") == 2 && camp.version(of: "phone") == 1)
  }

  @Test("a device that does not have the new version delivers in the old version")
  func lagging() throws {
    try camp.write(
      "tablet",
      """
      UPDATE reviews SET words = 'very quiet' WHERE id = 'r1';
      INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep');
      """)
    camp.camp.device("tablet", "export")
    try camp.apply(Self.definition(2), Self.migration)
    camp.camp.deliver("tablet", 1)
    #expect(
      try camp.office("SELECT id, text, season FROM reviews WHERE author = 'ann' ORDER BY id")
        == "r1|very quiet|summer\nr3|steep|summer")
    try camp.write("tablet", "UPDATE reviews SET words = 'too steep' WHERE id = 'r3'")
    try camp.settle()
    #expect(try camp.office("SELECT text FROM reviews WHERE id = 'r3'") == "too steep")
    #expect(try camp.office("SELECT count(*) FROM satchel_conflicts") == "0")
  }

  @Test("a removed column and a new column in its place are distinguished; values written into the first are named")
  func gone() throws {
    let script = "ALTER TABLE reviews DROP COLUMN stars; ALTER TABLE reviews RENAME COLUMN words TO text"
    try camp.write("tablet", "UPDATE reviews SET words = 'mine', stars = 1 WHERE id = 'r1'")
    try camp.write("phone", "UPDATE reviews SET words = 'darker', stars = 2 WHERE id = 'r2'")
    camp.camp.device("phone", "export")
    try camp.apply(Self.definition(2), script)
    let outcome = camp.camp.hub("import", camp.camp.path("phone/bundles/outbox/camp-phone-hub-1.satchel"))
    #expect(outcome.out.contains("Left out, because the dataset no longer has these columns: reviews.stars."))
    #expect(try camp.office("SELECT text FROM reviews WHERE id = 'r2'") == "darker")
    camp.camp.answer("tablet", 2)
    #expect(try camp.tablet("SELECT text FROM reviews WHERE id = 'r1'") == "mine")
    try camp.settle()
    #expect(try camp.office("SELECT text FROM reviews WHERE id = 'r1'") == "mine")
    #expect(try camp.office("SELECT count(*) FROM satchel_conflicts") == "0")
  }

  @Test("what a migration writes into a row meets a device's change of the same column as any change of the hub's does")
  func meets() throws {
    try camp.write("tablet", "UPDATE reviews SET stars = 5, words = 'mine' WHERE id = 'r1'")
    try camp.apply(Self.definition(2), "UPDATE reviews SET stars = stars * 20; DELETE FROM sites WHERE id = 'hill'")
    camp.camp.answer("tablet", 2)
    #expect(try camp.tablet("SELECT stars, words FROM reviews WHERE id = 'r1'") == "80|mine")
    #expect(try camp.tablet("SELECT kind, state FROM satchel_conflicts") == "update/update|open")
    #expect(try camp.tablet("SELECT count(*) FROM sites WHERE id = 'hill'") == "0")
    try camp.settle()
    #expect(try camp.office("SELECT stars, words FROM reviews WHERE id = 'r1'") == "80|mine")
    #expect(camp.camp.hub("history", "reviews", "r1").out.contains("80"))
  }

  @Test(
    "a table recreated with stricter columns: a pending change that it no longer allows holds up nothing"
  )
  func stricter() throws {
    try camp.write(
      "tablet",
      """
      UPDATE reviews SET words = NULL WHERE id = 'r1'; INSERT INTO reviews (id, site, author) VALUES ('r3', 'hill', \
      'ann')
      """
    )
    try camp.apply(
      Self.definition(2),
      """
      CREATE TABLE new (
        id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), author TEXT, words TEXT NOT NULL, stars INTEGER, rank INTEGER NOT NULL);
      INSERT INTO new SELECT id, site, author, coalesce(words, 'none'), stars, coalesce(stars, 0) FROM reviews;
      DROP TABLE reviews;
      ALTER TABLE new RENAME TO reviews;
      """)
    camp.camp.answer("tablet", 2)
    #expect(try camp.tablet("SELECT id, words, rank FROM reviews ORDER BY id") == "r1|none|4\nr3|none|0")
    try camp.settle()
    #expect(
      try camp.office("SELECT id, words, rank FROM reviews WHERE author = 'ann' ORDER BY id") == "r1|none|4\nr3|none|0")
  }

  @Test(
    "what a migration would compute from the rows that a device sees is what the hub computed from all",
    arguments: [false, true])
  func partial(full: Bool) throws {
    try camp.write("office", "INSERT INTO reviews VALUES ('r4', 'hill', 'ben', 1, 'far')")
    camp.camp.answer("tablet", 2)
    try camp.write("tablet", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    try camp.apply(
      Self.definition(2),
      """
      ALTER TABLE reviews ADD COLUMN others INTEGER DEFAULT 0;
      UPDATE reviews SET others = (SELECT count(*) FROM reviews AS o WHERE o.author <> reviews.author) WHERE author = 'ben';
      UPDATE reviews SET others = 7 WHERE (SELECT count(*) FROM sites) < 3;
      DELETE FROM sites WHERE (SELECT count(*) FROM sites) < 3;
      """)
    camp.camp.hub("emit", "--device", "tablet", full ? "--full" : "--quiet")
    camp.camp.device("tablet", "import", camp.camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel"))
    #expect(try camp.tablet("SELECT id, words, others FROM reviews ORDER BY id") == "r1|mine|0\nr4|far|1")
    #expect(try camp.tablet("SELECT count(*) FROM sites") == "2")
    try camp.settle()
  }

  @Test(
    "a device that missed two versions gets both migrations in their order, in a full bundle too",
    arguments: [false, true])
  func missed(full: Bool) throws {
    try camp.write("tablet", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    camp.camp.device("tablet", "export")
    try camp.apply(
      Self.definition(2), "ALTER TABLE reviews RENAME COLUMN words TO text; ALTER TABLE sites ADD COLUMN note TEXT")
    camp.camp.hub("emit", "--device", "tablet")
    try camp.apply(
      Self.definition(3), "ALTER TABLE reviews DROP COLUMN stars; ALTER TABLE reviews RENAME COLUMN text TO report")
    try camp.apply(Self.definition(4))
    camp.camp.hub("import", camp.camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel"))
    #expect(try camp.office("SELECT report FROM reviews WHERE id = 'r1'") == "mine")
    try camp.write("tablet", "UPDATE reviews SET words = 'mine again' WHERE id = 'r1'")
    camp.camp.hub("emit", "--device", "tablet", full ? "--full" : "--quiet")
    let outcome = camp.camp.device("tablet", "import", camp.camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel"))
    #expect(outcome.code == 0 && outcome.out.contains("The dataset has version 4 here"), "\(outcome.error)")
    #expect(try camp.tablet("SELECT report FROM reviews") == "mine again")
    try camp.settle()
    #expect(try camp.office("SELECT report FROM reviews WHERE id = 'r1'") == "mine again")
  }

  @Test("a device that begins after a new version begins with it, and one with older tables gets them by a full bundle")
  func beginning() throws {
    try camp.write("phone", "UPDATE reviews SET words = 'darker' WHERE id = 'r2'")
    try camp.apply(Self.definition(2), Self.migration)
    camp.camp.hub("device", "provision", "second", "--user", "ann", "--into", camp.camp.path("second"))
    #expect(try camp.camp.rows("second/data.sqlite", "SELECT id, reviewed FROM sites ORDER BY id") == "hill|0\nlake|1")
    camp.camp.hub("emit", "--device", "phone", "--full")
    #expect(
      camp.camp.device("phone", "import", camp.camp.path("hub/bundles/outbox/camp-hub-phone-2.satchel")).code == 0)
    #expect(try camp.camp.rows("phone/data.sqlite", "SELECT text FROM reviews WHERE id = 'r2'") == "darker")
    try camp.settle("second")
    try camp.settle("phone", sites: "tier <= 2")
    #expect(try camp.office("SELECT text FROM reviews WHERE id = 'r2'") == "darker")
  }
}

/// A camp whose dataset gets new versions.
struct VersionFixture {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try FileManager.default.createDirectory(atPath: camp.path("stick"), withIntermediateDirectories: true)
  }

  func office(_ query: String) throws -> String { try camp.rows("office.sqlite", query) }
  func tablet(_ query: String) throws -> String { try camp.rows("tablet/data.sqlite", query) }

  /// Writes at the office or on a device, as an app would.
  func write(_ place: String, _ sql: String) throws {
    let isDevice = ["tablet", "phone"].contains(place)
    try camp.sql(isDevice ? "\(place)/data.sqlite" : place == "office" ? "office.sqlite" : place, sql)
  }

  func tryToApply(_ definition: String, _ migration: String? = nil, _ options: String...) throws
    -> CommandLineFixture.Outcome
  {
    try camp.write("next.json", definition)
    var words = ["-C", camp.path("hub"), "dataset", "apply", camp.path("next.json")] + options
    if let migration {
      try camp.write("next.sql", migration)
      words += ["--migration", camp.path("next.sql")]
    }
    return camp.hubAnywhere(words)
  }

  /// Applies another version at the hub, and expects success.
  func apply(_ definition: String, _ migration: String? = nil) throws {
    let outcome = try tryToApply(definition, migration)
    #expect(outcome.code == 0, "\(outcome.error)")
  }

  func version(of device: String) throws -> Int64? {
    let devices = try camp.hub("dataset", "show", "--json").json["devices"]?.arrayValue ?? []
    return devices.first { $0["device"]?.stringValue == device }?["version"]?.integerValue
  }

  /// Both sides exchange bundles until nothing is new. Expects that they then have the same rows and no fault.
  func settle(_ device: String = "tablet", sites: String = "tier <= 1") throws {
    for _ in 1...3 {
      for outcome in [camp.device(device, "sync", camp.path("stick")), camp.hub("sync", camp.path("stick"))] {
        #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
      }
    }
    camp.device(device, "sync", camp.path("stick"))
    let data = "\(device)/data.sqlite"
    let seen = "SELECT id FROM sites WHERE \(sites)"
    #expect(
      try camp.rows(data, "SELECT * FROM sites ORDER BY id")
        == office("SELECT * FROM sites WHERE id IN (\(seen)) ORDER BY id"))
    #expect(
      try camp.rows(data, "SELECT * FROM reviews ORDER BY id")
        == office("SELECT * FROM reviews WHERE site IN (\(seen)) ORDER BY id"))
    for outcome in [camp.device(device, "doctor"), camp.hub("doctor"), camp.hub("audit")] {
      #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    }
    #expect(camp.device(device, "status").out.contains("nothing: the hub has everything"))
  }
}
