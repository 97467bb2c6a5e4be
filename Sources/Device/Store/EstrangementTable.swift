import SatchelBundle
import SatchelSQLite
import SatchelValues

/// `satchel_estrangement`: one row while the hub's bundles are of another history than the history of this device.
enum EstrangementTable {
  static let schema = """
    CREATE TABLE satchel_estrangement (
      one INTEGER PRIMARY KEY CHECK (one = 1),
      at INTEGER NOT NULL,     -- milliseconds since 1970 when it was found
      reason TEXT NOT NULL,    -- other-history, other-hub
      epoch TEXT NOT NULL,     -- of the bundle that was refused
      number INTEGER NOT NULL, -- its number
      file TEXT NOT NULL       -- its name in bundles/inbox/waiting
    )
    """

  /// The recorded estrangement; nil: the hub's bundles follow the earlier bundles.
  static func find(in database: borrowing Database) throws -> Estrangement? {
    try database.first("SELECT at, reason, number, file FROM satchel_estrangement") {
      Estrangement(
        at: $0.integer(0), code: Reason(rawValue: $0.text(1)) ?? .otherHistory, number: EmissionNumber($0.integer(2)),
        file: $0.text(3))
    }
  }

  static func save(_ found: Estrangement, of epoch: Epoch, in database: borrowing Database) throws {
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_estrangement (one, at, reason, epoch, number, file)
      VALUES (1, :at, :reason, :epoch, :number, :file)
      """,
      [
        "at": .integer(found.at), "reason": .string(found.reason), "epoch": .string(epoch.text),
        "number": .integer(found.number.rawValue), "file": .string(found.file),
      ])
  }

  static func clear(in database: borrowing Database) throws { try database.run("DELETE FROM satchel_estrangement") }
}
