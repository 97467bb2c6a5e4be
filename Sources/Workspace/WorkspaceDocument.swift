import SatchelJSON
import SatchelPlatform

extension WorkspaceFolder {
  /// Reads a small JSON file that Satchel keeps beside the database. Returns nil if there is no such file, or if it
  /// is not JSON.
  ///
  /// - Parameter mostBytes: the most bytes that are read.
  /// - Throws: `PlatformError` if the file cannot be read.
  public func document(
    at path: String, _ files: any FileSystem, mostBytes: Int = 64 << 10
  ) throws(PlatformError) -> JSONValue? {
    guard try files.kind(path) == .file else { return nil }
    let bytes = try files.read(path, limit: mostBytes)
    return try? JSONValue.parse(bytes)
  }
}
