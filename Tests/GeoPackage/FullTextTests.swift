import SatchelSQLite
import TestSupport
import Testing

/// Full-text indexes of a table of the dataset. The triggers from SQLite's documentation maintain these indexes.
@Suite("Full-text indexes")
struct FullTextTests {
  private static let schema = """
    CREATE TABLE notes (id INTEGER PRIMARY KEY, words TEXT, other TEXT);
    CREATE VIRTUAL TABLE found USING fts5 (words, content = 'notes', content_rowid = 'id');
    CREATE VIRTUAL TABLE bare USING fts5 (words, content = '');
    CREATE VIRTUAL TABLE old USING fts4 (words, content="notes");
    CREATE TRIGGER notes_in AFTER INSERT ON notes BEGIN
      INSERT INTO found (rowid, words) VALUES (NEW.id, NEW.words);
      INSERT INTO bare (rowid, words) VALUES (NEW.id, NEW.words);
    END;
    CREATE TRIGGER notes_out AFTER DELETE ON notes BEGIN
      INSERT INTO found (found, rowid, words) VALUES ('delete', OLD.id, OLD.words);
      INSERT INTO bare (bare, rowid, words) VALUES ('delete', OLD.id, OLD.words);
    END;
    CREATE TRIGGER notes_change AFTER UPDATE ON notes BEGIN
      INSERT INTO found (found, rowid, words) VALUES ('delete', OLD.id, OLD.words);
      INSERT INTO found (rowid, words) VALUES (NEW.id, NEW.words);
      INSERT INTO bare (bare, rowid, words) VALUES ('delete', OLD.id, OLD.words);
      INSERT INTO bare (rowid, words) VALUES (NEW.id, NEW.words);
    END;
    CREATE TRIGGER old_bu BEFORE UPDATE ON notes BEGIN DELETE FROM old WHERE docid = OLD.id; END;
    CREATE TRIGGER old_bd BEFORE DELETE ON notes BEGIN DELETE FROM old WHERE docid = OLD.id; END;
    CREATE TRIGGER old_au AFTER UPDATE ON notes BEGIN INSERT INTO old (docid, words) VALUES (NEW.id, NEW.words); END;
    CREATE TRIGGER old_ai AFTER INSERT ON notes BEGIN INSERT INTO old (docid, words) VALUES (NEW.id, NEW.words); END;
    """

  private func open() throws -> GeoPackageFixture {
    let expedition = try GeoPackageFixture(ending: "sqlite")
    try expedition.sql(
      expedition.office, Self.schema + "INSERT INTO notes VALUES (1, 'an owl', ''), (2, 'a fox', ''), (3, 'a hen', '')")
    try expedition.sql(expedition.folder("empty.sqlite"), Self.schema)
    #expect(try expedition.found(["notes"]).code == 0)
    expedition.hub("user", "add", "ann")
    for device in ["one", "two"] { #expect(expedition.provision(device, template: "empty.sqlite").code == 0) }
    return expedition
  }

  /// Checks that each index agrees with its table, by FTS5's own check, and that it finds a word in exactly these rows.
  private func check(_ expedition: GeoPackageFixture, _ word: String, isIn ids: [Int64]) throws {
    for path in [expedition.office, expedition.database("one"), expedition.database("two")] {
      let database = try Database(path: path, mode: .readWrite)
      try database.execute(
        """
        INSERT INTO found (found, rank) VALUES ('integrity-check', 1);
        INSERT INTO bare (bare) VALUES ('integrity-check');
        INSERT INTO old (old) VALUES ('integrity-check');
        """)
      let hits = try ["found", "bare", "old"].map { index in
        try database.all("SELECT rowid FROM \(index) WHERE \(index) MATCH :word ORDER BY 1", ["word": .string(word)]) {
          $0.integer(0)
        }
      }
      #expect(hits == [ids, ids, ids], "\(path)")
    }
  }

  @Test("they follow imports at the hub and on devices: rows that come, change and go, by deltas and by a full bundle")
  func followed() throws {
    let expedition = try open()
    try check(expedition, "owl", isIn: [1])
    try expedition.sql(
      expedition.database("one"),
      """
      INSERT INTO notes VALUES (4, 'an owl and a fox', ''); UPDATE notes SET words = 'an eel' WHERE id = 1; DELETE \
      FROM notes WHERE id = 3
      """
    )
    try expedition.round(from: "one", to: ["one", "two"])
    try check(expedition, "owl", isIn: [4])
    try check(expedition, "eel", isIn: [1])
    try check(expedition, "hen", isIn: [])

    try expedition.sql(
      expedition.office, "UPDATE notes SET words = 'an eel, too' WHERE id = 2; DELETE FROM notes WHERE id = 4")
    try expedition.bring(to: ["one"], "--full")
    try expedition.bring(to: ["two"])
    try check(expedition, "eel", isIn: [1, 2])
    try check(expedition, "owl", isIn: [])
  }

  @Test("a change that a device replays on what the hub sent, and a decision, are found too")
  func replayed() throws {
    let expedition = try open()
    try expedition.sql(expedition.database("one"), "UPDATE notes SET other = 'mine' WHERE id = 1")
    try expedition.sql(expedition.database("two"), "UPDATE notes SET words = 'an eel' WHERE id = 1")
    try expedition.round(from: "two", to: ["one", "two"])
    try check(expedition, "eel", isIn: [1])
    try expedition.sql(expedition.database("one"), "UPDATE notes SET words = 'an ant' WHERE id = 2")
    try expedition.sql(expedition.database("two"), "UPDATE notes SET words = 'a bee' WHERE id = 2")
    try expedition.round(from: "two", to: ["one", "two"])
    try expedition.round(from: "one", to: ["one", "two"])
    try check(expedition, "bee", isIn: [2])
    let id =
      try Database(path: expedition.office, mode: .readOnly).first("SELECT id FROM satchel_conflicts") { $0.text(0) }
      ?? ""
    #expect(expedition.hub("conflicts", "resolve", id, "--keep", "device").code == 0)
    try expedition.bring(to: ["one", "two"])
    try check(expedition, "ant", isIn: [2])
  }

  @Test("rows that trade a value that only one of them may have keep their places in the indexes")
  func traded() throws {
    let expedition = try open()
    for path in [expedition.office, expedition.database("one"), expedition.database("two")] {
      try expedition.sql(path, "CREATE UNIQUE INDEX by_words ON notes (words)")
    }
    // Capture must learn which rows OR REPLACE may delete because of the new index.
    expedition.hub("doctor", "--repair")
    for device in ["one", "two"] { expedition.device(device, "doctor", "--repair") }
    try expedition.sql(
      expedition.database("one"),
      """
      UPDATE notes SET words = '' WHERE id = 1; UPDATE notes SET words = 'an owl' WHERE id = 2; UPDATE notes SET \
      words = 'a fox' WHERE id = 1
      """
    )
    try expedition.round(from: "one", to: ["one", "two"])
    try check(expedition, "owl", isIn: [2])
    try check(expedition, "fox", isIn: [1])
  }

  @Test(
    """
    an index that is false already is no damaged database: it is named, with how to mend it, and the import then goes \
    on
    """
  )
  func falseIndex() throws {
    let expedition = try open()
    try expedition.sql(expedition.database("one"), "INSERT INTO found (found) VALUES ('delete-all')")
    try expedition.sql(expedition.office, "DELETE FROM notes WHERE id = 1")
    expedition.hub("emit", "--device", "one")
    let bundle = expedition.folder("hub/bundles/outbox/land-hub-one-2.satchel")
    let refused = expedition.device("one", "import", bundle)
    #expect(refused.code == 1)
    for words in ["table notes", "notes_out", "malformed", "rebuild"] {
      #expect(refused.error.contains(words), "\(refused.error)")
    }
    try expedition.sql(expedition.database("one"), "INSERT INTO found (found) VALUES ('rebuild')")
    #expect(expedition.device("one", "import", bundle).code == 0)
    try expedition.bring(to: ["two"])
    try check(expedition, "owl", isIn: [])
  }

  @Test("a trigger that only the app can run is named, with the way around it, and the import then goes on")
  func lackingFunction() throws {
    let expedition = try open()
    try expedition.sql(
      expedition.database("one"),
      "DROP TRIGGER notes_out; DROP TRIGGER old_bd; INSERT INTO found (found) VALUES ('delete-all')")
    try expedition.sql(
      expedition.database("one"),
      """
      CREATE TRIGGER notes_out AFTER DELETE ON notes BEGIN
        INSERT INTO found (found, rowid, words) VALUES ('delete', OLD.id, theirs(OLD.words));
      END
      """)
    try expedition.sql(expedition.office, "DELETE FROM notes WHERE id = 1")
    expedition.hub("emit", "--device", "one")
    let bundle = expedition.folder("hub/bundles/outbox/land-hub-one-2.satchel")
    let refused = expedition.device("one", "import", bundle)
    #expect(refused.code == 1)
    for words in ["table notes", "notes_out", "no such function: theirs", ".\nOnly the app has this"] {
      #expect(refused.error.contains(words), "\(refused.error)")
    }
    try expedition.sql(expedition.database("one"), "DROP TRIGGER notes_out")
    #expect(expedition.device("one", "import", bundle).code == 0)
    try expedition.sql(expedition.database("one"), "INSERT INTO found (found) VALUES ('rebuild')")
  }
}
