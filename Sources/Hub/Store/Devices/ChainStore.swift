import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// An export whose digest in a bundle differs from its digest in the device's known history.
struct ChainContradiction {
  let sequence: SequenceNumber
  /// The digest in the bundle.
  let digest: Digest
  /// Whether the export is the bundle itself. Otherwise it is an earlier export that the bundle names.
  let isOwn: Bool
}

extension HubStore {
  /// Returns the first export that proves that a bundle does not belong to its device's known history. nil if there is
  /// none.
  ///
  /// Compares the digests of the bundle and of its chain with the digests that the hub recorded for the device.
  func contradiction(_ manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest) throws -> ChainContradiction?
  {
    let branches = try branches(of: manifest.from.id)
    for link in changes.links(with: digest) {
      let known = try self.digest(of: link.sequence, in: manifest.from.id)
      if known == link.digest { continue }
      // If the device's own history ends before this export, a copy's history may contain it.
      if try known != nil || branches.contains(where: { try self.digest(of: link.sequence, in: $0.id) == link.digest })
      {
        return ChainContradiction(
          sequence: link.sequence, digest: link.digest, isOwn: link.sequence == changes.sequence)
      }
    }
    return nil
  }

  /// The digest of an export, from the export itself or from a later export that names it. nil if unknown.
  func digest(of sequence: SequenceNumber, in history: ReplicaID) throws -> Digest? {
    try database.first(
      "SELECT digest FROM satchel_chain WHERE device = :history AND sequence = :sequence",
      ["history": .string(history.text), "sequence": .integer(sequence.rawValue)]
    ) { Digest(hexadecimal: $0.text(0)) } ?? nil
  }

  /// Records the digest of a bundle, and the digests of the earlier exports that the bundle names.
  func keepChain(of manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest) throws {
    try keep(changes.links(with: digest), in: manifest.from.id)
  }

  /// All known exports of a history, in their order.
  func links(of history: ReplicaID) throws -> [Manifest.Changes.Link] {
    try database.all(
      "SELECT sequence, digest FROM satchel_chain WHERE device = :history ORDER BY sequence",
      ["history": .string(history.text)]
    ) { row in
      Digest(hexadecimal: row.text(1)).map {
        Manifest.Changes.Link(sequence: SequenceNumber(row.integer(0)), digest: $0)
      }
    }.compactMap(\.self)
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
  /// The exports that a bundle names, and at the end the bundle itself, in the order of their numbers.
  /// - Parameter digest: the digest of the bundle's B2SUMS.
  func links(with digest: Digest) -> [Link] { chain + [Link(sequence: sequence, digest: identity(digest))] }

  /// The digest of this export in the device's history.
  /// - Parameter digest: the digest of the bundle's B2SUMS.
  func identity(_ digest: Digest) -> Digest { original ?? digest }
}
