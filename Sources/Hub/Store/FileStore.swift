import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The versions of attachments: the present content of `files/`, and the files that came from each device.
extension HubStore {
  /// One row for each file in `files/` that came from a device, or that the hub sent to a device.
  static let files = """
    CREATE TABLE satchel_files (
      path TEXT PRIMARY KEY,  -- below files/
      digest TEXT NOT NULL,   -- of what was seen there last
      bytes INTEGER,          -- how it looked then: its size,
      modified INTEGER        -- and when it was written, in nanoseconds since 1970; NULL: it is to be read again
    ) WITHOUT ROWID
    """

  /// The files that a device has or must get, each as the hub last read it.
  func knownFiles(of device: ReplicaID) throws -> [KnownFile] {
    try database.all(
      """
      SELECT path, digest, bytes, modified
      FROM satchel_files
      WHERE path IN (SELECT path FROM satchel_attachments WHERE device = :device AND state <> 'claimed')
      ORDER BY path
      """, ["device": .string(device.text)]
    ) { KnownFile($0) }.compactMap(\.self)
  }

  /// The digest of the file at a path, as the hub last read it. nil if no file with this path came from or went to a
  /// device.
  func digestOfKnownFile(at path: AttachmentPath) throws -> Digest? {
    try database.first("SELECT digest FROM satchel_files WHERE path = :path", ["path": .string(path.text)]) {
      Digest(hexadecimal: $0.text(0))
    } ?? nil
  }

  /// Records the present content of a file. If the content changed, every device that had the file must get it again.
  /// - Parameter mark: the file's appearance. nil if it is not known yet.
  func save(_ path: AttachmentPath, _ digest: Digest, _ mark: FileMark?) throws {
    let key: KeyValuePairs<String, Value> = ["path": .string(path.text)]
    let former = try database.first("SELECT digest FROM satchel_files WHERE path = :path", key) { $0.text(0) }
    let (bytes, modified) = mark?.values ?? (.null, .null)
    try database.run(
      "INSERT OR REPLACE INTO satchel_files (path, digest, bytes, modified) VALUES (:path, :digest, :bytes, :modified)",
      ["path": key[0].value, "digest": .string(digest.hexadecimal), "bytes": bytes, "modified": modified])
    if former == nil || former == digest.hexadecimal { return }
    try database.run(
      """
      UPDATE satchel_attachments SET sent = 0, state = CASE state WHEN 'held' THEN 'again' ELSE state END
      WHERE path = :path AND state <> 'claimed'
      """, key)
  }

  /// A version of a file that a device brought.
  struct BroughtFile {
    let digest: Digest
    let sequence: SequenceNumber
    /// Whether this version is stored at its own path, and not beside another file.
    let isInPlace: Bool
  }

  /// The last version of a file that a device brought, under its present or its former name. nil if it never brought
  /// the file.
  func lastBrought(_ path: AttachmentPath, by device: EnrolledDevice) throws -> BroughtFile? {
    try database.first(
      """
      SELECT digest, sequence, kept = path
      FROM satchel_received
      WHERE device IN (:device, :former) AND path = :path
      ORDER BY device = :device DESC, sequence DESC
      LIMIT 1
      """,
      [
        "device": .string(device.id.text), "former": .string((device.continues ?? device.id).text),
        "path": .string(path.text),
      ]
    ) { row in
      Digest(hexadecimal: row.text(0)).map {
        BroughtFile(digest: $0, sequence: SequenceNumber(row.integer(1)), isInPlace: row.integer(2) != 0)
      }
    } ?? nil
  }

  /// The version of a file that a device must have, because the device brought it. nil if none is known.
  func version(_ path: AttachmentPath, at device: EnrolledDevice) throws -> Digest? {
    try lastBrought(path, by: device).flatMap { $0.isInPlace ? $0.digest : nil }
  }

  // MARK: files beside their names

  /// A file that a device brought, and the path where the hub stores the file.
  struct ArchivedFile {
    let device: EnrolledDevice
    let digest: Digest
    let kept: AttachmentPath
    let sequence: SequenceNumber
  }

  /// The versions of a file that devices brought.
  func brought(_ path: AttachmentPath) throws -> [ArchivedFile] {
    let found = try database.all(
      "SELECT device, digest, kept, sequence FROM satchel_received WHERE path = :path", ["path": .string(path.text)]
    ) { ($0.text(0), Digest(hexadecimal: $0.text(1)), AttachmentPath($0.text(2)), SequenceNumber($0.integer(3))) }
    var devices: [String: EnrolledDevice] = [:]
    for id in Set(found.map(\.0)) { devices[id] = try device(ReplicaID(unchecked: id)) }
    return found.compactMap { id, digest, kept, sequence in
      guard let device = devices[id], let digest, let kept else { return nil }
      return ArchivedFile(device: device, digest: digest, kept: kept, sequence: sequence)
    }
  }

  /// The number of versions of a file that this device brought and that are kept beside the file's name. The version in
  /// `line` does not count.
  func countBeside(_ line: AttachmentLine, by device: EnrolledDevice) throws -> Int {
    try database.first(
      """
      SELECT count(*) FROM satchel_received
      WHERE device = :device AND path = :path AND digest <> :digest AND kept <> path
      """,
      [
        "device": .string(device.id.text), "path": .string(line.path.text), "digest": .string(line.digest.hexadecimal),
      ]
    ) { Int($0.integer(0)) } ?? 0
  }

  /// The names that have other files beside them.
  func pathsBeside() throws -> Set<AttachmentPath> {
    Set(
      try database.all("SELECT DISTINCT path FROM satchel_received WHERE kept <> path") { AttachmentPath($0.text(0)) }
        .compactMap(\.self))
  }

  /// The paths that changes after a cursor wrote or removed. Only tables with attachment columns are searched.
  func paths(writtenAfter cursor: Cursor) throws -> Set<AttachmentPath> {
    let marked = tables.filter { !$0.attachmentColumns.isEmpty }.map(\.name)
    var paths: Set<AttachmentPath> = []
    if marked.isEmpty { return [] }
    try database.each(
      "SELECT table_name, set_values, was_values FROM satchel_log WHERE cursor > :cursor",
      ["cursor": .integer(cursor.rawValue)]
    ) { row in
      guard marked.contains(Name(row.text(0))) else { return }
      for fields in [try row.fields(1), try row.fields(2)] {
        paths.formUnion((fields ?? []).compactMap { AttachmentPath($0.value) })
      }
    }
    return paths
  }

  /// Records that another file took the name of this file, which is now kept beside the name. The devices that brought
  /// this file have not shown that they have the other file. So the name in their own rows counts only as a claim. They
  /// get the other file only because of other rows that their users see.
  func noteBeside(_ path: AttachmentPath, _ digest: Digest, at kept: AttachmentPath) throws {
    let file: KeyValuePairs<String, Value> = ["path": .string(path.text), "digest": .string(digest.hexadecimal)]
    try database.run(
      """
      UPDATE \(Self.byPath) SET state = 'claimed', sent = 0, digest = NULL
      WHERE path = :path AND state IN ('held', 'again')
        AND device IN (SELECT id FROM satchel_devices JOIN satchel_received ON device = id
                       WHERE path = :path AND digest = :digest AND kept = path)
      """, file)
    try database.run(
      """
      UPDATE satchel_received SET kept = :kept
      WHERE device IN (SELECT id FROM satchel_devices) AND path = :path AND digest = :digest AND kept = path
      """, ["path": file[0].value, "digest": file[1].value, "kept": .string(kept.text)])
  }

  /// Records that the hub has lost the files that had a name before. A device that brought such a file counts as having
  /// no file of this name, and may bring its file again.
  /// - Parameter digest: the file that has the name now.
  func noteLost(_ path: AttachmentPath, but digest: Digest) throws {
    let file: KeyValuePairs<String, Value> = ["path": .string(path.text), "digest": .string(digest.hexadecimal)]
    try database.run(
      """
      UPDATE \(Self.byPath) SET state = 'claimed', sent = 0, digest = NULL
      WHERE path = :path AND state IN ('held', 'again')
        AND device IN (SELECT id FROM satchel_devices JOIN satchel_received ON device = id
                       WHERE path = :path AND digest <> :digest AND kept = path)
      """, file)
    try database.run(
      """
      DELETE FROM satchel_received
      WHERE device IN (SELECT id FROM satchel_devices) AND path = :path AND digest <> :digest AND kept = path
      """, file)
  }

  /// The cursor up to which changes were considered when files got their names.
  func namesCursor() throws -> Cursor {
    Cursor(try database.first("SELECT names_settled FROM satchel_hub") { $0.integer(0) } ?? 0)
  }

  func saveNamesCursor(_ cursor: Cursor) throws {
    try database.run("UPDATE satchel_hub SET names_settled = :cursor", ["cursor": .integer(cursor.rawValue)])
  }

  /// Records that a file from devices has its name now.
  func noteInPlace(_ path: AttachmentPath, _ digest: Digest) throws {
    let file: KeyValuePairs<String, Value> = ["path": .string(path.text), "digest": .string(digest.hexadecimal)]
    try save(path, digest, nil)
    try database.run(
      """
      UPDATE satchel_received SET kept = path
      WHERE device IN (SELECT id FROM satchel_devices) AND path = :path AND digest = :digest
      """, file)
    try database.run(
      """
      UPDATE \(Self.byPath) SET state = 'held'
      WHERE path = :path AND device IN (SELECT id FROM satchel_devices JOIN satchel_received ON device = id
                                        WHERE path = :path AND digest = :digest)
      """, file)
  }

  // MARK: files to forget

  /// The files that came from or went to devices, each with two paths: the path that rows use, and the path where the
  /// file is kept. The paths differ if a file with other content has the first path.
  func keptFiles() throws -> [(path: AttachmentPath, kept: AttachmentPath, digest: String)] {
    try database.all(
      """
      SELECT path, path, digest FROM satchel_files
      UNION
      SELECT path, kept, digest FROM satchel_received WHERE kept <> path
      ORDER BY 2
      """
    ) { (AttachmentPath($0.text(0)), AttachmentPath($0.text(1)), $0.text(2)) }.compactMap { entry in
      guard let path = entry.0, let kept = entry.1 else { return nil }
      return (path, kept, entry.2)
    }
  }

  /// Calls `body` for each text in a change that the log still has.
  func eachTextOfLog(_ body: (Value) throws -> Void) throws {
    for column in ["set_values", "was_values"] {
      try database.each(
        """
        SELECT DISTINCT field.value
        FROM satchel_log AS entry, json_each(entry.\(quoted(column))) AS field
        WHERE entry.cursor > (SELECT log_from FROM satchel_hub) AND field.type = 'text'
        """
      ) { try body($0.value(0)) }
    }
  }

  /// Removes the record of a file that is not kept any more. A receipt that the device does not know yet stays.
  func forget(_ kept: AttachmentPath) throws {
    let key: KeyValuePairs<String, Value> = ["kept": .string(kept.text)]
    try database.run("DELETE FROM satchel_files WHERE path = :kept", key)
    try database.run("DELETE FROM satchel_attachments WHERE path = :kept AND state <> 'claimed'", key)
    try database.run("DELETE FROM satchel_received WHERE kept = :kept AND told IS NULL", key)
  }
}
