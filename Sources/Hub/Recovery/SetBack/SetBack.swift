import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A hub whose files were replaced by an older copy, without `restore`. The hub lacks the work that was done after that
/// copy was made. Without a check, it would use the same emission numbers again.
///
/// An emission with the hub's own signature proves this state. After the proof, the hub neither imports nor emits. The
/// operator ends this state with a new epoch on the present files.
extension HubWorkspace {
  /// Returns the hub's keys whose signatures are trusted. A lost key is not trusted, because another person may have
  /// it.
  func believedOwnKeys(_ store: HubStore) throws -> [PublicKey] {
    let revoked = try store.revocations()?.keys ?? []
    return try ownKeys().filter { !revoked.contains($0) }
  }

  /// Returns the proof that the hub was set back. The caller throws it. The hub records the proof after it has kept the
  /// bundle.
  /// - Parameters:
  ///   - former: the epochs before `epoch`, as the emission names them.
  ///   - announced: the key that the emission announces for this hub. nil if it announces none.
  func proofOfSetBack(
    _ emission: Manifest.EmissionLink, of epoch: Epoch, after former: [Epoch], for device: ReplicaID,
    announcing announced: PublicKey? = nil, _ store: HubStore
  ) throws -> SetBackProof {
    let lacking = try announced.flatMap { try ownKeys().contains($0) ? nil : $0 }
    let name = try store.device(device)?.name ?? device.text
    return SetBackProof(
      device: device, former: former,
      found: SetBack(
        at: platform.clock.milliseconds(), device: name, epoch: epoch, number: emission.number, lackingKey: lacking,
        digest: emission.digest))
  }

  /// Records the proof that the hub was set back. After this record, the hub neither imports nor emits.
  func note(_ proof: SetBackProof, _ store: HubStore) throws {
    try store.writeTransaction(runMode) { try store.note(proof) }
  }

  /// Returns the proof that the hub was set back, or nil. `lackingKey` is nil if the missing key is in `keys/` again.
  func setBack(_ store: HubStore) throws -> SetBack? {
    guard var found = try store.setBack() else { return nil }
    if let key = found.lackingKey, try ownKeys().contains(key) { found.lackingKey = nil }
    return found
  }

  /// Throws if the hub lacks the key that its devices follow. Devices would refuse all bundles without this key.
  func refuseWithoutKey(_ store: HubStore) throws {
    guard let found = try setBack(store), let key = found.lackingKey else { return }
    throw WorkspaceError(
      .noKey,
      "This hub made a new key in the lost time, with the fingerprint \(key.fingerprint), and does not have it.",
      hint:
        """
        Put the newest copy of this hub's keys/ in place, and try again. If there is none: satchel-hub keys rotate \
        --lost. Then the rows that this hub sent in the lost time do not come back
        """)
  }

  /// Throws if the hub is known to be set back. The refused bundle is not recorded, because `status` shows the state
  /// itself.
  func refuseSetBack(_ store: HubStore) throws {
    if let found = try setBack(store) { throw found.refusal(keeping: .unnoted) }
  }
}

/// The proof that the hub was set back. It is thrown before the hub records it.
struct SetBackProof: Error {
  /// The device for which the emission was made.
  let device: ReplicaID
  /// The epochs before the emission's epoch. Some of them may be unknown to the hub.
  let former: [Epoch]
  let found: SetBack

  var refusal: Refusal { found.refusal(keeping: .waiting) }
}

extension SetBack {
  /// The next steps for the operator.
  public var wayOut: String {
    guard lackingKey != nil else { return Self.wayOut }
    return """
      First put the newest copy of this hub's keys/ in place: the hub made a new key in the lost time, and its devices \
      follow that key. Then decide by what you know. If this hub's files were put back from a copy or a backup: \
      satchel-hub restore --in-place. If another copy of this hub is at work: retire one of the two first. If there is \
      no such copy of keys/: satchel-hub keys rotate --lost. Then the rows that this hub sent in the lost time do not \
      come back
      """
  }

  private static let wayOut =
    """
    Decide by what you know. If this hub's files were put back from a copy or a backup, and no other copy is at work: \
    satchel-hub restore --in-place. If another copy of this hub is at work: retire one of the two, then satchel-hub \
    restore --in-place at the one that continues. Only if neither is so, another person has the hub's key: satchel-hub \
    keys rotate --lost, and nothing else before it
    """

  fileprivate func refusal(keeping: Refusal.Keeping) -> Refusal {
    Refusal(.setBack, words, hint: wayOut, keeping: keeping)
  }

  /// A text for people that says what happened.
  public var words: String {
    """
    This hub was set back: the device \(device) has bundle \(number) with this hub's signature, and this hub does not \
    know it. Its files were put back from a copy, there are two copies of it, or another person has its key. Until you \
    decide, nothing is imported or made.
    """
  }
}
