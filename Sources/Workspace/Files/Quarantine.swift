import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// The folder `bundles/quarantine` with copies of refused files.
public enum Quarantine {
  /// The most bytes of a file that is copied into the quarantine.
  private static let maximumBytes: Int64 = 1 << 30
  /// The most files in the quarantine. If it is full, a refused file stays in its own place. `mostBytes` limits the
  /// folder too.
  public static let mostFiles = 1_000
  public static let mostBytes: Int64 = 4 << 30
  /// The most files that the keys of one owner signed, so that no signer takes the room of another. All files without
  /// a known signer count as files of one owner.
  public static let mostFilesOfOne = 200
  public static let days: Int64 = 90
  /// The most bytes of the file's original name that its name in the quarantine keeps.
  private static let mostNameBytes = 150
  private static let reasonEnding = ".reason.txt"
  /// After a refusal for one of these reasons there is nothing to do. The file itself is faulty, its signer was
  /// revoked, or a person chose another copy of its device. After any other refusal a person can do something, for
  /// example enrol the sender.
  private static let lasting: Set<Reason> = [
    .notABundle, .truncated, .trailingData, .badEntry, .tooLarge, .badSignature, .badDigest, .badManifest, .badLine,
    .revoked, .revokedKey, .parted,
  ]

  /// A file that was refused, with the error and the means to find its signer.
  public struct Refusing {
    let file: String
    let error: any ExplainedError
    let source: BundleSource
    /// Returns the known key whose signature is in the beginning of a file; nil if no known key signed it.
    let signer: (_ path: String) throws -> PublicKey?
    /// Returns all present and former keys of the owner of a key.
    let keys: (_ signer: PublicKey) throws -> [PublicKey]

    public init(
      _ file: String, because error: any ExplainedError, from source: BundleSource,
      keys: @escaping (_ signer: PublicKey) throws -> [PublicKey] = { [$0] },
      signer: @escaping (_ path: String) throws -> PublicKey?
    ) {
      (self.file, self.error, self.source, self.keys, self.signer) = (file, error, source, keys, signer)
    }
  }

  /// The refusal of a file on a stick that was refused before for the same lasting reason.
  public struct RefusedEarlier: ExplainedError {
    private let error: any ExplainedError
    /// The time of the first refusal, in milliseconds since 1970.
    public let at: Int64
    /// The local day of `at`, for example `2026-01-31`.
    public let day: String

    fileprivate init(_ error: any ExplainedError, at time: Int64, by clock: any WallClock) {
      (self.error, at, day) = (error, time, clock.localDay(milliseconds: time))
    }

    public var code: Reason { error.code }
    public var message: String { error.message }
    public var hint: String? { error.hint }
  }

  /// Copies a refused file into the quarantine, writes a text with the reason beside the copy, and records the
  /// refusal in the ledger. Files with the same bytes are kept once. A file on a stick without a known signer is only
  /// recorded, because anyone can make any number of such files.
  ///
  /// A file in the inbox or in `waiting` is moved instead of copied. Any other file also stays in its own place. It
  /// is only recorded if its first bytes show that it is no bundle.
  /// - Throws: `RefusedEarlier` if a file on a stick was refused before for the same lasting reason, and nothing new
  ///   must be recorded or kept.
  public static func keep(
    _ refused: Refusing, folder: WorkspaceFolder, platform: Platform, database: borrowing Database, _ runMode: RunMode
  ) throws {
    let (file, files) = (refused.file, platform.files)
    let time = platform.clock.milliseconds()
    let isFile = try files.kind(file) == .file
    let digest = refused.source == .stick && isFile ? try self.digest(ofFirst: 1 << 20, of: file, files) : nil
    if let digest,
      let earlier = try timeOfEarlier(refused, beginning: digest, folder, files: files, database: database)
    {
      throw RefusedEarlier(refused.error, at: earlier, by: platform.clock)
    }
    if runMode == .dryRun { return }
    try Ledger.addRefusal(file: Paths.name(of: file), digest, reason: refused.error.reason, at: time, in: database)
    // These files are only recorded: objects that are no plain files, files that are too large, and files that are
    // already in the quarantine.
    guard isFile, Paths.parent(of: file) != folder.quarantine, try files.size(file) <= maximumBytes,
      try isEvidence(refused, folder, files)
    else { return }
    guard try copy(refused, at: time, folder, files) else { return }
    if folder.isForUs(file) { try files.remove(file) }
  }

  /// Whether a refused file should be kept because it may hold a signature. A file in the inbox or in `waiting` is
  /// always kept, because it must leave that folder.
  private static func isEvidence(
    _ refused: Refusing, _ folder: WorkspaceFolder, _ files: any FileSystem
  ) throws -> Bool {
    if refused.source == .stick { return try refused.signer(refused.file) != nil }
    return try folder.isForUs(refused.file) || BundleReader.mayBeBundle(refused.file, files)
  }

  /// The time of the first refusal of a file on a stick, in milliseconds since 1970. nil if the file was not refused
  /// before, or if a person may have to do something.
  ///
  /// If a known key signed the file, the quarantine must hold a copy with exactly its bytes. Another file may have
  /// the same beginning, for example a new copy of a bundle that was damaged before.
  /// - Parameter beginning: the digest of the file's first bytes.
  private static func timeOfEarlier(
    _ refused: Refusing, beginning: Digest, _ folder: WorkspaceFolder, files: any FileSystem,
    database: borrowing Database
  ) throws -> Int64? {
    let (file, error) = (refused.file, refused.error)
    guard lasting.contains(error.code),
      let time = try Ledger.refusal(of: Paths.name(of: file), beginning, reason: error.reason, in: database)
    else { return nil }
    if try refused.signer(file) == nil { return time }
    guard try files.size(file) <= maximumBytes else { return nil }
    return try isKept(digest(of: file, files), among: names(folder, files: files)) ? time : nil
  }

  /// Copies the file into the quarantine. Returns whether it is there now. False means that there is no room, or that
  /// the file has changed since it was refused.
  private static func copy(
    _ refused: Refusing, at time: Int64, _ folder: WorkspaceFolder, _ files: any FileSystem
  ) throws -> Bool {
    let made = try files.createTemporary(in: folder.quarantine, mode: 0o600)
    // After the rename to the final name, there is no file at this path.
    defer { try? files.remove(made.path) }
    let (bytes, digest) = try fill(made.fd, from: refused.file, files)
    let time = UTCTime.fileName(milliseconds: time)
    let kept = try names(folder, files: files)
    if isKept(digest, among: kept) { return true }
    let signer = try refused.signer(made.path)
    // A faulty stick may return other bytes at each reading. A copy from a stick is kept only if a known key signed
    // it.
    if refused.source == .stick, signer == nil { return false }
    let own = self.mark(of: signer)
    let marks = try Set((signer.map { try refused.keys($0) } ?? []).map(self.mark) + [own])
    if kept.count(where: { name in marks.contains { hasMark(name, $0) } }) >= mostFilesOfOne { return false }
    let sizes = try kept.map { try files.size(Paths.join(folder.quarantine, $0)) }
    if isFull(sizes, for: bytes) { return false }
    let name = time + mark(ofBytes: digest) + own + safe(Paths.name(of: refused.file))
    let target = Paths.join(folder.quarantine, name)
    try files.rename(made.path, to: target)
    let error = refused.error
    // A person may print this text with `cat`, and anyone may have chosen the names in it. So control characters are
    // made visible.
    let lines = [error.reason, error.message] + [error.hint].compactMap(\.self)
    let text = lines.map { "\(visible($0))\n" }.joined()
    try files.replace(target + reasonEnding, mode: 0o644, contents: Array(text.utf8))
    return true
  }

  /// The part of a quarantined file's name that shows its bytes. It follows the time.
  private static func mark(ofBytes digest: Digest) -> String { "-\(digest.hexadecimal.prefix(24))-" }

  /// Whether a file with these bytes is in the quarantine.
  private static func isKept(_ digest: Digest, among names: [String]) -> Bool {
    // The file's original name is at the end and may look like this part. So only the place after the time is
    // compared.
    let (mark, count) = (self.mark(ofBytes: digest), UTCTime.fileName(milliseconds: 0).utf8.count)
    return names.contains { $0.utf8.dropFirst(count).starts(with: mark.utf8) }
  }

  /// A file's original name without characters that control a terminal, break lines or reverse text. Only the end of a
  /// long name remains, because media limit the length of names.
  private static func safe(_ name: String) -> String {
    let misleading: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
    var scalars = name.unicodeScalars.map { misleading.contains($0.properties.generalCategory) ? "_" : $0 }[...]
    while scalars.reduce(0, { $0 + UTF8.width($1) }) > mostNameBytes { scalars.removeFirst() }
    return String(String.UnicodeScalarView(scalars))
  }

  /// The part of a quarantined file's name that shows its signer. It follows the time and the part for the bytes.
  private static func mark(of signer: PublicKey?) -> String {
    var hash = BLAKE2b512()
    hash.update(signer?.bytes ?? [])
    return "\(hash.finish().hexadecimal.prefix(8))-"
  }

  private static func hasMark(_ name: String, _ mark: String) -> Bool {
    let before = UTCTime.fileName(milliseconds: 0).utf8.count + 26
    return name.utf8.dropFirst(before).starts(with: mark.utf8)
  }

  /// Copies a file's bytes into an open file and syncs them. Throws if the file is larger than `maximumBytes`.
  private static func fill(_ fd: Int32, from file: String, _ files: any FileSystem) throws -> (Int64, Digest) {
    defer { files.close(fd) }
    let source = try files.open(file)
    defer { files.close(source) }
    var hash = BLAKE2b512()
    var bytes: Int64 = 0
    var pieces = files.pieces(of: source)
    while let piece = try pieces.next() {
      bytes += Int64(piece.count)
      guard bytes <= maximumBytes else { throw PlatformError.tooLarge(path: file, limit: Int(maximumBytes)) }
      hash.update(piece)
      try files.write(fd, piece)
    }
    try files.sync(fd)
    return (bytes, hash.finish())
  }

  /// The digest of a file.
  /// - Parameter count: the number of bytes at the beginning that count. Reading all of a large file would take long.
  private static func digest(ofFirst count: Int = .max, of file: String, _ files: any FileSystem) throws -> Digest {
    let fd = try files.open(file)
    defer { files.close(fd) }
    var hash = BLAKE2b512()
    var left = count
    var pieces = files.pieces(of: fd)
    while left > 0, let piece = try pieces.next() {
      hash.update(Array(piece.prefix(left)))
      left -= min(piece.count, left)
    }
    return hash.finish()
  }

  /// Whether the quarantine has no room for one more file.
  /// - Parameters:
  ///   - sizes: the sizes of the kept files, in bytes.
  ///   - bytes: the size of the new file.
  public static func isFull(_ sizes: [Int64], for bytes: Int64 = 1) -> Bool {
    sizes.count >= mostFiles || sizes.reduce(bytes, +) > mostBytes
  }

  /// Runs `body`. If it throws an error after which the file belongs in the quarantine, calls `keep` and throws the
  /// error again.
  public static func guarding<T>(_ body: () throws -> T, keep: (any ExplainedError) throws -> Void) throws -> T {
    do { return try body() } catch let error as Refusal where error.keeping == .quarantine {
      try keep(error)
      throw error
    } catch let error as BundleError {
      try keep(error)
      throw error
    }
  }

  /// Removes from the quarantine a file that was accepted later, and the text beside it.
  public static func release(_ file: String, files: any FileSystem) throws {
    try files.remove(file)
    try files.removeIfThere(file + reasonEnding)
  }

  /// The paths of the quarantined files that one of these keys signed.
  public static func files(
    signedBy keys: [PublicKey], _ folder: WorkspaceFolder, files: any FileSystem
  ) throws -> [String] {
    let marks = Set(keys.map { mark(of: $0) })
    return try names(folder, files: files)
      .filter { name in marks.contains { hasMark(name, $0) } }
      .map { Paths.join(folder.quarantine, $0) }
  }

  /// Removes files that were refused more than `days` ago.
  /// - Parameter kept: the paths of files that must stay.
  public static func forgetOld(but kept: Set<String> = [], _ folder: WorkspaceFolder, _ platform: Platform) throws {
    let (files, limit) = (platform.files, platform.clock.milliseconds() - days * 86_400_000)
    for name in try names(folder, files: files) {
      let path = Paths.join(folder.quarantine, name)
      if !kept.contains(path), try files.modified(path) / 1_000_000 < limit { try release(path, files: files) }
    }
  }

  /// A quarantined file and the text beside it.
  public struct Refused: Sendable {
    public let file: String
    /// A stable word for programs.
    public let reason: String
    /// The message and the hint for people.
    public let words: String
    public let bytes: Int64
    /// Whether the changes in this file are known to have come since, with the same bundle or a later one. If so, no
    /// person has to look at the file.
    public var hasCome = false
  }

  /// The names of the refused files, oldest first. The result has neither the texts beside them nor temporary files
  /// of a killed command.
  private static func names(_ folder: WorkspaceFolder, files: any FileSystem) throws -> [String] {
    try files.list(folder.quarantine)
      .filter { !$0.hasSuffix(reasonEnding) && !$0.hasPrefix(HostFileSystem.temporaryPrefix) }
  }

  /// The number of refused files in the quarantine.
  public static func count(_ folder: WorkspaceFolder, files: any FileSystem) throws -> Int {
    try files.kind(folder.quarantine) == .directory ? names(folder, files: files).count : 0
  }

  /// The refused files in the quarantine, newest first.
  public static func list(_ folder: WorkspaceFolder, files: any FileSystem) throws -> [Refused] {
    try names(folder, files: files).reversed().map { name in
      let path = Paths.join(folder.quarantine, name) + reasonEnding
      // A person may have deleted the text.
      let lines =
        try files.kind(path) == .file
        ? String(decoding: files.read(path, limit: 64 << 10), as: UTF8.self).split(separator: "\n") : []
      return Refused(
        file: name, reason: lines.first.map(String.init) ?? "unknown", words: lines.dropFirst().joined(separator: " "),
        bytes: try files.size(Paths.join(folder.quarantine, name)))
    }
  }

  /// Removes refused files and the texts beside them.
  /// - Parameter names: the names of files in the quarantine; nil means all files.
  /// - Throws: `WorkspaceError` if one of these files does not exist. In that case, no file is removed.
  public static func drop(
    _ names: [String]?, folder: WorkspaceFolder, files: any FileSystem, runMode: RunMode
  ) throws -> [Refused] {
    let kept = try list(folder, files: files)
    for name in names ?? [] where !kept.contains(where: { $0.file == name }) {
      throw WorkspaceError(
        .noFile, "There is no refused file \(name) in bundles/quarantine.", hint: "quarantine list shows their names."
      )
    }
    let dropped = kept.filter { names?.contains($0.file) ?? true }
    if runMode == .commit {
      for refused in dropped { try release(Paths.join(folder.quarantine, refused.file), files: files) }
    }
    return dropped
  }
}
