import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A hub and a device whose apps hand out the same keys.
public final class KeyWorld {
  public let folder: TemporaryFolder
  public let platform: Platform
  private let clock: SetClock
  private let hub: HubWorkspace
  private let device: DeviceWorkspace

  private static let definition = """
    { "dataset": "keys", "version": 1,
      "tables": {
        "camps": { "keys": "rekey" }, "reviews": { "keys": "rekey" },
        "visits": { "keys": "blocks", "block": 100 } } }

    """

  private static let schema = """
    CREATE TABLE camps (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE reviews (id INTEGER PRIMARY KEY, camp INTEGER REFERENCES camps (id), words TEXT);
    CREATE TABLE visits (id INTEGER PRIMARY KEY AUTOINCREMENT, camp INTEGER REFERENCES camps (id));
    INSERT INTO camps VALUES (1, 'Oak');
    """

  public init(random: any RandomSource = SeededRandom(2), clock: SetClock = SetClock()) throws {
    self.clock = clock
    folder = try TemporaryFolder()
    platform = Platform(files: HostFileSystem(), clock: clock, random: random)
    let root = try folder.folder("office")
    let database = Paths.join(root, "data.sqlite")
    try Database(path: database, mode: .create).execute(Self.schema)
    hub = try HubWorkspace.create(
      root, definition: Array(Self.definition.utf8), database: database, name: "office", platform: platform)
    _ = try hub.addUser("ben", attributes: [])
    device = try DeviceWorkspace.create(folder("phone"), dataset: "keys", name: "phone", platform: platform)
    try hub.admit(device, user: "ben")
  }

  private func write(_ sql: String, in folder: WorkspaceFolder) throws {
    clock.advance(by: 1000)
    try Database(path: folder.path("data.sqlite"), mode: .readWrite).execute(sql)
  }

  private func emit(full: Bool = false) throws -> String {
    clock.advance(by: 1000)
    return try hub.emit(to: "phone", full: full).file
  }

  private func export() throws -> String {
    clock.advance(by: 1000)
    return try device.export().file
  }

  /// Bundles that tell of keys: a full one that gives ranges, a device's that tells how it gave way, and the hub's that tell of new keys.
  public func bundles() throws -> [(name: String, path: String, signer: PublicKey)] {
    let (hubKey, deviceKey) = (try hub.keys.ownKey(), try device.keys.ownKey())
    _ = try device.importBundle(copy(emit(), as: "first"))
    // Each makes a camp 2 with a review 1 of it; the hub's comes to the device before the device's is known to have gone.
    try write("INSERT INTO camps VALUES (2, 'Elm'); INSERT INTO reviews VALUES (1, 2, 'tall')", in: hub.folder)
    let late = try copy(emit(), as: "late")
    try write(
      "INSERT INTO camps VALUES (2, 'Ash'); INSERT INTO reviews VALUES (1, 2, 'wide'); INSERT INTO visits (camp) VALUES (2)",
      in: device.folder)
    try write("INSERT INTO camps VALUES (3, 'Yew')", in: hub.folder)
    _ = try hub.importBundle(copy(export(), as: "early"))
    _ = try device.importBundle(late)
    try write("UPDATE camps SET name = 'Old Ash' WHERE name = 'Ash'", in: device.folder)
    let changes = try copy(export(), as: "changes")
    _ = try hub.importBundle(changes)
    try write("INSERT INTO visits (camp) VALUES (1)", in: hub.folder)
    let delta = try copy(emit(), as: "delta")
    let full = try copy(emit(full: true), as: "full")
    return [("changes-keys", changes, deviceKey), ("scope-delta-keys", delta, hubKey), ("scope-full-keys", full, hubKey)]
  }

  /// Carries a bundle out of its workspace, in which its file will move on.
  private func copy(_ path: String, as name: String) throws -> String {
    try platform.files.copy(path, to: folder("\(name).satchel"), mode: 0o644)
    return folder("\(name).satchel")
  }
}
