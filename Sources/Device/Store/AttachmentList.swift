import SatchelBundle
import SatchelCapture
import SatchelCrypto
import SatchelDataset
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// `satchel_attachments`: the files that were sent to the hub, wait to be sent, or came from the hub.
///
/// A file becomes pending with the export whose changes name the file. The file stays pending until the hub confirms
/// that the hub has it, even if an export is lost or has no room for the file.
struct AttachmentList {
  /// A row for each file that was sent to the hub, waits to be sent, or came from the hub.
  static let schema = """
    CREATE TABLE satchel_attachments (
      path TEXT PRIMARY KEY,      -- below files/, as rows name it
      digest TEXT,                -- of what went or came last, or was seen here since; NULL: nothing yet
      bytes INTEGER,              -- how it looked then: its size,
      modified INTEGER,           -- and when it was written, in nanoseconds since 1970; NULL: it is to be read again
      was TEXT,                   -- of the version whose place it is to take at the hub; NULL: of none that is known
      sent INTEGER NOT NULL,      -- the last export that carried it; 0: none
      delivered INTEGER NOT NULL, -- 1: the hub is known to have it
      leaving INTEGER NOT NULL,   -- 1: a row that named it left this user's sight
      asked INTEGER NOT NULL      -- the last export that asked for it, because it is here no more; 0: none
    ) WITHOUT ROWID
    """

  /// A row for each file that came from the hub, until the hub is known to have the receipt.
  static let received = """
    CREATE TABLE satchel_received (
      path TEXT NOT NULL,
      digest TEXT NOT NULL,
      told INTEGER NOT NULL, -- the first export that says so; 0: none yet
      PRIMARY KEY (path, digest)
    ) WITHOUT ROWID
    """

  let named: NamedAttachments
  let files: AttachedFiles
  let limits: AttachmentLimits

  init(_ tables: [TrackedTable], limits: AttachmentLimits, _ files: AttachedFiles) {
    named = NamedAttachments(tables)
    self.limits = limits
    self.files = files
  }

  /// Whether a file exists at this path that a bundle may carry.
  func isThere(_ path: AttachmentPath) throws -> Bool {
    try files.isThere(path, within: limits)
  }

  func add(_ path: AttachmentPath, in database: borrowing Database) throws {
    try database.run(
      "INSERT OR IGNORE INTO satchel_attachments (path, sent, delivered, leaving, asked) VALUES (:path, 0, 0, 0, 0)",
      ["path": .string(path.text)])
  }

  /// Records the files that came from the hub.
  func take(_ arriving: borrowing ArrivingAttachments, in database: borrowing Database) throws {
    for (number, arrival) in arriving.arrivals.enumerated() {
      let values: KeyValuePairs<String, Value> = [
        "path": .string(arrival.path.text), "digest": .string(arrival.digest.hexadecimal),
      ]
      try database.run(
        "INSERT OR REPLACE INTO satchel_received (path, digest, told) VALUES (:path, :digest, 0)", values)
      // If this device has another file at the same path, that other file must still go to the hub.
      if arrival.kept != arrival.path { continue }
      let look = try arriving.mark(of: number)?.values ?? (.null, .null)
      try database.run(
        """
        INSERT OR REPLACE INTO satchel_attachments (path, digest, bytes, modified, sent, delivered, leaving, asked)
        VALUES (:path, :digest, :bytes, :modified, 0, 1, 0, 0)
        """, ["path": values[0].value, "digest": values[1].value, "bytes": look.bytes, "modified": look.modified])
    }
  }

  /// Decides how to store a file from the hub. The new file replaces an older file from the hub, if that older file was
  /// not changed here.
  func action(_ line: AttachmentLine, _ present: Digest?, in database: borrowing Database)
    throws -> ArrivingAttachments.IncomingFileAction
  {
    guard let present else { return .keepBoth }
    let last = try database.first(
      "SELECT digest FROM satchel_attachments WHERE path = :path AND delivered = 1 AND sent = 0",
      ["path": .string(line.path.text)]
    ) { $0.optionalText(0) }
    return present == line.was || present.hexadecimal == last ? .replace : .keepBoth
  }

  /// Reads the files whose size or time has changed since they were sent or came. Leaves out rewritten files that no
  /// row names.
  /// - Parameter marked: true: only files whose size and time were recorded.
  func look(_ database: borrowing Database, marked: Bool = false) throws -> [SeenFile] {
    let known = try database.all(
      "SELECT path, digest, bytes, modified FROM satchel_attachments WHERE digest IS NOT NULL ORDER BY path"
    ) { KnownFile($0) }.compactMap(\.self)
    let seen = try files.look(at: marked ? known.filter(\.isMarked) : known)
    let rewritten = Set(seen.filter(\.isRewritten).map(\.path))
    let unnamed = try named.unnamed(rewritten, in: database)
    return seen.filter { !unnamed.contains($0.path) }
  }

  /// Records what `look` found. A rewritten file must be sent to the hub again. The caller holds the transaction.
  func note(_ seen: SeenFile, in database: borrowing Database) throws {
    let (bytes, modified) = seen.mark.values
    if seen.isRewritten {
      try database.run(
        """
        UPDATE satchel_attachments SET was = CASE delivered WHEN 1 THEN digest ELSE was END, sent = 0, delivered = 0
        WHERE path = :path AND digest = :former
        """, ["path": .string(seen.path.text), "former": .string(seen.former)])
    }
    try database.run(
      """
      UPDATE satchel_attachments SET digest = :digest, bytes = :bytes, modified = :modified
      WHERE path = :path AND digest = :former
      """,
      [
        "path": .string(seen.path.text), "former": .string(seen.former), "digest": .string(seen.digest.hexadecimal),
        "bytes": bytes, "modified": modified,
      ])
  }

  /// The version that the present file replaces at the hub; nil: no such version is known.
  func former(_ path: AttachmentPath, in database: borrowing Database) throws -> Digest? {
    try database.first("SELECT was FROM satchel_attachments WHERE path = :path", ["path": .string(path.text)]) {
      $0.optionalText(0).flatMap { Digest(hexadecimal: $0) }
    } ?? nil
  }

  /// Records files that exist here and that rows named before this list existed. This happens if a database was created
  /// again, or if a column was marked later. The hub then confirms which of these files it has.
  func takeUpOthers(but arriving: borrowing ArrivingAttachments, in database: borrowing Database) throws {
    let known = Set(arriving.arrivals.map(\.path))
    var paths: Set<AttachmentPath> = []
    try named.each(in: database) { _, value in if let path = AttachmentPath(value) { paths.insert(path) } }
    for path in paths.subtracting(known).sorted() { if try isThere(path) { try add(path, in: database) } }
  }

  /// The files that came from the hub and were not rewritten here.
  func fromHub(_ database: borrowing Database) throws -> [(path: AttachmentPath, digest: String)] {
    try database.all(
      """
      SELECT path, digest FROM satchel_attachments WHERE delivered = 1 AND sent = 0 AND digest IS NOT NULL ORDER BY \
      path
      """
    ) { (AttachmentPath($0.text(0)), $0.text(1)) }.compactMap { entry in entry.0.map { ($0, entry.1) } }
  }

  /// The files that the hub is not known to have. Files that were never sent come first, then the files that were sent
  /// longest ago.
  func undelivered(in database: borrowing Database) throws -> [(path: AttachmentPath, sent: Int64)] {
    try database.all("SELECT path, sent FROM satchel_attachments WHERE delivered = 0 ORDER BY sent, path") {
      (AttachmentPath($0.text(0)), $0.integer(1))
    }.compactMap { entry in entry.0.map { ($0, entry.1) } }
  }

  /// The files that the hub is known to have, that rows name, and that are missing here. Files that were never
  /// requested come first, then the files that were requested longest ago.
  func lost(in database: borrowing Database) throws -> [(path: AttachmentPath, asked: Int64)] {
    let gone = try database.all(
      "SELECT path, asked FROM satchel_attachments WHERE delivered = 1 AND leaving = 0 ORDER BY asked, path"
    ) { (AttachmentPath($0.text(0)), $0.integer(1)) }.compactMap { entry in entry.0.map { (path: $0, asked: entry.1) } }
      .filter { try files.isGone($0.path) }
    let unnamed = try named.unnamed(Set(gone.map(\.path)), in: database)
    return gone.filter { !unnamed.contains($0.path) }
  }

  /// Deletes files whose rows left the scope, unless another row names the file. A file that was made here stays until
  /// the hub has that file.
  func sweep(_ database: borrowing Database) throws {
    let isAny = try database.first("SELECT 1 FROM satchel_attachments WHERE leaving = 1 AND delivered = 1 LIMIT 1") {
      _ in true
    }
    guard isAny ?? false else { return }
    try database.writeTransaction(.commit) {
      let leaving = try database.all(
        """
        SELECT path, digest, bytes, modified
        FROM satchel_attachments
        WHERE leaving = 1 AND delivered = 1 AND digest IS NOT NULL
        """
      ) { KnownFile($0) }.compactMap(\.self)
      let unnamed = try named.unnamed(Set(leaving.map(\.path)), in: database)
      // A file that was rewritten here exists nowhere else, so it goes to the hub first.
      let rewritten = try files.look(at: leaving).filter(\.isRewritten)
      for file in rewritten { try note(file, in: database) }
      for (path, digest) in leaving.map({ ($0.path, $0.digest) }) where !rewritten.contains(where: { $0.path == path })
      {
        let key: KeyValuePairs<String, Value> = ["path": .string(path.text)]
        if unnamed.contains(path) {
          try files.remove(path, ifStill: digest)
          try database.run("DELETE FROM satchel_attachments WHERE path = :path", key)
        } else {
          try database.run("UPDATE satchel_attachments SET leaving = 0 WHERE path = :path", key)
        }
      }
    }
  }
}

// MARK: what exports and bundles from the hub change

extension AttachmentList {
  /// Deletes the record of a file that was never sent.
  func forgetUnsent(_ path: AttachmentPath, in database: borrowing Database) throws {
    try database.run(
      "DELETE FROM satchel_attachments WHERE path = :path AND sent = 0 AND delivered = 0", ["path": .string(path.text)])
  }

  /// Records that an export requests a file that is missing here. The same export must not report that file as
  /// received.
  func markRequested(_ path: AttachmentPath, by sequence: SequenceNumber, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_attachments SET asked = :sequence WHERE path = :path",
      ["path": .string(path.text), "sequence": .integer(sequence.rawValue)])
    try database.run("DELETE FROM satchel_received WHERE path = :path", ["path": .string(path.text)])
  }

  /// Records that an export carries a file.
  func markSent(
    _ path: AttachmentPath, _ digest: Digest, _ mark: FileMark, by sequence: SequenceNumber,
    in database: borrowing Database
  ) throws {
    let (bytes, modified) = mark.values
    try database.run(
      """
      UPDATE satchel_attachments
      SET sent = :sequence, digest = :digest, bytes = :bytes, modified = :modified
      WHERE path = :path
      """,
      [
        "path": .string(path.text), "sequence": .integer(sequence.rawValue), "digest": .string(digest.hexadecimal),
        "bytes": bytes, "modified": modified,
      ])
  }

  /// Whether an export carries files that the hub is not known to have.
  func areCarried(by sequence: SequenceNumber, in database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_attachments WHERE sent = :sequence AND delivered = 0 LIMIT 1",
      ["sequence": .integer(sequence.rawValue)]
    ) { _ in true } ?? false
  }

  /// Records that no export has sent these files, because the export with them is too large to be carried.
  func markUnsent(by sequence: SequenceNumber, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_attachments SET sent = 0 WHERE sent = :sequence AND delivered = 0",
      ["sequence": .integer(sequence.rawValue)])
  }

  /// Records that the hub has this version of a file.
  func markDelivered(_ path: AttachmentPath, _ digest: Digest, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_attachments SET delivered = 1 WHERE path = :path AND digest = :digest",
      ["path": .string(path.text), "digest": .string(digest.hexadecimal)])
  }

  /// Records that a row that named the file left this user's scope.
  func markLeaving(_ path: AttachmentPath, in database: borrowing Database) throws {
    try database.run("UPDATE satchel_attachments SET leaving = 1 WHERE path = :path", ["path": .string(path.text)])
  }

  /// The receipts for the hub: the files that came.
  func receipts(in database: borrowing Database) throws -> [AttachmentLine] {
    try database.all("SELECT path, digest FROM satchel_received") {
      AttachmentLine(received: $0.text(0), digest: $0.text(1))
    }.compactMap(\.self)
  }

  /// Records that an export sends the receipts that no earlier export sent.
  func markReceiptsSent(by sequence: SequenceNumber, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_received SET told = :sequence WHERE told = 0", ["sequence": .integer(sequence.rawValue)])
  }

  /// Deletes the receipts in exports up to the acknowledged export, because the hub has these receipts.
  func forgetReceipts(sentUpTo acknowledged: SequenceNumber, in database: borrowing Database) throws {
    try database.run(
      "DELETE FROM satchel_received WHERE told > 0 AND told <= :acknowledged",
      ["acknowledged": .integer(acknowledged.rawValue)])
  }
}
