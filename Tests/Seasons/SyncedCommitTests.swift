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
    let (hub, export) = try Self.deliverable(world, usesWAL: usesWAL)
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

  /// A hub and the path of a device's export with one change.
  private static func deliverable(_ world: SimulatedWorld, usesWAL: Bool) throws -> (HubWorkspace, String) {
    let files = SimulatedFiles(world)
    try files.makeDirectory(world.root + "/hub", mode: 0o755)
    let office = world.root + "/hub/field.sqlite"
    try Database(path: office, mode: .create).execute(
      "\(usesWAL ? "PRAGMA journal_mode = WAL;" : "") CREATE TABLE notes (id TEXT PRIMARY KEY, words TEXT)")
    func platform(_ seed: UInt64) -> Platform {
      Platform(files: files, clock: SetClock.laterThanToday, random: SeededRandom(seed))
    }
    let hub = try HubWorkspace.create(
      world.root + "/hub", definition: Array(#"{ "dataset": "field", "version": 1, "tables": { "notes": {} } }"#.utf8),
      database: office, platform: platform(1))
    _ = try hub.addUser("ann", attributes: [])
    let device = try DeviceWorkspace.create(
      world.root + "/device", dataset: "field", name: "tablet", platform: platform(2))
    try hub.admit(device, user: "ann")
    _ = try device.importBundle(hub.emit(to: "tablet").file)
    let path = device.configuration.databasePath(device.folder)
    try Database(path: path, mode: .readWrite).execute("INSERT INTO notes VALUES ('n', 'words')")
    return (hub, try device.export().file)
  }
}
