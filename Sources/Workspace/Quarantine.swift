import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// What happens to a file that was refused.
public enum Quarantine {
  /// The largest file of which a copy is kept.
  private static let maximumBytes: Int64 = 1 << 30
  private static let reasonEnding = ".reason.txt"

  /// Puts a copy of a refused file aside, with a text beside it that says why, and notes it in the ledger.
  ///
  /// A file that lay in the inbox, or waited there, leaves it; any other stays where the person has it.
  public static func keep(
    _ file: String, because error: any ExplainedError, folder: WorkspaceFolder, platform: Platform, database: borrowing Database
  ) throws {
    let time = platform.clock.milliseconds()
    let target = try freePlace(for: Paths.name(of: file), at: time, folder, platform.files)
    // What is no plain file, or would fill the disk, is noted and left where it is.
    // So is what lies there already.
    guard Paths.parent(of: file) != folder.quarantine, try platform.files.kind(file) == .file,
      try platform.files.size(file) <= maximumBytes
    else {
      return try Ledger.addRefusal(file: Paths.name(of: file), reason: error.reason, at: time, in: database)
    }
    try platform.files.copy(file, to: target, mode: 0o600)
    let words = "\(error.message)\n" + (error.hint.map { "\($0)\n" } ?? "")
    try platform.files.replace(target + reasonEnding, mode: 0o644, contents: Array("\(error.reason)\n\(words)".utf8))
    try Ledger.addRefusal(file: Paths.name(of: file), reason: error.reason, at: time, in: database)
    if folder.isForUs(file) { try platform.files.remove(file) }
  }

  /// Copies of a device have bundles of one name, and more than one of them may be refused in one second.
  private static func freePlace(
    for name: String, at time: Int64, _ folder: WorkspaceFolder, _ files: any FileSystem
  ) throws -> String {
    let second = UTCTime.fileName(milliseconds: time)
    var target = Paths.join(folder.quarantine, "\(second)-\(name)")
    var number = 1
    while try files.kind(target) != nil {
      number += 1
      target = Paths.join(folder.quarantine, "\(second)-\(number)-\(name)")
    }
    return target
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
  }

  /// The refused files, the newest first.
  public static func list(_ folder: WorkspaceFolder, files: any FileSystem) throws -> [Refused] {
    try files.list(folder.quarantine).filter { $0.hasSuffix(".satchel") }.reversed().map { name in
      let path = Paths.join(folder.quarantine, name) + reasonEnding
      // Somebody may have tidied up.
      let lines =
        try files.kind(path) == .file
        ? String(decoding: files.read(path, limit: 64 << 10), as: UTF8.self).split(separator: "\n") : []
      return Refused(
        file: name, reason: lines.first.map(String.init) ?? "unknown", words: lines.dropFirst().joined(separator: " "))
    }
  }
}
