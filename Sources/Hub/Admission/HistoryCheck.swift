import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Checks whether a device's bundle belongs to the history of this hub.
///
/// A hub that was set back uses some emission numbers again. Two copies of one hub do so too. So a device names its
/// present emission by its digest, and adds the hub's signature. If this hub signed an emission and does not know it,
/// the hub was set back.
struct HistoryCheck {
  private let hub: HubWorkspace
  private let store: HubStore
  private let device: EnrolledDevice
  private let changes: Manifest.Changes
  /// The user for whom the device works, as the bundle states.
  private let user: String

  init(
    _ hub: HubWorkspace, _ store: HubStore, _ device: EnrolledDevice, _ changes: Manifest.Changes, by user: String
  ) {
    self.hub = hub
    self.store = store
    self.device = device
    self.changes = changes
    self.user = user
  }

  /// Throws a `Refusal` if the bundle does not belong to this hub's history, or if earlier bundles are missing. If the
  /// bundle proves that the hub was set back, the proof is recorded first.
  func run() throws {
    try noteNextKey()
    if changes.epoch == store.identity.epoch { try checkEmission() } else { try checkEpoch() }
    try checkUser()
    try checkReach()
  }

  // MARK: the present emission of the device

  private func checkEmission() throws {
    guard changes.received > .zero else { return }
    guard let proof = changes.proof else {
      // Release 0.1 sends only the number of the emission.
      if changes.received <= device.emitted { return }
      throw try unknownEmission()
    }
    let emission = emission(of: proof)
    if try isMade(emission) { return }
    // The signature does not cover the epoch. So an emission of another epoch proves nothing about this epoch.
    guard changes.received >= store.identity.firstEmission, try !store.isCollected(emission.digest),
      let signature = proof.signature,
      try isSignedByUs(emission, signature)
    else { throw try unknownEmission() }
    throw try hub.proofOfSetBack(emission, of: changes.epoch, after: changes.former, for: device.id, store)
  }

  /// The emission on which the bundle builds, by its number and digest in the bundle.
  private func emission(of proof: Manifest.EmissionProof) -> Manifest.EmissionLink {
    Manifest.EmissionLink(number: changes.received, digest: proof.digest)
  }

  private func isMade(_ emission: Manifest.EmissionLink) throws -> Bool {
    if try store.knowledge(of: emission, for: device) == .made { return true }
    // A device with a new name may have an emission that the hub made for its former name.
    guard let former = try device.continues.flatMap({ try store.device($0) }) else { return false }
    return try store.knowledge(of: emission, for: former) == .made
  }

  /// Records that the device knows the hub's next key, if that key signed the device's emission. The hub may have lost
  /// this record when its files were replaced by an older copy. Without the record, the hub would sign with its earlier
  /// key, and the device would refuse the bundles.
  private func noteNextKey() throws {
    guard !device.knowsNextKey, let next = try hub.keys.nextKey(), let proof = changes.proof,
      let signature = proof.signature
    else {
      return
    }
    guard
      signature.isOf(
        emission(of: proof), from: store.identity.id, to: [device.id], store.dataset.name, signedBy: [next])
    else { return }
    var device = device
    device.toldKey = .zero
    try store.writeTransaction(hub.runMode) { try store.save(device) }
  }

  private func isSignedByUs(_ emission: Manifest.EmissionLink, _ signature: Signature) throws -> Bool {
    try isSigned(emission, signature, by: hub.believedOwnKeys(store))
  }

  /// Whether the emission is signed with a lost key of this hub.
  private func isSignedByThief(_ emission: Manifest.EmissionLink, _ signature: Signature) throws -> Bool {
    let believed = try hub.believedOwnKeys(store)
    return try isSigned(emission, signature, by: hub.ownKeys().filter { !believed.contains($0) })
  }

  private func isSigned(_ emission: Manifest.EmissionLink, _ signature: Signature, by keys: [PublicKey]) throws -> Bool
  {
    signature.isOf(emission, from: store.identity.id, to: device.histories, store.dataset.name, signedBy: keys)
  }

  /// The refusal of a bundle whose emission the hub does not know. If the hub's folder `keys/` was also replaced by an
  /// older copy, it may lack the key that signed the emission.
  private func unknownEmission() throws -> Refusal {
    if let proof = changes.proof, let signature = proof.signature,
      try isSignedByThief(emission(of: proof), signature)
    {
      return emissionOfThief
    }
    if try namesUnknownKey() {
      return Refusal(
        .unknownEmission,
        """
        It was made on bundle \(changes.received) of this hub, which this hub does not know. Another key than this \
        hub's keys signed that bundle.
        """,
        hint: HubWorkspace.wayOutOfOlderKeys, keeping: .quarantine)
    }
    return Refusal(
      .unknownEmission,
      """
      It was made on bundle \(changes.received) of this hub, which this hub does not know. It contains no proof of \
      that bundle.
      """,
      hint:
        """
        Ask the user of \(device.name) to export again. If that is refused too, make a full bundle: satchel-hub emit \
        --device \(device.name) --full
        """,
      keeping: .quarantine)
  }

  /// The refusal of a bundle whose emission is of the present epoch, but was signed by a thief with a lost key. The
  /// device expects bundles that follow the thief's emission. So in this epoch, the hub can make no bundle for the
  /// device.
  private var emissionOfThief: Refusal {
    Refusal(
      .unknownEmission,
      """
      It was made on bundle \(changes.received), which a lost key of this hub signed. This hub did not make that bundle.
      """,
      hint:
        """
        A person who has the lost key misled the device. Begin one more epoch: satchel-hub keys rotate --lost --again. \
        Then a person compares the new fingerprint at each device, and the work of \(device.name) comes in.
        """,
      keeping: .quarantine)
  }

  // MARK: epochs

  private func checkEpoch() throws {
    if try store.isFormer(changes.epoch) { return try checkFormerEmission() }
    // A hub that release 0.1 restored has no record of its earlier epochs. So an unknown epoch is accepted there.
    if !store.identity.knowsFormerEpochs, changes.received < store.identity.firstEmission { return }
    let refusal = Refusal(
      .otherEpoch, "It continues a history of this hub that this hub does not know.",
      hint: HubWorkspace.wayOutOfOlderKeys, keeping: .quarantine)
    let mayFollowUnknownKey = try mayFollowUnknownKey()
    guard let proof = changes.proof, let signature = proof.signature else {
      if mayFollowUnknownKey { return }
      throw refusal
    }
    let emission = emission(of: proof)
    // This hub made the emission, and it made the emission in another epoch than the bundle names.
    if try isMade(emission) { throw refusal }
    // A thief with the hub's key made the emission and misled the device. The work of the device's user is still valid.
    if try isSignedByThief(emission, signature) { return }
    guard try isSignedByUs(emission, signature) else {
      if mayFollowUnknownKey { return }
      throw refusal
    }
    // The hub has recorded this emission before, with its epoch. If it could come again with other epochs, it could
    // stop the hub again and again.
    if try store.isCollected(emission.digest) { throw refusal }
    throw try hub.proofOfSetBack(emission, of: changes.epoch, after: changes.former, for: device.id, store)
  }

  /// Refuses new work of a former epoch if this hub lacks the key that signed the device's emission.
  ///
  /// In this case, the hub's folder `keys/` is older than the keys of its devices. The device refuses every bundle that
  /// the hub signs. So it never learns that it must deliver again.
  private func checkFormerEmission() throws {
    guard changes.received > .zero, changes.sequence > device.merged, let proof = changes.proof, try namesUnknownKey(),
      try !mayFollowUnknownKey(), try !isMade(emission(of: proof))
    else { return }
    throw try unknownEmission()
  }

  /// Whether the signature that the bundle names is by a key that this hub does not have. It cannot be verified here.
  private func namesUnknownKey() throws -> Bool {
    guard let signature = changes.proof?.signature else { return false }
    return try !hub.ownKeys().contains { $0.id == signature.keyID }
  }

  /// Whether the device trusts a newer key of this hub, as far as its bundle shows. False after the hub replaced a lost
  /// key.
  func followsNewerKey() throws -> Bool { try namesUnknownKey() && !mayFollowUnknownKey() }

  /// Whether the device may trust a key of this hub that this hub does not know. The store's method gives the reason.
  private func mayFollowUnknownKey() throws -> Bool { try store.mayFollowUnknownKey(device) }

  // MARK: the user

  /// Refuses work in the name of a user whom this hub's record does not name for the device. The device got this user
  /// in the lost time, or had this user at a hub that was lost. If the hub merged the work, it would count as another
  /// user's work.
  private func checkUser() throws {
    guard let user = try unknownUser() else { return }
    throw Refusal(
      .otherUser, hub.wordsOfUnknownUser(user, of: device), hint: HubWorkspace.wayOutOfUnknownUser(user, of: device),
      keeping: .waiting)
  }

  /// The user whom the bundle names, if the hub has no record that the device works or worked for this user. nil if the
  /// hub has this record. Also nil if the hub made the device's emission, because the emission shows the user.
  func unknownUser() throws -> String? {
    // A bundle of the present epoch is only suspect if it builds on no emission: then it may come from a hub that was
    // lost.
    let isOfPresent = changes.epoch == store.identity.epoch
    guard isOfPresent == (changes.received == .zero), changes.sequence > device.merged, try !isOnOwnEmission() else {
      return nil
    }
    let before = try device.continues.flatMap { try store.device($0) }
    let known = try [device, before].compactMap(\.self).flatMap { device in
      try [device.user] + store.formerUsers(of: device).map(\.user)
    }
    return known.contains { Name($0) == Name(user) } ? nil : user
  }

  private func isOnOwnEmission() throws -> Bool {
    if let proof = changes.proof, try isMade(emission(of: proof)) { return true }
    return try store.emission(changes, of: device.id) != nil
  }

  // MARK: missing exports

  /// Refuses a bundle if exports between it and the last merged export are missing. A bundle contains all changes since
  /// its base, an earlier export. If the hub has not merged the base, it lacks changes that no bundle has brought.
  private func checkReach() throws {
    guard changes.sequence.rawValue <= device.merged.rawValue + Manifest.Scope.longestJump else {
      throw Refusal(
        .number,
        "It is export \(changes.sequence) of \(device.name), but the last export that came was \(device.merged).",
        hint: "No device makes so many exports. Ask its user.", keeping: .quarantine)
    }
    if changes.sequence <= device.merged || changes.reaches(back: device.merged) { return }
    // Release 0.1 does not send the base. Within one epoch, the base of release 0.1 is always the last acknowledged
    // export.
    if changes.base == nil, changes.epoch == store.identity.epoch { return }
    throw Refusal(
      .gap,
      """
      This hub has the bundles of \(device.name) up to \(device.merged). Others between that bundle and this one are \
      missing.
      """,
      hint:
        """
        It waits in bundles/inbox/waiting. Import the missing ones: they are in the device's bundles/outbox or \
        bundles/sent, and its next sync brings them. If they are lost, the device continues under a new name, in its \
        folder: satchel renew --name NEW-NAME --request FILE
        """,
      keeping: .waiting)
  }
}

extension Signature {
  /// Whether this is a signature of the hub for this emission: a trusted key signed the emission's digest. The signed
  /// comment also names this hub, the right device, the dataset and the number.
  /// - Parameter keys: the keys of the hub that are still trusted.
  func isOf(
    _ emission: Manifest.EmissionLink, from hub: ReplicaID, to devices: [ReplicaID], _ dataset: String,
    signedBy keys: [PublicKey]
  ) -> Bool {
    for key in keys where key.id == keyID {
      guard let comment = try? key.verify(self, digest: emission.digest) else { continue }
      let words = comment.split(separator: " ").map(String.init)
      guard words.count == 8, words[0] == "satchel", words[1] == BundleKind.scope.rawValue else { return false }
      let isForOne = devices.contains { words[5] == "to=\($0)" }
      return isForOne && words[3] == "dataset=\(dataset)" && words[4] == "from=\(hub)"
        && words[6] == "number=\(emission.number)"
    }
    return false
  }
}
