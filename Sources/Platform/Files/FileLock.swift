/// An advisory lock that is held as long as this value exists. Only one holder at a time is possible, also within one
/// process.
///
///     let lock = try FileLock(path: Paths.join(workspace, "lock"), files: platform.files)
///
/// The lock ends with its process, even if the process is killed. The file is never removed. Otherwise one process
/// could lock the removed file and another process the new file.
public struct FileLock: ~Copyable {
  public let path: String
  private let files: any FileSystem
  private let fd: Int32

  /// Takes the lock or throws at once. Throws `.locked` if there is another holder, or an error if the file cannot be
  /// opened or created.
  public init(path: String, files: any FileSystem) throws(PlatformError) {
    let fd = try files.openLocked(path)
    self.path = path
    self.files = files
    self.fd = fd
  }

  /// Writes a number into the lock's file for the next holder. The file is not synced, because the number is not
  /// important.
  public func leave(_ number: Int64) throws(PlatformError) {
    try files.seek(fd, to: 0)
    // The text always has the same length, so that no digits of the former number are left.
    let digits = String(number)
    try files.write(fd, Array((String(repeating: "0", count: max(0, 20 - digits.utf8.count)) + digits).utf8))
  }

  /// The number that the former holder wrote; nil if the file has none.
  public func left() throws(PlatformError) -> Int64? {
    try files.seek(fd, to: 0)
    var bytes = [UInt8](repeating: 0, count: 20)
    let count = try files.read(fd, into: &bytes)
    return Int64(String(decoding: bytes[..<count], as: UTF8.self))
  }

  deinit { files.close(fd) }
}
