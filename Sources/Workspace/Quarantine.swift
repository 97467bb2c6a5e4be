import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// What happens to a file that was refused.
public enum Quarantine {
  /// The largest file of which a copy is kept.
  private static let maximumBytes: Int64 = 1 << 30
  /// So many files are kept at most, with so many bytes together. What is refused after that stays where it is.
  public static let mostFiles = 1_000
  public static let mostBytes: Int64 = 4 << 30
  private static let reasonEnding = ".reason.txt"

  /// Puts a copy of a refused file aside, with a text beside it that says why, and notes it in the ledger. Of two files
  /// with the same bytes one is kept.
  ///
  /// A file that lay in the inbox, or waited there, leaves it; any other stays where the person has it.
  public static func keep(
    _ file: String, because error: any ExplainedError, folder: WorkspaceFolder, platform: Platform,
    database: borrowing Database
  ) throws {
    let time = platform.clock.milliseconds()
    try Ledger.addRefusal(file: Paths.name(of: file), reason: error.reason, at: time, in: database)
    // What is no plain file, or would fill the disk, is noted and left where it is. So is what lies there already.
    guard Paths.parent(of: file) != folder.quarantine, try platform.files.kind(file) == .file,
      try platform.files.size(file) <= maximumBytes
    else { return }
    let mark = try mark(of: file, platform.files)
    let kept = try names(folder, files: platform.files)
    if !kept.contains(where: { $0.contains(mark) }) {
      let sizes = try kept.map { try platform.files.size(Paths.join(folder.quarantine, $0)) }
      if try isFull(sizes, for: platform.files.size(file)) { return }
      let name = UTCTime.fileName(milliseconds: time) + mark + Paths.name(of: file)
      let target = Paths.join(folder.quarantine, name)
      try platform.files.copy(file, to: target, mode: 0o600)
      let words = "\(error.message)\n" + (error.hint.map { "\($0)\n" } ?? "")
      try platform.files.replace(target + reasonEnding, mode: 0o644, contents: Array("\(error.reason)\n\(words)".utf8))
    }
    if folder.isForUs(file) { try platform.files.remove(file) }
  }

  /// The part of a kept file's name that identifies its bytes. Copies of a device have bundles with equal names.
  private static func mark(of file: String, _ files: any FileSystem) throws -> String {
    let fd = try files.open(file)
    defer { files.close(fd) }
    var pieces = files.pieces(of: fd)
    return "-\(try pieces.digest().digest.hexadecimal.prefix(24))-"
  }

  /// Whether there is no room for one more file.
  /// - Parameters:
  ///   - sizes: of the files that are kept, in bytes.
  ///   - bytes: the size of the new file.
  public static func isFull(_ sizes: [Int64], for bytes: Int64 = 1) -> Bool {
    sizes.count >= mostFiles || sizes.reduce(bytes, +) > mostBytes
  }

  /// Runs `body`. What it refuses for good is handed to `keep` before it is thrown on.
  public static func guarding<T>(_ body: () throws -> T, keep: (any ExplainedError) throws -> Void) throws -> T {
    do { return try body() } catch let error as Refusal where error.keeping == .quarantine {
      try keep(error)
      throw error
    } catch let error as BundleError {
      try keep(error)
      throw error
    }
  }

  /// Forgets a file that was taken after all, and the words beside it.
  public static func release(_ file: String, files: any FileSystem) throws {
    try files.remove(file)
    try files.removeIfThere(file + reasonEnding)
  }

  /// A refused file, with what was said of it.
  public struct Refused: Sendable {
    public let file: String
    /// A word that does not change.
    public let reason: String
    /// What was wrong, and what to do.
    public let words: String
    public let bytes: Int64
  }

  /// The names of the refused files, the oldest first: all but the texts beside them, and what a killed command left.
  private static func names(_ folder: WorkspaceFolder, files: any FileSystem) throws -> [String] {
    try files.list(folder.quarantine)
      .filter { !$0.hasSuffix(reasonEnding) && !$0.hasPrefix(HostFileSystem.temporaryPrefix) }
  }

  /// The refused files, the newest first.
  public static func list(_ folder: WorkspaceFolder, files: any FileSystem) throws -> [Refused] {
    try names(folder, files: files).reversed().map { name in
      let path = Paths.join(folder.quarantine, name) + reasonEnding
      // Somebody may have tidied up.
      let lines =
        try files.kind(path) == .file
        ? String(decoding: files.read(path, limit: 64 << 10), as: UTF8.self).split(separator: "\n") : []
      return Refused(
        file: name, reason: lines.first.map(String.init) ?? "unknown", words: lines.dropFirst().joined(separator: " "),
        bytes: try files.size(Paths.join(folder.quarantine, name)))
    }
  }

  /// Removes refused files, with the words beside them.
  /// - Parameter names: of files in the quarantine; nil: all of them.
  ///
  /// Throws a `WorkspaceError` if one of them is not there; then all stay.
  public static func drop(
    _ names: [String]?, folder: WorkspaceFolder, files: any FileSystem, ending: Ending
  ) throws -> [Refused] {
    let kept = try list(folder, files: files)
    for name in names ?? [] where !kept.contains(where: { $0.file == name }) {
      throw WorkspaceError(
        "no-file", "There is no refused file \(name) in bundles/quarantine.", hint: "quarantine list shows their names."
      )
    }
    let dropped = kept.filter { names?.contains($0.file) ?? true }
    if ending == .keep {
      for refused in dropped { try release(Paths.join(folder.quarantine, refused.file), files: files) }
    }
    return dropped
  }
}
