import Testing

/// A device changed rows, and the tables of a new version do not allow these rows.
@Suite("New versions that a device's own rows do not fit")
struct VersionMisfitTests {
  private let camp: VersionFixture

  init() throws { camp = try VersionFixture() }

  /// A migration that creates the reviews again. They must then have less than ten stars.
  /// - Parameter stars: SQL for the stars of an existing row.
  private static func bounded(stars: String = "stars") -> String {
    """
    CREATE TABLE new (
      id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), author TEXT, words TEXT,
      stars INTEGER CHECK (stars < 10));
    INSERT INTO new (id, site, author, words, stars) SELECT id, site, author, words, \(stars) FROM reviews;
    DROP TABLE reviews;
    ALTER TABLE new RENAME TO reviews;
    """
  }

  /// Imports the new version on the tablet. Expects that nothing waits, and that the app can write each row.
  private func bring(_ migration: String, full: Bool = false) throws {
    try camp.apply(VersionTests.definition(2), migration)
    camp.camp.hub("emit", "--device", "tablet", full ? "--full" : "--quiet")
    let outcome = camp.camp.device("tablet", "import", camp.camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"))
    #expect(outcome.code == 0, "\(outcome.error)")
    try camp.write("tablet", "UPDATE reviews SET words = words, stars = stars")
  }

  private func conflicts() throws -> String {
    try camp.tablet("SELECT kind, state, key FROM satchel_conflicts ORDER BY key")
  }

  @Test(
    "if a migration adds a CHECK that pending rows break, these rows are conflicts, and the app can write all rows",
    arguments: [false, true])
  func check(full: Bool) throws {
    try camp.write(
      "tablet",
      """
      UPDATE reviews SET stars = 50, words = 'far too many' WHERE id = 'r1';
      INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 60, 'too many'), ('r4', 'hill', 'ann', 6, 'fits');
      """)
    try bring(Self.bounded(), full: full)
    #expect(try conflicts() == #"constraint|open|["r1"]"# + "\n" + #"constraint|open|["r3"]"#)
    #expect(try camp.tablet("SELECT id, stars, words FROM reviews ORDER BY id") == "r1|4|quiet\nr4|6|fits")
    try camp.settle()
    #expect(try camp.office("SELECT id, stars FROM reviews WHERE author = 'ann' ORDER BY id") == "r1|4\nr4|6")
  }

  @Test("a row that a migration brings into the bounds of a new CHECK stays as the migration left it")
  func mendedByMigration() throws {
    try camp.write("tablet", "UPDATE reviews SET stars = 50, words = 'far too many' WHERE id = 'r1'")
    try bring(Self.bounded(stars: "min(stars, 9)"))
    #expect(try conflicts() == "")
    #expect(try camp.tablet("SELECT stars, words FROM reviews WHERE id = 'r1'") == "9|far too many")
    try camp.settle()
    #expect(try camp.office("SELECT stars, words FROM reviews WHERE id = 'r1'") == "9|far too many")
  }

  @Test(
    "a migration that removes duplicates on a device removes no change without a conflict, and no row at the hub",
    arguments: [false, true])
  func duplicates(full: Bool) throws {
    try camp.write("office", "INSERT INTO reviews VALUES ('r5', 'hill', 'ann', 2, 'of the office')")
    camp.camp.answer("tablet", 2)
    try camp.write(
      "tablet",
      """
      UPDATE reviews SET site = 'hill', words = 'moved' WHERE id = 'r1';
      INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, 'once more');
      """)
    try camp.apply(
      VersionTests.definition(2),
      """
      DELETE FROM reviews WHERE id NOT IN (SELECT max(id) FROM reviews GROUP BY site, author);
      CREATE UNIQUE INDEX one_review ON reviews (site, author);
      """)
    camp.camp.hub("emit", "--device", "tablet", full ? "--full" : "--quiet")
    let outcome = camp.camp.device("tablet", "import", camp.camp.path("hub/bundles/outbox/camp-hub-tablet-3.satchel"))
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(try conflicts() == #"unique|open|["r1"]"# + "\n" + #"unique|open|["r3"]"#)
    #expect(
      try camp.tablet("SELECT id, site, words FROM reviews ORDER BY id") == "r1|lake|quiet\nr5|hill|of the office")
    try camp.settle()
    #expect(
      try camp.office("SELECT id, site, words FROM reviews WHERE author = 'ann' ORDER BY id")
        == "r1|lake|quiet\nr5|hill|of the office")
  }

  @Test(
    "a migration that fails because of a device's own rows takes them out first, and keeps them as conflicts",
    arguments: [false, true])
  func failing(full: Bool) throws {
    try camp.write(
      "tablet",
      """
      UPDATE reviews SET words = NULL WHERE id = 'r1';
      INSERT INTO reviews VALUES ('r3', 'lake', 'ann', 3, 'once more'), ('r4', 'hill', 'ann', 6, 'fits');
      """)
    try bring(
      """
      CREATE TABLE new (
        id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), author TEXT, words TEXT NOT NULL, stars INTEGER,
        UNIQUE (site, author));
      INSERT INTO new (id, site, author, words, stars) SELECT id, site, author, words, stars FROM reviews;
      DROP TABLE reviews;
      ALTER TABLE new RENAME TO reviews;
      """, full: full)
    #expect(try conflicts() == #"constraint|open|["r1"]"# + "\n" + #"unique|open|["r3"]"#)
    #expect(try camp.tablet("SELECT id, words FROM reviews ORDER BY id") == "r1|quiet\nr4|fits")
    try camp.settle()
    #expect(try camp.office("SELECT id, words FROM reviews WHERE author = 'ann' ORDER BY id") == "r1|quiet\nr4|fits")
  }

  @Test(
    "a row from which a new index cannot be computed is a conflict, and the new version comes",
    arguments: [false, true])
  func uncomputable(full: Bool) throws {
    try camp.write(
      "tablet",
      """
      UPDATE reviews SET words = '{' WHERE id = 'r1';
      INSERT INTO reviews VALUES ('r3', 'hill', 'ann', 3, '{'), ('r4', 'hill', 'ann', 6, 'fits');
      """)
    try bring(
      """
      CREATE INDEX payload ON reviews (
        CASE WHEN words LIKE '{%' THEN json_extract(words, '$.a') END)
      """, full: full)
    #expect(try conflicts() == #"constraint|open|["r1"]"# + "\n" + #"constraint|open|["r3"]"#)
    #expect(try camp.tablet("SELECT id, words FROM reviews ORDER BY id") == "r1|quiet\nr4|fits")
    try camp.settle()
    #expect(try camp.office("SELECT id, words FROM reviews WHERE author = 'ann' ORDER BY id") == "r1|quiet\nr4|fits")
  }

  @Test("a person decides about a row that does not fit")
  func decided() throws {
    try camp.write(
      "tablet", "INSERT INTO reviews VALUES ('r3', 'lake', 'ann', 3, 'once more'), ('r4', 'hill', 'ann', 6, 'fits')")
    try bring("CREATE UNIQUE INDEX one_review ON reviews (site, author)")
    #expect(try conflicts() == #"unique|open|["r3"]"#)
    let decided = camp.camp.device("tablet", "conflicts", "resolve", "--all", "--policy", "hub")
    #expect(decided.code == 0, "\(decided.error)")
    try camp.settle()
    #expect(try camp.office("SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == "0")
  }
}
