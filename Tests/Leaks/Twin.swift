import Foundation
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace
import Synchronization
import TestSupport

/// Chance that begins anew where a test says so: what happened before, and how much of it, makes no difference.
final class HeldChance: RandomSource {
  private let generator = Mutex(SplitMix64(seed: 0))

  func begin(_ seed: UInt64) { generator.withLock { $0 = SplitMix64(seed: seed) } }

  func bytes(_ count: Int) -> [UInt8] {
    generator.withLock { generator in (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next() >> 33) } }
  }
}

/// A hub with its devices in a folder. Time and chance are held, and the time that triggers note too.
final class Twin {
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

  /// In 2001: what the machine's own clock says now is far behind it, and so can be told apart.
  private static let begin: Int64 = 1_000_000_000_000

  private init(_ root: String, _ dataset: RandomDataset, hub make: (Platform) throws -> HubWorkspace) throws {
    self.root = root
    self.dataset = dataset
    (files, clock, chance) = (HostFileSystem(), SetClock(Twin.begin), HeldChance())
    chance.begin(1)
    platform = Platform(files: files, clock: clock, random: chance)
    hub = try make(platform)
  }

  /// - Parameter rows: SQL that makes the rows which are there from the beginning.
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

  /// One that begins as another one is, which nobody uses meanwhile.
  convenience init(_ root: String, as other: Twin) throws {
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

  /// - Parameter milliseconds: since the beginning.
  func hold(at milliseconds: Int64, chance seed: UInt64) {
    clock.advance(by: Self.begin + milliseconds - clock.milliseconds())
    chance.begin(seed)
  }

  func device(_ name: String) -> DeviceWorkspace { devices[name]! }

  // MARK: rows

  /// A program that has a database open, the hub's or that of the device of this name.
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

  /// The keys of a table's rows as SQL writes them, in their order.
  func keys(_ table: String, at name: String?) throws -> [String] {
    try app(name).database.all("SELECT quote(id) FROM \(table) ORDER BY id") { $0.text(0) }
  }

  /// Writes as any program does, but at the time that is held. What the database does not allow changes nothing.
  func write(_ sql: String, at name: String?) throws {
    let app = try app(name)
    try app.database.execute("BEGIN")
    guard try Self.isAllowed(sql, in: app.database) else { return try app.database.execute("ROLLBACK") }
    try holdWrites(in: app.database)
    try app.database.execute("COMMIT")
  }

  /// Triggers know the machine's time alone.
  private func holdWrites(in database: borrowing Database) throws {
    let day = 2_440_587.5 + Double(clock.milliseconds()) / 86_400_000
    for table in dataset.tables {
      try database.run(
        "UPDATE satchel_writes_\(table.name) SET satchel_written = :day WHERE satchel_written > \(Self.laterDay)",
        ["day": .real(day)])
    }
  }

  /// Una's device decides by writing the row: that is captured as any write.
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

  /// The file of a new bundle for a device; nil where nothing is new.
  func emit(to name: String, full: Bool = false) throws -> [UInt8]? {
    let report = try hub.emit(to: name, full: full)
    return report.isNew ? try files.read(report.file, limit: 1 << 30) : nil
  }

  /// The file of what a device says, new or not.
  func export(_ name: String) throws -> [UInt8] { try files.read(device(name).export().file, limit: 1 << 30) }

  func importAtHub(_ bundle: [UInt8]) throws { _ = try hub.importBundle(carry(bundle)) }

  func importBundle(_ bundle: [UInt8], on name: String) throws { _ = try device(name).importBundle(carry(bundle)) }

  private func carry(_ bundle: [UInt8]) throws -> String {
    carried += 1
    let path = Paths.join(root, "stick/\(carried).satchel")
    try files.replace(path, mode: 0o644, contents: bundle)
    return path
  }

  /// What a bundle for a device says, for whoever has to find out in what two of them differ.
  func text(of bundle: [UInt8], for name: String) throws -> String {
    try device(name).verify(carry(bundle)) { try canonicalText(of: $0) }
  }
}
