import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Which conflicts the hub knows from a device's report alone.
///
/// A report is kept and shown as a report. The hub executes nothing that a report says: a change enters by its own line
/// in `changes.jsonl`, or by a person's decision.
extension HubStore {
  static let reports = """
    CREATE TABLE satchel_reports (
      conflict TEXT PRIMARY KEY,        -- the record in satchel_conflicts
      called TEXT NOT NULL,             -- by which id the device knows it
      found INTEGER NOT NULL DEFAULT 0  -- 1: the hub has found it too
    ) WITHOUT ROWID;
    CREATE INDEX satchel_reports_called ON satchel_reports (called)
    """

  /// Notes what a build before this one took as if it had found it, and lets nothing of it enter any more.
  ///
  /// Such records were never told to their device, and have a bundle; the hub's own records have none, or are about its
  /// own changes. Of a hidden row's delete the device is never told either: the hub itself found that.
  static func noteReports(in database: borrowing Database) throws {
    try database.execute(reports)
    try database.run(
      """
      INSERT INTO satchel_reports (conflict, called)
      SELECT id, id
      FROM satchel_conflicts
      WHERE told = 0 AND bundle IS NOT NULL AND device <> (SELECT id FROM satchel_hub)
        AND NOT (kind = 'revoked' AND operation = 'delete')
      """)
    try database.run(
      "UPDATE satchel_conflicts SET state = 'open' WHERE state = 'held' AND id IN (SELECT conflict FROM satchel_reports)"
    )
    try nameReports(in: database)
  }

  /// Gives reports the ids that the format asks for, which no other device can have taken.
  private static func nameReports(in database: borrowing Database) throws {
    let ids = try database.all("SELECT conflict FROM satchel_reports") { ConflictID($0.text(0)) }
    for id in ids.compactMap(\.self) {
      guard let record = try ConflictTable.conflict(id, in: database)?.record,
        !record.isNamed(asChangeOf: record.device),
        try ConflictTable.conflict(record.name(asChangeOf: record.device), in: database) == nil
      else { continue }
      let right = Value.string(record.name(asChangeOf: record.device).text)
      try database.run(
        "UPDATE satchel_conflicts SET id = :right WHERE id = :id", ["right": right, "id": .string(id.text)])
      try database.run(
        "UPDATE satchel_reports SET conflict = :right WHERE conflict = :id", ["right": right, "id": .string(id.text)])
    }
  }

  func addReport(_ id: ConflictID, called name: ConflictID) throws {
    try database.run(
      "INSERT OR IGNORE INTO satchel_reports (conflict, called) VALUES (:conflict, :called)",
      ["conflict": .string(id.text), "called": .string(name.text)])
  }

  /// Whether only a device says that there is this conflict.
  func isReport(_ id: ConflictID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_reports WHERE conflict = :conflict AND found = 0", ["conflict": .string(id.text)]
    ) { _ in true } ?? false
  }

  /// The conflicts that only a device reports.
  func reported() throws -> Set<ConflictID> {
    Set(
      try database.all("SELECT conflict FROM satchel_reports WHERE found = 0") { ConflictID($0.text(0)) }
        .compactMap(\.self))
  }

  /// The hub has found the conflict that a device reported: what the hub found of the change takes the place of the
  /// device's words.
  func confirmReport(of record: ConflictRecord, since: Cursor?) throws {
    guard try isReport(record.id) else { return }
    try ConflictTable.rename(record, in: database)
    try ConflictTable.setSince(since, of: record.id, in: database)
    try database.run(
      "UPDATE satchel_reports SET found = 1 WHERE conflict = :conflict", ["conflict": .string(record.id.text)])
  }

  /// Lets a reported row wait for the row to which it refers, because a person has let that row in. It enters by the
  /// rights of its user.
  func holdReport(of record: ConflictRecord) throws {
    guard try isReport(record.id) else { return }
    try confirmReport(of: record, since: nil)
    try ConflictTable.setState(.held, of: record.id, in: database)
  }

  /// The conflict that a device calls by this id; nil: the hub knows none.
  /// - Parameter devices: the device, and those whose conflicts it knows.
  func conflict(called name: ConflictID, by devices: [ReplicaID]) throws -> StoredConflict? {
    if let known = try ConflictTable.conflict(name, in: database), devices.contains(known.record.device) {
      return known
    }
    let ids = try database.all(
      "SELECT conflict FROM satchel_reports WHERE called = :called", ["called": .string(name.text)]
    ) { ConflictID($0.text(0)) }
    for id in ids.compactMap(\.self) {
      if let known = try ConflictTable.conflict(id, in: database), devices.contains(known.record.device) {
        return known
      }
    }
    return nil
  }

  /// The records by the ids by which their device knows them.
  func asTheDeviceCallsThem(_ records: [ConflictRecord]) throws -> [ConflictRecord] {
    try records.map { record in
      let name =
        try database.first(
          "SELECT called FROM satchel_reports WHERE conflict = :conflict", ["conflict": .string(record.id.text)]
        ) { ConflictID($0.text(0)) } ?? nil
      var called = record
      called.id = name ?? record.id
      return called
    }
  }
}
