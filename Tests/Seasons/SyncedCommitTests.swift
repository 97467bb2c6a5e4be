import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelWorkspace
import SimulatedWorld
import TestSupport
import Testing

/// A commit whose command was killed before its sync: the next command sees it, and a power cut undoes it.
@Suite struct SyncedCommitTests {
  @Test(
    "a hub archives a bundle only if no power cut can undo its merge, wherever the merge was stopped",
    arguments: [false, true], 1...6)
  func archived(usesWAL: Bool, seed: UInt64) throws {
    let world = SimulatedWorld(seed: seed)
    defer { world.end() }
    let (hub, _, export) = try Self.deliverable(world, usesWAL: usesWAL)
    world.settle()
    let start = world.snapshot()
    // The steps before write the bundle into the archive.
    var (step, repeated) = (40, 0)
    while true {
      world.bringBack(start)
      world.set(Fault(.killed, step: step))
      let isDone = (try? hub.importBundle(export)) != nil
      world.restart()
      if isDone { break }
      let again = try hub.importBundle(export)
      if again.verdict == .repeated { repeated += 1 }
      world.set(Fault(.powerCut, step: 0))
      #expect(throws: PlatformError.self) { try SimulatedFiles(world).remove(export) }
      world.restart()
      let audit = try hub.audit()
      #expect(audit.findings.isEmpty, "stopped at step \(step): \(audit.findings)")
      step += 1
    }
    #expect(repeated > 0)
  }

  @Test("a device notes that its rows have joined only if no power cut can undo the import", arguments: 1...6)
  func joined(seed: UInt64) throws {
    let world = SimulatedWorld(seed: seed)
    defer { world.end() }
    let (_, former, _) = try Self.deliverable(world, usesWAL: false)
    let device = try former.leaveHub(name: nil).workspace
    let next = try Self.hub(world, "next", usesWAL: false)
    try next.admit(device, user: "ann")
    let emission = try next.emit(to: "tablet").file
    world.settle()
    let start = world.snapshot()
    var step = 0
    while true {
      world.bringBack(start)
      world.set(Fault(.killed, step: step))
      let isDone = (try? device.importBundle(emission)) != nil
      world.restart()
      if isDone { break }
      _ = try? device.export()
      world.set(Fault(.powerCut, step: 0))
      #expect(throws: PlatformError.self) { try SimulatedFiles(world).remove(emission + "-none") }
      world.restart()
      #expect(throws: Never.self, "stopped at step \(step)") { try device.importBundle(emission) }
      step += 1
    }
    #expect(step > 0)
  }

  private static func platform(_ world: SimulatedWorld, _ seed: UInt64) -> Platform {
    Platform(files: SimulatedFiles(world), clock: SetClock.laterThanToday, random: SeededRandom(seed))
  }

  private static func hub(_ world: SimulatedWorld, _ name: String, usesWAL: Bool) throws -> HubWorkspace {
    let root = Paths.join(world.root, name)
    try SimulatedFiles(world).makeDirectory(root, mode: 0o755)
    let database = root + "/field.sqlite"
    try Database(path: database, mode: .create).execute(
      "\(usesWAL ? "PRAGMA journal_mode = WAL;" : "") CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT)")
    let hub = try HubWorkspace.create(
      root, definition: Array(#"{ "dataset": "field", "version": 1, "tables": { "notes": {} } }"#.utf8),
      database: database, platform: platform(world, UInt64(name.utf8.count)))
    _ = try hub.addUser("ann", attributes: [])
    return hub
  }

  /// A hub, a device and the path of the device's export with one change.
  private static func deliverable(
    _ world: SimulatedWorld, usesWAL: Bool
  ) throws -> (HubWorkspace, DeviceWorkspace, String) {
    let hub = try hub(world, "hub", usesWAL: usesWAL)
    let device = try DeviceWorkspace.create(
      world.root + "/device", dataset: "field", name: "tablet", platform: platform(world, 2))
    try hub.admit(device, user: "ann")
    _ = try device.importBundle(hub.emit(to: "tablet").file)
    let path = device.configuration.databasePath(device.folder)
    try Database(path: path, mode: .readWrite).execute("INSERT INTO notes VALUES ('n', 'words')")
    return (hub, device, try device.export().file)
  }
}
