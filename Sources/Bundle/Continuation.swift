import SatchelCrypto
import SatchelJSON
import SatchelValues

extension Manifest {
  /// What a device tells of the one that it was before it got another name and other keys. Its rows, and what the hub
  /// is not known to have, it still has.
  public struct Continuation: Hashable, Sendable {
    /// The one that it was.
    public let device: ReplicaID
    /// The highest of its exports that the hub is known to have.
    public let acknowledged: SequenceNumber
    /// The emission on which it stands.
    public let received: EmissionNumber
    /// Its exports, in their order, from the last acknowledged one on; at most the newest `Changes.longestChain`. By
    /// them the hub tells which of several copies' histories this one's is, and how much of it was merged.
    public let chain: [Changes.Link]
    /// A signature of this by a key of the device that it was; nil: an earlier version made the request, or that key is
    /// lost.
    public let proof: Signature?

    public init(
      device: ReplicaID, acknowledged: SequenceNumber, received: EmissionNumber, chain: [Changes.Link],
      proof: Signature?
    ) {
      self.device = device
      self.acknowledged = acknowledged
      self.received = received
      self.chain = chain
      self.proof = proof
    }

    var json: JSONValue {
      .object(
        [
          .init(name: "device", value: .string(device.text)),
          .init(name: "acknowledged", value: .integer(acknowledged.rawValue)),
          .init(name: "received", value: .integer(received.rawValue)), .init(name: "chain", value: chain.json),
        ] + (proof.map { [$0.member] } ?? []))
    }
  }
}

extension [Manifest.Changes.Link] {
  var json: JSONValue {
    .array(
      map {
        .object([
          .init(name: "sequence", value: .integer($0.sequence.rawValue)),
          .init(name: "digest", value: .string($0.digest.hexadecimal)),
        ])
      })
  }

  /// Whether they are as few as a manifest may hold, and in their order.
  var isInOrder: Bool {
    count <= Manifest.Changes.longestChain && zip(self, dropFirst()).allSatisfy { $0.sequence < $1.sequence }
  }
}
