import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The state of an attachment for one device and one row that names it.
enum AttachmentState: String {
  /// The device wrote the file's name into the row, and has never shown that it has the file. So this row is no reason
  /// to send the file to any replica.
  case claimed
  /// The device must get the file, because its user sees the row.
  case owed
  /// The device is known to have the file.
  case held
  /// The device had the file, has lost it, and must get it again.
  case again
}

extension HubStore {
  /// A file that a device must get because of a row.
  struct OwedAttachment {
    let place: Int
    let row: Int64
    let path: AttachmentPath
    /// The last emission that carried the file. Zero if no emission did.
    let sent: EmissionNumber
  }

  static let attachments = """
    CREATE TABLE satchel_attachments (
      device TEXT NOT NULL,
      table_name TEXT NOT NULL,
      row INTEGER NOT NULL,   -- the row's stable number
      path TEXT NOT NULL,     -- below files/, as the row names it
      state TEXT NOT NULL,    -- claimed, owed, held, again
      sent INTEGER NOT NULL,  -- the last emission that carried it; 0: none
      digest TEXT,            -- of what was sent; NULL: nothing
      PRIMARY KEY (device, table_name, row, path)
    ) WITHOUT ROWID;
    \(attachmentIndexes)
    """

  /// Very many rows may name one file. With these indexes, SQLite finds the state of a file for one device, or for one
  /// row, without reading all these rows.
  static let attachmentIndexes = """
    CREATE INDEX satchel_attachment_paths ON satchel_attachments (path, device, state);
    CREATE INDEX satchel_attachment_rows ON satchel_attachments (path, table_name, row, state)
    """

  /// The table and its index, for statements about one file. Without `INDEXED BY`, SQLite uses the primary key and
  /// reads all files of the device.
  static let byPath = "satchel_attachments INDEXED BY satchel_attachment_paths"
  /// The table and its index, for statements about one file of one row.
  private static let byRow = "satchel_attachments INDEXED BY satchel_attachment_rows"

  /// One row for each file that came from a device.
  static let received = """
    CREATE TABLE satchel_received (
      device TEXT NOT NULL,
      path TEXT NOT NULL,     -- by which the device knows it
      digest TEXT NOT NULL,
      kept TEXT NOT NULL,     -- where it is here: another path where a file of another content has its own
      sequence INTEGER NOT NULL, -- the last export that brought it
      told INTEGER,           -- the first emission that tells the device that it came; 0: none yet; NULL: it knows
      PRIMARY KEY (device, path, digest)
    ) WITHOUT ROWID;
    \(receivedPaths)
    """

  static let receivedPaths = "CREATE INDEX satchel_received_paths ON satchel_received (path)"

  // MARK: files from a device

  /// Records a file that came from a device.
  /// - Parameter mark: the file's appearance, if the file is new here.
  func note(
    _ arrival: ArrivingAttachments.Arrival, _ mark: FileMark?, from device: EnrolledDevice, by sequence: SequenceNumber
  ) throws {
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_received (device, path, digest, kept, sequence, told)
      VALUES (:device, :path, :digest, :kept, :sequence, 0)
      """,
      [
        "device": .string(device.id.text), "path": .string(arrival.path.text),
        "digest": .string(arrival.digest.hexadecimal),
        "kept": .string(arrival.kept.text), "sequence": .integer(sequence.rawValue),
      ])
    if arrival.kept != arrival.path { return }
    try save(arrival.path, arrival.digest, mark)
    // A device that brings a file has this file, even if the hub had the file already. So the state changes for every
    // row that names the file. That includes rows that the device wrote under a former name.
    for id in device.histories {
      try database.run(
        "UPDATE \(Self.byPath) SET state = 'held' WHERE device = :device AND path = :path",
        ["device": .string(id.text), "path": .string(arrival.path.text)])
    }
  }

  /// Records a device's receipt for a file from the hub.
  ///
  /// A device may send receipts for very many versions of one file, and very many rows may name the file. Only a
  /// receipt for the present version has an effect, so any other receipt ends here before rows are read.
  func note(_ receipt: AttachmentLine, from device: EnrolledDevice) throws {
    guard try digestOfKnownFile(at: receipt.path) == receipt.digest else { return }
    let values: KeyValuePairs<String, Value> = [
      "device": .string(device.id.text), "path": .string(receipt.path.text),
      "digest": .string(receipt.digest.hexadecimal),
    ]
    try database.run(
      """
      UPDATE \(Self.byPath) SET state = 'held'
      WHERE device = :device AND path = :path AND EXISTS (
        SELECT 1
        FROM satchel_attachments AS sent INDEXED BY satchel_attachment_paths
          JOIN satchel_files AS present USING (path)
        WHERE sent.device = :device AND sent.path = :path AND sent.digest = :digest AND present.digest = :digest)
      """, values)
  }

  /// Records that a device wrote a file's name into a row.
  func claim(_ path: AttachmentPath, in row: Int64, _ place: Int, by device: ReplicaID) throws {
    if let shown = try shown(path, by: device) { return try save(path, row, place, shown, of: device) }
    try database.run(
      """
      INSERT OR IGNORE INTO satchel_attachments (device, table_name, row, path, state, sent)
      VALUES (:device, :table, :row, :path, 'claimed', 0)
      """,
      [
        "device": .string(device.text), "table": .string(tables[place].name.text), "row": .integer(row),
        "path": .string(path.text),
      ])
  }

  /// The state of a file for a device, if the device brought the file or got it from the hub. Otherwise nil.
  private func shown(_ path: AttachmentPath, by device: ReplicaID) throws -> AttachmentState? {
    if let known = try known(path, at: device) { return known }
    return try database.first(
      "SELECT 1 FROM satchel_received WHERE device = :device AND path = :path AND kept = path",
      ["device": .string(device.text), "path": .string(path.text)]
    ) { _ in .held }
  }

  /// Records that a device lost a file and asks for it again. A file that was sent after the device's present emission
  /// may still be on its way, so its state stays.
  func noteLost(_ path: AttachmentPath, by device: EnrolledDevice, standingOn received: EmissionNumber) throws {
    try database.run(
      """
      UPDATE \(Self.byPath) SET state = 'again', sent = 0
      WHERE device = :device AND path = :path AND state = 'held' AND sent <= :received
      """,
      ["device": .string(device.id.text), "path": .string(path.text), "received": .integer(received.rawValue)])
  }

  // MARK: files to a device

  /// The state of a file for a device that has or had the file, whichever row names it. nil if the device never had the
  /// file.
  func known(_ path: AttachmentPath, at device: ReplicaID) throws -> AttachmentState? {
    try database.first(
      """
      SELECT state FROM \(Self.byPath)
      WHERE path = :path AND device = :device AND state IN ('held', 'again')
      LIMIT 1
      """,
      ["device": .string(device.text), "path": .string(path.text)]
    ) { AttachmentState(rawValue: $0.text(0)) } ?? nil
  }

  /// Whether a device wrote the file's name into this row, and no device is known to have the file because of this row.
  func isClaimed(_ path: AttachmentPath, in row: Int64, _ place: Int) throws -> Bool {
    let states = try database.all(
      "SELECT DISTINCT state FROM \(Self.byRow) WHERE path = :path AND table_name = :table AND row = :row",
      ["path": .string(path.text), "table": .string(tables[place].name.text), "row": .integer(row)]
    ) { $0.text(0) }
    return states.contains(AttachmentState.claimed.rawValue)
      && !states.contains { [AttachmentState.held, .again].map(\.rawValue).contains($0) }
  }

  func owedAttachments(to device: ReplicaID) throws -> [OwedAttachment] {
    try database.all(
      """
      SELECT table_name, row, path, sent
      FROM satchel_attachments
      WHERE device = :device AND state IN ('owed', 'again')
      ORDER BY sent, path
      """, ["device": .string(device.text)]
    ) { entry -> OwedAttachment? in
      guard let place = place(of: Name(entry.text(0))), let path = AttachmentPath(entry.text(2)) else { return nil }
      return OwedAttachment(place: place, row: entry.integer(1), path: path, sent: EmissionNumber(entry.integer(3)))
    }.compactMap(\.self)
  }

  /// Records the state of a file for a device and a row. The number of the last emission with the file stays.
  func save(_ path: AttachmentPath, _ row: Int64, _ place: Int, _ state: AttachmentState, of device: ReplicaID) throws {
    try database.run(
      """
      INSERT INTO satchel_attachments (device, table_name, row, path, state, sent)
      VALUES (:device, :table, :row, :path, :state, 0)
      ON CONFLICT DO UPDATE SET state = excluded.state
      """,
      [
        "device": .string(device.text), "table": .string(tables[place].name.text), "row": .integer(row),
        "path": .string(path.text), "state": .string(state.rawValue),
      ])
  }

  func markSent(_ path: AttachmentPath, _ digest: Digest, by number: EmissionNumber, to device: ReplicaID) throws {
    try database.run(
      """
      UPDATE \(Self.byPath) SET sent = :number, digest = :digest
      WHERE device = :device AND path = :path AND state IN ('owed', 'again')
      """,
      [
        "device": .string(device.text), "path": .string(path.text), "number": .integer(number.rawValue),
        "digest": .string(digest.hexadecimal),
      ])
  }

  /// Records that this emission was too large to be carried, so no emission has brought its files.
  func markUnsent(by number: EmissionNumber, to device: ReplicaID) throws {
    try database.run(
      """
      UPDATE satchel_attachments SET sent = 0
      WHERE device = :device AND sent = :number AND state IN ('owed', 'again')
      """, ["device": .string(device.text), "number": .integer(number.rawValue)])
  }

  /// Forgets the states of a row's files for a device. The states stay for files in `named`, and for files whose names
  /// the device itself wrote.
  func forgetAttachments(of device: ReplicaID, row: Int64, _ place: Int, but named: Set<AttachmentPath> = []) throws {
    let row: KeyValuePairs<String, Value> = [
      "device": .string(device.text), "table": .string(tables[place].name.text), "row": .integer(row),
    ]
    let known = try database.all(
      """
      SELECT path FROM satchel_attachments
      WHERE device = :device AND table_name = :table AND row = :row AND state <> 'claimed'
      """, row
    ) { $0.text(0) }
    for path in known where !named.contains(where: { Name($0.text) == Name(path) }) {
      try database.run(
        """
        DELETE FROM satchel_attachments WHERE device = :device AND table_name = :table AND row = :row AND path = :path
        """,
        ["device": row[0].value, "table": row[1].value, "row": row[2].value, "path": .string(path)])
    }
  }

  /// Forgets the states of all files for a device, because the device may have lost everything. The states stay for
  /// files whose names the device itself wrote.
  func forgetAttachments(of device: ReplicaID) throws {
    try database.run(
      "DELETE FROM satchel_attachments WHERE device = :device AND state <> 'claimed'", ["device": .string(device.text)])
  }

  /// Records that a device has the files of an emission, because the emission was imported on this computer.
  func markDelivered(_ number: EmissionNumber, to device: ReplicaID) throws {
    try database.run(
      "UPDATE satchel_attachments SET state = 'held' WHERE device = :device AND sent = :number",
      ["device": .string(device.text), "number": .integer(number.rawValue)])
  }

  // MARK: receipts

  /// Receipts for the files that came from a device, if the device may not know yet that they came.
  func receipts(for device: EnrolledDevice) throws -> [AttachmentLine] {
    try database.run(
      "UPDATE satchel_received SET told = NULL WHERE device = :device AND told > 0 AND told <= :proved",
      ["device": .string(device.id.text), "proved": .integer(device.proved.rawValue)])
    return try database.all(
      "SELECT path, digest FROM satchel_received WHERE device = :device AND told IS NOT NULL",
      ["device": .string(device.id.text)]
    ) { AttachmentLine(received: $0.text(0), digest: $0.text(1)) }.compactMap(\.self)
  }

  func markReceiptsTold(to device: ReplicaID, by number: EmissionNumber) throws {
    try database.run(
      "UPDATE satchel_received SET told = :number WHERE device = :device AND told = 0",
      ["device": .string(device.text), "number": .integer(number.rawValue)])
  }

  /// The files that are kept beside their own names, by device.
  func filesBeside() throws -> [(device: String, path: String, kept: String)] {
    try database.all(
      """
      SELECT satchel_devices.name, path, kept
      FROM satchel_received
      JOIN satchel_devices ON satchel_devices.id = device
      WHERE kept <> path
      ORDER BY 1, 2, 3
      """
    ) { ($0.text(0), $0.text(1), $0.text(2)) }
  }
}
