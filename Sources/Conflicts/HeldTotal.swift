import SatchelSQLite
import SatchelValues

/// The size of waiting changes: how many there are, and the approximate bytes of their keys and values.
public struct HeldTotal: Sendable {
  public var changes: Int
  public var bytes: Int64

  public init(changes: Int, bytes: Int64) { (self.changes, self.bytes) = (changes, bytes) }

  /// The size of one change.
  public init(_ record: ConflictRecord) {
    let fields = [record.baseValues, record.hubValues, record.deviceValues].compactMap(\.self)
    let values = fields.joined().map(\.value) + record.key.values
    self.init(changes: 1, bytes: values.reduce(0) { $0 + Int64($1.byteCount) })
  }

  public static func += (total: inout HeldTotal, more: HeldTotal) {
    total.changes += more.changes
    total.bytes += more.bytes
  }
}

extension ConflictTable {
  /// The size of the changes of this device that wait.
  public static func heldTotal(of device: ReplicaID, in database: borrowing Database) throws -> HeldTotal {
    let columns = ["key", "base_values", "hub_values", "device_values"]
    let bytes = columns.map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }.joined(separator: " + ")
    return try database.first(
      """
      SELECT count(*), coalesce(sum(\(bytes)), 0)
      FROM satchel_conflicts
      WHERE state = 'held' AND device = :device
      """, ["device": .string(device.text)]
    ) { HeldTotal(changes: Int($0.integer(0)), bytes: $0.integer(1)) } ?? HeldTotal(changes: 0, bytes: 0)
  }
}
