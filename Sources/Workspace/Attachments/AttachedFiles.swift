import SatchelBundle
import SatchelCrypto
import SatchelDataset
import SatchelPlatform
import SatchelValues

/// The folder `files/` with the attached files, which rows name in the columns that the dataset marks. The app puts
/// its own files there, and imports put the files of other replicas there.
///
/// Links on a path are not followed.
public struct AttachedFiles: Sendable {
  public let root: String
  let files: any FileSystem
  private let clock: any WallClock

  public init(_ folder: WorkspaceFolder, _ platform: Platform) {
    root = folder.attached
    files = platform.files
    clock = platform.clock
  }

  /// The state of a path.
  public enum FileStatus: Equatable, Sendable {
    case present(bytes: Int64)
    /// There is no file, or an empty file that an app may still fill.
    case absent
    /// The file, or a folder on its path, is a link or another object of the wrong kind.
    case blocked
  }

  func place(_ path: AttachmentPath) -> String { Paths.join(root, path.text) }

  public func fileStatus(at path: AttachmentPath) throws -> FileStatus {
    var place = root
    for name in path.names {
      switch try files.kind(place) {
      case .directory: place = Paths.join(place, name)
      case nil: return .absent
      case .file, .link, .other: return .blocked
      }
    }
    switch try files.kind(place) {
    case nil: return .absent
    case .file: break
    case .directory, .link, .other: return .blocked
    }
    let bytes = try files.size(place)
    return bytes == 0 ? .absent : .present(bytes: bytes)
  }

  /// Whether a file exists at this path and is small enough to be sent.
  public func isThere(_ path: AttachmentPath, within limits: AttachmentLimits) throws -> Bool {
    if case .present(let bytes) = try fileStatus(at: path) { return bytes <= limits.fileBytes }
    return false
  }

  /// Whether no object is at this path and no object blocks it.
  public func isGone(_ path: AttachmentPath) throws -> Bool {
    try fileStatus(at: path) == .absent && files.kind(place(path)) == nil
  }

  /// The size and time of the file; nil if there is none.
  public func mark(at path: AttachmentPath) throws -> FileMark? {
    guard case .present(let bytes) = try fileStatus(at: path) else { return nil }
    return FileMark(bytes: bytes, modified: try files.modified(place(path)), now: clock.milliseconds())
  }

  /// The size and time of a temporary file that is about to get its final name.
  func mark(aside path: String) throws -> FileMark {
    FileMark(bytes: try files.size(path), modified: try files.modified(path), now: clock.milliseconds())
  }

  /// The paths of all files in the folder. Files with names that no row can hold are left out.
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

  /// The digest of the file; nil if there is none.
  public func digest(at path: AttachmentPath) throws -> Digest? {
    guard case .present = try fileStatus(at: path) else { return nil }
    let fd = try files.open(place(path))
    defer { files.close(fd) }
    var pieces = files.pieces(of: fd)
    return try pieces.digest().digest
  }

  /// Copies the files at these paths into a draft, in order, within the dataset's limits and the room.
  /// - Parameter rows: makes the bundle without attached files, and returns the size of the bundle's file.
  public func stage(
    _ paths: [AttachmentPath], limits: AttachmentLimits, in room: BundleRoom, besides database: String,
    into draft: inout BundleDraft, rows: () throws -> Int64
  ) throws -> [AttachmentPath: Staged] {
    let limits = limits.atMost(room.attached)
    var staged: [AttachmentPath: Staged] = [:]
    var allowed = limits.bundleBytes
    let wanted = try room.bytes == nil ? 0 : bytes(of: paths, limits)
    var left = try room.forFiles(of: wanted, besides: database, files, rows: rows) ?? .max
    for path in paths where staged[path] == nil && staged.count < BundleLimits.mostBlobs {
      let most = min(allowed, limits.fileBytes, left - BundleRoom.ofEachFile)
      guard let mark = try mark(at: path), mark.bytes <= most else { continue }
      let fd = try files.open(place(path))
      defer { files.close(fd) }
      guard let file = try draft.stage(fd, limit: most) else { continue }
      staged[path] = Staged(file: file, mark: mark)
      allowed -= file.bytes
      left -= file.bytes + BundleRoom.ofEachFile
    }
    return staged
  }

  /// The total size of these files, in bytes.
  /// - Parameter most: larger files do not count.
  public func bytes(of paths: some Sequence<AttachmentPath>, upTo most: Int64 = .max) throws -> Int64 {
    try paths.reduce(Int64(0)) { sum, path in
      guard case .present(let bytes) = try fileStatus(at: path), bytes <= most else { return sum }
      return sum + bytes
    }
  }

  /// The bytes that these files would need in one bundle.
  private func bytes(of paths: [AttachmentPath], _ limits: AttachmentLimits) throws -> Int64 {
    let all = try bytes(of: paths, upTo: limits.fileBytes)
    let count = Int64(min(paths.count, BundleLimits.mostBlobs))
    return all == 0 ? 0 : min(all, limits.bundleBytes) + count * BundleRoom.ofEachFile
  }

  /// A file's content in a draft, and its size and time before it was read.
  public struct Staged {
    public let file: BundleDraft.StagedFile
    public let mark: FileMark
  }

  /// The size of a file if its content still has this digest; nil if the file is missing or was changed.
  public func bytes(at path: AttachmentPath, ifStill digest: String) throws -> Int64? {
    guard let mark = try mark(at: path), try self.digest(at: path)?.hexadecimal == digest else { return nil }
    return mark.bytes
  }

  /// Renames the file at `path`. The other path must be in an existing folder. A file there with the same content is
  /// replaced.
  public func move(_ path: AttachmentPath, to other: AttachmentPath) throws {
    try files.rename(place(path), to: place(other))
  }

  /// Copies the file at `path` to a free path in an existing folder. The copy is synced before it gets its name.
  public func copy(_ path: AttachmentPath, to other: AttachmentPath, aside: borrowing StagingFolder) throws {
    let copy = aside.file("copy")
    try files.copy(place(path), to: copy, mode: 0o644)
    try files.rename(copy, to: place(other))
  }

  /// Deletes a file that this replica's user may no longer see, and the folders that are empty then. A file that was
  /// changed stays.
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

/// Why a row's file cannot be sent or opened.
public enum MissingReason: String, Sendable, CaseIterable {
  /// There is no file, or the file is still empty.
  case missing
  /// The text is not a valid path below `files/`.
  case path
  /// The file, or a folder on its path, is a link or another object of the wrong kind.
  case link
  /// The file is larger than the dataset allows.
  case large
}

/// A file that a row names, but that cannot be sent or opened.
public struct MissingAttachment: Hashable, Sendable {
  public let table: Name
  /// The path as it is in the row.
  public let path: String
  public let why: MissingReason
}
