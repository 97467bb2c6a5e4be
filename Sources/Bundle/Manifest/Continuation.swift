import SatchelCrypto
import SatchelJSON
import SatchelValues

extension Manifest {
  /// A device's description of its former identity, before it got another name and other keys. The device still has
  /// that identity's rows, and all changes that the hub is not known to have.
  public struct Continuation: Hashable, Sendable {
    /// The former device id.
    public let device: ReplicaID
    /// The highest of its exports that the hub is known to have.
    public let acknowledged: SequenceNumber
    /// The emission that its database holds.
    public let received: EmissionNumber
    /// Its exports from the last acknowledged one on, in order; at most the newest `Changes.longestChain`. From them
    /// the hub finds which of several copies' histories this is, and how much of it was merged.
    public let chain: [Changes.Link]
    /// A signature of this by a key of the former device; nil: an earlier version made the request, or that key is
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

  /// Whether they are in order, and no more than a manifest may hold.
  var isInOrder: Bool {
    count <= Manifest.Changes.longestChain && zip(self, dropFirst()).allSatisfy { $0.sequence < $1.sequence }
  }
}
