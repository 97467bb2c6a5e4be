import SatchelSQLite
import SatchelValues

/// The number of conflicts, and the approximate size of their keys and values in bytes.
public struct ConflictSize: Sendable {
  public var count: Int
  public var bytes: Int64

  public static let zero = ConflictSize(count: 0, bytes: 0)

  public init(count: Int, bytes: Int64) { (self.count, self.bytes) = (count, bytes) }

  /// The size of one conflict.
  public init(_ record: ConflictRecord) {
    let fields = [record.baseValues, record.hubValues, record.deviceValues].compactMap(\.self)
    let values = fields.joined().map(\.value) + record.key.values
    self.init(count: 1, bytes: values.reduce(0) { $0 + Int64($1.byteCount) })
  }

  public static func += (total: inout ConflictSize, more: ConflictSize) {
    total.count += more.count
    total.bytes += more.bytes
  }
}

extension ConflictTable {
  /// The size of all held conflicts of a device.
  public static func heldSize(of device: ReplicaID, in database: borrowing Database) throws -> ConflictSize {
    let columns = ["key", "base_values", "hub_values", "device_values"]
    let bytes = columns.map { "coalesce(length(CAST(\($0) AS BLOB)), 0)" }.joined(separator: " + ")
    return try database.first(
      """
      SELECT count(*), coalesce(sum(\(bytes)), 0)
      FROM satchel_conflicts
      WHERE state = 'held' AND device = :device
      """, ["device": .string(device.text)]
    ) { ConflictSize(count: Int($0.integer(0)), bytes: $0.integer(1)) } ?? .zero
  }
}
