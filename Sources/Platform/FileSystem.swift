/// The kind of a name in a folder.
public enum FileKind: Hashable, Sendable {
  case file
  case directory
  /// A symbolic link, whatever it leads to.
  case link
  /// A device, a pipe or a socket.
  case other
}

/// The door to files: the primitive steps, so that a simulation can fail or stop at each of them. What is made of
/// several steps (`replace`, `copy`, `removeTree`) stands in extensions and works over any implementation.
///
/// Paths are absolute or relative to the process's folder. Each call throws the `PlatformError` of what the system
/// refused; a path with a zero byte is refused.
///
/// Below the folders that `rules` confines no link is followed, and a call that meets a link throws `.link` with the
/// link's path. Elsewhere calls follow links as the system does, but for `openLocked`, and names are made, moved and
/// removed without following a link that has the name.
public protocol FileSystem: Sendable {
  /// The rules below some folders. See `confined(below:)` and `limitingModes(below:to:)`.
  var rules: FolderRules { get set }

  // MARK: Looking

  /// What stands at `path`, without following a final symbolic link; nil when nothing does.
  func kind(_ path: String) throws(PlatformError) -> FileKind?
  /// The file's length in bytes; follows links.
  func size(_ path: String) throws(PlatformError) -> Int64
  /// When the file's content was written last: nanoseconds since 1970, as exact as its medium has it; follows links.
  func modified(_ path: String) throws(PlatformError) -> Int64
  /// The permission bits; follows links.
  func permissions(_ path: String) throws(PlatformError) -> UInt32
  /// The names in a folder, sorted by their bytes, without `.` and `..`. A name that is not UTF-8 comes mended, and
  /// nothing is found under it.
  func list(_ directory: String) throws(PlatformError) -> [String]
  /// How many bytes can still be written to the file system that a path lies on.
  func freeBytes(_ path: String) throws(PlatformError) -> Int64
  /// The process's folder, absolute.
  func currentDirectory() throws(PlatformError) -> String

  // MARK: Open files

  /// Opens a file for reading. Throws `.isADirectory` or `.notAFile` for what is no regular file, without opening it:
  /// a pipe would block, and opening a device may do something already.
  func open(_ path: String) throws(PlatformError) -> Int32
  /// Makes a new, empty file under a unique name, which is `temporaryName(for: label)` and 16 hexadecimal digits, open
  /// for reading and writing, with exactly this mode where the file system keeps modes (FAT does not). It is locked
  /// until it is closed.
  func createTemporary(in directory: String, for label: String, mode: UInt32) throws(PlatformError) -> (
    path: String, fd: Int32
  )
  /// Opens the file, made with mode 0600 where missing, and locks it against every other such opening, in this process
  /// too. Throws `.locked` when it is taken, and `.link` for a link anywhere; closing unlocks. Callers hold it as a
  /// `FileLock`.
  func openLocked(_ path: String) throws(PlatformError) -> Int32
  /// Fills the buffer from its start; says how many bytes, 0 at the file's end. The buffer may not be empty.
  func read(_ fd: Int32, into buffer: inout [UInt8]) throws(PlatformError) -> Int
  /// Moves the file's position to so many bytes from its beginning.
  func seek(_ fd: Int32, to offset: Int64) throws(PlatformError)
  /// Writes all the bytes at the file's position.
  func write(_ fd: Int32, _ bytes: [UInt8]) throws(PlatformError)
  /// Returns when the system says that the file's bytes are on the medium.
  func sync(_ fd: Int32) throws(PlatformError)
  /// Closes; what must be safe was synced before.
  func close(_ fd: Int32)

  // MARK: Names

  /// Makes one folder with this mode less the umask. Throws `.exists` where something has that name. It is on the
  /// medium when the folder above it was synced.
  func makeOneDirectory(_ path: String, mode: UInt32) throws(PlatformError)
  /// Returns when the folder's names are on the medium, as far as its file system can say.
  func syncDirectory(_ path: String) throws(PlatformError)
  /// Gives a file another name in one step, taking the place of a file there. It is on the medium when the target's
  /// folder was synced.
  func move(_ from: String, to: String) throws(PlatformError)
  /// Gives a file or a folder this mode. Does nothing if its file system keeps no modes, or if another user owns it.
  func restrict(_ path: String, to mode: UInt32) throws(PlatformError)
  /// Removes a file, a link or an empty folder. Throws `.missing` when nothing is there.
  func remove(_ path: String) throws(PlatformError)
}

extension FileSystem {
  /// How the name of every file begins that is being written aside. After a crash such files may be left; nothing reads
  /// them.
  public static var temporaryPrefix: String { ".satchel-" }

  /// How the name of a file begins that is being written for another one, in whose place it is to be. A very long name
  /// leaves no room for it.
  public static func temporaryName(for label: String) -> String {
    label.isEmpty || label.utf8.count > 200 ? temporaryPrefix : "\(temporaryPrefix)\(label)-"
  }

  public func createTemporary(in directory: String, mode: UInt32) throws(PlatformError) -> (path: String, fd: Int32) {
    try createTemporary(in: directory, for: "", mode: mode)
  }
}
