import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// An emission that this hub signed, and that a device brings back. The emission may prove that the hub was set back,
/// or may belong to the lost time.
extension HubWorkspace {
  /// Accepts an emission if this hub signed it for another replica. It must come from a stick, or the hub must lack it.
  /// Otherwise throws the refusal for a bundle of the wrong kind. Only the manifest has been read.
  func checkOwnEmission(
    _ manifest: Manifest, _ scope: Manifest.Scope, signer: PublicKey, from source: BundleSource, _ store: HubStore
  ) throws {
    // A device puts its present emission on the stick as a proof, whether the hub lacks the emission or not. If a
    // person names such a file in a command, the file is for a device and not for this hub.
    guard try ownKeys().contains(signer), manifest.from.id == store.identity.id, manifest.to.id != store.identity.id,
      manifest.dataset == store.dataset.name, try source == .stick || isLacking(manifest, scope, store)
    else {
      _ = try changes(of: manifest)
      return
    }
  }

  /// Whether the hub has no full record of its own emission, so that the file brings something new.
  private func isLacking(_ manifest: Manifest, _ scope: Manifest.Scope, _ store: HubStore) throws -> Bool {
    try scope.epoch != store.identity.epoch || !Ledger.hasWritten(manifest.bundle, in: store.database)
      || isForgotten(scope, store, of: manifest.to.id)
  }

  /// Whether the hub made the emission in this epoch, and has forgotten which rows it contained.
  private func isForgotten(_ scope: Manifest.Scope, _ store: HubStore, of device: ReplicaID) throws -> Bool {
    guard scope.epoch == store.identity.epoch, let device = try store.device(device) else { return false }
    return try scope.number > device.proved && !store.hasEmission(scope.number, of: device.id)
      && store.declared(by: device.id)?.number != scope.number
  }

  /// Imports an emission of this hub that a device brings back.
  func takeOwnEmission(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String, _ store: HubStore
  ) throws -> HubImportReport {
    let link = Manifest.EmissionLink(number: scope.number, digest: bundle.digest)
    let device = bundle.manifest.to.id
    let isMade = try store.device(device).map { try store.knowledge(of: link, for: $0) == .made } ?? false
    guard try isLacking(bundle.manifest, scope, store) else {
      if !isMade { _ = try changes(of: bundle.manifest) }
      return HubImportReport(bundle.manifest, .unused)
    }
    if isMade {
      try store.writeTransaction(runMode) {
        if scope.epoch == store.identity.epoch {
          try store.declare(link, by: device)
        } else {
          // With this record, the device stops bringing the emission.
          try noteArrival(of: link, bundle.manifest, store)
        }
      }
      return HubImportReport(bundle.manifest, .unused)
    }
    let isBelieved = try believedOwnKeys(store).contains(bundle.signer)
    guard try store.isFormer(scope.epoch) else {
      guard isBelieved else {
        throw Refusal(
          .revokedKey, "It is signed with a key of this hub that was lost, so its author is unknown.",
          hint: "No part of it is used.", keeping: .quarantine)
      }
      // If the hub announced a key, the key belongs to this hub, even if the hub's files lack it.
      throw try proofOfSetBack(
        link, of: scope.epoch, after: scope.former ?? [], for: device, announcing: bundle.manifest.rotation?.key,
        store)
    }
    return try collect(bundle, link, from: path, isBelieved: isBelieved, store)
  }

  /// Stores an emission of the lost time, or only records that it came.
  /// - Parameter isBelieved: whether the hub trusts the key that signed the emission. A thief may have signed with a
  ///   lost key, so the hub does not store the file. The record lets the device stop bringing it.
  private func collect(
    _ bundle: borrowing VerifiedBundle, _ link: Manifest.EmissionLink, from path: String, isBelieved: Bool,
    _ store: HubStore
  ) throws -> HubImportReport {
    var report = HubImportReport(bundle.manifest, isBelieved ? .collected : .unused)
    report.isOfLostKey = !isBelieved
    let isKnown = try store.isCollected(link.digest)
    // The hub knows the emission, but a person may have deleted its file since. In that case, the hub stores the file
    // again.
    if try isKnown && !unreadableLost(store).contains(where: { $0.link == link }) { return report }
    let file = isBelieved ? HubArchive.name(of: bundle.manifest) : nil
    if runMode == .commit, let file {
      try platform.files.makeDirectory(folder.lost, mode: 0o755)
      try bundle.file.put(at: lostPath(file))
    }
    let stamp = bundle.manifest.stamp
    let now = platform.clock.milliseconds()
    if !isKnown {
      try store.writeTransaction(runMode) {
        if isBelieved { try store.takeOverKeys(of: bundle, link.number, at: now) }
        try store.add(LostEmission(device: bundle.manifest.to.id, link: link, file: file), made: stamp, at: now)
        if isBelieved { try store.resumeRecovery() }
      }
    }
    if runMode == .commit, folder.isForUs(path) { try platform.files.remove(path) }
    return report
  }

  /// Returns the report about an emission of this hub that this hub cannot verify and does not need. nil if the hub may
  /// need it, or if no device is known to have it.
  ///
  /// A copy of a hub from before it made a key may replace the hub's files. A person may then replace that key as lost.
  /// Afterwards no signature proves that such an emission is genuine. But the emission's device follows the present
  /// epoch, and names the emission in a signed export. So the hub only records that the emission came, and the device
  /// stops bringing it.
  func unusedOfUnknownKey(_ path: String, _ store: HubStore) throws -> HubImportReport? {
    guard try store.isEpochOfReplacedKey(), let found = try reader.identityIfSound(of: path, trust: .firstContact),
      case .scope(let scope) = found.manifest.body, scope.epoch != store.identity.epoch
    else { return nil }
    if try !store.isCollected(found.digest) {
      guard try store.isAwaited(found.digest, from: found.manifest.to.id) else { return nil }
      let link = Manifest.EmissionLink(number: scope.number, digest: found.digest)
      try store.writeTransaction(runMode) { try noteArrival(of: link, found.manifest, store) }
    }
    var report = HubImportReport(found.manifest, .unused)
    report.isOfLostKey = true
    if runMode == .commit, folder.isForUs(path) { try platform.files.remove(path) }
    return report
  }

  /// Records that an emission came, without its file. The caller holds the transaction.
  private func noteArrival(of link: Manifest.EmissionLink, _ manifest: Manifest, _ store: HubStore) throws {
    try store.add(
      LostEmission(device: manifest.to.id, link: link, file: nil), made: manifest.stamp,
      at: platform.clock.milliseconds())
  }

  /// Merges the lost time if the hub has all emissions that it needs. Returns nil if some are missing.
  func completeRecovery(_ store: HubStore) throws -> RecoveryReport? {
    guard try isRecoveryComplete(store) else { return nil }
    return try store.applyTransaction(runMode) {
      try store.logLocalWrites(user: Self.hubUser, at: platform.clock.milliseconds())
      return try finishRecovery(store)
    }
  }
}
