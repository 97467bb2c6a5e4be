import SatchelValues

/// A file that belongs into a backup, by its path within the workspace.
struct BackedUpFile {
  static let ownKey = "keys/own.key"

  /// The path of a bundle of the archive. In a backup those of `bundles/archive/lost` have it, too: the first release
  /// knows no folder in the archive. Which of them lie there, the database says.
  static func archived(_ name: String) -> String { "bundles/archive/\(name)" }

  let path: String
  /// Whether it is secret, or means something else without what is.
  let needsSecret: Bool
  let mode: UInt32
  /// Of the folders on its way that are not there yet.
  let folderMode: UInt32

  /// nil where such a file has no place in a hub's workspace.
  init?(_ path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    if parts.first == "files" {
      guard AttachmentPath(parts.dropFirst().joined(separator: "/")) != nil else { return nil }
      (self.path, needsSecret, mode, folderMode) = (path, false, 0o644, 0o755)
      return
    }
    guard let name = parts.last, !name.isEmpty, !name.hasPrefix("."), !path.utf8.contains(0) else { return nil }
    switch parts.dropLast() {
    case []: guard name == "satchel.json" else { return nil }
    case ["keys"], ["keys", "former"]: break
    case ["bundles", "archive"]: guard name.hasSuffix(".satchel") else { return nil }
    default: return nil
    }
    let isSecret = parts.count == 2 && (name.hasSuffix(".key") || name.hasSuffix(".identity"))
    self.path = path
    needsSecret = isSecret || path.hasPrefix("keys/next.")
    mode = isSecret ? 0o600 : 0o644
    folderMode = 0o700
  }
}
