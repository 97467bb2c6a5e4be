import SatchelValues

/// A file in a backup, by its path in the workspace.
struct BackedUpFile {
  static let ownKey = "keys/own.key"

  /// Returns the path of an archived bundle in a backup. Bundles of `bundles/archive/lost` get such a path too, because
  /// the first release refuses other folders. At a restore, the database shows which bundles belong in
  /// `bundles/archive/lost`.
  static func archived(_ name: String) -> String { "bundles/archive/\(name)" }

  let path: String
  /// Whether the file is secret, or is useful only together with a secret file.
  let needsSecret: Bool
  let mode: UInt32
  /// The access mode of new folders on the file's path.
  let folderMode: UInt32

  /// Returns nil if a hub's workspace has no file with this path.
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
