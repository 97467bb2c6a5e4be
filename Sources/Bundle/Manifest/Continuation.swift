import SatchelCrypto
import SatchelJSON
import SatchelValues

extension Manifest {
  /// A statement by a device about its former identity, before it got another name and other keys. The device still
  /// has the rows of that identity, and all changes that the hub is not known to have.
  public struct Continuation: Hashable, Sendable {
    /// The former device id.
    public let device: ReplicaID
    /// The highest sequence of the former identity that the hub is known to have.
    public let acknowledged: SequenceNumber
    /// The emission that the device's database has.
    public let received: EmissionNumber
    /// The exports of the former identity in order: the last acknowledged one and all later ones, at most the newest
    /// `Changes.longestChain`. If the device was copied, the chain shows the hub to which copy this history belongs,
    /// and how much of it was merged.
    public let chain: [Changes.Link]
    /// The signature of `KeyStatement.continuation` by a key of the former identity. nil if an earlier release made
    /// the request, or if that key is lost.
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

  /// Whether the links are in order, and not too many for a manifest.
  var isInOrder: Bool {
    count <= Manifest.Changes.longestChain && zip(self, dropFirst()).allSatisfy { $0.sequence < $1.sequence }
  }
}
