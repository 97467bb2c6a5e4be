/// An advisory lock that lasts as long as this value: one holder at a time, among processes and within one.
///
///     let lock = try FileLock(path: Paths.join(workspace, "lock"), files: platform.files)
///
/// The lock ends with its process, however that ends. The file stays: removing it would let two holders lock two files.
public struct FileLock: ~Copyable {
  public let path: String
  private let files: any FileSystem
  private let fd: Int32

  /// Takes the lock or throws at once: `.locked` when somebody holds it, else what kept the file from being opened or made.
  public init(path: String, files: any FileSystem) throws(PlatformError) {
    let fd = try files.openLocked(path)
    self.path = path
    self.files = files
    self.fd = fd
  }

  deinit { files.close(fd) }
}
