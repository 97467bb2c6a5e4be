import SatchelConflicts
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The conflicts that the hub knows from a device's report alone.
///
/// A report is kept and shown as a report. The hub executes nothing of a report: a change enters by its own line in
/// `changes.jsonl`, or by a person's decision.
extension HubStore {
  static let reports = """
    CREATE TABLE satchel_reports (
      conflict TEXT PRIMARY KEY,        -- the record in satchel_conflicts
      called TEXT NOT NULL,             -- by which id the device knows it
      found INTEGER NOT NULL DEFAULT 0  -- 1: the hub has found it too
    ) WITHOUT ROWID;
    CREATE INDEX satchel_reports_called ON satchel_reports (called)
    """

  /// Marks conflicts as reports, if an earlier build recorded a device's report as found by the hub. No change of such
  /// a conflict enters any more.
  ///
  /// Such records were never sent to their device, and have a bundle. The hub's own records have no bundle, or are
  /// about its own changes. The delete of a hidden row is not sent to the device either, but the hub itself found it.
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
      """
      UPDATE satchel_conflicts SET state = 'open' WHERE state = 'held' AND id IN (SELECT conflict FROM \
      satchel_reports)
      """
    )
    try nameReports(in: database)
  }

  /// Gives reports the ids that the format requires, which no other device can use.
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

  /// Whether only a device reports this conflict.
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

  /// Records that the hub found a conflict that a device had reported. The hub's record replaces the device's.
  func confirmReport(of record: ConflictRecord, since: Cursor?) throws {
    guard try isReport(record.id) else { return }
    try ConflictTable.rename(record, in: database)
    try ConflictTable.setSince(since, of: record.id, in: database)
    try database.run(
      "UPDATE satchel_reports SET found = 1 WHERE conflict = :conflict", ["conflict": .string(record.id.text)])
  }

  /// Lets a reported row wait for the row that it refers to, because a person has let that row in. The reported row
  /// enters with the rights of its user.
  func holdReport(of record: ConflictRecord) throws {
    guard try isReport(record.id) else { return }
    try confirmReport(of: record, since: nil)
    try ConflictTable.setState(.held, of: record.id, in: database)
  }

  /// The conflict with this id on a device. nil if the hub has none.
  /// - Parameter devices: the device, and the devices whose conflicts it knows.
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

  /// The record with the id that its device uses.
  func asTheDeviceCallsIt(_ record: ConflictRecord) throws -> ConflictRecord {
    let name =
      try database.first(
        "SELECT called FROM satchel_reports WHERE conflict = :conflict", ["conflict": .string(record.id.text)]
      ) { ConflictID($0.text(0)) } ?? nil
    var called = record
    called.id = name ?? record.id
    return called
  }
}
