import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// What must be right of a device's bundle before anything of it is merged.
///
/// A valid signature says who sends, and nothing else. Each member of the manifest is compared with what this hub
/// knows: `docs/SECURITY.md` lists them. `ReportedConflicts` does the same for conflicts and decisions, `StepMerger`
/// for changes.
extension HubWorkspace {
  /// What must be right of any device's bundle, whatever it carries.
  func check(_ manifest: Manifest, signer: PublicKey, _ store: HubStore) throws {
    let sequence = try sequence(of: manifest)
    guard manifest.dataset == store.dataset.name else {
      throw Refusal(
        "wrong-dataset", "It is of the dataset \(manifest.dataset); this hub has \(store.dataset.name).",
        keeping: .unnoted)
    }
    guard manifest.to.id == store.identity.id else {
      throw Refusal(
        "not-for-us", "It is for the hub \(manifest.to.name), which is another one than this.", hint: "Carry it on.",
        keeping: .unnoted)
    }
    guard let device = try store.device(manifest.from.id) else { throw Self.otherKey }
    try check(signer, of: device, sequence, store)
    try checkNames(in: manifest, of: device, store)
    try checkState(of: device, sequence)
    try checkExpiry(of: device, manifest, store)
    // What a volume is a piece of, is checked when it is whole.
    guard case .changes(let changes) = manifest.body else { return }
    guard manifest.version <= store.dataset.version else {
      throw Refusal(
        "newer-dataset",
        "It is of version \(manifest.version) of the dataset; this hub has version \(store.dataset.version).",
        hint:
          "It waits in bundles/inbox/waiting. Bring the hub to that version, satchel-hub dataset apply, and the next import takes it.",
        keeping: .waiting)
    }
    guard changes.incarnation == device.incarnation else {
      try refuseUnlessItMayStop(device, signer)
      try flag(device, store)
      throw Refusal(
        "other-incarnation", "It comes from another life of the device \(device.name) than the one that was enrolled.",
        hint: "The device's folder was copied or reset: enrol it anew.", keeping: .quarantine)
    }
  }

  static let otherKey = Refusal(
    "other-key", "It is signed with the key of another device than its sender's.",
    keeping: .quarantine)

  /// A device calls itself as it asked to be called, and may have another name here.
  private func checkNames(in manifest: Manifest, of device: EnrolledDevice, _ store: HubStore) throws {
    guard manifest.to.name == store.identity.name else {
      throw Refusal(
        "other-name", "It calls this hub \(manifest.to.name), and this hub is \(store.identity.name).",
        hint: "No device writes that. Ask its user who made this file.", keeping: .quarantine)
    }
    let name = manifest.from.name
    if name == device.name || name == device.asked { return }
    // A build before this one did not write down how the device calls itself.
    if device.asked == nil, try store.device(named: name) == nil, name != store.identity.name { return }
    throw Refusal(
      "other-name", "It is signed by the device \(device.name), and says that it is from \(name).",
      hint: "No device writes that. Ask its user who made this file.", keeping: .quarantine)
  }

  /// The manifest with its sender called as this hub calls it.
  func known(_ manifest: Manifest, _ store: HubStore) throws -> Manifest {
    guard manifest.kind == .changes || manifest.kind == .volume, let device = try store.device(manifest.from.id) else {
      return manifest
    }
    return manifest.from(device.name)
  }

  private func checkState(of device: EnrolledDevice, _ sequence: SequenceNumber) throws {
    switch device.state {
    case .active, .preparing: return
    case .revoked:
      // What it delivered before it was stolen may still be on its way.
      if let from = device.revokedFrom, sequence < from { return }
      throw Self.revoked(device)
    case .flagged:
      throw Refusal(
        "flagged", "Two different histories came from the device \(device.name), so nothing of it is taken.",
        hint:
          "See both histories, and settle which copy keeps the name: satchel-hub device fork \(device.name)",
        keeping: .quarantine)
    }
  }

  private static func revoked(_ device: EnrolledDevice) -> Refusal {
    Refusal(
      "revoked",
      "The device \(device.name) was revoked\(device.revokedFrom.map { ", from its bundle \($0) on" } ?? "").",
      keeping: .quarantine)
  }

  // MARK: two histories of one device

  /// Refuses a bundle that is not of the one history that is known of its device. Its own digest is part of that, so it
  /// must have been read.
  func refuseFork(
    _ manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest, signer: PublicKey, _ store: HubStore
  ) throws {
    guard let found = try store.contradiction(manifest, changes, digest),
      let device = try store.device(manifest.from.id)
    else { return }
    if let parted = try store.partedHistory(of: device.id, with: found) { throw Self.parted(parted, from: device.name) }
    try refuseUnlessItMayStop(device, signer)
    try flag(device, store)
    throw Refusal(
      "fork", found.words(of: device.name),
      hint:
        "The device's folder was copied, and both copies work. See both histories, and settle which copy keeps the name: satchel-hub device fork \(device.name)",
      keeping: .quarantine)
  }

  /// Refuses a bundle that must not stop its device, whatever it shows: who has a replaced or a revoked key could
  /// stop the device at any time, or make a revoked device look like a flagged device.
  private func refuseUnlessItMayStop(_ device: EnrolledDevice, _ signer: PublicKey) throws {
    if device.state == .revoked { throw Self.revoked(device) }
    if !device.signs(with: signer) { throw Self.replacedKey(of: device) }
  }

  /// It is known whose it is, and that its device goes on with another history: nothing has to be settled.
  private static func parted(_ history: HubStore.PartedHistory, from name: String) -> Refusal {
    switch history {
    case .nameless:
      Refusal(
        "parted", "It comes from a copy of the device \(name) with which \(name) does not go on.",
        hint:
          "What it says comes when that copy has a name of its own. In its folder: satchel renew --name NEW-NAME --request FILE",
        keeping: .quarantine)
    case .heir(let heir):
      Refusal(
        "parted", "It comes from a copy of the device \(name) that is the device \(heir) by now.",
        hint: "What it says comes with the bundles of \(heir).", keeping: .quarantine)
    }
  }

  private func flag(_ device: EnrolledDevice, _ store: HubStore) throws {
    guard [.active, .preparing].contains(device.state) else { return }
    var flagged = device
    flagged.state = .flagged
    try store.writeTransaction(ending) { try store.save(flagged) }
  }

  // MARK: what it carries

  /// Refuses attached files that the hub's version of the dataset does not allow. Which version the device names does
  /// not matter: it could name any.
  func check(attachmentsOf bundle: borrowing VerifiedBundle, _ store: HubStore) throws {
    let limits = store.dataset.attachments
    let areMarked = !store.dataset.tables.allSatisfy(\.attachments.isEmpty)
    for line in try bundle.attachments() {
      guard case .file(let bytes, _) = line.content else { continue }
      guard bytes <= limits.fileBytes, areMarked else {
        throw Refusal(
          "file-not-allowed",
          "It carries the file \(line.path) of \(bytes) bytes, which the dataset does not allow.",
          hint: "The most is \"attachments\": { \"file\": \(limits.fileBytes) }, in datasets that mark columns.",
          keeping: .quarantine)
      }
    }
    let total = bundle.entryList.filter(\.name.isBlob).reduce(0) { $0 + $1.bytes }
    guard total <= limits.bundleBytes else {
      throw Refusal(
        "file-not-allowed", "It carries files of \(total) bytes together, which the dataset does not allow.",
        hint: "The most is \"attachments\": { \"bundle\": \(limits.bundleBytes) }.", keeping: .quarantine)
    }
  }

  /// Whether this very bundle was imported before. Refuses another one that has its id: no id is used twice.
  func isTaken(_ manifest: Manifest, _ digest: Digest, _ store: HubStore) throws -> Bool {
    switch try Ledger.knowledge(of: manifest.bundle, digest, from: manifest.from.name, in: store.database) {
    case .nothing: return false
    case .taken: return true
    case .other:
      throw Refusal(
        "same-id", "It has the id of another bundle of \(manifest.from.name): \(manifest.bundle).",
        hint: "No device writes that. Ask its user who made this file.", keeping: .quarantine)
    }
  }

  /// The number of the export that a bundle is, or is a piece of.
  func sequence(of manifest: Manifest) throws -> SequenceNumber {
    if case .volume(let volume) = manifest.body, volume.whole == .changes { return SequenceNumber(volume.number) }
    return try changes(of: manifest).sequence
  }

  func changes(of manifest: Manifest) throws -> Manifest.Changes {
    if case .changes(let changes) = manifest.body { return changes }
    throw Refusal(
      "wrong-kind", "This is \(manifest.kind.words); a hub imports the exports of its devices.",
      hint: "Carry it to the device \(manifest.to.name).", keeping: .unnoted)
  }
}

extension ChainContradiction {
  /// What it shows, for people.
  func words(of device: String) -> String {
    isOwn
      ? "The hub knows of another bundle \(sequence) of the device \(device): two copies of it are at work."
      : "It follows another bundle \(sequence) of the device \(device) than the one that the hub knows of."
  }
}
