import SatchelBundle
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// The exports of a device, identified by the digests of their B2SUMS.
extension DeviceSession {
  /// The last acknowledged export, and all exports after it. The hub uses this chain to check that all exports come
  /// from one history.
  func chain(before sequence: SequenceNumber) throws -> [Manifest.Changes.Link] {
    try chain(from: state.acknowledged, before: sequence)
  }

  /// The exports from `first` on and before `sequence`, oldest first. Returns only the newest `longestChain` exports.
  func chain(from first: SequenceNumber, before sequence: SequenceNumber) throws -> [Manifest.Changes.Link] {
    try ExportTable.chain(from: first, before: sequence, in: database)
  }

  /// The name of an export's file, under the present name of this device.
  func fileName(ofExport sequence: SequenceNumber) -> String { "\(outgoingPrefix)\(sequence).satchel" }

  /// The digest of an export's B2SUMS; nil if the database has no record of that export.
  func digest(ofExport sequence: SequenceNumber) throws -> Digest? {
    try ExportTable.digest(of: sequence, in: database)
  }

  /// Refuses a bundle that acknowledges an export which this database did not make: a copy of this device made that
  /// export. If the bundle were accepted, changes that only this database has would count as delivered.
  func refuseAnswerToCopy(_ scope: Manifest.Scope) throws {
    guard let theirs = scope.acknowledgedDigest else { return }
    guard let own = try digest(ofExport: scope.acknowledged), own != theirs else { return }
    throw Refusal(
      .copied,
      """
      The hub answers an export \(scope.acknowledged) that was not made here: two copies of the device \(state.name) \
      are in use.
      """,
      hint:
        """
        Nothing is lost; ask the hub's operator which copy keeps the name. The other copy continues under a new \
        name: satchel renew --name NEW-NAME --request FILE
        """
    )
  }
}
