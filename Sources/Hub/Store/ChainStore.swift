import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// An export that is another one in the history that is known of its device than in a bundle.
struct ChainContradiction {
  let sequence: SequenceNumber
  /// As the bundle has it.
  let digest: Digest
  /// Whether it is the bundle itself; else one that it names before itself.
  let isOwn: Bool
}

extension HubStore {
  /// What shows that a device's bundle is not of the one history that is known of it; nil where nothing does.
  ///
  /// What it is, and which ones it says went before it, is compared with all that the device's bundles ever were and
  /// said.
  func contradiction(_ manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest) throws -> ChainContradiction?
  {
    for link in changes.links(with: digest) {
      if let known = try self.digest(of: link.sequence, in: manifest.from.id), known != link.digest {
        return ChainContradiction(
          sequence: link.sequence, digest: link.digest, isOwn: link.sequence == changes.sequence)
      }
    }
    return nil
  }

  /// The digest of an export, as it was seen or as a later one names it.
  func digest(of sequence: SequenceNumber, in history: ReplicaID) throws -> Digest? {
    try database.first(
      "SELECT digest FROM satchel_chain WHERE device = :history AND sequence = :sequence",
      ["history": .string(history.text), "sequence": .integer(sequence.rawValue)]
    ) { Digest(hexadecimal: $0.text(0)) } ?? nil
  }

  /// Keeps what a bundle is and which ones it says went before it.
  func keepChain(of manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest) throws {
    try keep(changes.links(with: digest), in: manifest.from.id)
  }

  func keep(_ links: [Manifest.Changes.Link], in history: ReplicaID) throws {
    for link in links {
      try database.run(
        "INSERT OR IGNORE INTO satchel_chain (device, sequence, digest) VALUES (:history, :sequence, :digest)",
        [
          "history": .string(history.text), "sequence": .integer(link.sequence.rawValue),
          "digest": .string(link.digest.hexadecimal),
        ])
    }
  }
}

extension Manifest.Changes {
  /// The exports that a bundle names, itself included, in their order.
  /// - Parameter digest: of the bundle's B2SUMS.
  func links(with digest: Digest) -> [Link] { chain + [Link(sequence: sequence, digest: identity(digest))] }

  /// The digest by which a device's history knows this export.
  /// - Parameter digest: of the bundle's B2SUMS.
  func identity(_ digest: Digest) -> Digest { original ?? digest }
}
