import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// The attached files of a verified bundle, until they are at their final paths.
///
/// The files are written to a temporary folder and synced before the bundle's transaction begins. At the end of the
/// transaction, `put` moves them to their final paths. If the command is killed between `put` and the commit, a file
/// may remain without its row. The next import of the same bundle finds that file and uses it.
public struct ArrivingAttachments: ~Copyable {
  /// The result for one file.
  public struct Arrival: Sendable {
    public let path: AttachmentPath
    public let digest: Digest
    /// The final path. It differs from `path` if another file is at `path`.
    public let kept: AttachmentPath
    /// Whether this replica did not have the file before.
    public let isNew: Bool
    /// The size and time of the former version that the file replaces; nil if it replaces none.
    let replaced: FileMark?

    public var isNewer: Bool { replaced != nil }
  }

  /// How to store a file that comes.
  public enum IncomingFileAction {
    /// Store the file under its name. If another file has that name, store the new file beside it.
    case keepBoth
    /// Store the file beside its name, even if no file has that name.
    case keepBeside
    /// Replace the existing file, which is an earlier version.
    case replace
    /// Do not store the file, because a later version came before it or a person rejected the bundle.
    case ignore
  }

  /// The files that the other side is known to have.
  public let receipts: [AttachmentLine]
  public private(set) var arrivals: [Arrival]
  private let attached: AttachedFiles
  /// The temporary paths of the new files, by index in `arrivals`.
  private var aside: [Int: String]
  private let folder: StagingFolder?

  /// - Parameters:
  ///   - runMode: a dry run writes no files.
  ///   - action: decides how to store a file. `present` is the digest of the file that is already at the path; nil if
  ///     there is none.
  public init(
    _ bundle: borrowing VerifiedBundle, in folder: WorkspaceFolder, platform: Platform, runMode: RunMode,
    action: (_ line: AttachmentLine, _ present: Digest?) throws -> IncomingFileAction = {
      $0.was == $1 && $1 != nil ? .replace : .keepBoth
    }
  ) throws {
    let attached = AttachedFiles(folder, platform)
    let said = try bundle.attachments()
    var lines = said.filter(\.isFile)
    if !lines.isEmpty { try attached.checkRoot() }
    var arrivals: [Arrival] = []
    for line in lines {
      let mark = try attached.mark(at: line.path)
      let present = try attached.digest(at: line.path)
      switch try action(line, present) {
      case .replace where present != line.digest:
        arrivals.append(Arrival(path: line.path, digest: line.digest, kept: line.path, isNew: true, replaced: mark))
      case .keepBoth, .replace: arrivals.append(try attached.arrival(of: line, present))
      case .keepBeside: arrivals.append(try attached.arrivalBeside(line.path, line.digest))
      case .ignore: lines.removeAll { $0 == line }
      }
    }
    var staging: StagingFolder?
    var aside: [Int: String] = [:]
    if runMode == .commit, arrivals.contains(where: \.isNew) {
      try platform.files.makeDirectory(attached.root, mode: 0o755)
      let made = try StagingFolder(in: attached.root, platform: platform)
      for (number, line) in lines.enumerated() where arrivals[number].isNew {
        guard let source = bundle.path(of: line) else { continue }
        aside[number] = made.file(String(number))
        try platform.files.copy(source, to: made.file(String(number)), mode: 0o644)
      }
      staging = consume made
    }
    receipts = said.filter { !$0.isFile }
    self.arrivals = arrivals
    self.attached = attached
    self.aside = aside
    self.folder = staging
  }

  /// The size and time of a new file; nil if this replica had the file already, and in a dry run.
  public func mark(of number: Int) throws -> FileMark? { try aside[number].map { try attached.mark(aside: $0) } }

  /// Plans to store a new file beside its name, although no other file has that name.
  /// - Parameter number: the index in `arrivals`.
  public mutating func keepBeside(_ number: Int) throws {
    arrivals[number] = try attached.arrivalBeside(arrivals[number].path, arrivals[number].digest)
    if !arrivals[number].isNew { aside[number] = nil }
  }

  /// Moves the files to their final paths. The caller does this as the last step before the commit.
  public func put() throws {
    for (number, path) in aside.sorted(by: { $0.key < $1.key }) { try attached.put(path, for: arrivals[number]) }
    for arrival in arrivals where !arrival.isNew { try attached.secure(arrival.kept) }
  }

  /// Files that are stored beside their name.
  public var beside: [Arrival] { arrivals.filter { $0.kept != $0.path } }
  public var newCount: Int { arrivals.count { $0.isNew } }
  public var newerCount: Int { arrivals.count { $0.isNewer } }
}

extension AttachedFiles {
  /// Chooses the final path of a line's file. If another object is at the line's path, the final path is beside it.
  /// No existing file is replaced.
  /// - Parameter present: the digest of the existing file at the path.
  fileprivate func arrival(of line: AttachmentLine, _ present: Digest?) throws -> ArrivingAttachments.Arrival {
    switch try fileStatus(at: line.path) {
    case .present where present == line.digest:
      return .init(path: line.path, digest: line.digest, kept: line.path, isNew: false, replaced: nil)
    case .absent where try isGone(line.path):
      return .init(path: line.path, digest: line.digest, kept: line.path, isNew: true, replaced: nil)
    case .present, .absent, .blocked: return try arrivalBeside(line.path, line.digest)
    }
  }

  /// Chooses a final path beside the file's own path.
  fileprivate func arrivalBeside(_ path: AttachmentPath, _ digest: Digest) throws -> ArrivingAttachments.Arrival {
    guard let found = try placeBeside(path, digest) else { throw obstacle(at: path) }
    return .init(path: path, digest: digest, kept: found.path, isNew: found.status == .absent, replaced: nil)
  }

  /// A path beside `path` for the content with this digest. The path is free, or a file with this content is there.
  /// nil if all such paths are blocked.
  public func placeBeside(
    _ path: AttachmentPath, _ digest: Digest
  ) throws -> (path: AttachmentPath, status: FileStatus)? {
    // A blocked path must not stop the import of the row. The sender does not send the file again, so a second path
    // is tried.
    let last = AttachmentPath.ofContent(digest.hexadecimal)
    let places = path.names.count > 1 && path.isLikeContentName ? [last] : [path.beside(digest.hexadecimal), last]
    for place in places.compactMap(\.self) where place != path {
      let status = try fileStatus(at: place)
      switch status {
      case .present where try self.digest(at: place) == digest: return (place, status)
      case .absent where try isGone(place): return (place, status)
      case .present, .absent, .blocked: continue
      }
    }
    return nil
  }

  private func obstacle(at path: AttachmentPath) -> WorkspaceError {
    WorkspaceError(
      .badFile,
      "The file \(path) of the bundle cannot be put into \(root): a link, a folder or an empty file is in its place.",
      hint: "Move that away, and import the bundle again.")
  }

  private func rewritten(_ path: AttachmentPath) -> WorkspaceError {
    WorkspaceError(
      .badFile, "The file \(path) in \(root) was changed while a newer version of it came.",
      hint: "Import the bundle again.")
  }

  fileprivate func checkRoot() throws {
    guard try [nil, .directory].contains(files.kind(root)) else {
      throw WorkspaceError(
        .badFile, "\(root) is not a folder. Satchel opens no symbolic link here.",
        hint: "Make it a folder in the workspace.")
    }
  }

  /// Syncs a file that this replica already had, and its folder. The app may not have synced the content, and a
  /// failed command may not have synced the name.
  fileprivate func secure(_ path: AttachmentPath) throws {
    let fd = try files.open(place(path))
    defer { files.close(fd) }
    try files.sync(fd)
    try files.syncDirectory(Paths.parent(of: place(path)))
  }

  /// Moves a synced file to its final path. Throws if a part of the path is not a folder, for example a link.
  fileprivate func put(_ aside: String, for arrival: ArrivingAttachments.Arrival) throws {
    let path = arrival.kept
    var folder = root
    for name in path.names.dropLast() {
      folder = Paths.join(folder, name)
      try files.makeDirectory(folder, mode: 0o755)
      guard try files.kind(folder) == .directory else { throw obstacle(at: path) }
    }
    // The app may have created or rewritten the file since the file was checked.
    if let replaced = arrival.replaced {
      guard try mark(at: path) == replaced else { throw rewritten(path) }
    } else {
      // Two lines of the bundle may have the same content and then the same path beside their names.
      guard try files.kind(place(path)) == nil || digest(at: path) == arrival.digest else { throw obstacle(at: path) }
    }
    try files.rename(aside, to: place(path))
  }
}
