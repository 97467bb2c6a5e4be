import Foundation
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import Testing

/// A tablet has no Satchel. The team leader's laptop docks it and exchanges its changes.
@Suite("Docking a tablet")
struct DockTests {
  private let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.makeFolder("card")
    try camp.makeFolder("stick")
  }

  private static let database = "card/camp.sqlite"

  @discardableResult private func dock(
    _ words: String..., in camp: CommandLineFixture? = nil
  ) -> CommandLineFixture.Outcome {
    let camp = camp ?? self.camp
    return camp.deviceAnywhere(["-C", camp.path("tablet"), "dock", camp.path("card")] + words, on: camp.platform)
  }

  /// Docks the tablet for the first time: it receives the database of the provisioned workspace.
  private func give() { #expect(dock("--database", "camp.sqlite").code == 0) }

  private func evening() throws {
    let docked = dock("--stick", camp.path("stick"))
    #expect(docked.code == 0, "\(docked.transcript)")
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
  }

  private func moveTablet(to name: String) throws {
    try camp.copy(Self.database, to: name)
    try camp.remove(Self.database)
  }

  private func stars(_ database: String = Self.database) throws -> String {
    try camp.rows(database, "SELECT stars FROM reviews WHERE id = 'r1'")
  }

  private func exports(in folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: camp.path("tablet/bundles/\(folder)"))
      .filter { $0.hasPrefix("camp-tablet-hub-") }
  }

  @Test("the first dock gives the database to the tablet, and the workspace keeps none")
  func first() throws {
    let docked = dock("--database", "camp.sqlite", "--json")
    #expect(docked.code == 0, "\(docked.error)")
    #expect(try docked.json["put"] == true && docked.json["first"] == true)
    #expect(try stars() == "4")
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet/data.sqlite")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("card")) == ["camp.sqlite"])
    #expect(try camp.device("tablet", "status", "--json").json["state"] == "docked")
  }

  @Test("changes of the tablet come to the hub, and changes of the hub come to the tablet, with one stick")
  func bothWays() throws {
    give()
    try camp.sql(Self.database, "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    try evening()
    #expect(try stars("office.sqlite") == "1")
    try evening()
    #expect(try camp.rows(Self.database, "SELECT name FROM sites WHERE id = 'lake'") == "Big lake")
    try evening()
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("without a stick, sync carries the export later, and keeps the hub's bundle for the next dock")
  func later() throws {
    give()
    try camp.sql(Self.database, "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(dock().code == 0)
    #expect(try exports(in: "outbox").count == 1)
    #expect(camp.device("tablet", "sync", camp.path("stick")).code == 0)
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    #expect(try stars("office.sqlite") == "1")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    let synced = camp.device("tablet", "sync", camp.path("stick"))
    #expect(synced.code == 0 && synced.out.contains("waits for the tablet"), "\(synced.transcript)")
    #expect(dock().code == 0)
    #expect(try camp.rows(Self.database, "SELECT name FROM sites WHERE id = 'lake'") == "Big lake")
    #expect(try !exports(in: "outbox").contains("camp-tablet-hub-2.satchel"), "the hub has this export")
  }

  @Test("nothing new changes nothing on the tablet")
  func idle() throws {
    give()
    for _ in 0..<3 { #expect(dock().code == 0) }
    let before = try camp.read(Self.database)
    let docked = dock("--json")
    #expect(docked.code == 0, "\(docked.error)")
    #expect(try docked.json["put"] == false)
    #expect(try camp.read(Self.database) == before)
  }

  @Test("while the tablet is away, commands that need its database name the way")
  func away() throws {
    give()
    for words in [["export"], ["conflicts"], ["log"], ["renew", "--name", "x", "--request", "r.satchel"]] {
      let outcome = camp.deviceAnywhere(["-C", camp.path("tablet")] + words)
      #expect(outcome.code == 1 && outcome.error.contains("satchel dock FOLDER"), "\(words): \(outcome.transcript)")
    }
    #expect(camp.device("tablet", "status").code == 0)
    #expect(camp.device("tablet", "keys", "show").code == 0)
  }

  // MARK: write-ahead logs and journals

  /// Writes to the tablet's database, as an app does that is then killed. The changes are only in the write-ahead log.
  private func writeIntoLog(_ sql: String) throws {
    try moveTablet(to: "app.sqlite")
    let app = try Database(path: camp.path("app.sqlite"), mode: .readWrite)
    try app.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; \(sql)")
    for suffix in ["", "-wal"] { try camp.copy("app.sqlite\(suffix)", to: Self.database + suffix) }
    #expect(app.changes > 0)
  }

  @Test("changes that are only in the log reach the hub, and the old log is gone")
  func log() throws {
    give()
    try writeIntoLog("UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try evening()
    #expect(try stars("office.sqlite") == "1")
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("card")) == ["camp.sqlite"])
    #expect(try stars() == "1")
    try camp.sql(Self.database, "UPDATE reviews SET stars = 2 WHERE id = 'r1'")
    try evening()
    #expect(try stars("office.sqlite") == "2")
  }

  @Test("a transaction that the app did not finish is rolled back, and finished changes reach the hub")
  func journal() throws {
    give()
    try camp.sql(Self.database, "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try moveTablet(to: "app.sqlite")
    let app = try Database(path: camp.path("app.sqlite"), mode: .readWrite)
    // The cache is so small that SQLite writes unfinished changes into the file. The journal can undo them.
    try app.execute(
      """
      CREATE TABLE own (id INTEGER PRIMARY KEY, words TEXT);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO own SELECT i, hex(zeroblob(200)) FROM n;
      PRAGMA cache_size = 5; BEGIN; UPDATE own SET words = 'unfinished'; UPDATE reviews SET stars = 5 WHERE id = 'r1';
      INSERT INTO own (words) SELECT hex(zeroblob(300)) FROM own
      """)
    for suffix in ["", "-journal"] { try camp.copy("app.sqlite\(suffix)", to: Self.database + suffix) }
    try app.execute("ROLLBACK")
    try evening()
    #expect(try stars("office.sqlite") == "1")
    #expect(try camp.rows(Self.database, "SELECT count(*) FROM own WHERE words = 'unfinished'") == "0")
    #expect(try FileManager.default.contentsOfDirectory(atPath: camp.path("card")) == ["camp.sqlite"])
  }

  // MARK: writes during a dock, and crashes

  /// The test fails every second change of a file, or every change if SATCHEL_CRASHES is set, as in `make crash`.
  private static let step = ProcessInfo.processInfo.environment["SATCHEL_CRASHES"] == nil ? 2 : 1

  /// Docks in a copy of this camp while one change of a file fails, and then runs `check`. Repeats this for each change
  /// of a file.
  /// - Parameter first: the number of the first change that fails. Two tests share the numbers, because most changes
  ///   are the same in both.
  private func afterFaults(
    from first: Int, _ check: (_ other: CommandLineFixture, _ number: Int) throws -> Void
  ) throws {
    var number = Self.step == 1 ? 1 : first
    while true {
      let other = try CommandLineFixture(copyOf: camp)
      let fault = TroubledFiles.Fault(at: number)
      other.platform = Platform(files: TroubledFiles(fault: fault), clock: SystemClock(), random: SystemRandom())
      dock(in: other)
      other.platform = .real
      try check(other, number)
      if !fault.wasReached { break }
      number += Self.step
    }
    #expect(number > 20)
  }

  /// Docks while the app writes to the tablet's database.
  private func dockWhileWriting(_ sql: String) -> CommandLineFixture.Outcome {
    var files = TroubledFiles()
    let database = camp.path(Self.database)
    files.intruder = .init(in: camp.path("card")) {
      do { try Database(path: database, mode: .readWrite).execute(sql) } catch { Issue.record(error) }
    }
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    defer { camp.platform = .real }
    return dock("--stick", camp.path("stick"), "--json")
  }

  @Test("if the app writes meanwhile, nothing is put back and nothing leaves; the next dock has both changes")
  func writtenMeanwhile() throws {
    give()
    try camp.sql(Self.database, "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    #expect(camp.hub("emit", "--device", "tablet").code == 0)
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    let before = try ["outbox", "archive", "sent"].map(exports(in:))
    let docked = dockWhileWriting("UPDATE reviews SET words = 'later' WHERE id = 'r1'")
    #expect(docked.code != 0)
    #expect(docked.out.contains("written-meanwhile"), "\(docked.transcript)")
    #expect(try ["outbox", "archive", "sent"].map(exports(in:)) == before)
    #expect(try camp.rows(Self.database, "SELECT stars, words FROM reviews WHERE id = 'r1'") == "1|later")
    try evening()
    #expect(try camp.rows("office.sqlite", "SELECT stars, words FROM reviews WHERE id = 'r1'") == "1|later")
    #expect(try camp.rows(Self.database, "SELECT name FROM sites WHERE id = 'lake'") == "Big lake")
    #expect(camp.hub("doctor").code == 0)
  }

  @Test("after a fault at any change of a file, the tablet has a whole database, and the next dock goes on")
  func faults() throws {
    give()
    try camp.sql("office.sqlite", "UPDATE sites SET name = 'Big lake' WHERE id = 'lake'")
    #expect(camp.hub("emit", "--device", "tablet").code == 0)
    let bundle = camp.path("hub/bundles/outbox/camp-hub-tablet-2.satchel")
    #expect(camp.device("tablet", "import", "--stage", bundle).code == 0)
    try writeIntoLog("UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try afterFaults(from: 1) { other, number in
      let card = try other.rows(Self.database, "SELECT stars FROM reviews WHERE id = 'r1'")
      #expect(card == "1", "after call \(number)")
      #expect(try other.rows(Self.database, "PRAGMA integrity_check") == "ok", "after call \(number)")
      try other.sql(Self.database, "UPDATE reviews SET words = 'after' WHERE id = 'r1'")
      let docked = dock(in: other)
      #expect(docked.code == 0, "after call \(number): \(docked.transcript)")
      let export = try other.newestBundle(in: "tablet/bundles/outbox", "camp-tablet-hub-")
      let imported = other.hub("import", export)
      #expect(imported.code == 0, "after call \(number): \(imported.transcript)")
      #expect(try other.rows("office.sqlite", "SELECT stars, words FROM reviews WHERE id = 'r1'") == "1|after")
      #expect(try other.rows(Self.database, "SELECT name FROM sites WHERE id = 'lake'") == "Big lake")
    }
  }

  // MARK: tablets that are lost, restored, or the wrong ones

  @Test("the database of another device is refused")
  func stranger() throws {
    give()
    try camp.remove(Self.database)
    try camp.copy("phone/data.sqlite", to: Self.database)
    let docked = dock()
    #expect(docked.code == 1 && docked.error.contains("belongs to the device phone"), "\(docked.transcript)")
  }

  @Test("a tablet that was reset gets its database from bundles and exports, if a person says so")
  func reset() throws {
    give()
    try camp.sql(Self.database, "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    #expect(dock().code == 0)
    try camp.remove(Self.database)
    let docked = dock()
    #expect(docked.code == 1 && docked.error.contains("--rebuild"), "\(docked.transcript)")
    #expect(dock("--rebuild").code == 0)
    #expect(try stars() == "1")
    try evening()
    #expect(try stars("office.sqlite") == "1")
  }

  @Test("the log of a tablet's lost database does not stop the new database, and does not come into it")
  func logWithoutDatabase() throws {
    give()
    try writeIntoLog("UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try camp.remove(Self.database)
    let docked = dock("--rebuild")
    #expect(docked.code == 0, "\(docked.transcript)")
    #expect(try stars() == "4")
    let names = try FileManager.default.contentsOfDirectory(atPath: camp.path("card")).sorted()
    #expect(names == ["camp.sqlite", "camp.sqlite.damaged-wal"])
    try evening()
    #expect(camp.device("phone", "doctor").code == 0 && camp.hub("doctor").code == 0)
  }

  @Test("an older copy of the tablet's database is repaired from the exports")
  func olderCopy() throws {
    give()
    try camp.copy(Self.database, to: "older.sqlite")
    try camp.sql(Self.database, "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
    try evening()
    try camp.remove(Self.database)
    try camp.copy("older.sqlite", to: Self.database)
    try camp.sql(Self.database, "UPDATE reviews SET words = 'in the old copy' WHERE id = 'r1'")
    let docked = dock()
    #expect(docked.code == 1 && docked.error.contains("--repair"), "\(docked.transcript)")
    #expect(dock("--repair").code == 0)
    try evening()
    #expect(try camp.rows("office.sqlite", "SELECT stars, words FROM reviews WHERE id = 'r1'") == "1|in the old copy")
  }

  @Test("a link in the place of the tablet's database is not followed")
  func link() throws {
    give()
    try moveTablet(to: "elsewhere.sqlite")
    try FileManager.default.createSymbolicLink(
      atPath: camp.path(Self.database), withDestinationPath: camp.path("elsewhere.sqlite"))
    #expect(dock().code == 1)
  }

  @Test("a tablet with rows of its own joins: its rows come to the hub, and the hub's rows come to it")
  func joins() throws {
    let made = try camp.deviceAnywhere(
      "init", camp.path("pad"), "--dataset", "camp", "--name", "pad", "--request", camp.path("pad.satchel"), "--json"
    ).json
    let fingerprint = try #require(made["fingerprint"]?.stringValue)
    #expect(
      camp.hub("device", "enrol", camp.path("pad.satchel"), "--user", "ann", "--fingerprint", fingerprint).code == 0)
    try camp.sql(
      Self.database,
      """
      CREATE TABLE sites (id TEXT PRIMARY KEY, name TEXT, tier INTEGER);
      CREATE TABLE reviews (
        id TEXT PRIMARY KEY, site TEXT REFERENCES sites (id), author TEXT, stars INTEGER, words TEXT);
      INSERT INTO reviews VALUES ('own', 'lake', 'ann', 3, 'from the pad');
      """)
    func dockPad(_ words: String...) -> CommandLineFixture.Outcome {
      camp.deviceAnywhere(["-C", camp.path("pad"), "dock", camp.path("card")] + words)
    }
    let early = dockPad("--database", "camp.sqlite")
    #expect(early.code == 1 && early.error.contains("No bundle from the hub"), "\(early.transcript)")
    let hubKey = try #require(try camp.hub("status", "--json").json["fingerprint"]?.stringValue)
    let file = try camp.emit("pad")
    let staged = camp.device("pad", "import", "--stage", file, "--fingerprint", hubKey)
    #expect(staged.code == 0 && staged.out.contains("satchel dock FOLDER --database NAME"), "\(staged)")
    #expect(camp.device("pad", "status").out.contains("satchel dock FOLDER --database NAME"))
    let docked = dockPad("--database", "camp.sqlite", "--fingerprint", hubKey)
    #expect(docked.code == 0, "\(docked.transcript)")
    #expect(try stars() == "4")
    #expect(camp.device("pad", "sync", camp.path("stick")).code == 0)
    #expect(camp.hub("sync", camp.path("stick")).code == 0)
    #expect(try camp.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'own'") == "from the pad")
    #expect(dockPad().code == 0)
  }

  // MARK: docks that do not end

  @Test("after a fault at any change of a file, the work of a former user still reaches the hub")
  func handoverFaults() throws {
    give()
    try evening()
    try camp.sql(Self.database, "UPDATE reviews SET words = 'of ann' WHERE id = 'r1'")
    #expect(camp.hub("device", "set", "tablet", "--user", "ben", "--yes").code == 0)
    let bundle = try camp.emit("tablet")
    #expect(camp.device("tablet", "import", "--stage", bundle).code == 0)
    try afterFaults(from: 2) { other, number in
      let docked = dock(in: other)
      #expect(docked.code == 0, "after call \(number): \(docked.transcript)")
      for _ in 0..<2 {
        #expect(other.device("tablet", "sync", other.path("stick")).code == 0, "after call \(number)")
        #expect(other.hub("sync", other.path("stick")).code == 0, "after call \(number)")
      }
      let atHub = try other.rows("office.sqlite", "SELECT words FROM reviews WHERE id = 'r1'")
      #expect(atHub == "of ann", "after call \(number)")
    }
  }

  @Test("a damaged database is refused and stays where it is")
  func damaged() throws {
    give()
    try camp.sql(
      Self.database,
      """
      CREATE TABLE app (x);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO app SELECT hex(zeroblob(500)) FROM n
      """)
    let path = camp.path(Self.database)
    let file = try #require(FileHandle(forUpdatingAtPath: path))
    try file.seek(toOffset: UInt64(try camp.read(Self.database).count) - 8192)
    try file.write(contentsOf: Data(repeating: 0xff, count: 4096))
    try file.close()
    let before = try camp.read(Self.database)
    let docked = dock("--repair")
    #expect(docked.code == 1 && docked.error.contains("--rebuild"), "\(docked.transcript)")
    #expect(try camp.read(Self.database) == before)
  }

  @Test("a dock that may have given the database away does not give it to another folder")
  func otherFolder() throws {
    try camp.copy("tablet/data.sqlite", to: "home.sqlite")
    give()
    // Imitates a command that was killed just after the tablet had received the database.
    try camp.copy("home.sqlite", to: "tablet/data.sqlite")
    try camp.makeFolder("tablet/dock/held")
    try camp.write("tablet/dock/held/exports.txt", "")
    try camp.makeFolder("other")
    let docked = camp.device("tablet", "dock", camp.path("other"))
    #expect(docked.code == 1 && docked.error.contains("There is no"), "\(docked.transcript)")
    #expect(dock().code == 0)
    #expect(!FileManager.default.fileExists(atPath: camp.path("tablet/data.sqlite")))
  }

  @Test("the name of the database is final only when the tablet has the database")
  func wrongName() throws {
    var files = TroubledFiles()
    let wrong = camp.path("card/wrong.sqlite")
    files.intruder = .init(in: camp.path("card")) {
      _ = FileManager.default.createFile(atPath: wrong, contents: Data())
    }
    camp.platform = Platform(files: files, clock: SystemClock(), random: SystemRandom())
    #expect(dock("--database", "wrong.sqlite").code == 1)
    camp.platform = .real
    try camp.remove("card/wrong.sqlite")
    #expect(dock("--database", "camp.sqlite").code == 0)
  }

  @Test("a journal of a transaction over several files is left to the app")
  func otherJournal() throws {
    give()
    let journal = [UInt8](repeating: 0, count: 512) + [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
    try Data(journal).write(to: URL(fileURLWithPath: camp.path(Self.database + "-journal")))
    let docked = dock()
    #expect(docked.code == 1 && docked.error.contains("Open the app"), "\(docked.transcript)")
    #expect(FileManager.default.fileExists(atPath: camp.path(Self.database + "-journal")))
  }

  @Test("a bundle in volumes comes to the tablet, in any order")
  func volumes() throws {
    give()
    let photo = (0..<12_000).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
    try camp.sql("office.sqlite", "UPDATE sites SET name = '\(photo)' WHERE id = 'lake'")
    let emitted = camp.hub(
      "emit", "--device", "tablet", "--volume-size", "64K", "--to", camp.path("stick"), "--plain-folder")
    let names = try FileManager.default.contentsOfDirectory(atPath: camp.path("stick")).filter { $0.contains("of") }
    if names.isEmpty { return try #require(Bool(false), "no volumes: \(emitted.transcript)") }
    for name in names.sorted().reversed() {
      #expect(camp.device("tablet", "import", "--stage", camp.path("stick/\(name)")).code == 0)
    }
    #expect(dock().code == 0)
    #expect(try camp.rows(Self.database, "SELECT length(name) FROM sites WHERE id = 'lake'") == "\(photo.count)")
  }
}
