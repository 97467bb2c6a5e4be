import Foundation

/// The folder of this package, and the folder beside it with data of other people.
public enum PackageFolder {
  public static let url = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized

  /// The URL of a file in the package, by its path from the package's root.
  public static func file(_ path: String) -> URL { url.appending(path: path) }

  /// The URL of data of other people, by its path from `../shared/data`. The data may be missing on this machine.
  public static func data(_ path: String) -> URL { url.appending(path: "../shared/data/\(path)").standardized }
}
