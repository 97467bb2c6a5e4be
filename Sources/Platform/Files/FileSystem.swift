/// The kind of a file in a folder.
public enum FileKind: Hashable, Sendable {
  case file
  case directory
  /// A symbolic link to anything.
  case link
  /// A device, a pipe or a socket.
  case other
}

/// Access to files. It consists of single steps, so that a simulation can fail or stop at each step. Operations of
/// several steps (`replace`, `copy`, `removeTree`) are in extensions, for every implementation.
///
/// Paths are absolute, or relative to the current folder of the process. Each call throws a `PlatformError` if the
/// system refuses it. A path with a zero byte is refused.
///
/// `rules` can confine folders. Below such a folder no link is followed, and a call that meets a link throws `.link`
/// with the link's path. In all other folders calls follow links as the system does, with two exceptions.
/// `openLocked` follows no link, and a call that makes, moves or removes a name never follows a link of that name.
public protocol FileSystem: Sendable {
  /// The rules for some folders, which `confined(below:)` and `limitingModes(below:to:)` add.
  var rules: FolderRules { get set }

  // MARK: Looking

  /// The kind of the file at `path`, without following a final symbolic link; nil if there is none.
  func kind(_ path: String) throws(PlatformError) -> FileKind?
  /// The file's length in bytes; follows links.
  func size(_ path: String) throws(PlatformError) -> Int64
  /// The time of the last write to the file's content, in nanoseconds since 1970; follows links. The medium may store
  /// it less exactly.
  func modified(_ path: String) throws(PlatformError) -> Int64
  /// The permission bits of the file; follows links.
  func permissions(_ path: String) throws(PlatformError) -> UInt32
  /// The names in a folder without `.` and `..`, sorted by their bytes. A name that is not UTF-8 is returned with
  /// replaced bytes, and the file cannot be opened with it.
  func list(_ directory: String) throws(PlatformError) -> [String]
  /// The number of bytes that this process can still write to the file system of the path.
  func freeBytes(_ path: String) throws(PlatformError) -> Int64
  /// The size of the file system of the path in bytes, including used room.
  func totalBytes(_ path: String) throws(PlatformError) -> Int64
  /// The absolute path without links and `..`. A part that does not exist yet is kept as it is.
  func resolved(_ path: String) throws(PlatformError) -> String
  /// The absolute path of the process's current folder.
  func currentDirectory() throws(PlatformError) -> String

  // MARK: Open files

  /// Opens a regular file for reading. For other files throws `.isADirectory` or `.notAFile` and does not open them.
  /// A pipe would block, and opening a device may have an effect.
  func open(_ path: String) throws(PlatformError) -> Int32
  /// Creates an empty file and opens it for reading and writing. Its unique name is `temporaryName(for: label)` and
  /// 16 hexadecimal digits. It has exactly this mode, unless its file system has no modes, as FAT. The file is locked
  /// until it is closed.
  func createTemporary(in directory: String, for label: String, mode: UInt32) throws(PlatformError) -> (
    path: String, fd: Int32
  )
  /// Opens a file and locks it. A missing file is created with mode 0600. The lock excludes all other calls of
  /// `openLocked`, also in this process. Throws `.locked` if the file is locked, and `.link` for a link in any
  /// folder. Closing the file unlocks it. Callers use `FileLock` instead.
  func openLocked(_ path: String) throws(PlatformError) -> Int32
  /// Fills the buffer from its beginning. Returns the number of bytes; 0 at the end of the file. The buffer must not
  /// be empty.
  func read(_ fd: Int32, into buffer: inout [UInt8]) throws(PlatformError) -> Int
  /// Moves the position of the file to `offset` bytes from its beginning.
  func seek(_ fd: Int32, to offset: Int64) throws(PlatformError)
  /// Writes all bytes at the position of the file.
  func write(_ fd: Int32, _ bytes: [UInt8]) throws(PlatformError)
  /// Returns when the bytes of the file are on the medium, as the system reports.
  func sync(_ fd: Int32) throws(PlatformError)
  /// Reserves room on the medium for an empty file, without writing into it. The room may be free again after the
  /// file is closed. Returns false if the file system cannot reserve room.
  func reserve(_ bytes: Int64, for fd: Int32) throws(PlatformError) -> Bool
  /// Drops the cached bytes of a synced file from memory, if the system can do that. The next reads then come from
  /// the medium.
  func dropCache(of fd: Int32)
  /// Closes the file without a sync.
  func close(_ fd: Int32)

  // MARK: Names

  /// Makes one folder with this mode, limited by the umask. Throws `.exists` if the name is used. The folder is on
  /// the medium only after its parent folder was synced.
  func makeOneDirectory(_ path: String, mode: UInt32) throws(PlatformError)
  /// Returns when the names in the folder are on the medium, as its file system reports.
  func syncDirectory(_ path: String) throws(PlatformError)
  /// Renames a file in one step, in place of a file at the target. The new name is on the medium only after the
  /// folder of the target was synced.
  func move(_ from: String, to: String) throws(PlatformError)
  /// Gives a file or a folder this mode. Does nothing if the file system has no modes, or if another user owns the
  /// file.
  func restrict(_ path: String, to mode: UInt32) throws(PlatformError)
  /// Removes a file, a link or an empty folder. Throws `.missing` if there is none.
  func remove(_ path: String) throws(PlatformError)
}

extension FileSystem {
  /// The beginning of the names of temporary files. A temporary file is written and then gets its final name. A crash
  /// may leave such a file, which no command reads.
  public static var temporaryPrefix: String { ".satchel-" }

  /// The beginning of the name of a temporary file that will replace another file.
  /// - Parameter label: the name of the file to replace. It is left out if it is empty or very long.
  public static func temporaryName(for label: String) -> String {
    label.isEmpty || label.utf8.count > 200 ? temporaryPrefix : "\(temporaryPrefix)\(label)-"
  }

  public func createTemporary(in directory: String, mode: UInt32) throws(PlatformError) -> (path: String, fd: Int32) {
    try createTemporary(in: directory, for: "", mode: mode)
  }
}
