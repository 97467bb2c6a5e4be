import Foundation
import Testing

/// Faults of a new version, and bundles that wait because their reader has an older version.
@Suite("Versions that cannot be taken, or not yet")
struct VersionRefusalTests {
  private let camp: VersionFixture

  init() throws { camp = try VersionFixture() }

  @Test("a rehearsal says what would change, and changes nothing")
  func rehearsal() throws {
    camp.camp.hub("status")
    let before = try camp.camp.everything()
    let definition = VersionTests.definition(2, #""sites": { "visible": "tier = 1" }, "tools": {}"#)
    let script =
      "CREATE TABLE tools (id TEXT PRIMARY KEY); ALTER TABLE sites ADD COLUMN note; UPDATE sites SET note = 'x'"
    let told = try camp.tryToApply(definition, script, "--dry-run").out
    for words in [
      "would have version 2", "tools", "reviews: its rows stay", "sites has the new column note", "visible",
      "3 updated",
    ] {
      #expect(told.contains(words), "\(told)")
    }
    #expect(!told.contains("\u{FFFD}"))
    let json = try camp.tryToApply(definition, script, "--dry-run", "--json").json
    #expect(json["removed"]?.arrayValue?.compactMap(\.stringValue) == ["reviews"])
    #expect(json["rules"]?["sites"]?.arrayValue?.compactMap(\.stringValue) == ["visible", "write"])
    for name in ["next.json", "next.sql"] { try FileManager.default.removeItem(atPath: camp.camp.path(name)) }
    #expect(try camp.camp.everything() == before)
  }

  @Test(
    "a definition that does not fit is refused with its place, and nothing has changed",
    arguments: [
      (VersionTests.definition(1), nil, "at version: it is 1, and the present version is 1"),
      (VersionTests.definition(3), nil, #"say "version": 2"#),
      (#"{ "dataset": "other", "version": 2, "tables": { "sites": {} } }"#, nil, "this hub's dataset is camp"),
      (VersionTests.definition(2, #""nothing": {}"#), nil, "tables.nothing"),
      (
        VersionTests.definition(2, #""sites": { "visible": "height > 1" }"#), nil,
        "tables.sites.visible: no such column: height"
      ),
      (VersionTests.definition(2, #""sites": { "visible": "load_extension('x')" }"#), nil, "tables.sites.visible"),
      (VersionTests.definition(2, #""sites": { "visible": "random() > 0" }"#), nil, "it calls random()"),
      (
        VersionTests.definition(2, #""sites": { "visible": "name < date('now')" }"#), nil,
        "tables.sites.visible: it uses"
      ),
      (VersionTests.definition(2, #""sites": { "write": "id IN (DELETE FROM sites)" }"#), nil, "tables.sites.write"),
      (
        VersionTests.definition(2), "ALTER TABLE reviews DROP COLUMN site;\nUPDATE missing SET a = 1",
        "fails at line 2: no such table"
      ),
      (VersionTests.definition(2), "DROP TABLE reviews", "tables.reviews: the database has no such table"),
      (
        VersionTests.definition(2),
        "CREATE TABLE n (site TEXT PRIMARY KEY, id TEXT); DROP TABLE reviews; ALTER TABLE n RENAME TO reviews",
        "tables.reviews: the migration gives it another PRIMARY KEY"
      ),
      (
        #"{ "dataset": "camp", "version": 2, "attributes": { "tier": "text" }, "tables": { "sites": {} } }"#, nil,
        "attributes.tier: it is integer"
      ),
    ] as [(String, String?, String)])
  func refused(definition: String, script: String?, words: String) throws {
    let before = try camp.office("SELECT sql FROM sqlite_schema ORDER BY name")
    let outcome = try camp.tryToApply(definition, script)
    #expect(outcome.code == 1 && outcome.error.contains(words), "\(outcome.error)")
    #expect(try camp.office("SELECT sql FROM sqlite_schema ORDER BY name") == before)
    #expect(camp.camp.hub("doctor").out == "All is well.\n")
    #expect(try camp.camp.hub("dataset", "show", "--json").json["version"]?.integerValue == 1)
  }

  @Test(
    "init too refuses a rule that names missing things, writes, reaches out or depends on more than rows",
    arguments: [
      ("height > 1", "no such column: height"), ("id IN (DELETE FROM sites)", "syntax error"),
      ("random() > 0", "it calls random()"),
      ("load_extension('x')", "it calls load_extension()"), ("name < datetime()", "it uses datetime"),
      ("id IN (SELECT name FROM satchel_users)", "satchel_users"),
      ("1); DELETE FROM sites; --", "closing parenthesis has no opening"),
      ("EXISTS (SELECT 1 FROM sites AS a JOIN sites AS b USING (id))", "a join in a rule says ON"),
      ("EXISTS (SELECT 1 FROM sites AS a Natural Join sites AS b)", "a join in a rule says ON"),
    ])
  func rules(rule: String, words: String) throws {
    try camp.write("other.sqlite", "CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT)")
    for member in ["visible", "write"] {
      try camp.camp.write(
        "other.json", #"{ "dataset": "d", "version": 1, "tables": { "sites": { "\#(member)": "\#(rule)" } } }"#)
      let outcome = camp.camp.hubAnywhere(
        "init", camp.camp.path("other"), "--dataset", camp.camp.path("other.json"), "--database",
        camp.camp.path("other.sqlite"))
      #expect(
        outcome.code == 1 && outcome.error.contains("at tables.sites.\(member): ") && outcome.error.contains(words),
        "\(outcome.error)")
    }
  }

  @Test(
    "a migration touches the app's tables and nothing else",
    arguments: [
      ("ATTACH 'x.sqlite' AS x", "opens another database"), ("COMMIT", "leave BEGIN, COMMIT and the like out"),
      ("SAVEPOINT s", "leave BEGIN"), ("PRAGMA writable_schema = ON", "PRAGMA writable_schema has no place"),
      ("SELECT load_extension('x')", "calls load_extension()"), ("DELETE FROM satchel_log", "touches satchel_log"),
      ("UPDATE sites SET name = (SELECT name FROM satchel_users)", "touches satchel_users"),
      ("DROP TABLE satchel_before_sites", "Satchel's own"), ("CREATE TABLE satchel_x (a)", "Satchel's own"),
      ("INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, 'x')", "may not be modified"),
    ])
  func bounds(script: String, words: String) throws {
    let outcome = try camp.tryToApply(VersionTests.definition(2), "-- a comment\n\n\(script);")
    #expect(
      outcome.code == 1 && outcome.error.contains("fails at line 3: ") && outcome.error.contains(words),
      "\(outcome.error)")
    #expect(camp.camp.hub("doctor").out == "All is well.\n")
  }

  @Test("a device whose database the migration does not fit keeps the bundle, says why, and goes on delivering")
  func waitsAtDevice() throws {
    try camp.write("tablet", "CREATE TABLE tools (mine TEXT); UPDATE reviews SET words = 'mine' WHERE id = 'r1'")
    let definition = VersionTests.definition(2, #"\#(VersionTests.tables), "tools": {}"#)
    try camp.apply(
      definition, "CREATE TABLE tools (id TEXT PRIMARY KEY); ALTER TABLE reviews RENAME COLUMN words TO text")
    camp.camp.hub("emit", "--device", "tablet")
    let schema = try camp.tablet("SELECT sql FROM sqlite_schema ORDER BY name")
    let bundle = camp.camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel")
    let outcome = camp.camp.device("tablet", "import", bundle)
    #expect(outcome.code == 3 && outcome.error.contains("line 1: table tools already exists"), "\(outcome.error)")
    #expect(try camp.tablet("SELECT sql FROM sqlite_schema ORDER BY name") == schema)
    let status = camp.camp.device("tablet", "status").out
    #expect(
      status.contains("camp-hub-tablet-2.satchel: This database cannot be brought to version 2")
        && status.contains("already exists"))
    #expect(try camp.camp.device("tablet", "status", "--json").json["obstacles"]?.arrayValue?.count == 1)
    camp.camp.deliver("tablet", 1)
    #expect(try camp.office("SELECT text FROM reviews WHERE id = 'r1'") == "mine")
    #expect(camp.camp.device("tablet", "apply").code == 3)
    try camp.write("tablet", "DROP TABLE tools")
    let applied = camp.camp.device("tablet", "apply")
    #expect(applied.code == 0 && applied.out.contains("version 2"), "\(applied.error)")
    #expect(!camp.camp.device("tablet", "status").out.contains("Waits"))
    try camp.settle()
  }

  @Test("an app that changed its tables by itself, before the version came that would: all but the migration is taken")
  func migratedByApp() throws {
    try camp.write(
      "tablet",
      """
      ALTER TABLE reviews ADD COLUMN season TEXT DEFAULT 'summer'; UPDATE reviews SET words = 'mine', season = \
      'winter' WHERE id = 'r1'
      """
    )
    #expect(camp.camp.device("tablet", "doctor", "--repair").code == 0)
    try camp.apply(VersionTests.definition(2), "ALTER TABLE reviews ADD COLUMN season TEXT DEFAULT 'summer'")
    try camp.write(
      "office",
      "UPDATE reviews SET season = 'spring' WHERE id = 'r2'; UPDATE sites SET name = 'Big Lake' WHERE id = 'lake'")
    camp.camp.hub("emit", "--device", "tablet")
    let outcome = camp.camp.device("tablet", "import", camp.camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"))
    #expect(
      outcome.code == 3 && outcome.error.contains("duplicate column name: season")
        && outcome.error.contains("--migrated"))
    let applied = camp.camp.device("tablet", "apply", "--migrated")
    #expect(applied.code == 0 && applied.out.contains("version 2"), "\(applied.error)")
    try camp.settle()
    #expect(try camp.office("SELECT words, season FROM reviews WHERE id = 'r1'") == "mine|winter")
  }

  @Test(
    """
    where the app has not, a migration that is passed over leaves tables that the hub's rows do not fit, and nothing \
    is changed
    """
  )
  func notMigratedByApp() throws {
    try camp.apply(VersionTests.definition(2), VersionTests.migration)
    camp.camp.hub("emit", "--device", "tablet")
    let outcome = camp.camp.device(
      "tablet", "import", "--migrated", camp.camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel"))
    #expect(outcome.code == 3 && outcome.error.contains("has the column reviewed at the hub"), "\(outcome.error)")
    #expect(try camp.camp.device("tablet", "status", "--json").json["version"]?.integerValue == 1)
    #expect(camp.camp.device("tablet", "apply").code == 0)
    try camp.settle()
  }

  @Test(
    """
    a hub that was set back keeps a device's bundle of the newer version, names it, and takes it when it has come so \
    far again
    """
  )
  func waitsAtHub() throws {
    let old = try camp.camp.read("office.sqlite")
    try camp.apply(VersionTests.definition(2), VersionTests.migration)
    camp.camp.answer("tablet", 2)
    try camp.write("tablet", "UPDATE reviews SET text = 'mine' WHERE id = 'r1'")
    camp.camp.device("tablet", "export")
    for ending in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: camp.camp.path("office.sqlite\(ending)"))
    }
    try Data(old).write(to: URL(fileURLWithPath: camp.camp.path("office.sqlite")))
    let outcome = camp.camp.hub("import", camp.camp.path("tablet/bundles/outbox/camp-tablet-hub-1.satchel"))
    #expect(outcome.code == 3 && outcome.error.contains("It is of version 2 of the dataset; this hub has version 1"))
    let status = camp.camp.hub("status").out
    #expect(status.contains("Waits") && status.contains("it is of version 2 of the dataset"), "\(status)")
    #expect(try camp.camp.hub("status", "--json").json["waiting"]?.arrayValue?.first?["version"]?.integerValue == 2)
    // The hub's own folder on the stick has a bundle that this hub does not know.
    let found = camp.camp.hub("sync", camp.camp.path("stick"))
    #expect(found.code == 3 && found.error.contains("restore --in-place"), "\(found.error)")
    #expect(camp.camp.hub("restore", "--in-place").code == 0)
    // The bundle continues to wait, and does not hinder other bundles.
    #expect(camp.camp.hub("sync", camp.camp.path("stick")).code == 0)
    try camp.apply(VersionTests.definition(2), VersionTests.migration)
    #expect(camp.camp.hub("status").out.contains("the next import or sync takes it"))
    let synced = camp.camp.hub("sync", camp.camp.path("stick"))
    #expect(synced.code == 0 && synced.out.contains("Bundle 1 of tablet: 1 change taken"), "\(synced.error)")
    #expect(try camp.office("SELECT text FROM reviews WHERE id = 'r1'") == "mine")
    #expect(!camp.camp.hub("status").out.contains("Waits"))
  }
}
