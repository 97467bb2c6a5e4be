import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The conditions that a device's bundle must meet before any part of it is merged.
///
/// A valid signature only shows who sent the bundle. So the hub compares each member of the manifest with its own
/// records. `docs/SECURITY.md` lists the members. `ReportedConflicts` compares conflicts and decisions, and
/// `StepMerger` compares changes.
extension HubWorkspace {
  /// Checks the conditions that hold for every bundle from a device.
  func check(_ manifest: Manifest, signer: PublicKey, _ store: HubStore) throws {
    let sequence = try sequence(of: manifest)
    guard manifest.dataset == store.dataset.name else {
      throw Refusal(
        .wrongDataset, "It is of the dataset \(manifest.dataset); this hub has \(store.dataset.name).",
        keeping: .unnoted)
    }
    guard manifest.to.id == store.identity.id else {
      throw Refusal(
        .notForUs, "It is for another hub, \(manifest.to.name).", hint: "Carry it on.", keeping: .unnoted)
    }
    guard let device = try store.device(manifest.from.id) else { throw Self.otherKey }
    try check(signer, of: device, sequence, store)
    try checkNames(in: manifest, of: device, store)
    try checkState(of: device, sequence, isVolume: manifest.kind == .volume)
    try checkExpiry(of: device, manifest, store)
    // For a volume, the checks end here. Its content is checked when all volumes of the bundle are here.
    guard case .changes(let changes) = manifest.body else { return }
    guard manifest.version <= store.dataset.version else {
      // A bundle of a newer version waits at the hub. The holder of a replaced key could use up the room for the
      // device's own bundles. So an overtaken bundle with such a key is refused.
      if sequence <= device.merged { try refuseUnlessItMayStop(device, signer) }
      throw Refusal(
        .newerDataset,
        "It is of version \(manifest.version) of the dataset; this hub has version \(store.dataset.version).",
        hint:
          """
          It waits in bundles/inbox/waiting. Bring the hub to that version (satchel-hub dataset apply). The next \
          import then merges it.
          """,
        keeping: .waiting)
    }
    guard changes.incarnation == device.incarnation else {
      try refuseUnlessItMayStop(device, signer)
      try flag(device, store)
      throw Refusal(
        .otherIncarnation, "It comes from another life of the device \(device.name) than the enrolled life.",
        hint: "The device's folder was copied or reset: enrol it again.", keeping: .quarantine)
    }
  }

  static let otherKey = Refusal(
    .otherKey, "It is signed with the key of a device that is not its sender.",
    keeping: .quarantine)

  /// Checks the names in the manifest. The device may use the name that it asked for, or the name that this hub gave
  /// it.
  private func checkNames(in manifest: Manifest, of device: EnrolledDevice, _ store: HubStore) throws {
    guard manifest.to.name == store.identity.name else {
      throw Refusal(
        .otherName, "It calls this hub \(manifest.to.name), but this hub is \(store.identity.name).",
        hint: "Satchel on a device never writes such a file. Ask the device's user who made it.", keeping: .quarantine)
    }
    let name = manifest.from.name
    if name == device.name || name == device.asked { return }
    // Earlier builds did not record the name that the device asked for.
    if device.asked == nil, try store.device(named: name) == nil, name != store.identity.name { return }
    throw Refusal(
      .otherName, "It is signed by the device \(device.name), but names \(name) as its sender.",
      hint: "Satchel on a device never writes such a file. Ask the device's user who made it.", keeping: .quarantine)
  }

  /// Returns the manifest with the sender's name at this hub.
  func known(_ manifest: Manifest, _ store: HubStore) throws -> Manifest {
    guard manifest.kind == .changes || manifest.kind == .volume, let device = try store.device(manifest.from.id) else {
      return manifest
    }
    return manifest.from(device.name)
  }

  private func checkState(of device: EnrolledDevice, _ sequence: SequenceNumber, isVolume: Bool) throws {
    switch device.state {
    case .active, .preparing: return
    case .revoked:
      // Bundles that the device made before the revocation may still be on their way.
      if let from = device.revokedFrom, sequence < from { return }
      throw Self.revoked(device)
    // The hub stores volumes until the bundle is complete. A person decides only about the complete bundle.
    case .flagged where isVolume: return
    case .flagged:
      throw Refusal(
        .flagged, "Two different histories came from the device \(device.name), so none of its bundles are accepted.",
        hint:
          "See both histories, and choose the copy that keeps the name: satchel-hub device fork \(device.name)",
        keeping: .quarantine)
    }
  }

  private static func revoked(_ device: EnrolledDevice) -> Refusal {
    Refusal(
      .revoked,
      "The device \(device.name) was revoked\(device.revokedFrom.map { ", from its bundle \($0) on" } ?? "").",
      keeping: .quarantine)
  }

  // MARK: two histories of one device

  /// Refuses a bundle that contradicts the known history of its device. The bundle's own digest is compared too, so the
  /// whole bundle must be read first.
  /// - Returns: true if the bundle was merged before its history parted from the device's history.
  func refuseFork(
    _ manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest, signer: PublicKey, _ store: HubStore
  ) throws -> Bool {
    guard let found = try store.contradiction(manifest, changes, digest),
      let device = try store.device(manifest.from.id)
    else { return false }
    if let parted = try store.partedHistory(of: device.id, with: found, in: changes.links(with: digest)) {
      if try isTaken(manifest, digest, store) { return true }
      throw Self.parted(parted, from: device.name)
    }
    try refuseUnlessItMayStop(device, signer)
    try flag(device, store)
    throw Refusal(
      .fork, found.words(of: device.name),
      hint:
        """
        If two copies of the device's folder work, choose the copy that keeps the name: satchel-hub device fork \
        \(device.name) shows both histories. If the device was only restored from its own backup: satchel-hub device \
        fork \(device.name) --restored
        """,
      keeping: .quarantine)
  }

  /// Refuses an overtaken bundle with an unknown digest, if its signer must not stop the device. The holder of a
  /// revoked or replaced key may have made it only now. The hub knows the digest of a genuine bundle, because later
  /// bundles name it.
  ///
  /// The digest of the file is compared, and not the digest that the bundle states.
  func checkOvertaken(
    _ bundle: borrowing VerifiedBundle, _ changes: Manifest.Changes, _ device: EnrolledDevice, _ store: HubStore
  ) throws {
    if try store.digest(of: changes.sequence, in: device.id) == bundle.digest { return }
    try refuseUnlessItMayStop(device, bundle.signer)
  }

  /// Refuses a bundle whose signer must not stop the device: the device is revoked, or the key is replaced. Otherwise
  /// the holder of such a key could stop the device at any time. That holder could also make a revoked device look
  /// flagged.
  private func refuseUnlessItMayStop(_ device: EnrolledDevice, _ signer: PublicKey) throws {
    if device.state == .revoked { throw Self.revoked(device) }
    if !device.signs(with: signer) { throw Self.replacedKey(of: device) }
  }

  /// The refusal of a bundle from a parted history. No person has to decide: the bundle belongs to a known copy, and
  /// the device has another history.
  private static func parted(_ history: HubStore.PartedHistory, from name: String) -> Refusal {
    switch history {
    case .unclaimed:
      Refusal(
        .parted, "It comes from a copy of the device \(name) that does not keep this name.",
        hint:
          """
          Its changes come when that copy has its own name. In its folder: satchel renew --name NEW-NAME --request \
          FILE. If there is no copy, because \(name) was put back from its own backup: satchel-hub device fork \(name) \
          --restored
          """,
        keeping: .quarantine)
    case .claimed(by: let heir):
      Refusal(
        .parted, "It comes from a copy of the device \(name) that is now the device \(heir).",
        hint: "Its changes come with the bundles of \(heir).", keeping: .quarantine)
    }
  }

  private func flag(_ device: EnrolledDevice, _ store: HubStore) throws {
    guard [.active, .preparing].contains(device.state) else { return }
    var flagged = device
    flagged.state = .flagged
    try store.writeTransaction(runMode) { try store.save(flagged) }
  }

  // MARK: attachments and the identity of a bundle

  /// Refuses attachments that the hub's version of the dataset does not allow. The version in the manifest does not
  /// matter, because a device could write any version there.
  func check(attachmentsOf bundle: borrowing VerifiedBundle, _ store: HubStore) throws {
    let limits = store.dataset.attachments
    let areMarked = !store.dataset.tables.allSatisfy(\.attachments.isEmpty)
    var total: Int64 = 0
    for line in try bundle.attachments() {
      guard case .file(let bytes, _) = line.content else { continue }
      guard bytes <= limits.fileBytes, areMarked else {
        throw Refusal(
          .fileNotAllowed,
          "It carries the file \(line.path) of \(bytes) bytes, which the dataset does not allow.",
          hint: "The most is \"attachments\": { \"file\": \(limits.fileBytes) }, in datasets that mark columns.",
          keeping: .quarantine)
      }
      // Several lines may name the same content, and each line becomes a file here. So the content counts for each
      // line.
      total += bytes
    }
    guard total <= limits.bundleBytes else {
      throw Refusal(
        .fileNotAllowed, "It carries files of \(total) bytes together, which the dataset does not allow.",
        hint: "The most is \"attachments\": { \"bundle\": \(limits.bundleBytes) }.", keeping: .quarantine)
    }
  }

  /// Returns true if this same bundle was imported before. Refuses a different bundle with the same id, because a
  /// device uses each id once.
  func isTaken(_ manifest: Manifest, _ digest: Digest, _ store: HubStore) throws -> Bool {
    switch try Ledger.knowledge(of: manifest.bundle, digest, from: manifest.from.name, in: store.database) {
    case .nothing: return false
    case .taken: return true
    case .other:
      throw Refusal(
        .sameId, "It has the id of another bundle of \(manifest.from.name): \(manifest.bundle).",
        hint: "Satchel on a device never writes such a file. Ask the device's user who made it.", keeping: .quarantine)
    }
  }

  /// Returns the number of the export. The manifest belongs to a whole export, or to a volume of an export.
  func sequence(of manifest: Manifest) throws -> SequenceNumber {
    if case .volume(let volume) = manifest.body, volume.whole == .changes { return SequenceNumber(volume.number) }
    return try changes(of: manifest).sequence
  }

  func changes(of manifest: Manifest) throws -> Manifest.Changes {
    if case .changes(let changes) = manifest.body { return changes }
    throw Refusal(
      .wrongKind, "This is \(manifest.kind.words); a hub imports the exports of its devices.",
      hint: "Carry it to the device \(manifest.to.name).", keeping: .unnoted)
  }
}

extension ChainContradiction {
  /// The contradiction in words for people.
  func words(of device: String) -> String {
    isOwn
      ? "The hub knows of another bundle \(sequence) of the device \(device): two copies of it are at work."
      : "It follows a bundle \(sequence) of the device \(device) that the hub does not know."
  }
}
