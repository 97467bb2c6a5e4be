import SatchelCrypto
import SatchelDataset
import SatchelSQLite
import SatchelValues

/// What a device knows of itself and of its hub: the one row of `satchel_device`.
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
  /// For whom bundles for the hub are encrypted; nil: the hub has not told.
  public var hubRecipient: AgeRecipient?
  /// The first export that told of this device's next key; nil: none yet.
  public var toldKey: SequenceNumber?
  /// The number of the list of revoked keys that is known here; 0: none.
  public var revocations: Int64 = 0
  /// Whether bytes of rows that are gone may be in the file still.
  var isUnwiped = false
  /// The last export that the hub has, which was restored from a backup and lacks later ones that it had; nil: it lacks none.
  public var restored: SequenceNumber?

  static func load(from database: borrowing Database) throws -> DeviceState? {
    try database.first(
      """
      SELECT id, name, user, hub_id, hub_name, epoch, incarnation, sequence, acknowledged, received, heard, definition,
        hub_recipient, told_key, revocations, unwiped, restored
      FROM satchel_device
      """
    ) {
      DeviceState(
        id: ReplicaID(unchecked: $0.text(0)), name: $0.text(1), user: $0.text(2), hubID: ReplicaID(unchecked: $0.text(3)),
        hubName: $0.text(4), epoch: Epoch(unchecked: $0.text(5)), incarnation: Incarnation(unchecked: $0.text(6)),
        sequence: SequenceNumber($0.integer(7)), acknowledged: SequenceNumber($0.integer(8)),
        received: EmissionNumber($0.integer(9)), heard: $0.integer(10), definition: Array($0.text(11).utf8),
        hubRecipient: $0.optionalText(12).flatMap { AgeRecipient($0) },
        toldKey: $0.optionalInteger(13).map { SequenceNumber($0) },
        revocations: $0.integer(14), isUnwiped: $0.integer(15) != 0,
        restored: $0.optionalInteger(16).map { SequenceNumber($0) })
    }
  }

  func save(in database: borrowing Database) throws {
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_device
        (one, id, name, user, hub_id, hub_name, epoch, incarnation, sequence, acknowledged, received, heard, definition,
         hub_recipient, told_key, revocations, unwiped, restored)
      VALUES
        (1, :id, :name, :user, :hub_id, :hub_name, :epoch, :incarnation, :sequence, :acknowledged, :received, :heard, :definition,
         :hub_recipient, :told_key, :revocations, :unwiped, :restored)
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
      ])
  }
}
