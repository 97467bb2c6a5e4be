import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

extension HubStore {
  /// What shows that a device's bundle is not of the one history that is known of it; nil where nothing does.
  ///
  /// What it is, and which ones it says went before it, is compared with all that the device's bundles ever were and said.
  func fork(_ manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest) throws -> String? {
    func contradicts(_ sequence: SequenceNumber, _ digest: Digest) throws -> Bool {
      let known = try database.first(
        "SELECT digest FROM satchel_chain WHERE device = :device AND sequence = :sequence",
        ["device": .string(manifest.from.id.text), "sequence": .integer(sequence.rawValue)]
      ) { $0.text(0) }
      return known.map { $0 != digest.hexadecimal } ?? false
    }
    if try contradicts(changes.sequence, digest) {
      return
        "The hub knows of another bundle \(changes.sequence) of the device \(manifest.from.name): two copies of it are at work."
    }
    if let link = try changes.chain.first(where: { try contradicts($0.sequence, $0.digest) }) {
      return
        "It follows another bundle \(link.sequence) of the device \(manifest.from.name) than the one that the hub knows of."
    }
    return nil
  }

  /// Keeps what a bundle is and which ones it says went before it.
  func keepChain(of manifest: Manifest, _ changes: Manifest.Changes, _ digest: Digest) throws {
    for link in changes.chain + [.init(sequence: changes.sequence, digest: digest)] {
      try database.run(
        "INSERT OR IGNORE INTO satchel_chain (device, sequence, digest) VALUES (:device, :sequence, :digest)",
        [
          "device": .string(manifest.from.id.text), "sequence": .integer(link.sequence.rawValue),
          "digest": .string(link.digest.hexadecimal),
        ])
    }
  }
}
