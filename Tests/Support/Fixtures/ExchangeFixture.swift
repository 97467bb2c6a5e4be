import SatchelBundle
import SatchelConflicts
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A hub and its devices in a folder, with a clock and random numbers that are the same in every run.
///
/// The dataset is small and strange: it has every kind of value, key and name that bundles must carry.
public struct ExchangeFixture: GoldenStory {
  public let ground: WorkspaceFixture
  public let hub: HubWorkspace

  public static let definition = """
    { "dataset": "world", "version": 2, "snapshot": "first",
      "attributes": { "tier": "integer" },
      "tables": {
        "camps": { "visible": "tier <= :tier" },
        "reviews": { "parents": ["camps"], "columns": { "stars": "hub" } },
        "Dinge \\u00e9": { "conflict": "hub" } } }

    """

  private static let schema = """
    CREATE TABLE camps (id INTEGER PRIMARY KEY, name TEXT, tier INTEGER NOT NULL, place REAL, half AS (place / 2));
    CREATE TABLE reviews (
      camp INTEGER NOT NULL REFERENCES camps (id), author TEXT NOT NULL, stars INTEGER, words TEXT, photo BLOB,
      PRIMARY KEY (camp, author)
    ) WITHOUT ROWID;
    CREATE INDEX reviews_by_stars ON reviews (stars);
    CREATE TABLE "Dinge é" ("Schlüssel", "é", "e\u{301}", PRIMARY KEY ("Schlüssel"));
    PRAGMA user_version = 7;
    INSERT INTO camps (id, name, tier, place) VALUES
      (1, 'Oak', 1, 48.85), (2, 'Elm', 1, -0.0), (3, 'Ash', 9, 1e999), (4, 'Fir', 1, NULL);
    INSERT INTO reviews VALUES (1, 'ana', 4, 'good', x'00ff'), (2, 'ana', 2, NULL, NULL), (3, 'eve', 1, 'secret', NULL);
    INSERT INTO "Dinge é" VALUES (1.5, 9223372036854775807, NULL);
    """

  public init(random: any RandomSource = SeededRandom(1), clock: SetClock = .laterThanToday) throws {
    ground = try WorkspaceFixture(random: random, clock: clock)
    hub = try ground.hub("hub", definition: Array(Self.definition.utf8), schema: Self.schema)
  }

  /// Makes a device that is enrolled, has its hub's key, and has no data yet. Returns the file of its request too.
  public func device(_ name: String, user: String, tier: Int) throws -> (device: DeviceWorkspace, request: String) {
    if try !hub.users().contains(where: { $0.name == user }) {
      _ = try hub.addUser(user, attributes: [("tier", String(tier))])
    }
    let device = try DeviceWorkspace.create(folder(name), dataset: "world", name: name, platform: platform)
    let request = folder("\(name)-request.satchel")
    _ = try device.writeRequest(to: request)
    let asked = try hub.readRequest(request)
    _ = try hub.enrol(
      asked.manifest.from.id, name: asked.manifest.from.name, user: user, key: asked.enrolment.key,
      recipient: asked.manifest.recipient, incarnation: asked.enrolment.incarnation)
    try device.keys.trust(hub.keys.ownKey(), as: "hub")
    return (device, request)
  }

  /// Emits for a device and returns the bundle's file.
  public func emit(to device: DeviceWorkspace, full: Bool = false) throws -> String {
    tick()
    let report = try hub.emit(to: device.configuration.name, full: full)
    guard report.isNew else { throw ToolFailure("nothing was emitted") }
    return report.file
  }

  public func export(_ device: DeviceWorkspace) throws -> String {
    tick()
    let report = try device.export()
    guard report.isNew else { throw ToolFailure("nothing was exported") }
    return report.file
  }

  /// A bundle of each kind and feature, made by writers who disagree.
  public func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (device, request) = try device("tablet", user: "ana", tier: 1)
    let (hubKey, deviceKey) = (try hub.keys.ownKey(), try device.keys.ownKey())
    let full = try copy(try emit(to: device), as: "full")
    _ = try device.importBundle(full)

    // The device writes values of every kind, in two generations.
    try write(Self.everyValue, in: device.folder)
    _ = try export(device)
    try write(
      """
      UPDATE reviews SET stars = 5, words = 'naïve' WHERE camp = 1;
      UPDATE camps SET name = 'Old Oak', place = 1e999 WHERE id = 1;
      UPDATE "Dinge é" SET "é" = 0.1 WHERE "Schlüssel" = 1.5;
      DELETE FROM reviews WHERE camp = 2;
      DELETE FROM "Dinge é" WHERE "Schlüssel" = 'gone soon';
      """, in: device.folder)
    tick()
    let changes = try copy(try device.export(snapshot: true).file, as: "changes")

    // The hub writes the same rows before the device's bundle comes, deletes rows and adds others.
    try write(
      """
      UPDATE reviews SET stars = 1, photo = x'01' WHERE camp = 1;
      UPDATE camps SET name = 'Great Oak' WHERE id = 1;
      UPDATE camps SET tier = 9 WHERE id = 4;
      UPDATE camps SET tier = 1 WHERE id = 3;
      DELETE FROM "Dinge é" WHERE "Schlüssel" = 1.5;
      """, in: hub.folder)
    _ = try hub.importBundle(changes)
    let delta = try copy(try emit(to: device), as: "delta")
    // The device writes before the delta comes.
    try write(
      "UPDATE reviews SET words = 'mine' WHERE camp = 1; UPDATE camps SET name = 'My Oak' WHERE id = 1",
      in: device.folder)
    try write(
      "UPDATE camps SET name = 'Their Oak' WHERE id = 1; UPDATE reviews SET words = 'theirs' WHERE camp = 1",
      in: hub.folder)
    _ = try device.importBundle(delta)
    _ = try device.importBundle(try emit(to: device, full: true))
    for (place, conflict) in try device.conflicts([.open]).enumerated() {
      tick()
      let decision: ConflictDecision =
        switch place % 3 {
        case 0: .device
        case 1: .hub
        default: .set([])
        }
      let note = place % 2 == 0 ? "counted \"twice\"\n\u{e9}" : nil
      do { _ = try device.resolve(conflict.record.id.text, decision, note: note) } catch let error as WorkspaceError
        where error.reason == "row-gone"
      { continue }
    }
    let conflicts = try export(device)
    return [
      ("enrolment", request, deviceKey), ("changes", changes, deviceKey), ("changes-conflicts", conflicts, deviceKey),
      ("scope-full", full, hubKey), ("scope-delta", delta, hubKey),
    ]
  }

  private static let everyValue: String = {
    let values = [
      "NULL", "0", "-1", "9007199254740991", "-9007199254740991", "9007199254740992", "-9007199254740992",
      "9223372036854775807",
      "-9223372036854775807 - 1", "0.0", "-0.0", "42.0", "0.1", "-1.5e300", "5e-324", "1.7976931348623157e308", "1e999",
      "-1e999",
      "''", "'plain'", "'\"\\/' || char(1, 9, 10, 127, 8232, 127795)", "'\u{e9}'", "'e\u{301}'", "CAST(x'00' AS TEXT)",
      "CAST(x'610062' AS TEXT)", "CAST(x'fffe' AS TEXT)", "CAST(x'eda080' AS TEXT)", "x''", "x'00'", "x'74657874'",
    ]
    let rows = values.enumerated().map { "('\($0) é', \($1), \(values[($0 + 1) % values.count]))" }
    // A key cannot be NULL, and SQLite treats three of the zeros as one key.
    let keys = values.filter { !["NULL", "0.0", "-0.0"].contains($0) }.map { "(\($0), 'key', NULL)" }
    return """
      INSERT INTO "Dinge é" VALUES \((rows + keys + ["('gone soon', 1, 2)"]).joined(separator: ", "));
      INSERT INTO camps (id, name, tier, place) VALUES (-9223372036854775808, 'Yew', 1, 2);
      INSERT INTO reviews VALUES (1, 'anà', 3, 'both', zeroblob(100));
      """
  }()
}
