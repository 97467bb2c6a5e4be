import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// The files in a backup, without the hub's database. They are in a separate database, which stock SQLite tools can
/// open.
final class BackupFiles {
  private let database: Database
  private let files: any FileSystem

  /// The size of the pieces in which a file is read, in bytes.
  private static let partBytes = 1 << 20

  /// Creates the database at `path`.
  static func making(at path: String, _ files: any FileSystem) throws -> BackupFiles {
    let database = try Database(path: path, mode: .create)
    // SQLite need not sync here: when a file of the draft is complete, the draft syncs it.
    try database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    // A row is one piece of a file. It has the file's path within the workspace, and the number of the piece from 0.
    try database.execute(
      "CREATE TABLE files (path TEXT NOT NULL, part INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (path, part))")
    return BackupFiles(database, files)
  }

  /// Opens a database. The caller has verified its digest.
  static func verified(at path: String, _ files: any FileSystem) throws -> BackupFiles {
    BackupFiles(try Database.untrusted(path: path), files)
  }

  private init(_ database: consuming Database, _ files: any FileSystem) {
    self.database = database
    self.files = files
  }

  /// Runs `body` in one transaction. `body` adds files.
  func add(_ body: () throws -> Void) throws { try database.writeTransaction { try body() } }

  /// Adds the file at `path` under the name `name`.
  func add(_ path: String, as name: String) throws {
    let fd = try files.open(path)
    defer { files.close(fd) }
    var pieces = files.pieces(of: fd, size: Self.partBytes)
    // An empty file gets one empty piece. Otherwise the backup would not contain it.
    var piece = try pieces.next() ?? []
    var part: Int64 = 0
    repeat {
      try database.run(
        "INSERT INTO files (path, part, bytes) VALUES (:path, :part, :bytes)",
        ["path": .string(name), "part": .integer(part), "bytes": .blob(piece)])
      part += 1
      piece = try pieces.next() ?? []
    } while !piece.isEmpty
  }

  /// The names of all files, sorted.
  func names() throws -> [String] { try database.all("SELECT DISTINCT path FROM files ORDER BY path") { $0.text(0) } }

  /// Returns a file of which a piece is missing. nil if the numbers of the pieces have no gap.
  func incompleteFile() throws -> String? {
    try database.first(
      "SELECT path FROM files GROUP BY path HAVING min(part) <> 0 OR max(part) <> count(*) - 1 ORDER BY path"
    ) { $0.text(0) }
  }

  /// Writes the file `name` to `path`.
  func extract(_ name: String, to path: String, mode: UInt32) throws {
    let made = try files.createTemporary(in: Paths.parent(of: path), mode: mode)
    defer { files.close(made.fd) }
    try database.each("SELECT bytes FROM files WHERE path = :path ORDER BY part", ["path": .string(name)]) {
      if case .blob(let bytes) = $0.value(0) { try files.write(made.fd, bytes) }
    }
    try files.sync(made.fd)
    try files.rename(made.path, to: path)
  }
}
