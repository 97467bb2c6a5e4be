import SatchelCrypto
import SatchelValues

/// A statement that is signed with a key, to prove that its maker has this key. The signature of the bundle does not
/// prove that, because another key made that signature.
public enum KeyStatement: Hashable, Sendable {
  /// Later bundles from this replica may be signed with `next`. The key `next` signs this statement.
  case rotation(dataset: String, replica: ReplicaID, next: PublicKey)
  /// The device with `key` continues the history of the device `former`. A key of the device `former` signs this
  /// statement.
  case continuation(dataset: String, device: ReplicaID, former: ReplicaID, key: PublicKey)

  /// The message that is signed. It is also the trusted comment of the signature.
  var text: String {
    switch self {
    case .rotation(let dataset, let replica, let next):
      "satchel rotation dataset=\(dataset) from=\(replica) key=\(next.line)"
    case .continuation(let dataset, let device, let former, let key):
      "satchel continues dataset=\(dataset) from=\(device) former=\(former) key=\(key.line)"
    }
  }

  private static let untrustedComment = "signature of a statement about keys in a Satchel bundle"

  public func signed(with key: borrowing SigningKey) throws -> Signature {
    try key.sign(message: Array(text.utf8), trustedComment: text, untrustedComment: Self.untrustedComment)
  }

  /// Whether `key` made this signature of exactly this statement.
  public func isSigned(_ signature: Signature, by key: PublicKey) -> Bool {
    guard let comment = try? key.verify(signature, message: Array(text.utf8)) else { return false }
    return comment.utf8.elementsEqual(text.utf8)
  }
}

extension Manifest {
  /// Throws if the announced key did not sign the announcement. A bundle of an earlier release has no such signature.
  func checkRotation() throws(BundleError) {
    guard let rotation, let proof = rotation.proof else { return }
    let statement = KeyStatement.rotation(dataset: dataset, replica: from.id, next: rotation.key)
    guard statement.isSigned(proof, by: rotation.key) else {
      throw .manifest("the announced key did not sign the announcement")
    }
  }
}

extension Manifest.Continuation {
  /// Whether a key of the former identity has signed the statement that the device continues the history of this
  /// identity.
  /// - Parameters:
  ///   - device: the device that requests this. Its key is `key`.
  ///   - former: the keys of the former identity.
  public func isProved(for device: ReplicaID, _ key: PublicKey, in dataset: String, by former: [PublicKey]) -> Bool {
    guard let proof else { return false }
    let statement = KeyStatement.continuation(dataset: dataset, device: device, former: self.device, key: key)
    return former.contains { statement.isSigned(proof, by: $0) }
  }
}
