import SatchelBundle
import SatchelDataset
import SatchelJSON
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Records of the bundles that wait because they delete or change very many rows.
extension HubStore {
  static let braked = """
    CREATE TABLE satchel_braked (
      device TEXT NOT NULL,
      sequence INTEGER NOT NULL, -- the number of the bundle
      words TEXT NOT NULL,       -- which limits it is beyond, for people
      at INTEGER NOT NULL,       -- milliseconds since 1970 when it came
      PRIMARY KEY (device, sequence)
    ) WITHOUT ROWID
    """

  func noteBraked(_ sequence: SequenceNumber, of device: ReplicaID, because words: String, at now: Int64) throws {
    try database.run(
      "INSERT OR REPLACE INTO satchel_braked (device, sequence, words, at) VALUES (:device, :sequence, :words, :at)",
      [
        "device": .string(device.text), "sequence": .integer(sequence.rawValue), "words": .string(words),
        "at": .integer(now),
      ])
  }

  /// The text that explains why a bundle waits for a person. nil if it does not wait.
  func braked(_ sequence: SequenceNumber, of device: ReplicaID) throws -> String? {
    try database.first(
      "SELECT words FROM satchel_braked WHERE device = :device AND sequence = :sequence",
      ["device": .string(device.text), "sequence": .integer(sequence.rawValue)]
    ) { $0.text(0) }
  }

  /// Counts the rows of a table that the changes after a cursor deleted, and the rows that they only changed. New rows,
  /// rows that were deleted and inserted again, and rows with the same values as before do not count. With soft
  /// deletes, a row counts as deleted if it got the mark.
  func countDeletedAndChanged(in place: Int, after start: Cursor) throws -> (deleted: Int64, changed: Int64) {
    var mark = Value.null
    if case .soft(let column) = tables[place].rules.delete {
      mark = .text(Array("$.".utf8) + JSONValue.string(column.text).compactBytes)
    }
    let found = try database.first(
      """
      SELECT
        coalesce(sum(deletes > inserts), 0),
        coalesce(sum(deletes = 0 AND inserts = 0 AND updates > 0), 0)
      FROM (
        SELECT
          sum(operation = 'delete' OR :mark IS NOT NULL AND operation = 'update'
            AND coalesce(json_extract(set_values, :mark), 0) <> 0
            AND coalesce(json_extract(was_values, :mark), 0) = 0) AS deletes,
          sum(operation = 'insert') AS inserts,
          sum(operation = 'update' AND set_values <> was_values) AS updates
        FROM satchel_log
        WHERE cursor > :start AND table_name = :table
        GROUP BY row)
      """, ["start": .integer(start.rawValue), "table": .text(rows[place].nameBytes), "mark": mark]
    ) { ($0.integer(0), $0.integer(1)) }
    return found ?? (0, 0)
  }

  /// Forgets all records about a device's waiting bundles, because the hub has merged one of them. The next import
  /// merges the others, or records them again.
  func forgetBraked(of device: ReplicaID) throws {
    try database.run("DELETE FROM satchel_braked WHERE device = :device", ["device": .string(device.text)])
  }
}
