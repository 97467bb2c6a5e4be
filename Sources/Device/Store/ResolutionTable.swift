import SatchelBundle
import SatchelSQLite
import SatchelValues

/// `satchel_resolutions`: a row for each conflict that was decided on this device.
enum ResolutionTable {
  static let schema = """
    CREATE TABLE satchel_resolutions (
      conflict TEXT PRIMARY KEY,
      decision TEXT NOT NULL,       -- hub, device, set
      user TEXT NOT NULL,
      stamp INTEGER NOT NULL,
      generation INTEGER NOT NULL,  -- in which the decision was written into the row
      note TEXT
    )
    """

  static func add(_ resolution: Resolution, in database: borrowing Database) throws {
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_resolutions (conflict, decision, user, stamp, generation, note)
      VALUES (:conflict, :decision, :user, :stamp, :generation, :note)
      """,
      [
        "conflict": .string(resolution.conflict.text), "decision": .string(resolution.decision.rawValue),
        "user": .string(resolution.user), "stamp": .integer(resolution.stamp.rawValue),
        "generation": .integer(resolution.generation.rawValue), "note": resolution.note.map { .string($0) } ?? .null,
      ])
  }

  /// Deletes the decisions of users other than `user` on a device, if an export before the generation `end` has them.
  static func forget(ofOthersThan user: String, before end: Generation, in database: borrowing Database) throws {
    try database.run(
      "DELETE FROM satchel_resolutions WHERE user <> :user AND generation < :end",
      ["user": .string(user), "end": .integer(end.rawValue)])
  }

  /// The decisions of this generation and later, sorted by the ids of their conflicts.
  static func all(since first: Generation, in database: borrowing Database) throws -> [Resolution] {
    try database.all(
      """
      SELECT conflict, decision, user, stamp, generation, note
      FROM satchel_resolutions
      WHERE generation >= :first
      ORDER BY conflict
      """, ["first": .integer(first.rawValue)]
    ) { row -> Resolution? in
      guard let conflict = ConflictID(row.text(0)), let decision = Resolution.Decision(rawValue: row.text(1)) else {
        return nil
      }
      return Resolution(
        conflict: conflict, decision: decision, user: row.text(2), stamp: Stamp(row.integer(3)),
        generation: Generation(row.integer(4)), note: row.optionalText(5))
    }.compactMap(\.self)
  }
}
