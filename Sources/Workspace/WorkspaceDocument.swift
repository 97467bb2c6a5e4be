import SatchelJSON
import SatchelPlatform

extension WorkspaceFolder {
  private static let mostDocumentBytes = 64 << 10

  /// Reads a small JSON file that Satchel keeps beside the database. nil: there is none, or it is not JSON.
  ///
  /// - Throws: `PlatformError` if the file cannot be read.
  public func document(at path: String, _ files: any FileSystem) throws(PlatformError) -> JSONValue? {
    guard try files.kind(path) == .file else { return nil }
    let bytes = try files.read(path, limit: Self.mostDocumentBytes)
    return try? JSONValue.parse(bytes)
  }
}
