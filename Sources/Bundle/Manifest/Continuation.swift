import SatchelCrypto
import SatchelJSON
import SatchelValues

extension Manifest {
  /// A device's description of its former identity, from the time before it got another name and other keys. The device
  /// still has the rows of that identity. It also has all changes that the hub is not known to have.
  public struct Continuation: Hashable, Sendable {
    /// The former device id.
    public let device: ReplicaID
    /// The highest sequence among the exports of the former device that the hub is known to have.
    public let acknowledged: SequenceNumber
    /// The emission that the device's database holds.
    public let received: EmissionNumber
    /// The exports of the former device, in order: the last acknowledged export and the later exports. At most the
    /// newest `Changes.longestChain`. If the former device was copied, the hub finds from this chain which copy's
    /// history this is. The hub also finds how much of the history was merged.
    public let chain: [Changes.Link]
    /// The signature of the statement `KeyStatement.continuation` by a key of the former device. nil: an earlier
    /// version made the request, or that key is lost.
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

  /// Whether the links are in order, and are not more than a manifest may hold.
  var isInOrder: Bool {
    count <= Manifest.Changes.longestChain && zip(self, dropFirst()).allSatisfy { $0.sequence < $1.sequence }
  }
}
