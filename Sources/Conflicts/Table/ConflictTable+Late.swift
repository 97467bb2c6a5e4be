import SatchelJSON
import SatchelSQLite
import SatchelValues

/// Changes that were accepted although their user had lost the right to make them.
extension ConflictTable {
  /// The bundles in which a device made a row below rows that had left its user's scope, and in which the row was
  /// accepted nevertheless.
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

  /// The bundles in which changes of a row by a device came and were accepted late.
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
