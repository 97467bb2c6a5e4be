import SatchelBundle
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport

/// What a history that went wrong says.
struct Wrong: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A random history of one hub and three devices, with a courier who loses, repeats and reorders.
final class History {
  private static let length = 120
  private static let cleanRounds = 3
  /// The worst that happens to a hub, and the time that passes.
  enum Fate {
    case none, vandals, losses, versions
    /// Now and then somebody writes on a device behind the back of capture.
    case sneaks

    /// Of how many histories one is played with it, because that takes longer.
    var share: Int {
      switch self {
      case .none: 1
      case .vandals, .losses: 4
      case .sneaks: 2
      case .versions: 12
      }
    }
  }

  let seed: UInt64
  private var random: SplitMix64
  private let temper: Temper
  private let files = HostFileSystem()
  private let folder: String

  private var hub: HubWorkspace
  private var admin: App
  private let devices: [TestDevice]
  /// The remainder of c by three that each device's user may not see; 3 hides nothing. It changes: grants and revokes.
  private var hidden = [0, 1, 2]

  /// A file on the courier's stick.
  private struct Parcel {
    /// nil: for the hub.
    let device: Int?
    let path: String
    let name: String
  }

  private var mail: [Parcel] = []
  private var everMade: [Parcel] = []
  private var lastValue: Int64 = 99
  private var born = 0
  /// How often the rows of a device were found to be as they must be.
  private(set) var verified = 0
  private let trace: ((String) -> Void)?
  private let fate: Fate
  private let names: RowNames
  /// Decides about local keys.
  private var local: SplitMix64
  /// Whether now and then somebody drops what captures their writes.
  private var hasVandals: Bool { fate == .vandals }
  private var hasVersions: Bool { fate == .versions }
  private var versions: Versions
  /// Decides about doctors, vandals and losses, so that histories without them stay what they were.
  private var doctor: SplitMix64
  private let time = PassingTime()
  private let hubPlatform: Platform
  /// The hub's last backup.
  private var backup: String?
  /// Values that came into rows of devices unseen, and how many of them were kept as conflicts.
  private var sneaked: Set<Int64> = []
  private(set) var keptSneaks = 0
  /// What devices held, to find what was written over unknown.
  private var overwritten = OverwrittenValues()
  /// What the hub's log told before it was forgotten.
  private var remembered: [(id: String, fields: [UInt8])] = []

  init(
    seed: UInt64, in folder: String, fate: Fate = .none, names: RowNames = .primaryKey,
    trace: ((String) -> Void)? = nil
  ) throws {
    self.seed = seed
    self.names = names
    local = SplitMix64(seed: seed &+ 0x6c6f_6361_6c)
    self.fate = fate
    doctor = SplitMix64(seed: seed &+ 0x646f_6374_6f72)
    self.folder = folder
    self.trace = trace
    random = SplitMix64(seed: seed)
    let rules = random.one(of: Self.rules)
    versions = Versions(seed: seed, rules: rules, names: names)
    // Half of all histories are as in the model.
    temper = random.below(2) == 0 ? Temper() : random.one(of: Temper.all)
    let time = self.time
    let source = SeededRandom(~seed)
    let files = self.files
    func platform(ahead: Int64 = 0) -> Platform {
      Platform(files: files, clock: PassingClock(time, ahead: ahead), random: source)
    }

    let hubFolder = Paths.join(folder, "hub")
    try files.makeDirectory(hubFolder, mode: 0o755)
    try files.makeDirectory(Paths.join(folder, "stick"), mode: 0o755)
    let database = Paths.join(hubFolder, "items.sqlite")
    admin = try App(path: database, mode: .create)
    try admin.makeTables(names)
    hub = try HubWorkspace.create(
      hubFolder, definition: Array(versions.definition.utf8), database: database, platform: platform())
    hubPlatform = platform()

    var devices: [TestDevice] = []
    for index in 0..<3 {
      let user = "user-\(index)"
      // Now and then a clock runs ahead or is far behind.
      let ahead: Int64 = random.below(8) == 0 ? random.one(of: [3_600_000, -3_600_000, -4_000_000_000_000]) : 0
      _ = try hub.addUser(user, attributes: [("hidden", String(index))])
      let workspace = try DeviceWorkspace.create(
        Paths.join(folder, "device-\(index)"), dataset: "items", name: "device-\(index)",
        platform: platform(ahead: ahead))
      try hub.admit(workspace, user: user)
      devices.append(TestDevice(index, workspace))
    }
    self.devices = devices
    say("history \(seed): \(rules)")
  }

  /// The model knows the first two; the others must converge and lose nothing all the same.
  private static let rules = [
    #""conflict": "manual""#, #""conflict": "device""#, #""conflict": "manual""#, #""conflict": "device""#,
    #""conflict": "hub""#, #""conflict": "newest""#,
    #""conflict": "manual", "columns": { "a": "newest", "b": "device" }"#,
    #""conflict": "newest", "merge": "row""#, #""conflict": "manual", "merge": "row""#,
  ]

  private func say(_ event: @autoclosure () -> String) { trace?(event()) }

  private func value() -> Int64 {
    lastValue += 1
    return lastValue
  }

  // MARK: events

  func play() throws {
    for _ in 0..<Self.length {
      try event()
      try seeAll()
      if hasVersions, versions.isDue() { try goToNextVersion() }
      if seesDoctor, doctor.once(in: 60) { try examine() }
      if fate == .losses { try lose() }
    }
    if seesDoctor { try examine() }
    // One more in which devices hear of a new history, and one in which they deliver what it lacks.
    let rounds = Self.cleanRounds + (fate == .losses ? 2 : 0)
    say("-- \(rounds) clean rounds")
    for _ in 0..<rounds { try cleanRound() }
    // What nobody saw, a full bundle takes away.
    if fate == .sneaks {
      for device in devices { try deliver(try emit(to: device, full: true)) }
      for _ in 0..<Self.cleanRounds { try cleanRound() }
    }
    // Not all devices came back: the operator waits no longer.
    if fate == .losses, try hub.status().recovery != nil {
      _ = try hub.finishRecovery()
      for _ in 0..<Self.cleanRounds { try cleanRound() }
    }
  }

  private func seeAll() throws {
    for device in devices {
      try device.app()?.see(of: device.workspace.configuration.id.text, by: &overwritten)
    }
  }

  private func event() throws {
    let dice = random.fraction()
    let device = random.one(of: devices)
    var share = 0.0
    func falls(in part: Double) -> Bool {
      share += part
      return dice < share
    }
    if falls(in: temper.write) {
      try write(on: device)
    } else if falls(in: temper.export) {
      if try device.app() != nil {
        if hasVandals, doctor.once(in: 4) { try repair(device, thenKeep: true) }
        mail.append(try export(device))
        if hasVandals, doctor.once(in: 4) { try putBack(device) }
      }
    } else if falls(in: temper.emit) {
      mail.append(try emit(to: device))
    } else if falls(in: temper.hub) {
      try writeAtHub()
    } else if falls(in: temper.rights) {
      try changeRights(of: device)
    } else {
      try carry()
    }
  }

  /// A doctor reads everything that ever came, which takes longer than all the rest: every fourth history will do.
  private var seesDoctor: Bool { !hasVandals && fate != .sneaks && seed % 4 == 0 }

  /// Writes a row of a device that no trigger sees. One with pending changes is left alone: what is in it when it is
  /// exported travels.
  private func sneak(on device: TestDevice, _ app: App) throws {
    let id = doctor.once(in: 3) ? "n\(doctor.below(4))" : try app.items().map(\.id).randomElement(using: &doctor)
    guard let id, try !app.isPending(id) else { return }
    let value = value()
    if try app.items().contains(where: { $0.id == id }) {
      if doctor.once(in: 5) {
        say("\(device.name) loses \(id) unseen")
        return try app.executeUnseen("DELETE FROM items WHERE id = '\(id)'")
      }
      say("\(device.name) gets \(id).a = \(value) unseen")
      try app.executeUnseen("UPDATE items SET a = \(value) WHERE id = '\(id)'")
    } else {
      say("\(device.name) gets \(id) = \(value) unseen")
      try app.executeUnseen("INSERT INTO items (id, a, b, c) VALUES ('\(id)', \(value), \(value), \(value))")
    }
    sneaked.insert(value)
  }

  /// Every value that came into a row unseen, and that an import takes away, is kept as a conflict.
  private func checkSneaks(_ device: TestDevice, before: [Item]) throws {
    guard fate == .sneaks, let app = try device.app() else { return }
    let after = Set(try app.items().flatMap(\.values))
    let lost = Set(before.flatMap(\.values)).intersection(sneaked).subtracting(after)
    if lost.isEmpty { return }
    let kept = try device.workspace.conflicts(ConflictState.allCases).flatMap {
      ($0.record.deviceValues ?? []).map(\.value)
    }
    for value in lost where !kept.contains(.integer(value)) {
      throw Wrong("\(device.name) wrote over \(value), which nobody saw coming, without a conflict")
    }
    keptSneaks += lost.count
  }

  /// Nobody did any harm, so nobody finds any.
  private func examine() throws {
    for device in devices where try device.app() != nil {
      let report = try device.workspace.examine()
      if !report.isWell { throw Wrong("\(device.name) is well, and the doctor finds \(report)") }
    }
    let report = try hub.examine()
    if !report.isWell { throw Wrong("the hub is well, and the doctor finds \(report)") }
  }

  /// Makes what follows go by unseen, until somebody repairs it.
  private func vandalise(_ app: App) throws {
    let isAll = doctor.once(in: 2)
    let names = try app.dropTriggers(all: isAll)
    if isAll, doctor.once(in: 2) { try app.execute("DROP TABLE IF EXISTS satchel_before_items") }
    say("triggers are dropped: \(names)")
  }

  private func repair(_ device: TestDevice) throws {
    // Without vandals nothing is damaged, and nobody need look.
    guard hasVandals, let current = try device.workspace.status().current,
      !current.damage.isEmpty || current.unknownExport != nil
    else {
      return
    }
    let report = try keepingLocalKeys(device.app(), device.name) { try device.workspace.repair() }
    say("\(device.name) is repaired: \(report.unseen)")
    if !report.isWell { throw Wrong("\(device.name) cannot be repaired: \(report)") }
    let again = try device.workspace.examine()
    if !again.isWell { throw Wrong("\(device.name) was repaired, and the doctor finds \(again)") }
  }

  private func repair(_ device: TestDevice, thenKeep: Bool) throws {
    try repair(device)
    try device.keepBackup()
  }

  // MARK: losses

  private func lose() throws {
    if doctor.once(in: 12) {
      let file = Paths.join(folder, "backup-\(doctor.below(1 << 30)).satchel")
      _ = try hub.backup(to: file, keys: .included)
      backup = file
      say("the hub is backed up")
    }
    if let backup, doctor.once(in: 50) { try restore(backup) }
    if doctor.once(in: 12) {
      time.pass(days: 2)
      remembered += try admin.logged()
      let report = try hub.compact(olderThan: doctor.once(in: 3) ? 5 : nil)
      say(
        "the hub forgets \(report.logEntries) changes up to \(report.logFrom), \(report.goneRows) rows, and \(report.forgotten)"
      )
    }
  }

  /// The hub is lost, and comes back as it was when the backup was made.
  private func restore(_ backup: String) throws {
    time.pass(days: 1)
    let root = hub.folder.root
    let fingerprint = try hub.fingerprint()
    try files.removeTree(root)
    let report = try HubRestore(platform: hubPlatform).restore(
      backup, into: root, keys: .inBackup, fingerprint: fingerprint)
    hub = try HubWorkspace.open(root, platform: hubPlatform)
    admin = try App(path: hub.configuration.databasePath(hub.folder))
    for device in devices { try restoreRights(of: device) }
    say("the hub is restored: \(report.devices.map { "\($0.name) \($0.merged)" })")
  }

  /// What was done at the hub itself since the backup is done again.
  private func restoreRights(of device: TestDevice) throws {
    _ = try hub.setUser("user-\(device.index)", attributes: [("hidden", String(hidden[device.index]))])
  }

  /// All that the newer file held is in exports.
  private func putBack(_ device: TestDevice) throws {
    guard let backup = device.backup else { return }
    say("\(device.name) gets an old copy of its database")
    try device.putBack(backup)
    for _ in 0..<doctor.below(3) {
      guard let app = try device.app(), let item = try app.items().first else { break }
      let value = value()
      say("\(device.name) sets \(item.id).a = \(value)")
      try device.set(0, of: item.id, to: value, app)
    }
    try repair(device)
  }

  private func repairHub() throws {
    if try !hasVandals || hub.status().damage.isEmpty { return }
    let report = try hub.repair()
    say("the hub is repaired: \(report.unseen)")
    if try !hub.examine().isWell { throw Wrong("the hub was repaired, and is not well") }
  }

  /// Each replica gives its rows other local keys now and then. Nobody else is to notice.
  private func moveLocalKeys(_ app: App, _ name: String) throws {
    guard names != .primaryKey, local.once(in: 3) else { return }
    // SQLite's count knows nothing of local keys that an UPDATE gives.
    let (distance, reloading) = (100 + local.below(400), local.once(in: 3) || names == .columnBesideCount)
    say("\(name) gives other local keys, \(reloading ? "loading all again" : "by \(distance)")")
    try app.moveLocalKeys(by: distance, reloading: reloading)
  }

  /// Programs name rows by their local keys: those that stay keep theirs, whatever is done.
  private func keepingLocalKeys<T>(_ app: App?, _ name: String, _ body: () throws -> T) throws -> T {
    guard names != .primaryKey, let app else { return try body() }
    let before = try app.localKeys()
    let result = try body()
    for (id, key) in try app.localKeys() {
      if let old = before[id], old != key { throw Wrong("\(name) gave \(id) the local key \(key), which had \(old)") }
    }
    return result
  }

  private func write(on device: TestDevice) throws {
    guard let app = try device.app() else { return }
    try moveLocalKeys(app, device.name)
    if hasVandals, doctor.once(in: 8) { try vandalise(app) }
    if fate == .sneaks, doctor.once(in: 4) { try sneak(on: device, app) }
    let items = try app.items()
    let dice = random.fraction()
    if dice < temper.birth || items.isEmpty {
      // Some keys two devices choose by themselves.
      born += 1
      let id = random.fraction() < temper.sharedKey ? "n\(random.below(4))" : "k\(born)"
      if items.contains(where: { $0.id == id }) { return }
      let item = Item(id: id, values: [value(), value(), value()])
      say("\(device.name) inserts \(id) \(item.values)")
      try device.insert(item, app)
    } else if dice < 1 - temper.death {
      let id = random.one(of: items).id
      let column = random.fraction() < 0.8 ? random.below(2) : random.below(3)
      let value = value()
      say("\(device.name) sets \(id).\(Item.columns[column]) = \(value)")
      try device.set(column, of: id, to: value, app)
    } else {
      let id = random.one(of: items).id
      say("\(device.name) deletes \(id)")
      try device.delete(id, app)
    }
  }

  private func writeAtHub() throws {
    try moveLocalKeys(admin, "hub")
    if hasVandals, doctor.once(in: 8) { try vandalise(admin) }
    let items = try admin.items()
    if items.isEmpty { return }
    let id = random.one(of: items).id
    if random.fraction() < 0.7 {
      let column = random.below(3)
      let value = value()
      say("hub sets \(id).\(Item.columns[column]) = \(value)")
      try admin.set(column, of: id, to: value)
    } else {
      say("hub deletes \(id)")
      try admin.delete(id)
    }
  }

  private func changeRights(of device: TestDevice) throws {
    try repairHub()
    hidden[device.index] = random.below(4)
    say("\(device.name) may not see c % 3 = \(hidden[device.index])")
    _ = try hub.setUser("user-\(device.index)", attributes: [("hidden", String(hidden[device.index]))])
  }

  private func goToNextVersion() throws {
    let script = versions.next()
    say("hub goes to version \(versions.number), c % \(versions.modulus): \(script ?? "no migration")")
    _ = try hub.applyDataset(Array(versions.definition.utf8), migration: script.map { Array($0.utf8) })
  }

  // MARK: the courier

  private func export(_ device: TestDevice) throws -> Parcel {
    try repair(device)
    let report = try device.workspace.export()
    say("\(device.name) exports \(report.sequence)\(report.isNew ? "" : ", nothing new")")
    for path in try redelivery(of: device) where path != report.file { mail.append(try copy(path, to: nil)) }
    return try copy(report.file, to: nil)
  }

  /// What a restored hub lacks of a device. Where none was, nobody need look.
  private func redelivery(of device: TestDevice) throws -> [String] {
    fate == .losses ? try device.workspace.carriedBefore() : []
  }

  private func emit(to device: TestDevice, full: Bool = false) throws -> Parcel {
    try repairHub()
    let report = try hub.emit(to: device.name, full: full)
    say(
      "hub emits \(report.number) to \(device.name): \(report.extent.rawValue), \(report.rows) rows, \(report.gone) gone\(report.isNew ? "" : ", nothing new")"
    )
    return try copy(report.file, to: device.index)
  }

  private func copy(_ file: String, to device: Int?) throws -> Parcel {
    let name = Paths.name(of: file)
    let parcel = Parcel(device: device, path: Paths.join(folder, "stick/\(everMade.count)-\(name)"), name: name)
    try files.copy(file, to: parcel.path, mode: 0o644)
    everMade.append(parcel)
    return parcel
  }

  private func carry() throws {
    if mail.isEmpty { return }
    let place = random.below(mail.count)
    let parcel = mail[place]
    // What stays on the stick may be delivered again.
    if random.fraction() >= temper.stay { mail.remove(at: place) }
    if random.fraction() < temper.loss {
      say("\(parcel.name) is lost")
    } else {
      try deliver(parcel)
    }
  }

  private func deliver(_ parcel: Parcel) throws {
    guard let index = parcel.device else {
      try repairHub()
      for path in try hub.dueByNow() + [parcel.path] { try importAtHub(path, called: Paths.name(of: path)) }
      return
    }
    let before = try fate == .sneaks ? devices[index].app()?.items() ?? [] : []
    do {
      try repair(devices[index])
      let report = try keepingLocalKeys(devices[index].app(), devices[index].name) {
        try devices[index].workspace.importBundle(parcel.path)
      }
      try checkSneaks(devices[index], before: before)
      say(
        "device imports \(parcel.name): \(report.verdict), \(report.written) written, \(report.removed) removed, \(report.conflicts) conflicts"
      )
    } catch let refusal as Refusal
      where refusal.reason == "gap" || fate == .losses && ["other-history", "other-hub"].contains(refusal.reason)
    {
      say("device refuses \(parcel.name): \(refusal.reason)")
    }
  }

  /// Imports at the hub. If that shows that the hub was set back, the operator begins a new epoch, and it is done
  /// again.
  private func importAtHub(_ path: String, called name: String) throws {
    do {
      let report = try keepingLocalKeys(admin, "the hub") { try hub.importBundle(path) }
      try checkProof(report, name)
      say("hub imports \(name): \(report.verdict), \(report.taken) taken, \(report.conflicts) conflicts")
    } catch let refusal as Refusal where ["gap", "wrong-kind"].contains(refusal.reason) && fate == .losses {
      // A device proves with the hub's own bundle that the hub was set back, also where the hub knows the bundle.
      say("hub refuses \(name): \(refusal.reason)")
    } catch let refusal as Refusal where refusal.reason == "set-back" && fate == .losses {
      say("the hub was set back, as \(name) shows: the operator begins a new epoch")
      _ = try hub.restoreInPlace()
      for waiting in try hub.dueByNow() { try importAtHub(waiting, called: Paths.name(of: waiting)) }
      if try files.kind(path) != nil { try importAtHub(path, called: name) }
    }
  }

  /// By the rules of emission and echo a device has exactly what the hub believes it to have.
  private func checkProof(_ report: HubImportReport, _ name: String) throws {
    guard let proof = report.proof else { return }
    say("its rows are \(proof.result): \(proof.words ?? "")")
    if proof.result == .verified { verified += 1 }
    if proof.result == .differs, fate != .sneaks {
      throw Wrong("\(name) has other rows than it must have: \(proof.differences)")
    }
  }

  private func cleanRound() throws {
    for device in devices {
      if try device.app() == nil { try deliver(try emit(to: device)) }
      for path in try redelivery(of: device) { try deliver(try copy(path, to: nil)) }
      try deliver(try export(device))
    }
    for device in devices { try deliver(try emit(to: device)) }
    try seeAll()
  }

  // MARK: what must hold then

  func check() throws {
    let atHub = try admin.items()
    for device in devices {
      guard let app = try device.app() else { throw Wrong("\(device.name) has no database") }
      // By this test's own arithmetic, not by the code that is tested.
      let want = atHub.filter { $0.values[2] % versions.modulus != Int64(hidden[device.index]) }
      let have = try app.items()
      if have != want { throw Wrong("\(device.name) diverged: it has \(have), and the hub \(want)") }
      let whole = try app.rows(want.map(\.id))
      if try whole != admin.rows(want.map(\.id)) {
        throw Wrong("\(device.name) diverged in columns of its own: \(whole)")
      }
      let pending = try device.workspace.status().current?.pending ?? []
      if !pending.isEmpty { throw Wrong("\(device.name) still has pending steps: \(pending)") }
    }
    try checkNothingLost(atHub)
    // What a device wrote behind the back of capture, nobody can say when it held what.
    if fate != .sneaks, let words = try admin.lost(by: overwritten) { throw Wrong(words) }
    if fate != .sneaks { try checkNothingUnseen() }
    try checkIntegrity()
    // It costs as much as all that came before, so not every history is asked.
    if seed % 4 == 0 { try checkRepetition() }
  }

  /// Where every write is captured, no row is other than the hub believes it to be.
  private func checkNothingUnseen() throws {
    for device in devices {
      let found = try device.workspace.conflicts(ConflictState.allCases).first { $0.record.kind == .unseen }
      if let found { throw Wrong("\(device.name) took a change for unseen: \(found.record)") }
    }
  }

  private func checkNothingLost(_ atHub: [Item]) throws {
    var kept = Set<Sighting>()
    func see(_ id: String, _ fields: [Field]) {
      for field in fields {
        guard let column = Item.columns.firstIndex(of: field.name.text), case .integer(let value) = field.value else {
          continue
        }
        kept.insert(Sighting(cell: Cell(id, column), value: value))
      }
    }
    for item in atHub { see(item.id, zip(Item.columns, item.values).map { Field(Name($0), .integer($1)) }) }
    for entry in try admin.logged() + remembered { see(entry.id, try FieldsCoding.parse(entry.fields)) }
    let conflicts =
      try hub.conflicts(ConflictState.allCases) + devices.flatMap { try $0.workspace.conflicts(ConflictState.allCases) }
    for conflict in conflicts {
      guard case .text(let id)? = conflict.record.key.values.first else { throw Wrong("a conflict's key is no text") }
      see(String(decoding: id, as: UTF8.self), conflict.record.deviceValues ?? [])
    }
    for device in devices {
      for (cell, value) in device.duty where !kept.contains(Sighting(cell: cell, value: value)) {
        throw Wrong("\(device.name) lost \(cell.id).\(Item.columns[cell.column]) = \(value)")
      }
    }
  }

  private func apps() throws -> [App] { try [admin] + devices.compactMap { try $0.app() } }

  private func checkIntegrity() throws {
    for app in try apps() {
      let verdict = try app.integrity()
      if verdict != "ok" { throw Wrong("a database is not sound: \(verdict)") }
    }
  }

  /// Every bundle that was ever made is imported once more.
  private func checkRepetition() throws {
    let before = try apps().map { try $0.dump() }
    for parcel in everMade { try deliver(parcel) }
    let after = try apps().map { try $0.dump() }
    for (before, after) in zip(before, after) {
      for table in before.keys.sorted() where before[table] != after[table] {
        let (old, new) = (before[table] ?? [], after[table] ?? [])
        throw Wrong(
          "importing again changed \(table): gone is \(old.filter { !new.contains($0) }), new is \(new.filter { !old.contains($0) })"
        )
      }
    }
  }
}
