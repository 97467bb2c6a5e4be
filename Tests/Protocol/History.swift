import SatchelBundle
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport

/// The error of a history that breaks a condition.
struct Wrong: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A random history of one hub and three devices. Its courier loses, repeats and reorders files.
final class History {
  private static let length = 120
  private static let cleanRounds = 3
  /// A kind of trouble that may occur in a history.
  enum Fate {
    case none, vandals, losses, versions
    /// Sometimes a write on a device bypasses capture.
    case sneaks

    /// One of so many histories has this fate, because such histories take longer.
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
  var random: SplitMix64
  let temper: Temper
  let files = HostFileSystem()
  let folder: String

  var hub: HubWorkspace
  var admin: App
  let devices: [TestDevice]
  /// For each device, the remainder of c by three that the device's user may not see. 3 hides nothing. Grants and
  /// revokes change it.
  var hidden = [0, 1, 2]

  /// A bundle on the courier's stick.
  struct Parcel {
    /// The recipient; nil: the hub.
    let device: Int?
    let path: String
    let name: String
  }

  var mail: [Parcel] = []
  var everMade: [Parcel] = []
  var lastValue: Int64 = 99
  var born = 0
  /// How often the hub found a device's rows correct.
  private(set) var verified = 0
  let trace: ((String) -> Void)?
  let fate: Fate
  let names: RowNames
  /// Random numbers for decisions about local keys.
  var local: SplitMix64
  /// Whether apps sometimes drop the triggers that capture their writes.
  var hasVandals: Bool { fate == .vandals }
  var hasVersions: Bool { fate == .versions }
  var versions: Versions
  /// Random numbers for doctors, vandals and losses. They are separate, so histories without these events stay the
  /// same.
  var doctor: SplitMix64
  let time = PassingTime()
  let hubPlatform: Platform
  /// The hub's last backup.
  var backup: String?
  /// Values that devices wrote unseen, and the number of these values that were kept as conflicts.
  var sneaked: Set<Int64> = []
  private(set) var keptSneaks = 0
  /// The values that devices had, by which the test finds values that were overwritten unseen. Only migrations
  /// write the columns that later versions add.
  var overwritten = OverwrittenValues(combined: Set((1...99).map { "items.x\($0)" }))
  /// The entries of the hub's log before the hub forgot them.
  var remembered: [(id: String, fields: [UInt8])] = []

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
    // Half of all histories have the frequencies of the model in docs/DESIGN.md.
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
      // One clock in eight is ahead or behind.
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

  /// The rules of the dataset. The model covers only the first two. With all other rules, the replicas must still
  /// converge and lose no value.
  private static let rules = [
    #""conflict": "manual""#, #""conflict": "device""#, #""conflict": "manual""#, #""conflict": "device""#,
    #""conflict": "hub""#, #""conflict": "newest""#,
    #""conflict": "manual", "columns": { "a": "newest", "b": "device" }"#,
    #""conflict": "newest", "merge": "row""#, #""conflict": "manual", "merge": "row""#,
  ]

  func say(_ event: @autoclosure () -> String) { trace?(event()) }

  func value() -> Int64 {
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
    // After losses there are two more rounds. In the first one, devices receive the hub's new history. In the second
    // one, they deliver the changes that it lacks.
    let rounds = Self.cleanRounds + (fate == .losses ? 2 : 0)
    say("-- \(rounds) clean rounds")
    for _ in 0..<rounds { try cleanRound() }
    // In this fate, each device imports a full bundle, which overwrites unseen writes.
    if fate == .sneaks {
      for device in devices { try deliver(try emit(to: device, full: true)) }
      for _ in 0..<Self.cleanRounds { try cleanRound() }
    }
    // Some devices have not delivered, and the operator no longer waits for them.
    if fate == .losses, try hub.status().recovery != nil {
      _ = try hub.finishRecovery()
      for _ in 0..<Self.cleanRounds { try cleanRound() }
    }
    if fate == .losses { for device in devices { try checkHistory(of: device) } }
  }

  /// Expects that the device continues the hub's history at the end.
  private func checkHistory(of device: TestDevice) throws {
    let findings = try device.workspace.examine().findings.filter { [.otherHub, .otherHistory].contains($0.code) }
    if !findings.isEmpty { throw Wrong("after all rounds, \(device.name) has \(findings)") }
  }

  func seeAll() throws {
    for device in devices {
      try device.app()?.see(of: device.workspace.configuration.id.text, by: &overwritten)
    }
  }

  func event() throws {
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

  /// Whether the doctor runs. It reads all bundles, which takes longer than all other work, so only one history in four
  /// runs it.
  var seesDoctor: Bool { !hasVandals && fate != .sneaks && seed % 4 == 0 }

  /// Writes a row of a device without triggers. Rows with changes that no export carries are left out, because the
  /// export would send their unseen content. The hub may or may not have the values that this write replaces.
  func sneak(on device: TestDevice, _ app: App) throws {
    let id = doctor.once(in: 3) ? "n\(doctor.below(4))" : try app.items().map(\.id).randomElement(using: &doctor)
    guard let id, try !app.isUnexported(id) else { return }
    let value = value()
    if try app.items().contains(where: { $0.id == id }) {
      if doctor.once(in: 5) {
        say("\(device.name) loses \(id) unseen")
        for column in Item.columns.indices { device.duty[Cell(id, column)] = nil }
        return try app.executeUnseen("DELETE FROM items WHERE id = '\(id)'")
      }
      say("\(device.name) gets \(id).a = \(value) unseen")
      device.duty[Cell(id, 0)] = nil
      try app.executeUnseen("UPDATE items SET a = \(value) WHERE id = '\(id)'")
    } else {
      say("\(device.name) gets \(id) = \(value) unseen")
      try app.executeUnseen("INSERT INTO items (id, a, b, c) VALUES ('\(id)', \(value), \(value), \(value))")
    }
    sneaked.insert(value)
  }

  /// Expects that a conflict keeps every unseen value that an import overwrites.
  func checkSneaks(_ device: TestDevice, before: [Item]) throws {
    guard fate == .sneaks, let app = try device.app() else { return }
    let after = Set(try app.items().flatMap(\.values))
    let lost = Set(before.flatMap(\.values)).intersection(sneaked).subtracting(after)
    if lost.isEmpty { return }
    let kept = try device.workspace.conflicts(ConflictState.allCases).flatMap {
      ($0.record.deviceValues ?? []).map(\.value)
    }
    for value in lost where !kept.contains(.integer(value)) {
      throw Wrong("\(device.name) overwrote \(value) without a conflict")
    }
    keptSneaks += lost.count
  }

  /// Expects that no doctor finds damage, because there is none.
  func examine() throws {
    for device in devices where try device.app() != nil {
      var report = try device.workspace.examine()
      // The hub may not know yet that it lost a history. Until then, the device correctly treats it as another hub.
      if device.isEstranged { report.findings.removeAll { [.otherHub, .otherHistory].contains($0.code) } }
      if !report.isWell { throw Wrong("\(device.name) is well, and the doctor finds \(report)") }
    }
    let report = try hub.examine()
    if !report.isWell { throw Wrong("the hub is well, and the doctor finds \(report)") }
  }

  /// Drops triggers, so that later writes bypass capture until a repair.
  func vandalise(_ app: App) throws {
    let isAll = doctor.once(in: 2)
    let names = try app.dropTriggers(all: isAll)
    if isAll, doctor.once(in: 2) { try app.execute("DROP TABLE IF EXISTS satchel_before_items") }
    say("triggers are dropped: \(names)")
  }

  func repair(_ device: TestDevice) throws {
    // Only vandals damage capture, so other histories need no repair.
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

  func repair(_ device: TestDevice, thenKeep: Bool) throws {
    try repair(device)
    try device.keepBackup()
  }

  func write(on device: TestDevice) throws {
    guard let app = try device.app() else { return }
    try moveLocalKeys(app, device.name)
    if hasVandals, doctor.once(in: 8) { try vandalise(app) }
    if fate == .sneaks, doctor.once(in: 4) { try sneak(on: device, app) }
    let items = try app.items()
    let dice = random.fraction()
    if dice < temper.birth || items.isEmpty {
      // Sometimes two devices may choose the same key.
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

  func writeAtHub() throws {
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

  func changeRights(of device: TestDevice) throws {
    try repairHub()
    hidden[device.index] = random.below(4)
    say("\(device.name) may not see c % 3 = \(hidden[device.index])")
    _ = try hub.setUser("user-\(device.index)", attributes: [("hidden", String(hidden[device.index]))])
  }

  func goToNextVersion() throws {
    let script = versions.next()
    say("hub goes to version \(versions.number), c % \(versions.modulus): \(script ?? "no migration")")
    _ = try hub.applyDataset(Array(versions.definition.utf8), migration: script.map { Array($0.utf8) })
  }

  // MARK: the courier

  func export(_ device: TestDevice) throws -> Parcel {
    try repair(device)
    let report = try device.workspace.export()
    say("\(device.name) exports \(report.sequence)\(report.isNew ? "" : ", nothing new")")
    for path in try redelivery(of: device) where path != report.file { mail.append(try copy(path, to: nil)) }
    return try copy(report.file, to: nil)
  }

  /// The exports of a device that a restored hub needs. Only histories with losses have such exports.
  func redelivery(of device: TestDevice) throws -> [String] {
    fate == .losses ? try device.workspace.carriedBefore() : []
  }

  func emit(to device: TestDevice, full: Bool = false) throws -> Parcel {
    try repairHub()
    let report = try hub.emit(to: device.name, full: full)
    say(
      """
      hub emits \(report.number) to \(device.name): \(report.extent.rawValue), \(report.rows) rows, \(report.gone) \
      gone\(report.isNew ? "" : ", nothing new")
      """
    )
    return try copy(report.file, to: device.index)
  }

  func copy(_ file: String, to device: Int?) throws -> Parcel {
    let name = Paths.name(of: file)
    let parcel = Parcel(device: device, path: Paths.join(folder, "stick/\(everMade.count)-\(name)"), name: name)
    try files.copy(file, to: parcel.path, mode: 0o644)
    everMade.append(parcel)
    return parcel
  }

  func carry() throws {
    if mail.isEmpty { return }
    let place = random.below(mail.count)
    let parcel = mail[place]
    // The file may stay on the stick and be delivered again.
    if random.fraction() >= temper.stay { mail.remove(at: place) }
    if random.fraction() < temper.loss {
      say("\(parcel.name) is lost")
    } else {
      try deliver(parcel)
    }
  }

  func deliver(_ parcel: Parcel) throws {
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
      if report.verdict == .imported { devices[index].isEstranged = false }
      say(
        """
        device imports \(parcel.name): \(report.verdict), \(report.written) written, \(report.removed) removed, \
        \(report.conflicts) conflicts
        """
      )
    } catch let refusal as Refusal
      where refusal.reason == "gap" || fate == .losses && ["other-history", "other-hub"].contains(refusal.reason)
    {
      if refusal.reason != "gap" { devices[index].isEstranged = true }
      say("device refuses \(parcel.name): \(refusal.reason)")
    }
  }

  /// Imports a bundle at the hub. If the bundle shows that the hub was set back, the operator begins a new epoch and
  /// repeats the import.
  func importAtHub(_ path: String, called name: String) throws {
    do {
      let report = try keepingLocalKeys(admin, "the hub") { try hub.importBundle(path) }
      try checkProof(report, name)
      say("hub imports \(name): \(report.verdict), \(report.taken) taken, \(report.conflicts) conflicts")
    } catch let refusal as Refusal where ["gap", "wrong-kind"].contains(refusal.reason) && fate == .losses {
      // With a bundle of the hub, a device may prove that the hub was set back. This is possible even if the hub knows
      // the bundle.
      say("hub refuses \(name): \(refusal.reason)")
    } catch let refusal as Refusal where refusal.reason == "set-back" && fate == .losses {
      say("the hub was set back, as \(name) shows: the operator begins a new epoch")
      _ = try hub.restoreInPlace()
      for waiting in try hub.dueByNow() { try importAtHub(waiting, called: Paths.name(of: waiting)) }
      if try files.kind(path) != nil { try importAtHub(path, called: name) }
    }
  }

  /// Expects that a device has exactly the rows that the hub expects.
  func checkProof(_ report: HubImportReport, _ name: String) throws {
    guard let proof = report.proof else { return }
    say("its rows are \(proof.result): \(proof.words ?? "")")
    if proof.result == .verified { verified += 1 }
    if proof.result == .differs, fate != .sneaks {
      throw Wrong("\(name) has other rows than it must have: \(proof.differences)")
    }
  }

  func cleanRound() throws {
    for device in devices {
      if try device.app() == nil { try deliver(try emit(to: device)) }
      for path in try redelivery(of: device) { try deliver(try copy(path, to: nil)) }
      try deliver(try export(device))
    }
    for device in devices { try deliver(try emit(to: device)) }
    try seeAll()
  }
}
