import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A sound bundle that cannot be merged yet.
public struct WaitingBundle: Sendable {
  public let path: String
  public let device: String
  public let number: Int64
  /// The reason why the bundle waits.
  public let reason: Reason

  public enum Reason: Sendable {
    /// The hub needs this version of the dataset first.
    case version(Int64)
    /// The hub needs earlier exports of the device first. The value is the newest export that the hub has merged.
    case earlier(than: SequenceNumber)
    /// The hub was set back, and the operator must decide how to continue.
    case setBack
    /// The bundle deletes or changes very many rows, and the operator must decide. The text says how many.
    case braked(String)
    /// The bundle names this user, but the hub's record of the device names another user.
    case user(String)
    /// The operator put the device on hold.
    case onHold
    /// The bundle waits for nothing any more. The next import merges it.
    case due
  }

  /// The bundle's name in messages, and as an argument of `import --accept`.
  public var name: String { "\(device)/\(number)" }

  /// The refusal of a volume of this waiting bundle, because the whole bundle is here. nil if the bundle can be merged
  /// now.
  var refusal: Refusal? {
    let here = "The whole bundle \(name) waits here already"
    let status = "satchel-hub status says what to do. Another copy of this volume is not needed."
    return switch reason {
    case .version(let version):
      Refusal(
        .newerDataset, "\(here), because it needs version \(version) of the dataset.",
        hint: "Bring the hub to that version: satchel-hub dataset apply.", keeping: .unnoted)
    case .earlier(let merged):
      Refusal(
        .gap, "\(here), because bundles before it are missing. The first one is number \(merged.next).",
        hint: status, keeping: .unnoted)
    case .setBack: Refusal(.setBack, "\(here), because this hub was set back.", hint: status, keeping: .unnoted)
    case .braked(let words): Refusal(.brake, "\(here). \(words)", hint: status, keeping: .unnoted)
    case .user(let user):
      Refusal(
        .otherUser, "\(here), because the hub's record does not name its user \(user).", hint: status,
        keeping: .unnoted)
    case .onHold: Refusal(.onHold, "\(here), because its device is on hold.", hint: status, keeping: .unnoted)
    case .due: nil
    }
  }

  /// The word for the reason in JSON.
  public var word: String {
    switch reason {
    case .version: "newer-dataset"
    case .earlier: "gap"
    case .setBack: "set-back"
    case .braked: "brake"
    case .user: "other-user"
    case .onHold: "on-hold"
    case .due: "due"
    }
  }
}

/// Bundles that wait in `bundles/inbox/waiting`.
extension HubWorkspace {
  /// Returns the waiting bundles, each with its reason.
  public func waiting() throws -> [WaitingBundle] {
    let paths = try WaitingBundles(folder, platform.files).list()
    if paths.isEmpty { return [] }
    let store = try examined()
    let isSetBack = try store.setBack() != nil
    return try paths.compactMap { path in
      guard let manifest = try reader.manifestIfSound(of: path, trust: .keys(trustedKeys(store))) else { return nil }
      return try waitingBundle(manifest, at: path, isSetBack ? .setBack : reason(for: manifest, store), store)
    }
  }

  private func waitingBundle(
    _ manifest: Manifest, at path: String, _ reason: WaitingBundle.Reason, _ store: HubStore
  ) throws -> WaitingBundle {
    let isOurs = manifest.from.id == store.identity.id
    return WaitingBundle(
      path: path, device: isOurs ? manifest.to.name : try known(manifest, store).from.name,
      number: manifest.wholeNumber, reason: reason)
  }

  /// Returns the bundle of which a volume is a piece, if the whole bundle waits here. Reads only the bundle's
  /// beginning.
  func waitingWhole(
    of manifest: Manifest, _ volume: Manifest.Volume, _ store: HubStore
  ) throws -> WaitingBundle? {
    let name = HubArchive.name(
      dataset: manifest.dataset, device: try known(manifest, store).from.name, number: volume.number,
      bundle: volume.of)
    let path = Paths.join(folder.waiting, name)
    guard try platform.files.kind(path) == .file,
      let whole = try reader.manifestIfSound(of: path, trust: .keys(trustedKeys(store))),
      whole.bundle == volume.of, whole.from.id == manifest.from.id
    else { return nil }
    return try waitingBundle(whole, at: path, reason(for: whole, store), store)
  }

  /// Returns a text that changes when the hub may decide otherwise about a refused bundle of the sender. It may then
  /// accept the bundle, or let it wait.
  func stateForWaiting(of manifest: Manifest, _ store: HubStore) throws -> String {
    let device = try store.device(manifest.from.id)
    let waiting = try waitingBundles(of: known(manifest, store).from.name).map(\.path).joined(separator: " ")
    let hold = device?.hold == nil ? "" : " on hold"
    return "\(device?.merged.rawValue ?? 0) \(store.dataset.version) \(device?.user ?? "") \(waiting)\(hold)"
  }

  private func reason(for manifest: Manifest, _ store: HubStore) throws -> WaitingBundle.Reason {
    if manifest.version > store.dataset.version, manifest.kind == .changes { return .version(manifest.version) }
    guard case .changes(let changes) = manifest.body, let device = try store.device(manifest.from.id) else {
      return .due
    }
    if device.hold != nil { return .onHold }
    guard changes.sequence > device.merged else { return .due }
    let check = HistoryCheck(self, store, device, changes, by: manifest.user)
    if let user = try check.unknownUser() { return .user(user) }
    if changes.base != nil, !changes.reaches(back: device.merged) { return .earlier(than: device.merged) }
    return try store.braked(changes.sequence, of: device.id).map { .braked($0) } ?? .due
  }

  /// Returns the waiting bundles that can be merged now. A bundle comes after the bundles that it needs.
  public func dueByNow() throws -> [String] {
    try waiting().filter { if case .due = $0.reason { true } else { false } }.map(\.path)
  }

  /// Stores a bundle that cannot be merged yet. This method reads and verifies the whole file again, because it keeps
  /// this file.
  ///
  /// If the sender already has the greatest number of waiting bundles, this method throws another refusal, and the file
  /// stays in its place.
  /// - Parameter refusal: the reason why the bundle waits.
  func keepWaiting(_ path: String, because refusal: Refusal, _ store: HubStore) throws {
    let waiting = WaitingBundles(folder, platform.files)
    let isKept = waiting.has(path)
    if isKept, refusal.code != .brake { return }
    let bundle = try reader.read(path, trust: .keys(trustedKeys(store)), staging: folder.inbox, file: .kept)
    let manifest = try known(bundle.manifest, store)
    let name = HubArchive.name(of: manifest)
    let others = try waitingBundles(of: manifest.from.name).filter { Paths.name(of: $0.path) != name }
    if !isKept, others.count >= Self.mostWaiting || others.contains(where: { $0.number == manifest.number }) {
      throw refusal.notKept(beside: others.count, of: manifest.from.name)
    }
    // The record is written first. Without the record, the next import would merge the stored bundle like any other
    // bundle.
    if refusal.code == .brake { try noteBraked(manifest, because: refusal, store) }
    try waiting.keep(bundle, from: path, as: name)
  }

  private func noteBraked(_ manifest: Manifest, because refusal: Refusal, _ store: HubStore) throws {
    guard case .changes(let changes) = manifest.body else { return }
    let now = platform.clock.milliseconds()
    try store.writeTransaction(runMode) {
      try store.noteBraked(changes.sequence, of: manifest.from.id, because: refusal.message, at: now)
    }
  }
}

/// The limits for waiting bundles. Without limits, a person with a device's key could fill the hub's disk with waiting
/// bundles.
extension HubWorkspace {
  /// The greatest number of waiting bundles of one sender.
  private static let mostWaiting = 8
  private static let waitingDays: Int64 = 90

  private func waitingBundles(of device: String) throws -> [(number: Int64, path: String)] {
    guard try platform.files.kind(folder.waiting) == .directory else { return [] }
    return try HubArchive.bundles(
      of: device, dataset: configuration.dataset, in: folder.waiting, platform.files)
  }

  /// Returns the manifests of a device's waiting bundles.
  func waitingManifests(of device: EnrolledDevice, _ store: HubStore) throws -> [Manifest] {
    let paths = try waitingBundles(of: device.name).map(\.path)
    if paths.isEmpty { return [] }
    let keys = try trustedKeys(store)
    return try paths.compactMap { try reader.manifestIfSound(of: $0, trust: .keys(keys)) }
      .filter { $0.from.id == device.id }
  }

  /// Removes the waiting bundles of a device with `number` or a higher number, because the hub will never merge them.
  /// Earlier releases named these files by the name that the device gives itself. Another device may have that name
  /// here, so the sender's id is checked.
  func forgetWaiting(of device: EnrolledDevice, from number: SequenceNumber, _ store: HubStore) throws {
    let keys = try trustedKeys(store)
    for name in Set([device.name, device.asked ?? device.name]) {
      for bundle in try waitingBundles(of: name) where bundle.number >= number.rawValue {
        let sender = try reader.manifestIfSound(of: bundle.path, trust: .keys(keys))?.from.id
        if sender.map({ $0 == device.id }) ?? (name == device.name) { try platform.files.remove(bundle.path) }
      }
    }
  }

  /// Removes bundles that have waited too long. Their devices still have every change that the hub did not acknowledge.
  func forgetOldWaiting() throws {
    let limit = platform.clock.milliseconds() - Self.waitingDays * 86_400_000
    for path in try WaitingBundles(folder, platform.files).list() {
      if try platform.files.modified(path) / 1_000_000 < limit { try platform.files.remove(path) }
    }
  }
}

extension Refusal {
  /// Returns this refusal with a text that the bundle is not stored, because too many bundles of the device already
  /// wait.
  fileprivate func notKept(beside count: Int, of device: String) -> Refusal {
    Refusal(
      code, "\(message) It is not kept here: \(count) of \(device) wait already.",
      hint:
        "Keep the file, and import it again when those are merged. satchel-hub status says what they wait for.",
      keeping: .inPlace)
  }
}
