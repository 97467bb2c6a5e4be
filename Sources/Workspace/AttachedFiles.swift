import SatchelBundle
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelValues

/// `files/`: what rows name in the columns that the dataset marks. The app puts its files there, and imports those of
/// others.
///
/// No link is followed, on no part of a path.
public struct AttachedFiles: Sendable {
  public let root: String
  let files: any FileSystem
  private let clock: any WallClock

  public init(_ folder: WorkspaceFolder, _ platform: Platform) {
    root = folder.attached
    files = platform.files
    clock = platform.clock
  }

  /// What stands at a path.
  public enum Standing: Equatable, Sendable {
    case there(bytes: Int64)
    /// Nothing, or a file without content: whoever made it may be about to fill it.
    case missing
    /// A link, a folder or the like, where a file or a folder on the way should be.
    case unfit
  }

  func place(_ path: AttachmentPath) -> String { Paths.join(root, path.text) }

  public func standing(at path: AttachmentPath) throws -> Standing {
    var place = root
    for name in path.names {
      switch try files.kind(place) {
      case .directory: place = Paths.join(place, name)
      case nil: return .missing
      case .file, .link, .other: return .unfit
      }
    }
    switch try files.kind(place) {
    case nil: return .missing
    case .file: break
    case .directory, .link, .other: return .unfit
    }
    let bytes = try files.size(place)
    return bytes == 0 ? .missing : .there(bytes: bytes)
  }

  /// Whether a file is there that may travel.
  public func isThere(_ path: AttachmentPath, within limits: AttachmentLimits) throws -> Bool {
    if case .there(let bytes) = try standing(at: path) { return bytes <= limits.fileBytes }
    return false
  }

  /// Whether nothing at all is there, and nothing in the way of a file.
  public func isGone(_ path: AttachmentPath) throws -> Bool {
    try standing(at: path) == .missing && files.kind(place(path)) == nil
  }

  /// How the file there looks; nil where there is none.
  public func mark(at path: AttachmentPath) throws -> FileMark? {
    guard case .there(let bytes) = try standing(at: path) else { return nil }
    return FileMark(bytes: bytes, modified: try files.modified(place(path)), now: clock.milliseconds())
  }

  /// How a file looks that is about to get its place.
  func mark(aside path: String) throws -> FileMark {
    FileMark(bytes: try files.size(path), modified: try files.modified(path), now: clock.milliseconds())
  }

  /// All files that are here, but for those of which no row can name the path.
  public func all() throws -> [AttachmentPath] {
    try files.kind(root) == .directory ? all(below: "") : []
  }

  private func all(below folder: String) throws -> [AttachmentPath] {
    try files.list(Paths.join(root, folder)).flatMap { name -> [AttachmentPath] in
      guard let path = AttachmentPath(Paths.join(folder, name)) else { return [] }
      switch try files.kind(place(path)) {
      case .directory: return try all(below: path.text)
      case .file: return [path]
      case .link, .other, nil: return []
      }
    }
  }

  /// The digest of the file there; nil where there is none.
  public func digest(at path: AttachmentPath) throws -> Digest? {
    guard case .there = try standing(at: path) else { return nil }
    let fd = try files.open(place(path))
    defer { files.close(fd) }
    var pieces = files.pieces(of: fd)
    return try pieces.digest().digest
  }

  /// Copies into a draft what fits of the files at these paths, the first ones first: the limits are the dataset's.
  public func stage(
    _ paths: some Sequence<AttachmentPath>, limits: AttachmentLimits, into draft: inout BundleDraft
  ) throws -> [AttachmentPath: Staged] {
    var staged: [AttachmentPath: Staged] = [:]
    var room = limits.bundleBytes
    for path in paths where staged[path] == nil && staged.count < BundleLimits.mostBlobs {
      guard let mark = try mark(at: path), mark.bytes <= min(room, limits.fileBytes) else { continue }
      let fd = try files.open(place(path))
      defer { files.close(fd) }
      guard let file = try draft.stage(fd, limit: min(room, limits.fileBytes)) else { continue }
      staged[path] = Staged(file: file, mark: mark)
      room -= file.bytes
    }
    return staged
  }

  /// A file's content in a draft, and how the file looked before it was read.
  public struct Staged {
    public let file: BundleDraft.StagedFile
    public let mark: FileMark
  }

  /// The size of a file, if it still is what came; nil where it is not there, or another one.
  public func bytes(at path: AttachmentPath, ifStill digest: String) throws -> Int64? {
    guard let mark = try mark(at: path), try self.digest(at: path)?.hexadecimal == digest else { return nil }
    return mark.bytes
  }

  /// Takes a file away that nobody here is to see any more, with the folders that are empty then. One that is not what
  /// came stays.
  public func remove(_ path: AttachmentPath, ifStill digest: String) throws {
    guard try bytes(at: path, ifStill: digest) != nil else { return }
    try files.remove(place(path))
    var folder = Paths.parent(of: place(path))
    while folder != root, try files.list(folder).isEmpty {
      try files.remove(folder)
      folder = Paths.parent(of: folder)
    }
    try files.syncDirectory(folder)
  }
}

/// Why a row's file cannot travel.
public enum MissingReason: String, Sendable, CaseIterable {
  /// There is no such file, or it has no content yet.
  case missing
  /// The text is no path below `files/` that any medium could hold.
  case path
  /// A link or a folder is in its place.
  case link
  /// It is larger than the dataset allows.
  case large
}

/// A file that a row names, and that is not there to be sent or to be seen.
public struct MissingAttachment: Hashable, Sendable {
  public let table: Name
  /// As the row names it.
  public let path: String
  public let why: MissingReason
}
