import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import Synchronization
import TestSupport
import Testing

/// A clock that advances five seconds with each reading.
private final class HastyClock: WallClock {
  private let now = Atomic<Int64>(4_102_444_900_000)

  func milliseconds() -> Int64 { now.add(5_000, ordering: .relaxed).newValue }
  func pause(milliseconds: Int64) {}
}

/// Bundles with a valid signature, whose snapshot has invalid content.
@Suite("Attacks by a snapshot")
struct SnapshotAttackTests {
  private let world: ExchangeFixture
  private let tablet: DeviceWorkspace

  init() throws {
    world = try ExchangeFixture(random: SystemRandom())
    tablet = try world.device("tablet", user: "ana", tier: 1).device
    _ = try tablet.importBundle(world.emit(to: tablet))
  }

  /// Why a device refuses a bundle; nil: the device accepts it.
  private func refusal(of bundle: String, by device: DeviceWorkspace? = nil) throws -> (any ExplainedError)? {
    do {
      _ = try (device ?? tablet).importBundle(bundle)
      return nil
    } catch let error as any ExplainedError { return error }
  }

  private func name() throws -> String? {
    let path = tablet.folder.path("data.sqlite")
    return try Database(path: path, mode: .readOnly).first("SELECT name FROM camps WHERE id = 1") { $0.text(0) }
  }

  /// A full bundle of the hub. A holder of the hub's key has changed its database.
  private func forged(_ sql: String) throws -> String {
    let full = try world.emit(to: tablet, full: true)
    let folder = try world.folder.folder("hostile")
    try StockTool.tar("--zstd", "-xf", full, in: folder)
    if sql == Self.inUTF16 {
      try StockTool.bash("-c", sql, in: folder)
    } else {
      try StockTool.sqlite3("-cmd", ".dbconfig defensive off", "snapshot.sqlite", sql, in: folder)
    }
    var draft = try BundleDraft(in: world.folder.path, platform: world.platform)
    let path = draft.file("evil.sqlite")
    try world.platform.files.copy(Paths.join(folder, "snapshot.sqlite"), to: path, mode: 0o600)
    try draft.addSnapshot(at: path)
    try draft.addDataset(Array(ExchangeFixture.definition.utf8))
    let manifest = try BundleReader(platform: world.platform).manifest(of: full, trust: .firstContact)
    guard case .scope(let real) = manifest.body else { throw ToolFailure("no emission") }
    let made = Manifest(
      bundle: BundleID(random: world.platform.random.bytes(16)), dataset: "world", version: 2, from: manifest.from,
      to: manifest.to, user: "ana", created: "2026-01-31T08:05:09Z",
      stamp: Stamp(milliseconds: world.clock.milliseconds()),
      body: .scope(
        .init(
          epoch: real.epoch, number: EmissionNumber(9), after: .zero, extent: .full, acknowledged: real.acknowledged)))
    let sealed = try draft.seal(made, with: world.hub.keys.signing())
    let target = world.folder("evil.satchel")
    try world.platform.files.copy(draft.write(sealed), to: target, mode: 0o644)
    return target
  }

  private static let inUTF16 =
    """
    sqlite3 snapshot.sqlite .dump > all.sql; rm snapshot.sqlite; sqlite3 -cmd "PRAGMA encoding = 'UTF-16le'" \
    snapshot.sqlite < all.sql
    """

  private static func stamp(_ values: String) -> String {
    "INSERT OR REPLACE INTO satchel_stamps (table_name, key, stamp) VALUES (\(values))"
  }

  private static func schema(_ old: String, _ new: String) -> String {
    "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '\(old)', '\(new)') WHERE name = 'camps'"
  }

  @Test(
    """
    an insider: a snapshot that holds more than the dataset's tables, or is no sound database, is refused, and \
    nothing of it runs
    """,
    arguments: [
      "CREATE VIEW v AS SELECT * FROM camps", "CREATE TABLE other (a)",
      "CREATE TRIGGER t AFTER INSERT ON camps BEGIN DELETE FROM camps; END",
      "CREATE VIRTUAL TABLE f USING fts5 (a)", "CREATE TABLE satchel_device (a)",
      "CREATE TEMP VIEW x AS SELECT 1; DROP TABLE satchel_stamps; CREATE VIEW satchel_stamps AS SELECT 1 AS table_name",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 3 WHERE name = 'camps'",
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE camps (id' WHERE name = 'camps'",
      """
      PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'sqlite_evil', 'sqlite_evil', 0, \
      'CREATE VIRTUAL TABLE sqlite_evil USING fts5 (a)')
      """,
      Self.inUTF16,
    ])
  func hostile(sql: String) throws { try expectRefused(sql) }

  @Test(
    """
    a snapshot without a table, a key or the times of its rows, or with invalid times, is refused with the reason
    """,
    arguments: [
      ("DROP TABLE satchel_stamps", "satchel_stamps"), ("DROP TABLE reviews", "has no table reviews"),
      (
        "CREATE TABLE c AS SELECT * FROM camps; DROP TABLE camps; ALTER TABLE c RENAME TO camps",
        "has no PRIMARY KEY in camps"
      ),
      (Self.stamp("'camps', '[1]', -1"), "an invalid time"), (Self.stamp("'camps', '[1]', 'soon'"), "an invalid time"),
      (Self.stamp("'camps', '[1]', 1.5"), "an invalid time"), (Self.stamp("'camps', x'00', 5"), "an invalid time"),
      (Self.stamp("'nothing', '[1]', 5"), "nothing, which is no table"),
      ("INSERT INTO \"Dinge é\" VALUES (NULL, 1, 2)", "a row without a key in Dinge é"),
    ])
  func unfit(sql: String, words: String) throws { try expectRefused(sql, words) }

  /// Expects that a working device refuses the bundle. A device without data must refuse it too, because it would use
  /// the snapshot as its database.
  private func expectRefused(_ sql: String, _ words: String = "") throws {
    let evil = try forged(sql)
    let refusal = try refusal(of: evil)
    #expect(refusal is BundleError && refusal?.reason == "bad-entry", "\(String(describing: refusal))")
    #expect(words.isEmpty || refusal?.message.contains(words) == true, "\(String(describing: refusal))")
    for file in ["data.sqlite", "data.sqlite-wal", "data.sqlite-shm"] {
      let path = tablet.folder.path(file)
      if try world.platform.files.kind(path) != nil {
        try world.platform.files.rename(path, to: world.folder("aside-\(file)"))
      }
    }
    #expect(try self.refusal(of: evil)?.reason == "bad-entry")
    // The device has only the content of its own archive again.
    #expect(try name() == "Oak")
    #expect(try world.platform.files.list(tablet.folder.inbox).isEmpty)
  }

  @Test(
    "a row of a snapshot is at most as large as a line, even if it takes little of the file",
    arguments: [
      "UPDATE reviews SET photo = zeroblob(67108865)",
      "UPDATE reviews SET photo = zeroblob(40000000), words = CAST(zeroblob(40000000) AS TEXT)",
      "UPDATE camps SET name = CAST(zeroblob(67108865) AS TEXT) WHERE id = 1",
      // This column's value would be larger than the whole file.
      Self.schema("half AS (place / 2)", "half AS (length(hex(zeroblob(900000000)))) NOT NULL"),
    ])
  func large(sql: String) throws {
    let refusal = try refusal(of: forged(sql))
    #expect(refusal?.reason == "too-large", "\(String(describing: refusal))")
    #expect(try name() == "Oak")
  }

  @Test("a generated column that is not the table's own is refused, and not computed")
  func generated() throws {
    let costly = "half AS (instr(zeroblob(200000), CAST(zeroblob(100000) || x''01'' AS BLOB))) NOT NULL"
    let refusal = try refusal(of: forged(Self.schema("half AS (place / 2)", costly)))
    #expect(refusal?.reason == "bad-entry" && refusal?.message.contains("computes the column half") == true)
    #expect(try name() == "Oak")
    #expect(try self.refusal(of: forged(Self.schema("half AS (place / 2)", "half AS (place / 4)"))) == nil)
  }

  @Test("a CHECK of a snapshot is not computed")
  func check() throws {
    // If SQLite computed this CHECK, it would report an error.
    let bundle = try forged(Self.schema("name TEXT", "name TEXT CHECK (abs(-9223372036854775807 - 1) > 0)"))
    #expect(try refusal(of: bundle) == nil)
  }

  @Test("a snapshot that takes too long to check is refused")
  func endless() throws {
    let bundle = try forged(
      """
      WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n LIMIT 25000)
      INSERT INTO camps (id, name, tier) SELECT i, 'x', 1 FROM n
      """)
    let hasty = Platform(files: world.platform.files, clock: HastyClock(), random: world.platform.random)
    let refusal = try refusal(of: bundle, by: .open(tablet.folder.root, platform: hasty))
    #expect(refusal?.reason == "bad-entry", "\(String(describing: refusal))")
    #expect(refusal?.message.contains("longer") == true, "\(String(describing: refusal))")
  }

  @Test("a row that no device would take is not put into a bundle, and is named")
  func largeAtHub() throws {
    try world.write("UPDATE reviews SET photo = zeroblob(67108865) WHERE camp = 1", in: world.hub.folder)
    let error = try #require(throws: BundleError.self) { try world.emit(to: tablet, full: true) }
    #expect(error.reason == "row-too-large" && error.message.contains(#"reviews [1,"ana"]"#), "\(error.message)")
  }
}
