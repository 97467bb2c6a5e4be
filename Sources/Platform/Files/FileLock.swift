/// An advisory lock that lasts as long as this value. It has one holder at a time, among processes and within one
/// process.
///
///     let lock = try FileLock(path: Paths.join(workspace, "lock"), files: platform.files)
///
/// The lock ends with its process, even if the process is killed. The file stays: if it were removed, two holders could
/// lock two files.
public struct FileLock: ~Copyable {
  public let path: String
  private let files: any FileSystem
  private let fd: Int32

  /// Takes the lock, or throws at once. Throws `.locked` if there is another holder, otherwise the error of opening or
  /// creating the file.
  public init(path: String, files: any FileSystem) throws(PlatformError) {
    let fd = try files.openLocked(path)
    self.path = path
    self.files = files
    self.fd = fd
  }

  /// Writes a number into the lock's file for the next holder. The file is not synced, because the number may be lost.
  public func leave(_ number: Int64) throws(PlatformError) {
    try files.seek(fd, to: 0)
    // The text always has one length, so that nothing of the former number is left.
    let digits = String(number)
    try files.write(fd, Array((String(repeating: "0", count: max(0, 20 - digits.utf8.count)) + digits).utf8))
  }

  /// The number that the former holder wrote; nil: the file has no readable number.
  public func left() throws(PlatformError) -> Int64? {
    try files.seek(fd, to: 0)
    var bytes = [UInt8](repeating: 0, count: 20)
    let count = try files.read(fd, into: &bytes)
    return Int64(String(decoding: bytes[..<count], as: UTF8.self))
  }

  deinit { files.close(fd) }
}
