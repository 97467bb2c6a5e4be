import SatchelBundle
import SatchelPlatform

/// The folder `bundles/inbox/waiting`: sound bundles that cannot be imported yet.
public struct WaitingBundles: Sendable {
  private let folder: WorkspaceFolder
  private let files: any FileSystem

  public init(_ folder: WorkspaceFolder, _ files: any FileSystem) {
    self.folder = folder
    self.files = files
  }

  /// Whether the file at this path is already in the folder of waiting bundles.
  public func has(_ path: String) -> Bool { Paths.parent(of: path) == folder.waiting }

  /// Stores the file of a verified bundle under `name`, which no other bundle has. If the file is in the inbox, it is
  /// moved.
  /// - Parameter path: the path from which the bundle was read.
  public func keep(_ bundle: borrowing VerifiedBundle, from path: String, as name: String) throws {
    if has(path) { return }
    try files.makeDirectory(folder.waiting, mode: 0o755)
    try bundle.file.put(at: Paths.join(folder.waiting, name))
    if Paths.parent(of: path) == folder.inbox { try files.remove(path) }
  }

  /// The paths of the waiting bundles, in the order of their numbers.
  public func list() throws -> [String] { try Self.list(in: folder.waiting, files) }

  /// The paths of the bundles in a folder, in the order of their numbers. Empty if there is no such folder.
  public static func list(in folder: String, _ files: any FileSystem) throws -> [String] {
    guard try files.kind(folder) == .directory else { return [] }
    return try files.list(folder).filter { $0.hasSuffix(".satchel") }.sorted {
      ($0.utf8.count, $0) < ($1.utf8.count, $1)
    }
    .map { Paths.join(folder, $0) }
  }
}
