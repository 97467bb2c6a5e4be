import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Finds and forgets history that is not needed any more.
extension HubStore {
  /// The cursor up to which the log is not needed: no device has an earlier emission, and no held change is based on an
  /// earlier emission.
  /// - Parameter time: changes since this time stay, in milliseconds since 1970. nil: changes of any age may go.
  func forgettable(before time: Int64?) throws -> Cursor {
    let needed = try database.first(
      """
      SELECT min(cursor) FROM (
        SELECT cursor FROM satchel_emissions
        UNION ALL
        SELECT since FROM satchel_conflicts WHERE state = 'held' AND since IS NOT NULL)
      """
    ) { $0.optionalInteger(0) }
    // During the recovery of the lost time, the log must show which values writers have seen. So changes of this epoch
    // stay.
    let latest = try isRecovering() ? min(cursor(), identity.epochCursor) : cursor()
    let forgettable = min(latest, (needed ?? nil).map { Cursor($0) } ?? latest)
    guard let time else { return forgettable }
    let kept = try database.first("SELECT min(cursor) FROM satchel_log WHERE at >= :time", ["time": .integer(time)]) {
      $0.optionalInteger(0)
    }
    return min(forgettable, (kept ?? nil).map { Cursor($0 - 1) } ?? forgettable)
  }

  /// The time of the first change after a cursor, in milliseconds since 1970. nil if there is no change after it.
  func timeOfFirstChange(after cursor: Cursor) throws -> Int64? {
    try database.first(
      "SELECT at FROM satchel_log WHERE cursor > :cursor ORDER BY cursor LIMIT 1",
      ["cursor": .integer(cursor.rawValue)]
    ) { $0.integer(0) }
  }

  /// Forgets the log up to a cursor. The newest entry always stays, because it holds the hub's cursor. Returns the
  /// number of removed entries.
  func forgetLog(upTo cursor: Cursor) throws -> Int64 {
    let last: KeyValuePairs<String, Value> = ["cursor": .integer(cursor.rawValue)]
    try database.run(
      "DELETE FROM satchel_log WHERE cursor <= :cursor AND cursor < (SELECT max(cursor) FROM satchel_log)", last)
    let count = database.changes
    try database.run("UPDATE satchel_hub SET log_from = :cursor WHERE log_from < :cursor", last)
    for table in tables {
      let names = RowNumbers.names(table)
      try database.run(
        """
        UPDATE \(names.table) SET \(names.cursor) = NULL
        WHERE \(names.cursor) <= :cursor AND \(names.cursor) NOT IN (SELECT cursor FROM satchel_log)
        """, last)
    }
    return count
  }

  /// Forgets the numbers of deleted rows. A number stays if the log or a set of an emission has it, or if the row must
  /// be sent. Returns how many numbers were removed.
  ///
  /// In tables for which the hub gives keys, all numbers stay, so that no key is given twice.
  func forgetGoneRows() throws -> Int64 {
    var held = tables.map { _ in RowSet() }
    for device in try devices() {
      for sets in try heldSets(of: device.id, after: emissions(of: device.id)) {
        for place in tables.indices { held[place] = held[place].union(sets[place]) }
      }
      let owed = try owed(to: device.id)
      for place in tables.indices {
        held[place] = held[place].union(owed.always[place]).union(owed.ifVisible[place])
      }
    }
    var count: Int64 = 0
    for (place, table) in tables.enumerated() where !table.givesNewKeys {
      let names = RowNumbers.names(table)
      let isSame = names.key.map { "rows.\($0) = numbers.\($0)" }.joined(separator: " AND ")
      let gone = try database.all(
        """
        SELECT numbers.\(names.number) FROM \(names.table) AS numbers
        WHERE numbers.\(names.cursor) IS NULL
          AND NOT EXISTS (SELECT 1 FROM \(quoted(table.name)) AS rows WHERE \(isSame))
        """
      ) { $0.integer(0) }
      for number in gone where !held[place].contains(number) {
        try database.run("DELETE FROM \(names.table) WHERE \(names.number) = :number", ["number": .integer(number)])
        count += 1
      }
    }
    return count
  }

  /// A bundle from a device that was imported, and whose file is in the archive.
  struct Archived {
    let bundle: BundleID
    let peer: String
    let number: Int64
  }

  /// The bundles that were imported before `time`, if neither the log nor an undecided conflict names them. The last
  /// bundle of each device is left out.
  func forgettableBundles(before time: Int64) throws -> [Archived] {
    try database.all(
      """
      SELECT DISTINCT ledger.bundle, ledger.peer, ledger.number
      FROM satchel_ledger AS ledger JOIN satchel_devices AS devices ON devices.name = ledger.peer
      WHERE ledger.direction = 'in' AND ledger.kind = 'changes' AND ledger.verdict = 'imported' AND ledger.detail IS \
      NULL
        AND ledger.at < :time AND ledger.number < devices.merged
        AND ledger.bundle NOT IN (SELECT bundle FROM satchel_log WHERE bundle IS NOT NULL)
        AND ledger.bundle NOT IN (
          SELECT bundle FROM satchel_conflicts WHERE bundle IS NOT NULL AND state IN ('open', 'held'))
      ORDER BY ledger.peer, ledger.number
      """, ["time": .integer(time)]
    ) { row in
      BundleID(row.text(0)).map { Archived(bundle: $0, peer: row.text(1), number: row.integer(2)) }
    }.compactMap(\.self)
  }

  /// Records that a bundle's file is no longer in the archive.
  func markForgotten(_ bundle: BundleID, from peer: String) throws {
    try database.run(
      """
      UPDATE satchel_ledger SET detail = 'its file is not kept any more'
      WHERE bundle = :bundle AND peer = :peer AND verdict = 'imported'
      """,
      ["bundle": .string(bundle.text), "peer": .string(peer)])
  }

  /// The file names of emissions that were made before `time`, and that no device needs any more.
  func carried(before time: Int64) throws -> [String] {
    try database.all(
      """
      SELECT ledger.peer, ledger.number
      FROM satchel_ledger AS ledger JOIN satchel_devices AS devices ON devices.name = ledger.peer
      WHERE ledger.direction = 'out' AND ledger.kind = 'scope' AND ledger.at < :time
        AND (ledger.number < devices.proved OR devices.state = 'revoked')
      ORDER BY ledger.entry
      """, ["time": .integer(time)]
    ) { row in
      "\(Manifest.namePrefix(dataset: dataset.name, from: identity.name, to: row.text(0)))\(row.integer(1)).satchel"
    }
  }
}
