import SatchelBundle
import SatchelCrypto
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// The record of a device about itself and its hub: the one row of `satchel_device`.
public struct DeviceState: Sendable {
  public var id: ReplicaID
  public var name: String
  public var user: String
  public var hubID: ReplicaID
  public var hubName: String
  public var epoch: Epoch
  public var incarnation: Incarnation
  public var sequence: SequenceNumber
  public var acknowledged: SequenceNumber
  public var received: EmissionNumber
  public var heard: Int64
  public var definition: [UInt8]
  /// The recipient for whom bundles to the hub are encrypted; nil: the hub has sent no recipient.
  public var hubRecipient: AgeRecipient?
  /// The first export that announced this device's next key; nil: none yet.
  public var toldKey: SequenceNumber?
  /// The number of the newest known list of revoked keys; 0: none.
  public var revocations: Int64 = 0
  /// Whether the file may still contain bytes of deleted rows.
  var isUnwiped = false
  /// The last export of this device in an earlier epoch; 0: it made none; nil: unknown.
  public var formerExports: SequenceNumber?
  /// The last export that a restored hub still has, if the hub lost later exports; nil: the hub lacks none.
  public var restored: SequenceNumber?
  /// The last export that the hub's last backup contains; 0: none. nil: the hub does not say.
  public var backedUp: SequenceNumber?
  /// The digest of the emission `received`, with the hub's signature. nil: the digest is not known. If release 0.1
  /// imported the emission, the signature is missing.
  var proof: Manifest.EmissionProof?
  /// The newest sealed export; nil: there is none. Later exports do not contain it, so the hub must import it first.
  var sealed: SequenceNumber?
  /// The critical features that the hub can read, according to its last bundle.
  var hubUnderstands: Set<Manifest.Critical> = []
  /// The last export that carried digests of the rows; nil: none since the last full bundle.
  var lastProof: SequenceNumber?
  /// Whether the next export must carry digests of the rows, because a person requested them.
  var mustProve = false
  /// The sums for which the hub requested the digests of single rows.
  var compare: [StateEntry.Question] = []

  /// The device's id in a database that is only read; nil: it is not the database of a device.
  static func id(in database: borrowing Database) throws -> ReplicaID? {
    guard try database.hasTable("satchel_device") else { return nil }
    return try database.first("SELECT id FROM satchel_device") { ReplicaID(unchecked: $0.text(0)) }
  }

  static func load(from database: borrowing Database) throws -> DeviceState? {
    try DeviceSchema.upgrade.run(in: database)
    return try database.first(
      """
      SELECT id, name, user, hub_id, hub_name, epoch, incarnation, sequence, acknowledged, received, heard, definition,
        hub_recipient, told_key, revocations, unwiped, restored, received_digest, received_signature, sealed,
        hub_understands, last_proof, must_prove, compare, former_exports, backed_up
      FROM satchel_device
      """
    ) { row in
      DeviceState(
        id: ReplicaID(unchecked: row.text(0)), name: row.text(1), user: row.text(2),
        hubID: ReplicaID(unchecked: row.text(3)),
        hubName: row.text(4), epoch: Epoch(unchecked: row.text(5)), incarnation: Incarnation(unchecked: row.text(6)),
        sequence: SequenceNumber(row.integer(7)), acknowledged: SequenceNumber(row.integer(8)),
        received: EmissionNumber(row.integer(9)), heard: row.integer(10), definition: Array(row.text(11).utf8),
        hubRecipient: row.optionalText(12).flatMap { AgeRecipient($0) },
        toldKey: row.optionalInteger(13).map { SequenceNumber($0) },
        revocations: row.integer(14), isUnwiped: row.integer(15) != 0,
        formerExports: row.optionalInteger(24).map { SequenceNumber($0) },
        restored: row.optionalInteger(16).map { SequenceNumber($0) },
        backedUp: row.optionalInteger(25).map { SequenceNumber($0) }, proof: proof(row),
        sealed: row.optionalInteger(19).map { SequenceNumber($0) },
        hubUnderstands: Manifest.Critical.features(in: row.text(20)),
        lastProof: row.optionalInteger(21).map { SequenceNumber($0) }, mustProve: row.integer(22) != 0,
        compare: StateEntry.Question.parse(list: row.text(23)))
    }
  }

  private static func proof(_ row: borrowing Statement) -> Manifest.EmissionProof? {
    guard let digest = row.optionalText(17).flatMap({ Digest(hexadecimal: $0) }) else { return nil }
    let signature = row.optionalText(18).flatMap { try? Signature(fileBytes: Array($0.utf8)) }
    return .init(digest: digest, signature: signature)
  }

  /// Records the hub's requests about digests of rows.
  mutating func takeProofWishes(of manifest: Manifest, _ scope: Manifest.Scope) {
    hubUnderstands = manifest.understands
    compare = scope.compare
    if scope.extent == .full { lastProof = nil }
  }

  /// Records this bundle as the present emission.
  mutating func take(_ scope: Manifest.Scope, digest: Digest, signature: Signature) {
    (received, backedUp) = (scope.number, scope.backedUp)
    proof = .init(digest: digest, signature: signature)
  }

  /// The next export holds all changes since this export: the newest acknowledged export, or a newer sealed export.
  var base: SequenceNumber { max(acknowledged, sealed ?? .zero) }

  func save(in database: borrowing Database) throws {
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_device
        (one, id, name, user, hub_id, hub_name, epoch, incarnation, sequence, acknowledged, received, heard, definition,
         hub_recipient, told_key, revocations, unwiped, restored, received_digest, received_signature,
         sealed, hub_understands, last_proof,
         must_prove, compare, former_exports, backed_up)
      VALUES
        (1, :id, :name, :user, :hub_id, :hub_name, :epoch, :incarnation, :sequence, :acknowledged, :received, :heard,
         :definition, :hub_recipient, :told_key, :revocations, :unwiped, :restored, :received_digest,
         :received_signature, :sealed, :hub_understands, :last_proof, :must_prove, :compare, :former_exports,
         :backed_up)
      """,
      [
        "id": .string(id.text), "name": .string(name), "user": .string(user), "hub_id": .string(hubID.text),
        "hub_name": .string(hubName), "epoch": .string(epoch.text), "incarnation": .string(incarnation.text),
        "sequence": .integer(sequence.rawValue), "acknowledged": .integer(acknowledged.rawValue),
        "received": .integer(received.rawValue), "heard": .integer(heard), "definition": .text(definition),
        "hub_recipient": hubRecipient.map { .string($0.text) } ?? .null,
        "told_key": toldKey.map { .integer($0.rawValue) } ?? .null,
        "revocations": .integer(revocations), "unwiped": .integer(isUnwiped ? 1 : 0),
        "restored": restored.map { .integer($0.rawValue) } ?? .null,
        "received_digest": proof.map { .string($0.digest.hexadecimal) } ?? .null,
        "received_signature": proof?.signature.map { .text($0.fileBytes) } ?? .null,
        "sealed": sealed.map { .integer($0.rawValue) } ?? .null,
        "hub_understands": .string(Manifest.Critical.text(of: hubUnderstands)),
        "last_proof": lastProof.map { .integer($0.rawValue) } ?? .null, "must_prove": .integer(mustProve ? 1 : 0),
        "compare": .string(StateEntry.Question.text(of: compare)),
        "former_exports": formerExports.map { .integer($0.rawValue) } ?? .null,
        "backed_up": backedUp.map { .integer($0.rawValue) } ?? .null,
      ])
  }
}
