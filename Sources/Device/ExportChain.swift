import SatchelBundle
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// What exports a device made, by the digests of their B2SUMS.
extension DeviceSession {
  /// The exports from the last acknowledged one on, by which the hub can tell that they all come from one history.
  func chain(before sequence: SequenceNumber) throws -> [Manifest.Changes.Link] {
    try chain(from: state.acknowledged, before: sequence)
  }

  /// The exports from `first` on, at most the newest `longestChain`.
  func chain(from first: SequenceNumber, before sequence: SequenceNumber) throws -> [Manifest.Changes.Link] {
    try database.all(
      """
      SELECT sequence, digest
      FROM satchel_exports
      WHERE sequence >= :first AND sequence < :sequence
      ORDER BY sequence DESC
      LIMIT :longest
      """,
      [
        "first": .integer(first.rawValue), "sequence": .integer(sequence.rawValue),
        "longest": .integer(Int64(Manifest.Changes.longestChain)),
      ]
    ) { row -> Manifest.Changes.Link in
      guard let digest = Digest(hexadecimal: row.text(1)) else {
        throw WorkspaceError("bad-export", "The row \(row.integer(0)) of satchel_exports holds no digest.")
      }
      return .init(sequence: SequenceNumber(row.integer(0)), digest: digest)
    }.reversed()
  }

  /// Refuses a bundle that acknowledges an export which this database did not make: the hub heard a copy of it. Taken,
  /// it would pass for delivered what only this copy wrote.
  func refuseAnswerToCopy(_ scope: Manifest.Scope) throws {
    guard let theirs = scope.acknowledgedDigest else { return }
    let own = try database.first(
      "SELECT digest FROM satchel_exports WHERE sequence = :sequence",
      ["sequence": .integer(scope.acknowledged.rawValue)]
    ) { $0.text(0) }
    guard let own, own != theirs.hexadecimal else { return }
    throw Refusal(
      "copied",
      "The hub answers another export \(scope.acknowledged) than the one that was made here: two copies of the device \(state.name) are at work.",
      hint:
        "Nothing is lost; ask the hub's operator which copy is to keep the name. The other one goes on under a new one: satchel renew --name NEW-NAME --request FILE"
    )
  }
}
