import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import SimulatedWorld
import TestSupport

/// The report of a failed season.
public struct Wrong: Error, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}

/// A season of field work: a hub, three devices and a stick, with simulated files, clocks and randomness.
///
/// The databases, bundles and signatures are real; the code under test is the tools' own.
final class Season {
  static let devices = 3
  /// The most rounds in which all deliver and fetch until nothing is new.
  var mostRounds: Int { parts ? 9 : 5 }

  let seed: UInt64
  let world: SimulatedWorld
  let files: SimulatedFiles
  let time = PassingTime()
  let hubClock: SettableClock
  let stick: String
  var rules: SeasonRules
  var hub: HubWorkspace
  private var opened: FieldApp?
  var devices: [FieldDevice]
  /// The remainder of a site's zone that each device's user may not see; a value above all remainders hides nothing.
  var hidden: [Int64]
  /// The number of former users of each device.
  var formerUsers = [Int](repeating: 0, count: Season.devices)
  var mail: [Parcel] = []
  /// How often a hub or a device refused a file.
  var refusals = 0
  /// How often a new hub, or a copy of the hub, was opened.
  var openings = 0
  var everMade: [Parcel] = []
  /// The digest for each name of a bundle.
  var contents: [String: Digest] = [:]
  var backups = 0
  var backup: String?
  /// The content of the hub's log before it was forgotten.
  var remembered: Set<String> = []
  /// The content of the logs of the hub's copies that worked for a while.
  var loggedByCopy: Set<String> = []
  var presence = Presence()
  /// The device that deleted each row with a bundle. It has that bundle for a hub that forgets the deletion.
  var deleters: [RowName: String] = [:]
  /// The values that devices held, to find values that were overwritten without being seen.
  var overwritten = OverwrittenValues(combined: ["counters.n", "counters.tags"], defaults: ["'new'"])
  /// Whether hubs are put back and copied, keys are stolen and databases are broken.
  let parts: Bool
  var tally = Tally()
  /// The epoch that a new hub began in place of a lost one. nil if there was no new hub, or if there were several.
  var epochOfNewHub: Epoch?
  /// A copy of the hub's folder that may be put back.
  var hubCopy: HubCopy?
  /// The office's work when the last backup was made.
  var backedUp = Tally.Work()
  /// Whether the hub may lack data that devices have, and no device has shown that yet.
  var isHubInDoubt = false
  /// The file that the operator imports now; nil: none.
  var importing: String?
  /// Whether the hub signs with another key than at first.
  var hasNewKey = false
  /// Whether devices may have brought rows of a thief to a new hub, for which all rows are rows of its devices.
  var bringsFalse = false
  /// The devices that believed a thief of the hub's key. The thief may have acknowledged what no hub has.
  var misled: Set<String> = []
  /// Rows that were written with the triggers switched off.
  var unseen: Set<RowName> = []
  /// Whether a device's bundle with a forged proof lies in the hub's quarantine.
  var hasForgedProofs = false
  /// The devices whose folders were put back, and the sticks that they wrote before.
  var wasPutBack: Set<String> = []
  var lateSticks: [Parcel] = []
  /// Whether one of these sticks is at the hub.
  var isStickLate = false
  /// The number of bundles with new content.
  var news = 0
  /// How many of these were more than acknowledgements.
  var newContent = 0
  /// Whether the same bundles are delivered in two orders.
  var isCheckingOrder = false
  private var written = 0
  private var born = 0
  private var enrolled = 0
  /// The events that took effect. An event may find nothing to do, as with a copy that was not made yet.
  private(set) var effective: Set<SeasonEvent.Kind> = []
  /// Whether a fault has stopped any event.
  private(set) var wasStopped = false
  /// The most steps that an event of each kind has taken so far.
  private var steps: [SeasonEvent.Kind: Int] = [:]
  private let trace: ((String) -> Void)?

  /// A file on the courier's stick.
  struct Parcel {
    /// The device's name; nil: for the hub.
    let device: String?
    let from: String
    let path: String
    let name: String
  }

  init(seed: UInt64, trace: ((String) -> Void)? = nil) throws {
    self.seed = seed
    self.trace = trace
    parts = SeasonEvent.parts(seed)
    var random = SplitMix64(seed: seed ^ 0x7365_6173_6f6e)
    hubClock = SettableClock(time)
    let names: SeasonRules.Names = seed % 5 == 2 ? .column : .primaryKey
    let policies = SeasonRules.counterPolicies
    rules = SeasonRules(
      &random, counters: parts ? policies[Int(seed / 2 % UInt64(policies.count))] : nil, visits: names,
      takesLateWork: seed % 5 == 3, brakes: seed % 10 == 4)
    world = SimulatedWorld(seed: random.next())
    files = SimulatedFiles(world)
    stick = world.root + "/stick"
    hidden = (0..<Self.devices).map { _ in Int64(random.below(4)) }
    devices = []
    for folder in ["hub", "stick"] { try files.makeDirectory(world.root + "/\(folder)", mode: 0o755) }
    let database = world.root + "/hub/field.sqlite"
    let app = try FieldApp(path: database, mode: .create)
    if random.once(in: 3) { try app.execute("PRAGMA journal_mode = WAL") }
    try app.execute(FieldApp.schema(visits: names))
    if parts { try Tally.stock(app) }
    // With the index a row's children are looked up; without it the whole table is scanned.
    if random.once(in: 2) { try app.execute("CREATE INDEX visits_by_site ON visits (site)") }
    // In every other season there are rows from the beginning.
    if random.once(in: 2) { try Self.stock(app, &random) }
    opened = app
    hub = try HubWorkspace.create(
      world.root + "/hub", definition: Array(rules.definition.utf8), database: database,
      platform: Platform(files: files, clock: hubClock, random: SeededRandom(~seed)))
    for index in 0..<Self.devices {
      _ = try hub.addUser("user-\(index)", attributes: [("hidden", String(hidden[index]))])
      // Now and then a clock is ahead or far behind.
      let ahead: Int64 = random.once(in: 8) ? random.one(of: [3_600_000, -3_600_000, -4_000_000_000_000]) : 0
      devices.append(try newDevice(index, ahead: ahead, usesWAL: random.once(in: 3)))
    }
    // The season's work is set up in the office, with the power on.
    world.settle()
    say("season \(seed): \(rules.words)")
    // In most seasons in which histories part, the devices have data from the beginning: more can part.
    if parts, seed % 4 != 0 { for device in devices { try deliver(try emit(to: device)) } }
  }

  private static func stock(_ app: FieldApp, _ random: inout SplitMix64) throws {
    // The last two look the same.
    for name in ["s0", "s1", "caf\u{e9}", "cafe\u{301}"] {
      let site = Site(id: ExactText(name), zone: Int64(random.below(20)))
      try app.insert(site, name: name, note: nil)
      for visit in 0..<random.below(3) {
        try app.insert(Visit(id: ExactText("\(name)-\(visit)"), site: site.id), a: nil, b: nil)
      }
    }
  }

  func say(_ event: @autoclosure () -> String) { trace?(event()) }

  func newDevice(_ index: Int, ahead: Int64, usesWAL: Bool) throws -> FieldDevice {
    enrolled += 1
    let platform = Platform(
      files: files, clock: PassingClock(time, ahead: ahead), random: SeededRandom(seed &* 31 &+ UInt64(enrolled)))
    let workspace = try DeviceWorkspace.create(
      world.root + "/device-\(enrolled)", dataset: "field", name: "tablet-\(enrolled)", platform: platform)
    try operating { try hub.admit(workspace, user: user(of: index)) }
    return FieldDevice(index, workspace, usesWAL: usesWAL)
  }

  /// The user of a device, or of its replacement.
  func user(of index: Int) -> String { users(of: index)[formerUsers[index]] }

  /// The users of a device, the present one last.
  func users(of index: Int) -> [String] {
    (0...formerUsers[index]).map { $0 == 0 ? "user-\(index)" : "user-\(index)-\($0)" }
  }

  /// The administrator's connection to the hub's database.
  func admin() throws -> FieldApp {
    if let opened { return opened }
    let app = try FieldApp(path: hub.configuration.databasePath(hub.folder))
    opened = app
    return app
  }

  func closeAll() {
    opened = nil
    for device in devices { device.closeApp() }
  }

  func tookEffect(_ kind: SeasonEvent.Kind) { effective.insert(kind) }

  func newValue() -> String {
    written += 1
    return "v\(written)"
  }

  func newKey() -> ExactText {
    born += 1
    return ExactText("k\(born)")
  }

  /// Releases everything.
  func end() {
    closeAll()
    world.end()
  }

  // MARK: playing

  func play(_ events: [SeasonEvent]) throws {
    for event in events { try play(event) }
    try finish()
  }

  private func play(_ event: SeasonEvent) throws {
    guard let kind = event.fault else {
      world.set(nil)
      try act(event)
      // Some carried bundles reach no side, and a full one takes far more steps than most.
      steps[event.kind] = max(steps[event.kind] ?? 0, world.steps)
      seeAll()
      return
    }
    let fault = Fault(kind, step: (steps[event.kind] ?? 64) * event.progress / 1000)
    world.set(fault)
    var isStopped = false
    do {
      try act(event)
    } catch {
      guard world.hasFailed else { throw error }
      say("  \(fault.kind) at step \(fault.step): \(type(of: error))")
      isStopped = true
      wasStopped = true
    }
    // The running program is dead: its connections end with it.
    if world.isDead { closeAll() }
    world.restart()
    seeAll()
    try checkAcknowledged()
    // People often try an export, an emission or an import again at once.
    if isStopped, [.export, .emit, .carry].contains(event.kind), event.seed % 4 != 0 { try act(event) }
  }
}
