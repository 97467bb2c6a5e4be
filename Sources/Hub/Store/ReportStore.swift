import SatchelConflicts
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The conflicts that the hub knows only from a device's report.
///
/// The hub stores and shows a report, and does nothing that the report says. A change is taken only by its own line in
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

  /// Marks conflicts as reports. An earlier build recorded these reports of devices as if the hub had found the
  /// conflicts. No change in such a conflict is taken automatically any more.
  ///
  /// These records name a bundle and were never sent to their device. The hub's own records name no bundle, or are
  /// about the hub's own changes. The delete of a hidden row is an exception: the hub found it, but did not send it to
  /// the device.
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

  /// Gives each report the id that the format requires. No other device can use such an id.
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

  /// Records that a device reported a conflict.
  /// - Parameter isFound: whether the hub had found the conflict before.
  /// - Returns: whether this report of the conflict is the first one.
  @discardableResult
  func addReport(_ id: ConflictID, called name: ConflictID, isFound: Bool = false) throws -> Bool {
    try database.run(
      "INSERT OR IGNORE INTO satchel_reports (conflict, called, found) VALUES (:conflict, :called, :found)",
      ["conflict": .string(id.text), "called": .string(name.text), "found": .integer(isFound ? 1 : 0)])
    return database.changes > 0
  }

  /// Whether the hub knows this conflict only from a device.
  func isReport(_ id: ConflictID) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_reports WHERE conflict = :conflict AND found = 0", ["conflict": .string(id.text)]
    ) { _ in true } ?? false
  }

  /// The conflicts that the hub knows only from devices.
  func reported() throws -> Set<ConflictID> {
    Set(
      try database.all("SELECT conflict FROM satchel_reports WHERE found = 0") { ConflictID($0.text(0)) }
        .compactMap(\.self))
  }

  /// Records that the hub itself found a conflict that a device had reported. The hub's record replaces the report.
  func confirmReport(of record: ConflictRecord, since: Cursor?) throws {
    guard try isReport(record.id) else { return }
    try ConflictTable.rename(record, in: database)
    try ConflictTable.setSince(since, of: record.id, in: database)
    try database.run(
      "UPDATE satchel_reports SET found = 1 WHERE conflict = :conflict", ["conflict": .string(record.id.text)])
  }

  /// Makes a reported new row wait for its parent row. A person has accepted the parent, so the hub can soon take the
  /// reported row, with the rights of its user.
  func holdReport(of record: ConflictRecord) throws {
    guard try isReport(record.id) else { return }
    try confirmReport(of: record, since: nil)
    try ConflictTable.setState(.held, of: record.id, in: database)
  }

  /// The conflict that a device knows by this id. nil if the hub has none.
  /// - Parameter devices: the device, and the devices whose conflicts this device knows.
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

  /// The record with the id that its device uses for it.
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
