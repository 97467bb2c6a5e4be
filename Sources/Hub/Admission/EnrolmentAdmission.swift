import SatchelBundle
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// The statement in a request that its sender continues a former device.
public struct ContinuationClaim: Sendable {
  /// The former device's name at this hub. nil if this hub does not know the former device.
  public let device: String?
  public let user: String?
  public let isRevoked: Bool
  /// Whether a present key of the former device signed the statement.
  public let isProved: Bool

  /// The refusal if there is no proof, and the operator did not name the former device.
  public static func unproved(_ device: String) -> Refusal {
    Refusal(
      .unproved, "The request says that its device was \(device) before, but no present key of \(device) signed that.",
      hint: "If you know that it is true, for example because \(device) lost its key, add: --continues \(device)")
  }
}

/// The reason why the operator believes a `ContinuationClaim`.
public enum ContinuationTrust: Sendable {
  /// A present key of the former device signed the statement.
  case proof
  /// The operator knows that the statement is true, and has named the former device.
  case named(String)
}

/// Checks a request before its device is enrolled. Until a person has compared the fingerprint, the sender is a
/// stranger. Even after that, everything else in the request may be false.
extension HubWorkspace {
  /// Returns the request's statement about its former device. nil if the request contains no such statement.
  public func claim(of manifest: Manifest, _ enrolment: Manifest.Enrolment) throws -> ContinuationClaim? {
    guard let continuation = enrolment.continues else { return nil }
    return try claim(continuation, of: manifest.from.id, enrolment.key, store())
  }

  private func claim(
    _ continuation: Manifest.Continuation, of id: ReplicaID, _ key: PublicKey, _ store: HubStore
  ) throws -> ContinuationClaim {
    guard let former = try store.device(continuation.device) else {
      return ContinuationClaim(device: nil, user: nil, isRevoked: false, isProved: false)
    }
    // A replaced or revoked key proves nothing. Another person may have it.
    let known = KnownKeys(self, store)
    let keys = try former.provedKeys.filter { try !known.isRevoked($0) }
    return ContinuationClaim(
      device: former.name, user: former.user, isRevoked: former.state == .revoked,
      isProved: continuation.isProved(for: id, key, in: store.dataset.name, by: keys))
  }

  /// Refuses the id of this hub, the id of a history that this hub keeps, and a key that already has an owner.
  func checkEnrolment(_ id: ReplicaID, _ key: PublicKey, _ store: HubStore) throws {
    guard id != store.identity.id, try !store.isBranch(id) else {
      throw Refusal(
        .ownId, "The request has the id of this hub, or of a history that this hub keeps.",
        hint: "Do not enrol it. Ask for a new request.")
    }
    try KnownKeys(self, store).check(key)
  }

  func checkContinuation(
    _ continuation: Manifest.Continuation, of id: ReplicaID, _ key: PublicKey, _ trust: ContinuationTrust,
    _ store: HubStore
  ) throws {
    let former = try store.device(continuation.device)
    let known = max(former?.emitted ?? .zero, store.identity.firstEmission).rawValue
    // After a loss, a hub takes its next emission number from its clock, in seconds. So a correct number may be that
    // high.
    let highest = max(known, platform.clock.milliseconds() / 1000) + Manifest.Scope.longestJump
    guard continuation.received.rawValue <= highest,
      continuation.acknowledged.rawValue <= (former?.merged.rawValue ?? 0) + Manifest.Scope.longestJump
    else {
      throw Refusal(
        .number,
        "The request names bundle \(continuation.received) of this hub, but this hub has not made that many bundles.",
        hint: "Do not enrol it. Ask for a new request.")
    }
    let claim = try claim(continuation, of: id, key, store)
    guard let name = claim.device, !claim.isProved else { return }
    if case .named(let named) = trust, Name(named) == Name(name) { return }
    throw ContinuationClaim.unproved(name)
  }
}
