import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The app's database in the folder of a tablet: on a card, or at the end of a cable.
///
/// No lock reaches the tablet, because its app runs on another machine. So the file is compared before it is replaced.
///
/// A log (`-wal`) or a journal (`-journal`) beside the file belongs to exactly this file. With the log of another
/// database, a database is damaged. Without its own log, a database lacks changes. So a file with a log is replaced in
/// steps. First, a file with the same content, and the log's changes in it, replaces the file. This file is right with
/// or without the log. Second, the log is removed. Third, the new database replaces the file.
struct TabletDatabase {
  /// The size and time of a file. They show whether the file has changed.
  fileprivate struct Mark: Equatable {
    let size: Int64
    let modified: Int64
  }

  /// A copy of the database, and the state of the tablet's files at that time.
  struct Taken {
    /// The present files, by suffix: the database itself (empty suffix), its log and its journal.
    fileprivate var marks: [String: Mark] = [:]
    fileprivate var digests: [String: Digest] = [:]
    fileprivate var mode: UInt32 = 0o644
    /// The path of the database as it was taken, with its log's changes in it; nil: the database had no log and no
    /// journal.
    fileprivate var settled: String?
  }

  private static let companions = ["-wal", "-journal"]
  private static let sharedMemory = "-shm"

  let path: String
  private let files: any FileSystem

  private var folder: String { Paths.parent(of: path) }

  /// - Parameters:
  ///   - name: the file's name in the folder.
  ///   - folder: the folder of the tablet.
  init(_ name: String, in folder: String, _ files: any FileSystem) {
    path = Paths.join(folder, name)
    self.files = files
  }

  /// Whether the database exists. Throws a `WorkspaceError` if its folder is missing.
  func isThere() throws -> Bool {
    // A link to the folder is followed, because a person named it.
    guard try files.kind(Paths.join(folder, ".")) == .directory else {
      throw WorkspaceError(
        .noFolder, "There is no folder \(folder).", hint: "Is the tablet connected and unlocked, or its card mounted?")
    }
    return try files.kind(path) != nil
  }

  /// The names of the first few files in the folder that may be databases.
  func databasesBeside() throws -> [String] {
    let endings = [".sqlite", ".sqlite3", ".db", ".gpkg"]
    return Array(
      try files.list(folder).filter { name in endings.contains { name.lowercased().hasSuffix($0) } }.sorted().prefix(5))
  }

  // MARK: taking

  /// Copies the database with its log and its journal to `copy`, and merges the log and the journal into the copy.
  ///
  /// Throws a `WorkspaceError` if the app writes meanwhile. Changes nothing on the tablet.
  /// - Parameter copy: a path in a private folder of this machine.
  func take(to copy: String) throws -> Taken {
    var taken = Taken()
    taken.marks = try marks()
    taken.mode = try files.permissions(path) & 0o777
    for suffix in taken.marks.keys.sorted() {
      try files.copy(path + suffix, to: copy + suffix, mode: 0o600)
      taken.digests[suffix] = try digest(of: copy + suffix)
    }
    guard try marks() == taken.marks else { throw writtenMeanwhile("The app writes to \(path).") }
    if try taken.marks["-journal"] != nil && namesOtherJournal(copy + "-journal") { throw unfinished }
    let hasCompanion = taken.marks.count > 1
    try Self.settle(copy, files)
    if hasCompanion {
      let settled = copy + ".settled"
      try files.copy(copy, to: settled, mode: 0o600)
      taken.settled = settled
    }
    return taken
  }

  /// Whether a journal belongs to a transaction over several files. Such a journal ends with the name of a file on the
  /// tablet and these bytes ("Rollback journal", https://sqlite.org/fileformat2.html). SQLite on this machine would not
  /// find that file, and would keep the unfinished transaction as a finished one.
  private func namesOtherJournal(_ journal: String) throws -> Bool {
    let fd = try files.open(journal)
    defer { files.close(fd) }
    var (end, buffer): ([UInt8], [UInt8]) = ([], [UInt8](repeating: 0, count: 256 << 10))
    while true {
      let count = try files.read(fd, into: &buffer)
      if count == 0 { return end == [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7] }
      end = Array((end + buffer.prefix(count).suffix(8)).suffix(8))
    }
  }

  private var unfinished: WorkspaceError {
    WorkspaceError(
      .writtenMeanwhile, "The app on the tablet was ended while it wrote to \(path) and to other files.",
      hint: "Open the app on the tablet once and close it: that mends the database. Then run the same command again.")
  }

  /// Merges the log and the journal into the database file, and removes both.
  static func settle(_ path: String, _ files: any FileSystem) throws {
    do {
      let database = try Database(path: path, mode: .readWrite)
      // The first read rolls back a hot journal, and reads the log.
      _ = try database.first("SELECT count(*) FROM sqlite_schema", [:]) { $0.integer(0) }
      try database.emptyLog()
    }
    // When the last connection closes, SQLite removes the log. A journal that still exists is not hot.
    if try files.kind(path + "-wal") == .file, try files.size(path + "-wal") > 0 {
      throw SQLiteError(corrupt: "SQLite could not write all of its log (the -wal file) into the database")
    }
    for suffix in companions + [sharedMemory] { try files.removeIfThere(path + suffix) }
  }

  // MARK: putting back

  /// Replaces the tablet's database by the database at `new`, which has no log and no journal. Returns false if the
  /// tablet already has these bytes.
  ///
  /// Throws a `WorkspaceError` if the tablet's files have changed since they were taken. If it throws that, nothing was
  /// replaced. If a crash interrupts the replacement, the tablet has the complete former database or the complete new
  /// one.
  /// - Parameter taken: the state of the tablet's files when they were taken; nil: there was no database.
  func put(_ new: String, over taken: Taken?) throws -> Bool {
    if let taken, taken.settled == nil, try digest(of: new) == taken.digests[""] { return false }
    let asides = (new: aside("new"), settled: aside("old"))
    defer { for path in [asides.new, asides.settled] { try? files.removeIfThere(path) } }
    let mode = taken?.mode ?? 0o644
    try files.deliver(new, to: asides.new, mode: mode)
    if let settled = taken?.settled { try files.deliver(settled, to: asides.settled, mode: mode) }
    try checkUnchanged(since: taken)
    if taken?.settled != nil {
      try files.rename(asides.settled, to: path)
      let mark = try mark(of: path)
      try removeCompanions()
      guard try marks() == ["": mark] else { throw writtenMeanwhile("The app writes to \(path).") }
    } else if taken == nil {
      try putAsideOrphans()
    } else {
      try removeCompanions()
    }
    try files.rename(asides.new, to: path)
    return true
  }

  /// Whether the tablet's database has the same bytes as the file at `copy`.
  func has(_ copy: String) throws -> Bool {
    try files.kind(path) == .file && files.size(path) == files.size(copy) && digest(of: path) == digest(of: copy)
  }

  private func aside(_ what: String) -> String { Paths.join(folder, ".satchel-dock-\(what)-\(Paths.name(of: path))") }

  private func removeCompanions() throws {
    for suffix in Self.companions + [Self.sharedMemory] { try files.removeIfThere(path + suffix) }
    try files.syncDirectory(folder)
  }

  /// Moves a log and a journal without their database aside, because they would damage the new database.
  private func putAsideOrphans() throws {
    for suffix in Self.companions where try files.kind(path + suffix) != nil {
      try files.rename(path + suffix, to: "\(path).damaged\(suffix)")
    }
    try removeCompanions()
  }

  private func checkUnchanged(since taken: Taken?) throws {
    guard try isUnchanged(since: taken) else { throw writtenMeanwhile("The app wrote to \(path) meanwhile.") }
  }

  private func isUnchanged(since taken: Taken?) throws -> Bool {
    // A lost database may have left its log, so only the database's file counts.
    guard let taken else { return try files.kind(path) == nil }
    return try marks() == taken.marks && taken.digests.allSatisfy { try digest(of: path + $0.key) == $0.value }
  }

  private func writtenMeanwhile(_ words: String) -> WorkspaceError {
    WorkspaceError(
      .writtenMeanwhile, "\(words) Nothing was put back, and nothing is lost.",
      hint: "Close the app on the tablet, then run the same command again. It begins with the newer file.")
  }

  private func marks() throws -> [String: Mark] {
    var marks: [String: Mark] = [:]
    for suffix in [""] + Self.companions where try files.kind(path + suffix) != nil {
      marks[suffix] = try mark(of: path + suffix)
    }
    return marks
  }

  private func mark(of path: String) throws -> Mark {
    Mark(size: try files.size(path), modified: try files.modified(path))
  }

  private func digest(of path: String) throws -> Digest {
    let fd = try files.open(path)
    defer { files.close(fd) }
    files.dropCache(of: fd)
    var pieces = files.pieces(of: fd)
    return try pieces.digest().digest
  }
}
