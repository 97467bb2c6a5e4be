import SatchelCapture
import SatchelCrypto
import SatchelDataset
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// `satchel_attachments`: the files that went to the hub, are to go, or came.
///
/// A file is the hub's to get from the export on whose changes name it, until the hub says that it has it. An export that is lost, or has no
/// room for it, costs it nothing.
struct AttachmentList {
  /// A row for each file that went, is to go, or came.
  static let schema = """
    CREATE TABLE satchel_attachments (
      path TEXT PRIMARY KEY,      -- below files/, as rows name it
      digest TEXT,                -- of what went or came last; NULL: nothing yet
      sent INTEGER NOT NULL,      -- the last export that carried it; 0: none
      delivered INTEGER NOT NULL, -- 1: the hub is known to have it
      leaving INTEGER NOT NULL,   -- 1: a row that named it left this user's sight
      asked INTEGER NOT NULL      -- the last export that asked for it, because it is here no more; 0: none
    ) WITHOUT ROWID
    """

  /// A row for each file that came, until the hub is known to know.
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

  /// Whether a file is there that may travel.
  func isThere(_ path: AttachmentPath) throws -> Bool {
    if case .there(let bytes) = try files.standing(at: path) { return bytes <= limits.fileBytes }
    return false
  }

  func add(_ path: AttachmentPath, in database: borrowing Database) throws {
    try database.run(
      "INSERT OR IGNORE INTO satchel_attachments (path, sent, delivered, leaving, asked) VALUES (:path, 0, 0, 0, 0)",
      ["path": .string(path.text)])
  }

  /// Notes what came.
  func take(_ arriving: borrowing ArrivingAttachments, in database: borrowing Database) throws {
    for arrival in arriving.arrivals {
      let values: KeyValuePairs<String, Value> = [
        "path": .string(arrival.path.text), "digest": .string(arrival.digest.hexadecimal),
      ]
      try database.run("INSERT OR REPLACE INTO satchel_received (path, digest, told) VALUES (:path, :digest, 0)", values)
      // A file of this device's own that has the path of another one goes to the hub all the same.
      if arrival.kept != arrival.path { continue }
      try database.run(
        """
        INSERT OR REPLACE INTO satchel_attachments (path, digest, sent, delivered, leaving, asked)
        VALUES (:path, :digest, 0, 1, 0, 0)
        """, values)
    }
  }

  /// Takes up files that lie here and that rows name which came before anybody kept a list: where a database was made anew, or a column was
  /// marked. The hub then says of each whether it has it.
  func takeUpOthers(but arriving: borrowing ArrivingAttachments, in database: borrowing Database) throws {
    let known = Set(arriving.arrivals.map(\.path))
    var paths: Set<AttachmentPath> = []
    try named.each(in: database) { _, value in if let path = AttachmentPath(value) { paths.insert(path) } }
    for path in paths.subtracting(known).sorted() { if try isThere(path) { try add(path, in: database) } }
  }

  /// The files that the hub is not known to have: first those that were never sent, then those that were sent longest ago.
  func undelivered(in database: borrowing Database) throws -> [(path: AttachmentPath, sent: Int64)] {
    try database.all("SELECT path, sent FROM satchel_attachments WHERE delivered = 0 ORDER BY sent, path") {
      (AttachmentPath($0.text(0)), $0.integer(1))
    }.compactMap { entry in entry.0.map { ($0, entry.1) } }
  }

  /// The files that the hub is known to have, that rows name, and that are here no more: first those for which nobody asked yet, then those for
  /// which somebody asked longest ago.
  func lost(in database: borrowing Database) throws -> [(path: AttachmentPath, asked: Int64)] {
    let gone = try database.all(
      "SELECT path, asked FROM satchel_attachments WHERE delivered = 1 AND leaving = 0 ORDER BY asked, path"
    ) { (AttachmentPath($0.text(0)), $0.integer(1)) }.compactMap { entry in entry.0.map { (path: $0, asked: entry.1) } }
      .filter { try files.isGone($0.path) }
    let unnamed = try named.unnamed(Set(gone.map(\.path)), in: database)
    return gone.filter { !unnamed.contains($0.path) }
  }

  /// Takes away the files of rows that left, once the hub has those that were made here, and unless another row names them.
  func sweep(_ database: borrowing Database) throws {
    let isAny = try database.first("SELECT 1 FROM satchel_attachments WHERE leaving = 1 AND delivered = 1 LIMIT 1") { _ in true }
    guard isAny ?? false else { return }
    try database.writeTransaction(.keep) {
      let leaving = try database.all(
        "SELECT path, digest FROM satchel_attachments WHERE leaving = 1 AND delivered = 1 AND digest IS NOT NULL"
      ) { (AttachmentPath($0.text(0)), $0.text(1)) }.compactMap { entry in entry.0.map { ($0, entry.1) } }
      let unnamed = try named.unnamed(Set(leaving.map(\.0)), in: database)
      for (path, digest) in leaving {
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
