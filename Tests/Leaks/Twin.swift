import Foundation
import SatchelConflicts
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import Synchronization
import TestSupport

/// A random source that a test can restart. After a restart, earlier numbers have no effect on the next ones.
final class HeldChance: RandomSource {
  private let generator = Mutex(SplitMix64(seed: 0))

  func begin(_ seed: UInt64) { generator.withLock { $0 = SplitMix64(seed: seed) } }

  func bytes(_ count: Int) -> [UInt8] {
    generator.withLock { generator in (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 33) } }
  }
}

/// A hub and its devices in one folder. The test controls the clock, the random source, and the times that triggers
/// record.
final class TwinHubs {
  let hub: HubWorkspace
  let root: String
  private let clock: SetClock
  private let chance: HeldChance
  private let dataset: RandomDataset
  private let platform: Platform
  private var devices: [String: DeviceWorkspace] = [:]
  private var apps: [String: App] = [:]
  private let files: HostFileSystem
  private var carried = 0

  /// A time in 2001, far from the machine's own time. So a test can distinguish the two.
  private static let begin: Int64 = 1_000_000_000_000

  private init(_ root: String, _ dataset: RandomDataset, hub make: (Platform) throws -> HubWorkspace) throws {
    self.root = root
    self.dataset = dataset
    (files, clock, chance) = (HostFileSystem(), SetClock(TwinHubs.begin), HeldChance())
    chance.begin(1)
    platform = Platform(files: files, clock: clock, random: chance)
    hub = try make(platform)
  }

  /// - Parameter rows: SQL that inserts the first rows.
  convenience init(_ root: String, _ dataset: RandomDataset, rows: String) throws {
    try self.init(root, dataset) { platform in
      let folder = Paths.join(root, "hub")
      for folder in [folder, Paths.join(root, "stick")] { try platform.files.makeDirectory(folder, mode: 0o755) }
      let database = Paths.join(folder, "data.sqlite")
      try Database(path: database, mode: .create).execute(
        "PRAGMA synchronous = OFF; BEGIN; \(dataset.schema); \(rows); COMMIT")
      return try HubWorkspace.create(
        folder, definition: Array(dataset.definition.utf8), database: database, platform: platform)
    }
  }

  /// A copy of another hub with its devices. The original must not be in use meanwhile.
  convenience init(_ root: String, as other: TwinHubs) throws {
    try FileManager.default.copyItem(atPath: other.root, toPath: root)
    try self.init(root, other.dataset) { try HubWorkspace.open(Paths.join(root, "hub"), platform: $0) }
    for name in other.devices.keys {
      devices[name] = try DeviceWorkspace.open(Paths.join(root, name), platform: platform)
    }
  }

  func add(_ name: String, of user: String) throws {
    let device = try DeviceWorkspace.create(Paths.join(root, name), dataset: "twins", name: name, platform: platform)
    devices[name] = device
    try hub.admit(device, user: user)
    try importBundle(try files.read(hub.emit(to: name).file, limit: 1 << 30), on: name)
  }

  func has(_ name: String) -> Bool { devices[name] != nil }

  /// - Parameter milliseconds: the time since the beginning.
  func hold(at milliseconds: Int64, chance seed: UInt64) {
    clock.advance(by: Self.begin + milliseconds - clock.milliseconds())
    chance.begin(seed)
  }

  func device(_ name: String) -> DeviceWorkspace { devices[name]! }

  // MARK: rows

  /// An app with an open connection to the hub's database (`name` is nil), or to the database of the named device.
  func app(_ name: String?) throws -> App {
    if let open = apps[name ?? "hub"] { return open }
    let app = try App(Paths.join(root, "\(name ?? "hub")/data.sqlite"))
    apps[name ?? "hub"] = app
    return app
  }

  final class App {
    let database: Database

    init(_ path: String) throws {
      database = try Database(path: path, mode: .readWrite)
      try database.execute("PRAGMA synchronous = OFF")
    }
  }

  /// The keys of a table's rows as SQL literals, in ascending order.
  func keys(_ table: String, at name: String?) throws -> [String] {
    try app(name).database.all("SELECT quote(id) FROM \(table) ORDER BY id") { $0.text(0) }
  }

  /// Writes like an app, but at the controlled time. If the database refuses the write, nothing changes.
  func write(_ sql: String, at name: String?) throws {
    let app = try app(name)
    try app.database.execute("BEGIN")
    guard try Self.isAllowed(sql, in: app.database) else { return try app.database.execute("ROLLBACK") }
    try holdWrites(in: app.database)
    try app.database.execute("COMMIT")
  }

  /// Replaces the machine's time in the triggers' records with the controlled time.
  private func holdWrites(in database: borrowing Database) throws {
    let day = 2_440_587.5 + Double(clock.milliseconds()) / 86_400_000
    for table in dataset.tables {
      try database.run(
        "UPDATE satchel_writes_\(table.name) SET satchel_written = :day WHERE satchel_written > \(Self.laterDay)",
        ["day": .real(day)])
    }
  }

  /// Una's device decides a conflict. The decision writes the row, and capture records this like any write.
  func resolve(_ conflict: ConflictID, _ decision: ConflictDecision, on name: String) throws {
    _ = try device(name).resolve(conflict.text, decision, note: nil)
    try holdWrites(in: app(name).database)
  }

  private static func isAllowed(_ sql: String, in database: borrowing Database) throws -> Bool {
    do { try database.execute(sql) } catch {
      guard error.kind == .unique || error.kind == .constraint else { throw error }
      return false
    }
    return true
  }

  /// The first day of 2010.
  private static let laterDay = 2_455_197.5

  // MARK: bundles

  /// Emits for a device. Returns the bundle's bytes; nil: nothing is new.
  func emit(to name: String, full: Bool = false) throws -> [UInt8]? {
    let report = try hub.emit(to: name, full: full)
    return report.isNew ? try files.read(report.file, limit: 1 << 30) : nil
  }

  /// Makes a device export. Returns the bundle's bytes, even if the bundle is not new.
  func export(_ name: String) throws -> [UInt8] { try files.read(device(name).export().file, limit: 1 << 30) }

  func importAtHub(_ bundle: [UInt8]) throws { _ = try hub.importBundle(carry(bundle)) }

  func importBundle(_ bundle: [UInt8], on name: String) throws { _ = try device(name).importBundle(carry(bundle)) }

  private func carry(_ bundle: [UInt8]) throws -> String {
    carried += 1
    let path = Paths.join(root, "stick/\(carried).satchel")
    try files.replace(path, mode: 0o644, contents: bundle)
    return path
  }

  /// The content of a bundle for a device as text. It shows the difference between two bundles.
  func text(of bundle: [UInt8], for name: String) throws -> String {
    try device(name).verify(carry(bundle)) { try canonicalText(of: $0) }
  }
}
