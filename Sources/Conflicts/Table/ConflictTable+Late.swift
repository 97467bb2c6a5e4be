import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Finds changes that were accepted late, although their user had lost the right to make them.
extension ConflictTable {
  /// The bundles whose insert of this row was accepted late. Each of them inserted the row below rows outside the
  /// user's scope.
  public static func bundlesOfLateInserts(
    _ key: RowKey, of table: Name, device: ReplicaID, user: String, in database: borrowing Database
  ) throws -> [BundleID] {
    try database.all(
      """
      SELECT bundle
      FROM satchel_conflicts
      WHERE state = 'settled' AND device = :device AND table_name = :table AND key = :key AND user = :user
        AND operation = 'insert' AND kind = 'revoked' AND winner = 'device' AND bundle IS NOT NULL
      """,
      [
        "device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key)),
        "user": .string(user),
      ]
    ) { BundleID(unchecked: $0.text(0)) }
  }

  /// The bundles from a device whose changes of this row were accepted late.
  public static func lateBundles(
    _ key: RowKey, of table: Name, device: ReplicaID, in database: borrowing Database
  ) throws -> [BundleID] {
    try database.all(
      """
      SELECT bundle
      FROM satchel_conflicts
      WHERE state IN ('settled', 'resolved') AND device = :device AND table_name = :table AND key = :key
        AND kind = 'revoked' AND winner = 'device' AND bundle IS NOT NULL
      """,
      ["device": .string(device.text), "table": .string(table.text), "key": .text(canonicalKey(key))]
    ) { BundleID(unchecked: $0.text(0)) }
  }
}
