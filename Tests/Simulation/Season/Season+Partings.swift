import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport

/// A copy of the hub's folder.
struct HubCopy {
  let path: String
  /// The office's work at the time of the copy.
  let counted: Tally.Work
}

/// Histories that part: a hub that is put back, two copies of one hub, and a stolen key.
extension Season {
  static let secondHub = "second-hub"

  /// The platform of a copy of the hub. No two copies get the same random numbers.
  private func hubPlatform() -> Platform {
    openings += 1
    return Platform(files: files, clock: hubClock, random: SeededRandom(seed ^ UInt64(openings) << 32 ^ 0x636f_7079))
  }

  private func copyHub(to place: String) throws {
    closeAll()
    try surely {
      if try files.kind(place) != nil { try files.removeTree(place) }
    }
    world.copy(hub.folder.root, to: place)
    world.settle()
  }

  /// Renews the data that a restore, or a copy that is put back, needs: the newest version and the devices' keys.
  func renewCopies() throws {
    if backup != nil { try makeBackup() }
    if hubCopy != nil { try copyHub() }
  }

  func copyHub() throws {
    let place = world.root + "/copy-of-hub"
    try copyHub(to: place)
    hubCopy = HubCopy(path: place, counted: tally.atHub)
    say("the hub's folder is copied")
  }

  /// Puts a copy of the hub's folder back, and does not inform the hub.
  func putBackHub() throws {
    guard let copy = hubCopy else { return try copyHub() }
    time.pass(days: 1)
    closeAll()
    let root = hub.folder.root
    try files.removeTree(root)
    world.copy(copy.path, to: root)
    world.settle()
    hub = try HubWorkspace.open(root, platform: hubPlatform())
    presence = .afterRestore
    isHubInDoubt = true
    // The hub uses numbers of bundles again, until it detects that it was set back. So two bundles may have one name.
    contents = [:]
    tally.atHub = copy.counted
    say("the hub's folder is put back as it was")
    tookEffect(.putBackHub)
    try restoreRights()
  }

  // MARK: two hubs

  /// A copy of the hub works with a device for a while, and then ends.
  func runSecondHub(with device: FieldDevice, _ random: inout SplitMix64) throws {
    guard try device.app() != nil else { return }
    try seeToClock()
    let place = world.root + "/" + Self.secondHub
    try copyHub(to: place)
    let other = try HubWorkspace.open(place, platform: hubPlatform())
    say("a copy of the hub is at work")
    tookEffect(.secondHub)
    presence.lacksExports()
    isHubInDoubt = true
    if random.once(in: 3) {
      _ = try other.restoreInPlace()
      say("it begins an epoch of its own")
    }
    for _ in 0...random.below(2) {
      if random.once(in: 2) { try writeAtSecondHub(other, &random) }
      try write(on: device, &random)
      if random.once(in: 2) { try count(on: device, &random) }
      if let parcel = try export(device), random.once(in: 2) { try deliver(parcel, toSecond: other) }
      let report = try operating(second: other) { try other.emit(to: device.name) }
      let parcel = try pack(report.file, from: Self.secondHub, to: device.name)
      say("it emits \(report.number) to \(device.name)")
      if random.once(in: 3) { mail.append(parcel) } else { try deliver(parcel) }
    }
    let app = try FieldApp(path: other.configuration.databasePath(other.folder))
    loggedByCopy.formUnion(try app.logged())
    say("the copy is retired")
    try files.removeTree(place)
    switch random.below(3) {
    case 0: break
    case 1:
      try beginEpochUnasked()
      fallthrough
    default: try deliver(emit(to: device))
    }
  }

  /// The hub's operator begins a new epoch, because the operator assumes that the hub must be repaired.
  private func beginEpochUnasked() throws {
    try seeToClock()
    _ = try hub.restoreInPlace()
    presence = .afterRestore
    say("the operator begins an epoch, though nothing shows that it is needed")
  }

  private func writeAtSecondHub(_ other: HubWorkspace, _ random: inout SplitMix64) throws {
    let app = try FieldApp(path: other.configuration.databasePath(other.folder))
    guard let site = try app.sites().randomElement(using: &random) else { return }
    say("the copy's office sets sites \(site.id).note")
    try app.set(Cell("sites", site.id, "note"), to: newValue())
  }

  private func operating<T>(second other: HubWorkspace, _ body: () throws -> T) throws -> T {
    do { return try body() } catch let refusal as Refusal where refusal.reason == "set-back" {
      _ = try other.restoreInPlace()
      return try body()
    }
  }

  private func deliver(_ parcel: Parcel, toSecond other: HubWorkspace) throws {
    do {
      let report = try operating(second: other) { try other.importBundle(parcel.path, brake: .accept) }
      say("it imports \(parcel.name): \(report.verdict)")
    } catch let refusal as Refusal { say("it refuses \(parcel.name): \(refusal.reason)") }
  }

  /// Imports a bundle. If the device requests it, a person compares the fingerprint of the hub's key, or accepts that
  /// very many rows are removed.
  func take(
    _ parcel: Parcel, on device: FieldDevice, fingerprint: String? = nil, removals: BroughtRemovals = .withinLimits
  ) throws -> ImportReport {
    do {
      return try device.workspace.importBundle(parcel.path, fingerprint: fingerprint, removals: removals)
    } catch let refusal as Refusal where refusal.reason == "brake" {
      say("a person accepts \(parcel.name) at \(device.name)")
      return try take(parcel, on: device, fingerprint: fingerprint, removals: .accepted)
    } catch let refusal as Refusal where fingerprint == nil {
      let isMeant = refusal.reason == "other-hub" && everMade.count % 2 == 0
      guard try refusal.reason == "new-hub-key" || isMeant && isOfPresentEpoch(parcel) else { throw refusal }
      say("a person compares the hub's fingerprint at \(device.name): \(refusal.reason)")
      return try take(parcel, on: device, fingerprint: hub.fingerprint(), removals: removals)
    }
  }

  /// Whether a bundle belongs to the hub's present epoch. A bundle of the second hub does not.
  private func isOfPresentEpoch(_ parcel: Parcel) throws -> Bool {
    let reader = BundleReader(platform: hubPlatform())
    let manifest = try? reader.manifest(of: parcel.path, trust: .keys([hub.keys.ownKey()]))
    guard case .scope(let scope)? = manifest?.body else { return false }
    return try scope.epoch == hub.status().epoch
  }

  // MARK: a stolen key

  static let falseWords = "false"

  /// A thief signs a bundle with the hub's key, and the device imports it. Then the theft is found out, and the
  /// operator makes a new key.
  func stealKey(from device: FieldDevice, _ random: inout SplitMix64) throws {
    guard let state = try device.workspace.status().current?.state, try areOfOneHistory(state) else { return }
    try seeToClock()
    let path = try falseEmission(for: device, state, &random)
    do {
      _ = try device.workspace.importBundle(path)
      say("\(device.name) imports what a thief signed")
      misled.insert(device.name)
    } catch let refusal as Refusal {
      say("\(device.name) refuses what a thief signed: \(refusal.reason)")
    }
    if random.once(in: 2), let parcel = try export(device) {
      do { _ = try hub.importBundle(parcel.path) } catch let refusal as Refusal {
        say("hub refuses \(parcel.name): \(refusal.reason)")
      }
    }
    _ = try hub.replaceLostKeys(again: true)
    hasNewKey = true
    isHubInDoubt = false
    presence.lacksExports()
    say("the key was stolen: the hub has a new one")
    tookEffect(.stolenKey)
    // A device that was enrolled and has no data yet must trust the new key, as if it were enrolled again.
    for device in devices where try device.app() == nil && !device.workspace.hasHistory {
      try device.workspace.keys.trust(hub.keys.ownKey(), as: "hub")
    }
    try renewCopies()
  }

  /// Whether a device and the hub are known to be in one history, and trust each other's keys.
  func areOfOneHistory(_ state: DeviceState) throws -> Bool {
    try !isHubInDoubt && state.epoch == hub.status().epoch
  }

  /// A thief's bundle. It has a number above the hub's, brings rows that no user wrote, and may acknowledge all
  /// exports.
  private func falseEmission(for device: FieldDevice, _ state: DeviceState, _ random: inout SplitMix64) throws -> String
  {
    let platform = Platform(files: files, clock: PassingClock(time), random: SeededRandom(random.next()))
    var scope = Manifest.Scope(
      epoch: state.epoch, number: EmissionNumber(state.received.rawValue + Int64(1 + random.below(2_000))),
      after: state.received,
      extent: .delta, acknowledged: random.once(in: 2) ? state.sequence : state.acknowledged)
    scope.follows = try digest(onWhich: device).map { [.init(number: state.received, digest: $0)] }
    // Sites with unseen writes are left out. A thief's line has no former versions, so the device would not notice the
    // write.
    let known = try (device.app()?.sites() ?? []).filter { !unseen.contains(RowName(table: "sites", id: $0.id)) }
    var lines = [(ExactText(Self.falseWords), Int64(random.below(20)))]
    if let site = known.randomElement(using: &random) { lines.append((site.id, site.zone)) }
    return try sign(scope, for: device, platform) { draft in
      try draft.addChanges { line in
        for (id, zone) in lines.sorted(by: { $0.0 < $1.0 }) {
          let words = Value.string(Self.falseWords)
          let row = [("id", .string(id.text)), ("zone", Value.integer(zone)), ("name", words), ("note", words)]
          try line(
            ChangeLine(
              table: Name("sites"), key: RowKey([.string(id.text)]), generation: nil,
              stamp: Stamp(milliseconds: time.tick()), content: .row(row.map { Field(Name($0.0), $0.1) })))
        }
      }
    }
  }

  private func digest(onWhich device: FieldDevice) throws -> Digest? {
    let text =
      try device.app()?.database.first("SELECT received_digest FROM satchel_device") { $0.optionalText(0) } ?? nil
    return text.flatMap { Digest(hexadecimal: $0) }
  }

  /// Checks that no database has anything that the thief wrote.
  func checkNothingFalse() throws {
    for app in try [admin()] + devices.compactMap({ try $0.app() }) {
      let row = try app.database.first(
        "SELECT id FROM sites WHERE :words IN (id, name, note)", ["words": .string(Self.falseWords)]
      ) { $0.text(0) }
      if let row { throw Wrong("the site \(row) is as a thief wrote it") }
    }
  }

  // MARK: attacks on a history

  /// Offers a device, or the hub, a valid bundle of another history.
  func offerFalseHistory(to device: FieldDevice, _ random: inout SplitMix64) throws {
    guard let state = try device.workspace.status().current?.state, try areOfOneHistory(state) else { return }
    try seeToClock()
    let platform = Platform(files: files, clock: PassingClock(time), random: SeededRandom(random.next()))
    func scope(_ jump: Int64 = 1, acknowledged: SequenceNumber, follows: Digest?) -> Manifest.Scope {
      var scope = Manifest.Scope(
        epoch: state.epoch, number: EmissionNumber(state.received.rawValue + jump), after: state.received,
        extent: .delta,
        acknowledged: acknowledged)
      scope.follows = follows.map { [.init(number: state.received, digest: $0)] }
      return scope
    }
    let here = try digest(onWhich: device)
    switch random.below(state.acknowledged > .zero ? 7 : 5) {
    case 0:
      let other = scope(acknowledged: state.acknowledged, follows: Digest.of([1]))
      try offer(sign(other, for: device, platform), to: device, expecting: "other-history")
    case 1 where state.acknowledged > .zero, 5, 6:
      let less = scope(acknowledged: SequenceNumber(state.acknowledged.rawValue - 1), follows: here)
      try offer(sign(less, for: device, platform), to: device, expecting: "other-history")
    case 2:
      let far = scope(Manifest.Scope.longestJump + 1, acknowledged: state.acknowledged, follows: here)
      try offer(sign(far, for: device, platform), to: device, expecting: "number")
    case 3:
      // The device names an emission that the hub never made, and forges the hub's signature.
      let forged = try device.workspace.keys.signing().sign(
        message: [1], trustedComment: "satchel scope", untrustedComment: "signature of B2SUMS in a Satchel bundle")
      let proof = [
        "received_digest": Digest.of([1]).hexadecimal,
        "received_signature": String(decoding: forged.fileBytes, as: UTF8.self),
      ]
      let next = state.sequence.next.rawValue
      hasForgedProofs = true
      try offer(
        rewritten(device, after: state, sequence: next, saying: proof) { _ in }, to: nil, expecting: "unknown-emission")
    default:
      let far = state.sequence.rawValue + Manifest.Scope.longestJump + 1
      try offer(rewritten(device, after: state, sequence: far) { _ in }, to: nil, expecting: "number")
    }
  }
}

extension DeviceWorkspace {
  /// Whether this device ever had data.
  var hasHistory: Bool { get throws { try stranded() != nil } }
}
