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
  /// The most rounds at the end of the season. In a round, all devices deliver and fetch.
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
  /// For each device, the remainder of a site's zone that its user may not see. A value above all remainders hides
  /// nothing.
  var hidden: [Int64]
  /// The number of former users of each device.
  var formerUsers = [Int](repeating: 0, count: Season.devices)
  var mail: [Parcel] = []
  /// The number of files that a hub or a device refused.
  var refusals = 0
  /// The number of times that a new hub, or a copy of the hub, was opened.
  var openings = 0
  var everMade: [Parcel] = []
  /// For each name of a bundle, the digest of that bundle.
  var contents: [String: Digest] = [:]
  var backups = 0
  var backup: String?
  /// Values that may be missing from the hub's log, because the hub forgot them or was lost.
  var remembered: Set<String> = []
  /// The values in the logs of copies of the hub that worked for a while.
  var loggedByCopy: Set<String> = []
  var presence = Presence()
  /// For each deleted row, the device whose bundle deleted it. The device still has that bundle if the hub forgets the
  /// deletion.
  var deleters: [RowName: String] = [:]
  /// The values that devices held. They show which values a device overwrote without having seen them.
  var overwritten = OverwrittenValues(combined: ["counters.n", "counters.tags"], defaults: ["'new'"])
  /// Whether histories part in this season: hubs are put back and copied, keys are stolen, and databases are broken.
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
  /// Whether the hub has replaced its first signing key.
  var hasNewKey = false
  /// Whether devices may have brought a thief's rows to a new hub. A new hub cannot distinguish them from other rows.
  var bringsFalse = false
  /// The devices that imported a thief's bundle. The thief may have acknowledged exports that no hub has.
  var misled: Set<String> = []
  /// Rows that were written with the triggers switched off.
  var unseen: Set<RowName> = []
  /// Whether the hub's quarantine has a device's bundle with a forged proof.
  var hasForgedProofs = false
  /// The devices whose folders were put back, and the sticks that they wrote before.
  var wasPutBack: Set<String> = []
  var lateSticks: [Parcel] = []
  /// Whether one of these late sticks is at the hub now.
  var isStickLate = false
  /// The devices whose settlement a fault stopped: the stick that showed two histories, and whether it was late.
  var unsettled: [String: (stick: Parcel, isLate: Bool)] = [:]
  /// The number of new bundles, and of other events that need another round.
  var news = 0
  /// The same number, without bundles that only acknowledge.
  var newContent = 0
  /// Whether `checkOrder` delivers the same bundles in two orders now.
  var isCheckingOrder = false
  private var written = 0
  private var born = 0
  private var enrolled = 0
  /// The kinds of events that took effect. An event may find nothing to do, for example if no copy was made yet.
  private(set) var effective: Set<SeasonEvent.Kind> = []
  /// Whether a fault has stopped any event.
  private(set) var wasStopped = false
  /// For each kind of event, the most steps that such an event has taken so far.
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
    // With this index, SQLite looks a row's children up. Without it, SQLite scans the whole table.
    if random.once(in: 2) { try app.execute("CREATE INDEX visits_by_site ON visits (site)") }
    // In half of the seasons, there are rows from the beginning.
    if random.once(in: 2) { try Self.stock(app, &random) }
    opened = app
    hub = try HubWorkspace.create(
      world.root + "/hub", definition: Array(rules.definition.utf8), database: database,
      platform: Platform(files: files, clock: hubClock, random: SeededRandom(~seed)))
    for index in 0..<Self.devices {
      _ = try hub.addUser("user-\(index)", attributes: [("hidden", String(hidden[index]))])
      // Some devices have a clock that is ahead or far behind.
      let ahead: Int64 = random.once(in: 8) ? random.one(of: [3_600_000, -3_600_000, -4_000_000_000_000]) : 0
      devices.append(try newDevice(index, ahead: ahead, usesWAL: random.once(in: 3)))
    }
    // The season is set up in the office, and no power fails there. So everything is on the medium.
    world.settle()
    say("season \(seed): \(rules.words)")
    // In most seasons in which histories part, the devices have data from the beginning, so that more histories can
    // part.
    if parts, seed % 4 != 0 { for device in devices { try deliver(try emit(to: device)) } }
  }

  private static func stock(_ app: FieldApp, _ random: inout SplitMix64) throws {
    // The last two names look the same, but have different bytes.
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

  /// The present user of the device with this index. A replacement of the device has the same index.
  func user(of index: Int) -> String { users(of: index)[formerUsers[index]] }

  /// The users of the device with this index, the present user last.
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
      // The greatest number counts: some carried bundles reach no side, and a full bundle takes far more steps than
      // most.
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
