/// The kind of a file in a folder.
public enum FileKind: Hashable, Sendable {
  case file
  case directory
  /// A symbolic link, whatever its target.
  case link
  /// A device, a pipe or a socket.
  case other
}

/// The interface to files. It has primitive steps, so that a simulation can fail or stop at each step. Operations of
/// several steps (`replace`, `copy`, `removeTree`) are in extensions, and work with any implementation.
///
/// Paths are absolute, or relative to the process's folder. Each call throws a `PlatformError` if the system refuses
/// the call. A path with a zero byte is refused.
///
/// `rules` confines some folders. Below them no link is followed, and a call that meets a link throws `.link` with the
/// link's path. Elsewhere calls follow links as the system does, except for `openLocked`. If a call makes, moves or
/// removes a name, it does not follow a link of this name.
public protocol FileSystem: Sendable {
  /// The rules below some folders. See `confined(below:)` and `limitingModes(below:to:)`.
  var rules: FolderRules { get set }

  // MARK: Looking

  /// The kind of the file at `path`, without following a final symbolic link; nil if there is none.
  func kind(_ path: String) throws(PlatformError) -> FileKind?
  /// The file's length in bytes; follows links.
  func size(_ path: String) throws(PlatformError) -> Int64
  /// The time of the last write to the file's content, in nanoseconds since 1970; follows links. The time is as exact
  /// as the medium stores it.
  func modified(_ path: String) throws(PlatformError) -> Int64
  /// The permission bits; follows links.
  func permissions(_ path: String) throws(PlatformError) -> UInt32
  /// The names in a folder, sorted by their bytes, without `.` and `..`. A name that is not UTF-8 is listed in a
  /// repaired form, with which the file cannot be opened.
  func list(_ directory: String) throws(PlatformError) -> [String]
  /// The number of bytes that can still be written to the file system that holds the path.
  func freeBytes(_ path: String) throws(PlatformError) -> Int64
  /// The size of the file system that holds the path, in bytes, with the room that is taken.
  func totalBytes(_ path: String) throws(PlatformError) -> Int64
  /// The absolute path without links and `..`. A part that does not exist yet stays as it is.
  func resolved(_ path: String) throws(PlatformError) -> String
  /// The process's folder, absolute.
  func currentDirectory() throws(PlatformError) -> String

  // MARK: Open files

  /// Opens a file for reading. Throws `.isADirectory` or `.notAFile` if the file is no regular file. Such a file is not
  /// opened: a pipe would block, and opening a device may already have an effect.
  func open(_ path: String) throws(PlatformError) -> Int32
  /// Creates an empty file and opens it for reading and writing. Its unique name is `temporaryName(for: label)` and 16
  /// hexadecimal digits. The file has exactly this mode if the file system keeps modes (FAT does not). The file is
  /// locked until it is closed.
  func createTemporary(in directory: String, for label: String, mode: UInt32) throws(PlatformError) -> (
    path: String, fd: Int32
  )
  /// Opens the file and locks it. A missing file is created with mode 0600. The lock keeps out every other call of
  /// `openLocked`, also in this process. Throws `.locked` if the file is locked, and `.link` for a link, also outside
  /// confined folders. Closing the file unlocks it. Callers use a `FileLock`.
  func openLocked(_ path: String) throws(PlatformError) -> Int32
  /// Fills the buffer from its start. Returns the number of bytes, 0 at the file's end. The buffer may not be empty.
  func read(_ fd: Int32, into buffer: inout [UInt8]) throws(PlatformError) -> Int
  /// Moves the file's position to this many bytes from its beginning.
  func seek(_ fd: Int32, to offset: Int64) throws(PlatformError)
  /// Writes all bytes at the file's position.
  func write(_ fd: Int32, _ bytes: [UInt8]) throws(PlatformError)
  /// Returns when the system reports that the file's bytes are on the medium.
  func sync(_ fd: Int32) throws(PlatformError)
  /// Takes this many bytes of the medium's room for an empty file, and writes nothing into them. The room may be free
  /// again after the file is closed. Returns false if the file system cannot do that.
  func reserve(_ bytes: Int64, for fd: Int32) throws(PlatformError) -> Bool
  /// Drops the bytes of a synced file that are in memory, as far as the system can do that. The next reads come from
  /// the medium.
  func dropCache(of fd: Int32)
  /// Closes the file. It does not sync the file.
  func close(_ fd: Int32)

  // MARK: Names

  /// Makes one folder with this mode less the umask. Throws `.exists` if the name is taken. The folder is on the medium
  /// only after its parent folder was synced.
  func makeOneDirectory(_ path: String, mode: UInt32) throws(PlatformError)
  /// Returns when the folder's names are on the medium, as far as its file system reports that.
  func syncDirectory(_ path: String) throws(PlatformError)
  /// Renames a file in one step, and replaces a file at the target. The new name is on the medium only after the
  /// target's folder was synced.
  func move(_ from: String, to: String) throws(PlatformError)
  /// Gives a file or a folder this mode. Does nothing if its file system keeps no modes, or if another user owns it.
  func restrict(_ path: String, to mode: UInt32) throws(PlatformError)
  /// Removes a file, a link or an empty folder. Throws `.missing` if the path does not exist.
  func remove(_ path: String) throws(PlatformError)
}

extension FileSystem {
  /// The prefix in the name of a temporary file, which is written before it gets its final name. A crash may leave such
  /// a file, and nothing reads it.
  public static var temporaryPrefix: String { ".satchel-" }

  /// The beginning of the name of a temporary file that will replace a file.
  /// - Parameter label: the name of the file that will be replaced. It is left out if it is empty or very long.
  public static func temporaryName(for label: String) -> String {
    label.isEmpty || label.utf8.count > 200 ? temporaryPrefix : "\(temporaryPrefix)\(label)-"
  }

  public func createTemporary(in directory: String, mode: UInt32) throws(PlatformError) -> (path: String, fd: Int32) {
    try createTemporary(in: directory, for: "", mode: mode)
  }
}
