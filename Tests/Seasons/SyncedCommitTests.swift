import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelSQLite
import SatchelWorkspace
import SimulatedWorld
import TestSupport
import Testing

/// A command commits, and is killed before its sync. The next command sees the commit, but a power cut undoes it.
@Suite struct SyncedCommitTests {
  @Test(
    "a hub archives a bundle only if no power cut can undo its merge, wherever the merge was stopped",
    arguments: [false, true], 1...6)
  func archived(usesWAL: Bool, seed: UInt64) throws {
    let world = SimulatedWorld(seed: seed)
    defer { world.end() }
    let (hub, _, export) = try Self.deliverable(world, usesWAL: usesWAL)
    var repeated = 0
    // The earlier steps write the bundle into the archive.
    try Self.stop(world, from: 40) {
      _ = try hub.importBundle(export)
    } next: {
      if try hub.importBundle(export).verdict == .repeated { repeated += 1 }
    } then: { step in
      let audit = try hub.audit()
      #expect(audit.findings.isEmpty, "stopped at step \(step): \(audit.findings)")
    }
    #expect(repeated > 0)
  }

  @Test("a device imports again if a power cut undoes the import with which its rows joined", arguments: 1...3)
  func joined(seed: UInt64) throws {
    let world = SimulatedWorld(seed: seed)
    defer { world.end() }
    let (_, former, _) = try Self.deliverable(world, usesWAL: false)
    let device = try former.leaveHub(name: nil).workspace
    let next = try Self.hub(world, "next", usesWAL: false)
    try next.admit(device, user: "ann")
    let emission = try next.emit(to: "tablet").file
    func present() throws -> DeviceWorkspace {
      try DeviceWorkspace.open(device.folder.root, platform: Self.platform(world, seed))
    }
    var joined = 0
    try Self.stop(world, from: 0) {
      _ = try present().importBundle(emission)
    } next: {
      // `verify` writes nothing into the database.
      try present().verify(emission) { _ in }
      if try !present().configuration.joins { joined += 1 }
    } then: { step in
      #expect(throws: Never.self, "stopped at step \(step)") {
        _ = try present().importBundle(emission)
        let changes = try present().export().changes
        #expect(changes.map(\.count) == [1], "stopped at step \(step)")
      }
    }
    #expect(joined > 0)
  }

  /// Kills a command at each of its steps. Then runs the next command, and after it the power fails.
  /// - Parameter check: is called afterwards, with the number of the step.
  private static func stop(
    _ world: SimulatedWorld, from first: Int, _ command: () throws -> Void, next: () throws -> Void,
    then check: (Int) throws -> Void
  ) throws {
    world.settle()
    let start = world.snapshot()
    var (step, isDone) = (first, false)
    while !isDone {
      world.bringBack(start)
      world.set(Fault(.killed, step: step))
      isDone = (try? command()) != nil
      world.restart()
      if isDone { continue }
      try next()
      world.set(Fault(.powerCut, step: 0))
      #expect(throws: PlatformError.self) {
        try SimulatedFiles(world).makeDirectory(world.root + "/after", mode: 0o755)
      }
      world.restart()
      try check(step)
      step += 1
    }
    #expect(step > first)
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

  /// Makes a hub and a device. Returns them, and the path of the device's export with one change.
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
