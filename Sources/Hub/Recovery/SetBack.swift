import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A hub whose files were put back from a copy, without `restore`. The hub lacks all later work, and would give the
/// same numbers again.
///
/// The hub's own signature proves this state. After the proof, the hub neither imports nor emits. The operator ends
/// this state by beginning a new epoch on the present files.
extension HubWorkspace {
  /// Returns the hub's keys whose signatures are still trusted. A lost key may be in the wrong hands.
  func believedOwnKeys(_ store: HubStore) throws -> [PublicKey] {
    let revoked = try store.revocations()?.keys ?? []
    return try ownKeys().filter { !revoked.contains($0) }
  }

  /// Records the proof that the hub was set back. Returns the refusal of the bundle that contains the proof.
  func noteSetBack(
    _ emission: Manifest.EmissionLink, of epoch: Epoch, for device: ReplicaID, _ store: HubStore
  ) throws -> Refusal {
    let now = platform.clock.milliseconds()
    try store.writeTransaction(runMode) { try store.noteSetBack(emission, of: epoch, for: device, at: now) }
    let name = try store.device(device)?.name ?? device.text
    return SetBack(at: now, device: name, epoch: epoch, number: emission.number, digest: emission.digest).refusal(
      keeping: .waiting)
  }

  /// Throws if the hub is known to have been set back. `status` shows this state until it ends, so it does not name
  /// each bundle that came meanwhile.
  func refuseSetBack(_ store: HubStore) throws {
    if let found = try store.setBack() { throw found.refusal(keeping: .unnoted) }
  }
}

extension SetBack {
  /// The next steps for the operator.
  public static let wayOut =
    """
    Decide by what you know. If this hub's files were put back from a copy or a backup, and no other copy is at work: \
    satchel-hub restore --in-place. If another copy of this hub is at work: retire one of the two, then satchel-hub \
    restore --in-place at the one that continues. Only if neither is so, another person has the hub's key: satchel-hub \
    keys rotate --lost, and nothing else before it
    """

  fileprivate func refusal(keeping: Refusal.Keeping) -> Refusal {
    Refusal(.setBack, words, hint: Self.wayOut, keeping: keeping)
  }

  /// The event in words, for people.
  public var words: String {
    """
    This hub was set back: the device \(device) has bundle \(number) with this hub's signature, and this hub does not \
    know it. Its files were put back from a copy, there are two copies of it, or another person has its key. Until you \
    decide, nothing is imported or made.
    """
  }
}

/// The state of a time that a hub lost.
public enum LostTime: Sendable {
  /// There was no such time, or no row with a counter or a set came back from it.
  case none
  /// Devices deliver again, and the hub has not merged the time yet.
  case waiting
  /// The hub has merged the time, and rows with counters or sets came back as a whole.
  case merged
}

extension HubWorkspace {
  /// The state of the time that this hub lost.
  public func lostTime() throws -> LostTime {
    let store = try store()
    if try store.isRecovering() { return .waiting }
    return try store.hasRecoveredRows() ? .merged : .none
  }
}
