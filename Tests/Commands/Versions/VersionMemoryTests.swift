import Testing

/// The records of hub and devices about rows name columns. A later version may not have these columns any more.
@Suite("Records from before a new version")
struct VersionMemoryTests {
  private let camp: VersionFixture

  init() throws { camp = try VersionFixture() }

  private static let script = """
    ALTER TABLE reviews DROP COLUMN stars;
    ALTER TABLE reviews RENAME COLUMN words TO text;
    ALTER TABLE reviews ADD COLUMN season TEXT NOT NULL DEFAULT 'summer';
    """

  @Test("a row that waits for its parent enters in the new columns when the parent is there")
  func held() throws {
    try camp.write("phone", "INSERT INTO reviews VALUES ('r5', 'moor', 'ben', 2, 'wet')")
    camp.camp.deliver("phone", 1)
    #expect(try camp.office("SELECT kind, state FROM satchel_conflicts") == "foreign key|held")
    try camp.apply(VersionTests.definition(2), Self.script)
    try camp.write("office", "INSERT INTO sites VALUES ('moor', 'Moor', 1)")
    camp.camp.hub("emit", "--all")
    #expect(try camp.office("SELECT text, season FROM reviews WHERE id = 'r5'") == "wet|summer")
    #expect(try camp.office("SELECT state FROM satchel_conflicts") == "settled")
  }

  @Test(
    "a conflict of an earlier version is decided in the columns of the present one, on both sides",
    arguments: ["hub", "tablet"])
  func decided(side: String) throws {
    try camp.write("office", "INSERT INTO reviews VALUES ('r6', 'lake', 'ann', 1, 'theirs')")
    try camp.write(
      "tablet",
      """
      INSERT INTO reviews VALUES ('r6', 'lake', 'ann', 2, 'mine'); UPDATE reviews SET stars = 1, words = 'loud' WHERE \
      id = 'r1'
      """
    )
    try camp.write("office", "UPDATE reviews SET words = 'calm' WHERE id = 'r1'")
    camp.camp.deliver("tablet", 1)
    camp.camp.answer("tablet", 2)
    try camp.apply(VersionTests.definition(2), Self.script)
    camp.camp.answer("tablet", 3)
    let database = side == "hub" ? "office.sqlite" : "tablet/data.sqlite"
    #expect(try camp.camp.rows(database, "SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == "2")
    let command = ["conflicts", "resolve", "--all", "--policy", "device"]
    let outcome =
      side == "hub"
      ? camp.camp.hubAnywhere(["-C", camp.camp.path("hub")] + command)
      : camp.camp.deviceAnywhere(["-C", camp.camp.path("tablet")] + command)
    #expect(outcome.code == 0, "\(outcome.out)\(outcome.error)")
    try camp.settle()
    #expect(
      try camp.office("SELECT id, text, season FROM reviews WHERE author = 'ann' ORDER BY id")
        == "r1|loud|summer\nr6|mine|summer"
    )
    #expect(
      try camp.office("SELECT device_values FROM satchel_conflicts WHERE operation = 'insert'").contains(#""stars":2"#))
  }

  @Test("a decision about a conflict of an earlier version leaves a newer value of another column")
  func decidedAfterOthers() throws {
    try camp.write("office", "UPDATE reviews SET words = 'calm' WHERE id = 'r1'")
    try camp.write("tablet", "UPDATE reviews SET site = NULL, words = 'loud' WHERE id = 'r1'")
    camp.camp.deliver("tablet", 1)
    try camp.write("office", "UPDATE reviews SET site = 'lake' WHERE id = 'r1'")
    try camp.apply(VersionTests.definition(2), Self.script)
    let command = ["-C", camp.camp.path("hub"), "conflicts", "resolve", "--all", "--policy", "device"]
    #expect(camp.camp.hubAnywhere(command).code == 0)
    #expect(try camp.office("SELECT site, text FROM reviews WHERE id = 'r1'") == "lake|loud")
  }

  @Test("history shows earlier changes, and a bundle of an earlier version can be reverted")
  func history() throws {
    try camp.write(
      "tablet",
      """
      INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep');
      UPDATE reviews SET words = 'loud', stars = 1 WHERE id = 'r1';
      """)
    camp.camp.deliver("tablet", 1)
    try camp.apply(VersionTests.definition(2), Self.script)
    let told = camp.camp.hub("history", "reviews", "r1").out
    #expect(told.contains("loud") && told.contains("quiet"), "\(told)")
    let reverted = camp.camp.hub("revert", "tablet/1")
    #expect(reverted.code == 0, "\(reverted.error)")
    #expect(try camp.office("SELECT id, text FROM reviews WHERE author = 'ann'") == "r1|quiet")
    try camp.settle()
  }

  /// Each entry has two migrations. The first migration adds a column with a default. The second migration creates the
  /// table again, without the default or with another default.
  private static let newColumns = [
    (
      "ALTER TABLE reviews ADD COLUMN season TEXT DEFAULT 'summer'; ALTER TABLE reviews ADD COLUMN rain REAL DEFAULT 2",
      "time, rain REAL", "season, rain"
    ),
    ("ALTER TABLE reviews ADD COLUMN note TEXT", "time TEXT NOT NULL DEFAULT ''", "coalesce(note, '')"),
  ]

  @Test(
    "a row keeps the value that a new column brought, if the table then gets another default: it is not unseen",
    arguments: newColumns)
  func newValues(first: String, columns: String, values: String) throws {
    try camp.write("tablet", "INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'steep')")
    camp.camp.device("tablet", "export")
    try camp.apply(VersionTests.definition(2), first)
    try camp.apply(
      VersionTests.definition(3),
      """
      CREATE TABLE fresh (id TEXT PRIMARY KEY, site REFERENCES sites, author, stars INTEGER, words, \(columns));
      INSERT INTO fresh SELECT id, site, author, stars, words, \(values) FROM reviews;
      DROP TABLE reviews;
      ALTER TABLE fresh RENAME TO reviews;
      """)
    camp.camp.answer("tablet", 2)
    let before = try camp.tablet("SELECT time FROM reviews WHERE id = 'r3'")
    let doctor = camp.camp.device("tablet", "doctor")
    #expect(doctor.code == 0, "\(doctor.out)\(doctor.error)")
    try camp.camp.writeUnseen("tablet/data.sqlite", "UPDATE reviews SET time = 'winter' WHERE id IN ('r1', 'r3')")
    #expect(
      try camp.camp.device("tablet", "doctor", "--json").json["unseen"]?["reviews"]?["updated"]?.integerValue == 2)
    try camp.camp.writeUnseen("tablet/data.sqlite", "UPDATE reviews SET time = '\(before)' WHERE id IN ('r1', 'r3')")
    try camp.settle()
    #expect(try camp.office("SELECT count(*) FROM satchel_conflicts") == "0")
  }

  @Test("a rehearsal of the bundle that brings a version changes nothing on the device")
  func rehearsal() throws {
    try camp.write("tablet", "UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    try camp.apply(VersionTests.definition(2), Self.script)
    camp.camp.hub("emit", "--device", "tablet")
    let bundle = camp.camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel")
    camp.camp.device("tablet", "status")
    let before = try camp.camp.everything()
    let outcome = camp.camp.device("tablet", "import", "--dry-run", bundle)
    #expect(outcome.code == 0 && outcome.out.contains("version 2"), "\(outcome.error)")
    #expect(try camp.camp.everything() == before)
    let shown = camp.camp.device("tablet", "inspect", bundle).out
    #expect(shown.contains("Migration to version 2\n  ALTER TABLE reviews DROP COLUMN stars;"), "\(shown)")
  }

  @Test(
    """
    an index for full-text search that triggers of the app's keep is true after a migration and the rows that came \
    with it
    """
  )
  func derived() throws {
    let index = """
      CREATE VIRTUAL TABLE found USING fts5 (words);
      CREATE TRIGGER found_in AFTER INSERT ON reviews BEGIN INSERT INTO found (rowid, words) VALUES (NEW.rowid, NEW.words); END;
      CREATE TRIGGER found_out AFTER DELETE ON reviews BEGIN DELETE FROM found WHERE rowid = OLD.rowid; END;
      CREATE TRIGGER found_new AFTER UPDATE ON reviews BEGIN UPDATE found SET words = NEW.words WHERE rowid = NEW.rowid; END;
      """
    try camp.write("tablet", "\(index) INSERT INTO found (rowid, words) SELECT rowid, words FROM reviews")
    try camp.write(
      "office",
      "UPDATE reviews SET words = 'foggy' WHERE id = 'r1'; INSERT INTO reviews VALUES ('r7', 'hill', 'ben', 1, 'windy')"
    )
    try camp.apply(
      VersionTests.definition(2),
      "ALTER TABLE reviews RENAME COLUMN words TO text; UPDATE reviews SET text = text || ' indeed'")
    camp.camp.answer("tablet", 2)
    #expect(
      try camp.tablet(
        "SELECT id FROM reviews JOIN found ON found.rowid = reviews.rowid WHERE found MATCH 'foggy' AND text = words")
        == "r1")
    #expect(
      try camp.tablet("SELECT words FROM found WHERE found MATCH 'indeed' ORDER BY words")
        == "foggy indeed\nwindy indeed")
    #expect(camp.camp.device("tablet", "doctor").code == 0)
  }

  @Test("rows of one key that two sides made meet under a migration as at any other time: the later one gets a new key")
  func keys() throws {
    let camp = try CommandLineFixture()
    func definition(_ version: Int) -> String {
      #"{ "dataset": "camp", "version": \#(version), "tables": { "camps": { "keys": "rekey" }, "notes": { "keys": "rekey" } } }"#
    }
    try camp.sql(
      "office.sqlite",
      """
      CREATE TABLE camps (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE notes (id INTEGER PRIMARY KEY, camp INTEGER REFERENCES camps (id), words TEXT);
      INSERT INTO camps VALUES (1, 'Oak');
      """)
    try camp.write("camp.json", definition(1))
    camp.hubAnywhere(
      "init", camp.path("hub"), "--dataset", camp.path("camp.json"), "--database", camp.path("office.sqlite"))
    camp.hub("user", "add", "ann")
    camp.hub("device", "provision", "tablet", "--user", "ann", "--into", camp.path("tablet"))
    try camp.sql("office.sqlite", "INSERT INTO camps VALUES (2, 'Elm'); INSERT INTO notes VALUES (1, 2, 'tall')")
    try camp.sql("tablet/data.sqlite", "INSERT INTO camps VALUES (2, 'Ash'); INSERT INTO notes VALUES (1, 2, 'wide')")
    try camp.write("next.json", definition(2))
    try camp.write("next.sql", "ALTER TABLE camps RENAME COLUMN name TO title; ALTER TABLE notes ADD COLUMN day TEXT")
    #expect(camp.hub("dataset", "apply", camp.path("next.json"), "--migration", camp.path("next.sql")).code == 0)
    camp.answer("tablet", 2)
    let rows = "SELECT title, words FROM notes JOIN camps ON camps.id = camp ORDER BY title"
    #expect(try camp.rows("tablet/data.sqlite", rows) == "Ash|wide\nElm|tall")
    camp.deliver("tablet", 1)
    camp.answer("tablet", 3)
    #expect(try camp.rows("office.sqlite", rows) == "Ash|wide\nElm|tall")
    for side in ["camps", "notes"] {
      #expect(
        try camp.rows("tablet/data.sqlite", "SELECT * FROM \(side)")
          == camp.rows("office.sqlite", "SELECT * FROM \(side)"))
    }
    #expect(camp.device("tablet", "doctor").code == 0)
  }
}
