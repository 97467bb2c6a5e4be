import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// What must be right of a device's bundle before anything of it is merged.
extension HubWorkspace {
  /// What must be right of any device's bundle, whatever it carries.
  func check(_ manifest: Manifest, signer: PublicKey, _ store: HubStore) throws {
    let sequence = try sequence(of: manifest)
    guard manifest.dataset == store.dataset.name else {
      throw Refusal("wrong-dataset", "It is of the dataset \(manifest.dataset); this hub has \(store.dataset.name).")
    }
    guard manifest.to.id == store.identity.id else {
      throw Refusal(
        "not-for-us", "It is for the hub \(manifest.to.name), which is another one than this.", hint: "Carry it on.")
    }
    guard let device = try store.device(manifest.from.id) else {
      throw Refusal(
        "other-key", "It is signed with the key of another device than the one that it says it is from.",
        keeping: .quarantine)
    }
    try check(signer, of: device, sequence, store)
    switch device.state {
    case .active, .preparing: break
    case .revoked:
      // What it delivered before it was stolen may still be on its way.
      if let from = device.revokedFrom, sequence < from { break }
      throw Refusal(
        "revoked",
        "The device \(device.name) was revoked\(device.revokedFrom.map { ", from its bundle \($0) on" } ?? "").",
        keeping: .quarantine)
    case .flagged:
      throw Refusal(
        "flagged", "Two different histories came from the device \(device.name), so nothing of it is taken.",
        hint:
          "See both histories, and settle which copy keeps the name: satchel-hub device fork \(device.name)",
        keeping: .quarantine)
    }
    // What it wrote before it expired may still be on its way.
    if let expires = try store.expiry(of: device), manifest.stamp.milliseconds > expires {
      throw Refusal(
        "expired",
        "The device \(device.name), or its user \(device.user), was to deliver until \(UTCTime.text(milliseconds: expires)).",
        hint:
          "If it may go on: satchel-hub device set \(device.name) --expires DATE, or user set; then import it again.")
    }
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
      try flag(device, store)
      throw Refusal(
        "other-incarnation", "It comes from another life of the device \(device.name) than the one that was enrolled.",
        hint: "The device's folder was copied or reset: enrol it anew.", keeping: .quarantine)
    }
  }

  /// Refuses a bundle that is not of the one history that is known of its device. Its own digest is part of that, so it
  /// must have been read.
  func refuseFork(_ manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest, _ store: HubStore) throws {
    guard let found = try store.contradiction(manifest, changes, digest) else { return }
    let name = manifest.from.name
    if let parted = try store.partedHistory(of: manifest.from.id, with: found) { throw Self.parted(parted, from: name) }
    if let device = try store.device(manifest.from.id) { try flag(device, store) }
    throw Refusal(
      "fork", found.words(of: name),
      hint:
        "The device's folder was copied, and both copies work. See both histories, and settle which copy keeps the name: satchel-hub device fork \(name)",
      keeping: .quarantine)
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

  /// The number of the export that a bundle is, or is a piece of.
  func sequence(of manifest: Manifest) throws -> SequenceNumber {
    if case .volume(let volume) = manifest.body, volume.whole == .changes { return SequenceNumber(volume.number) }
    return try changes(of: manifest).sequence
  }

  func changes(of manifest: Manifest) throws -> Manifest.Changes {
    if case .changes(let changes) = manifest.body { return changes }
    throw Refusal(
      "wrong-kind", "This is \(manifest.kind.words); a hub imports the exports of its devices.",
      hint: "Carry it to the device \(manifest.to.name).")
  }

  func flag(_ device: EnrolledDevice, _ store: HubStore) throws {
    var flagged = device
    flagged.state = .flagged
    try store.writeTransaction(ending) { try store.save(flagged) }
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
