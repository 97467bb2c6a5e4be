import SatchelBundle
import SatchelConflicts
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import SimulatedWorld
import TestSupport

extension SeasonEvent.Kind {
  /// Whether a fault may stop this event. The other events are manual work of people, who repeat it until it is done.
  var canFail: Bool {
    switch self {
    case .export, .emit, .carry, .damagedCarry, .resolve, .hubResolve, .rights, .version, .backup, .restoreHub,
      .compact:
      true
    case .write, .hubWrite, .clone, .lostDevice, .lostDatabase, .oldCopy, .clockJump, .hubClock: false
    case .count, .copyHub, .putBackHub, .secondHub, .stolenKey, .brokenDatabase, .falseHistory, .given: false
    case .unseenWrite, .newHub, .restoredFolder, .lateStick: false
    }
  }

  /// Whether this event may lose unseen writes with a database or a hub. No program can find them afterwards.
  var endsUnseenWrites: Bool {
    switch self {
    case .clone, .lostDevice, .lostDatabase, .oldCopy, .brokenDatabase, .newHub, .restoredFolder: true
    default: false
    }
  }
}

/// The events of a season besides writing.
extension Season {
  func act(_ event: SeasonEvent) throws {
    var random = SplitMix64(seed: event.seed)
    if event.kind.endsUnseenWrites { try takeUpUnseenWrites() }
    let device = devices[event.device]
    switch event.kind {
    case .write: for _ in 0...random.below(2) { try write(on: device, &random) }
    case .hubWrite: try writeAtHub(&random)
    case .export: if let parcel = try export(device, snapshot: random.once(in: 6)) { mail.append(parcel) }
    case .emit: mail.append(try emit(to: device, full: random.once(in: 12)))
    case .carry: try carry(&random)
    case .damagedCarry:
      switch random.below(8) {
      case 0, 1: try misdeliver(&random)
      case 2, 3, 4: try attack(device, &random)
      default: try carryDamaged(&random)
      }
    case .rights: try changeRights(of: device, to: Int64(random.below(4)))
    case .version: try goToNextVersion(&random)
    case .resolve: try resolve(on: device, &random)
    case .hubResolve: try resolveAtHub(&random)
    case .clone: try clone(device, &random)
    case .lostDevice: try lose(device, &random)
    case .lostDatabase: try loseDatabase(of: device)
    case .oldCopy: try putBackOldCopy(of: device, &random)
    case .backup: try makeBackup()
    // If a device's folder was put back before, a restore of the hub could lose work that only these two had.
    case .restoreHub: if wasPutBack.isEmpty { try restoreHub() }
    case .compact: try compact(&random)
    case .clockJump: time.pass(days: Int64(1 + random.below(40)))
    case .hubClock: setHubClock(&random)
    case .count: try count(on: device, &random)
    case .copyHub: try copyHub()
    case .putBackHub: try putBackHub()
    case .secondHub: try runSecondHub(with: device, &random)
    case .stolenKey: try stealKey(from: device, &random)
    case .brokenDatabase: try breakDatabase(of: device, &random)
    case .given: try give(device, to: Int64(random.below(4)))
    case .falseHistory: try offerFalseHistory(to: device, &random)
    case .unseenWrite: try writeUnseen(on: device, &random)
    case .newHub: try openNewHub()
    case .restoredFolder: try putBackFolder(of: device)
    case .lateStick: try carryLateStick(&random)
    }
  }

  /// Runs `body`. If a fault stops it, restarts the world and runs `body` again.
  func surely(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      guard world.hasFailed else { throw error }
      if world.isDead { closeAll() }
      world.restart()
      try body()
    }
  }

  // MARK: bundles

  /// - Parameter besideOthers: whether the files of `redelivery` are put into the mail too.
  func export(_ device: FieldDevice, snapshot: Bool = false, besideOthers: Bool = true) throws -> Parcel? {
    if try device.app() == nil { return nil }
    let report = try device.workspace.export(snapshot: snapshot)
    if report.isNew { noteNews(if: !report.changes.isEmpty || report.conflicts > 0) }
    say("\(device.name) exports \(report.sequence)\(report.isNew ? "" : ", nothing new")")
    if besideOthers {
      for path in try redelivery(of: device) where path != report.file {
        mail.append(try pack(path, from: device.name, to: nil))
      }
    }
    return try pack(report.file, from: device.name, to: nil)
  }

  /// Files for the hub: exports that a restored hub lacks, changes of a former user, and the files of a device without
  /// a database. Empty if the device needs none of these.
  func redelivery(of device: FieldDevice) throws -> [String] {
    if parts, try device.app() == nil { return try device.workspace.stranded()?.files ?? [] }
    let mayLack = presence.isRestored || formerUsers[device.index] > 0
    return mayLack ? try device.workspace.carriedBefore() : []
  }

  func emit(to device: FieldDevice, full: Bool = false) throws -> Parcel {
    let report: EmitReport
    do {
      report = try operating { try hub.emit(to: device.name, full: full) }
    } catch let error as WorkspaceError where error.reason == "flagged" {
      guard try settleAgain(device.name) else { throw error }
      return try emit(to: device, full: full)
    }
    if report.isNew { noteNews(if: report.extent == .full || report.rows + report.gone > 0) }
    say(
      """
      hub emits \(report.number) to \(device.name): \(report.extent.rawValue), \(report.rows) rows, \(report.gone) \
      gone
      """
    )
    let parcel = try pack(report.file, from: "hub", to: device.name)
    try checkScope(of: parcel, for: device)
    return parcel
  }

  /// - Parameter hasContent: false if the file only acknowledges other bundles.
  func noteNews(if hasContent: Bool = true) {
    news += 1
    if hasContent { newContent += 1 }
  }

  func pack(_ file: String, from: String, to device: String?) throws -> Parcel {
    let name = Paths.name(of: file)
    let parcel = Parcel(device: device, from: from, path: stick + "/\(everMade.count)-\(name)", name: name)
    try files.copy(file, to: parcel.path, mode: 0o644)
    if from != Self.secondHub { try checkName(of: parcel) }
    everMade.append(parcel)
    return parcel
  }

  private func carry(_ random: inout SplitMix64) throws {
    if mail.isEmpty { return }
    let place = random.below(mail.count)
    let parcel = mail[place]
    if random.once(in: 4) { say("\(parcel.name) is lost") } else { try deliver(parcel) }
    // A delivered file may stay on the stick, and is then delivered again. This holds for a refused file too.
    if !random.once(in: 3) { mail.remove(at: place) }
  }

  func deliver(_ parcel: Parcel) throws {
    guard let name = parcel.device else { return try deliverToHub(parcel) }
    guard let device = devices.first(where: { $0.name == name }) else { return }
    let captured = try device.app()?.captured()
    do {
      let report = try take(parcel, on: device)
      try checkCaptured(device.app(), before: captured, by: parcel)
      say("\(name) imports \(parcel.name): \(report.verdict), \(report.written) written, \(report.removed) removed")
    } catch let refusal as Refusal where refusal.reason == "gap" || presence.isRestored && refusal.isAboutHistory {
      noteRefusal(by: "\(name)", of: parcel, refusal.reason)
      // The next round of exchanges carries the proof of the other history.
      if refusal.isAboutHistory { noteNews() }
    } catch let refusal as Refusal
      where wasPutBack.contains(name) && ["older-database", "copied"].contains(refusal.reason)
    {
      // The device's next export shows the hub both histories.
      noteRefusal(by: "\(name)", of: parcel, refusal.reason)
      noteNews()
    } catch let refusal as any ExplainedError
      where hasNewKey && ["revoked-key", "replaced-key", "unknown-key", "other-fingerprint"].contains(refusal.reason)
    {
      noteRefusal(by: "\(name)", of: parcel, refusal.reason)
    }
    see(device)
    if let problem = try device.app()?.unsoundness() {
      throw Wrong("\(name) is not sound after \(parcel.name): \(problem)")
    }
  }

  private func noteRefusal(by name: String, of parcel: Parcel, _ reason: String) {
    refusals += 1
    say("\(name) refuses \(parcel.name): \(reason)")
  }

  private func deliverToHub(_ parcel: Parcel) throws {
    try deliverDue(from: parcel.from)
    try takeAtHub(parcel)
  }

  /// First imports the files that waited at the hub and lack nothing more, as the command `import` does.
  private func deliverDue(from sender: String) throws {
    for path in try hub.dueByNow() where try files.kind(path) != nil {
      do { try takeAtHub(Parcel(device: nil, from: sender, path: path, name: Paths.name(of: path))) } catch let
        refusal
        as Refusal
        where refusal.reason == "revoked"
      { say("a bundle that waited is of a device that was lost since") }
    }
  }

  private func takeAtHub(_ parcel: Parcel) throws {
    let before = try Set(admin().rows().keys)
    let captured = try admin().captured()
    importing = parcel.path
    defer { importing = nil }
    do {
      let report = try operating { try importAtHub(parcel) }
      if let proof = report.proof, proof.result == .differs, unseen.isEmpty {
        throw Wrong("\(parcel.name) has other rows than it must have: \(proof.differences)")
      }
      if [.collected, .unused].contains(report.verdict) || report.recovery != nil { noteNews() }
      try checkCaptured(admin(), before: captured, by: parcel)
      say("hub imports \(parcel.name): \(report.verdict), \(report.taken) taken, \(report.conflicts) conflicts")
    } catch let refusal as Refusal where refusal.reason == "gap" && (presence.isRestored || hasFormerUser(parcel.from))
    {
      // The bundle came before the exports on which it builds.
      noteRefusal(by: "hub", of: parcel, "gap")
    } catch let refusal as Refusal where refusal.reason == "wrong-kind" && (presence.isRestored || parts) {
      say("hub refuses \(parcel.name): it knows it")
    } catch let refusal as Refusal where hasNewKey && refusal.reason == "revoked-key" {
      noteRefusal(by: "hub", of: parcel, refusal.reason)
    } catch let refusal as Refusal
      where wasPutBack.contains(parcel.from) && ["fork", "flagged", "parted"].contains(refusal.reason)
    {
      noteRefusal(by: "hub", of: parcel, refusal.reason)
      try settlePutBack(parcel)
    } catch let refusal as Refusal where refusal.reason == "other-user" && hasFormerUser(parcel.from) {
      noteRefusal(by: "hub", of: parcel, refusal.reason)
      try enterHandoversAgain(of: parcel.from)
    } catch let refusal as Refusal where !devices.contains(where: { $0.name == parcel.from }) {
      say("hub refuses \(parcel.name) of a lost device: \(refusal.reason)")
    }
    try checkResurrection(before: before, after: Set(admin().rows().keys), by: parcel)
  }

  /// The operator follows the refusal's hint: the device gets its former users, and then its present user again.
  private func enterHandoversAgain(of name: String) throws {
    guard let device = devices.first(where: { $0.name == name }) else { return }
    for user in users(of: device.index) where try hub.device(name).user != user {
      // A new hub does not know its devices' former users.
      if try !hub.users().contains(where: { $0.name == user }) {
        _ = try operating { try hub.addUser(user, attributes: [("hidden", String(rules.modulus))]) }
      }
      _ = try operating { try hub.setDevice(name, user: user) }
    }
    noteNews()
  }

  /// Whether a device has had a former user. The changes of a former user are in files of their own, and in no later
  /// export.
  private func hasFormerUser(_ name: String) -> Bool {
    devices.contains { $0.name == name && formerUsers[$0.index] > 0 }
  }

  /// Carries a bundle with wrong bytes. Checks that nothing of it is imported, and that nothing is written.
  private func carryDamaged(_ random: inout SplitMix64) throws {
    guard let parcel = everMade.randomElement(using: &random), try files.kind(parcel.path) != nil else { return }
    let isMixedUp = random.once(in: 4)
    let other = everMade.randomElement(using: &random) ?? parcel
    let path = stick + "/damaged.satchel"
    try files.removeIfThere(path)
    world.copy(parcel.path, to: path)
    let rest = try files.read(other.path, limit: 1 << 26)
    if parcel.device == nil { try deliverDue(from: parcel.from) }
    let before = try results()
    let flips = random.once(in: 2)
    world.damage(path) { bytes in
      if bytes.isEmpty { return }
      let place = random.below(bytes.count)
      if isMixedUp {
        bytes = Array(bytes[..<place]) + rest.dropFirst(place)
      } else if flips {
        bytes[place] ^= 1 << UInt8(random.below(8))
      } else {
        bytes.removeLast(bytes.count - place)
      }
    }
    let damaged = try files.read(path, limit: 1 << 26)
    if try damaged == rest || damaged == files.read(parcel.path, limit: 1 << 26) { return }
    do {
      try deliver(Parcel(device: parcel.device, from: parcel.from, path: path, name: "damaged \(parcel.name)"))
      return
    } catch is BundleError {
    } catch is Refusal {}
    if world.hasFailed { return }
    if let change = Self.firstChange(before, try results()) {
      throw Wrong("a damaged \(parcel.name) was refused, and changed \(change)")
    }
  }

  /// Carries a bundle to another device than its receiver, which must refuse it.
  private func misdeliver(_ random: inout SplitMix64) throws {
    guard let parcel = everMade.filter({ $0.device != nil }).randomElement(using: &random),
      let other = devices.filter({ $0.name != parcel.device }).randomElement(using: &random), try other.app() != nil
    else { return }
    do { _ = try other.workspace.importBundle(parcel.path) } catch is Refusal { return } catch is BundleError { return }
    throw Wrong("\(other.name) took \(parcel.name), which is for \(parcel.device ?? "")")
  }

  // MARK: the office

  private func changeRights(of device: FieldDevice, to remainder: Int64) throws {
    hidden[device.index] = remainder
    say("\(user(of: device.index)) may not see zone % \(rules.modulus) = \(remainder)")
    try surely {
      _ = try operating { try hub.setUser(user(of: device.index), attributes: [("hidden", String(remainder))]) }
    }
  }

  /// Gives the device to another user with other rights. The device's next bundle reports the new user.
  private func give(_ device: FieldDevice, to remainder: Int64) throws {
    formerUsers[device.index] += 1
    tookEffect(.given)
    hidden[device.index] = remainder
    let user = user(of: device.index)
    say("\(device.name) goes to \(user), who may not see zone % \(rules.modulus) = \(remainder)")
    try surely {
      if try !hub.users().contains(where: { $0.name == user }) {
        _ = try operating { try hub.addUser(user, attributes: [("hidden", String(remainder))]) }
      }
      _ = try operating { try hub.setDevice(device.name, user: user) }
    }
  }

  private func goToNextVersion(_ random: inout SplitMix64) throws {
    let script = rules.next(&random)
    say("hub goes to version \(rules.version): \(script ?? "no migration")")
    try surely {
      if try hub.dataset().definition.version == rules.version { return }
      _ = try operating { try hub.applyDataset(Array(rules.definition.utf8), migration: script.map { Array($0.utf8) }) }
    }
    try renewCopies()
  }

  private func resolve(on device: FieldDevice, _ random: inout SplitMix64) throws {
    guard try device.app() != nil, let conflict = try device.workspace.conflicts([.open]).randomElement(using: &random)
    else {
      return
    }
    do {
      _ = try device.workspace.resolve(conflict.record.id.text, random.once(in: 2) ? .hub : .device, note: nil)
      say("\(device.name) decides \(conflict.record.table) \(conflict.record.id)")
    } catch let error as WorkspaceError { say("\(device.name) cannot decide: \(error.reason)") }
  }

  private func resolveAtHub(_ random: inout SplitMix64) throws {
    guard let conflict = try hub.conflicts([.open]).randomElement(using: &random) else { return }
    do {
      let decision: ConflictDecision = random.once(in: 2) ? .hub : .device
      _ = try operating { try hub.resolve(conflict.record.id.text, decision, note: nil) }
      say("hub decides \(conflict.record.table) \(conflict.record.id)")
    } catch let error as WorkspaceError { say("hub cannot decide: \(error.reason)") }
  }

  // MARK: misfortunes

  /// A copy of a device's folder works beside the device. The hub imports the device's export. By the copy's export, it
  /// must detect the copy.
  private func clone(_ device: FieldDevice, _ random: inout SplitMix64) throws {
    // A device that was put back is left out, because the operator lets each of its histories continue.
    guard !wasPutBack.contains(device.name), try device.app() != nil, let earlier = try export(device) else { return }
    device.closeApp()
    let place = world.root + "/copy"
    world.copy(device.workspace.folder.root, to: place)
    defer { try? files.removeTree(place) }
    let platform = Platform(files: files, clock: PassingClock(time), random: SeededRandom(random.next()))
    let copy = FieldDevice(device.index, try DeviceWorkspace.open(place, platform: platform), usesWAL: device.usesWAL)
    say("\(device.name) is copied")
    for one in [device, copy] {
      let site = Site(id: newKey(), zone: 1 + hidden[device.index])
      try one.app()?.insert(site, name: newValue(), note: nil)
    }
    try deliver(earlier)
    guard let first = try export(device), let second = try export(copy) else { return }
    // The export of the copy is not carried again, because the hub would only refuse it again.
    everMade.removeLast()
    copy.closeApp()
    let merged = try hub.device(device.name).merged
    try deliver(first)
    // A hub that lacks earlier exports imports neither of these two exports.
    if try hub.device(device.name).merged == merged { return }
    do {
      try deliver(second)
    } catch let refusal as Refusal where refusal.reason == "fork" {
      _ = try operating { try hub.unflag(device.name) }
      return
    }
    throw Wrong("a copy of \(device.name) delivered unnoticed")
  }

  private func lose(_ device: FieldDevice, _ random: inout SplitMix64) throws {
    device.closeApp()
    try files.removeTree(device.workspace.folder.root)
    _ = try operating { try hub.revoke(device.name) }
    devices[device.index] = try newDevice(device.index, ahead: 0, usesWAL: random.once(in: 3))
    say("\(device.name) is lost; its user gets \(devices[device.index].name)")
    tally.lose(device.name)
    try renewCopies()
  }

  /// Puts an old copy of a device's database back. Everything in the newer file is in exports.
  private func putBackOldCopy(of device: FieldDevice, _ random: inout SplitMix64) throws {
    guard try device.app() != nil else { return }
    // Half of the copies are made while work is pending. The next export then has work that the copy has too.
    let (former, isPending) = (device.copy, try device.sequence().isMultiple(of: 2))
    if former == nil, isPending { try keepCopy(of: device) }
    guard let parcel = try export(device) else { return }
    mail.append(parcel)
    guard let copy = former else {
      if !isPending { try keepCopy(of: device) }
      return
    }
    say("\(device.name) gets an old copy of its database")
    let newest = try device.sequence()
    let (version, epoch) = (try device.version(), try device.epoch())
    try removeDatabase(of: device)
    world.copy(copy, to: device.databasePath)
    device.copy = nil
    // After a migration, or the first bundle of an epoch, a repair cannot find what happened to rows in an old copy. So
    // a person must put this file aside.
    let isKeptAside = try device.version() < version || device.epoch() != epoch
    if isKeptAside, try device.sequence() < newest { try refuseRepair(of: device) }
    if isKeptAside { try removeDatabase(of: device) }
    if !isKeptAside {
      if try device.sequence() < newest { try refuseExport(of: device) }
      if random.once(in: 2) { try write(on: device, &random) }
    }
    let report = try device.workspace.repair()
    if !report.isRepairedExceptPartings { throw Wrong("\(device.name) with an old copy cannot be repaired: \(report)") }
  }

  private func keepCopy(of device: FieldDevice) throws {
    let place = world.root + "/copy-of-\(device.name)"
    try device.app()?.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    world.copy(device.databasePath, to: place)
    device.copy = place
  }

  func removeDatabase(of device: FieldDevice) throws {
    device.closeApp()
    for suffix in ["", "-wal", "-shm", "-journal"] { try files.removeIfThere(device.databasePath + suffix) }
  }

  /// A device loses its database. Everything in it is in an export. The export reaches the hub after the new database
  /// exists.
  private func loseDatabase(of device: FieldDevice) throws {
    guard !presence.isRestored, try device.app() != nil, let parcel = try export(device) else { return }
    try removeDatabase(of: device)
    device.copy = nil
    say("\(device.name) has lost its database")
    try deliver(emit(to: device, full: true))
    try deliver(parcel)
  }

  /// Checks that the repair of an old copy is refused, with the next step in the hint.
  private func refuseRepair(of device: FieldDevice) throws {
    do { _ = try device.workspace.repair() } catch let error as WorkspaceError where error.reason == "older-database" {
      if error.hint?.contains("move this one out of the way") == true { return }
    }
    throw Wrong("\(device.name) repaired an old copy of its database from before a migration or an epoch")
  }

  /// Checks that an export from an old copy is refused. Its number would already belong to another export.
  private func refuseExport(of device: FieldDevice) throws {
    do { _ = try device.workspace.export() } catch let error as WorkspaceError where error.reason == "older-database" {
      return
    }
    throw Wrong("\(device.name) exported from an old copy of its database")
  }

  func makeBackup() throws {
    backups += 1
    let file = world.root + "/backup-\(backups).satchel"
    // If the clock was ahead at a backup, the backup could not be restored before that time.
    if !hubClock.isRight { try seeToClock() }
    try surely {
      if try files.kind(file) == nil { _ = try hub.backup(to: file, keys: .included) }
    }
    backup = file
    backedUp = tally.atHub
    say("the hub is backed up")
  }

  /// The hub is lost, and is restored from the backup.
  private func restoreHub() throws {
    guard let backup else { return }
    time.pass(days: 1)
    // The restored hub is on another computer, with a right clock.
    hubClock.set(ahead: 0)
    let fingerprint = try hub.fingerprint()
    let root = hub.folder.root
    let platform = Platform(files: files, clock: hubClock, random: SeededRandom(seed ^ UInt64(everMade.count)))
    closeAll()
    func restore(_ clock: ClockAtRestore) throws {
      _ = try HubRestore(platform: platform).restore(
        backup, into: root, keys: .inBackup, fingerprint: fingerprint, clock: clock)
    }
    try surely {
      try files.removeTree(root)
      do { try restore(.unchecked) } catch let error as WorkspaceError where error.reason == "clock" {
        say("the backup is very old, and the operator confirms the clock")
        try restore(.right)
      }
    }
    hub = try HubWorkspace.open(root, platform: platform)
    presence = .afterRestore
    tally.atHub = backedUp
    say("the hub is restored")
    tookEffect(.restoreHub)
    try restoreRights()
  }

  /// The operator makes the hub's changes of the lost time again.
  func restoreRights() throws {
    for device in devices {
      let (users, attributes) = (users(of: device.index), [("hidden", String(hidden[device.index]))])
      // The hub has no record of a device that was enrolled in the lost time.
      let known = (try? hub.device(device.name)).flatMap { users.firstIndex(of: $0.user) }
      // Each hand-over of the lost time is entered again, because each user may have work that is not delivered.
      for (index, user) in users.enumerated() where index >= known ?? users.count - 1 {
        if try hub.users().contains(where: { $0.name == user }) {
          if index == users.count - 1 { _ = try operating { try hub.setUser(user, attributes: attributes) } }
        } else {
          _ = try operating { try hub.addUser(user, attributes: attributes) }
        }
        if let known, index > known { _ = try operating { try hub.setDevice(device.name, user: user) } }
      }
    }
  }

  private func compact(_ random: inout SplitMix64) throws {
    time.pass(days: 2)
    remembered.formUnion(try admin().logged())
    let (days, shrinking) = (random.once(in: 3) ? 5 as Int64 : nil, random.once(in: 2))
    let report = try operating { try hub.compact(olderThan: days, shrinking: shrinking) }
    say("the hub forgets \(report.logEntries) changes, \(report.goneRows) rows, and \(report.forgotten)")
    // In these seasons, a copy of a hub may be older than its last backup. In other seasons, a lost hub comes back from
    // its last backup.
    if SeasonEvent.parts(seed) { return }
    for device in devices where try device.app() != nil {
      let report = try device.workspace.compact(olderThan: 0)
      say("\(device.name) gives up \(report.exports) exports, and keeps \(report.unbacked)")
    }
  }
}
