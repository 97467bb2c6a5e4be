import SatchelBundle
import SatchelPlatform
import SatchelWorkspace

/// Bundles that are verified and wait until it suits the app.
extension DeviceWorkspace {
  /// Verifies a bundle from the hub and parks it, to be applied later; the database is not touched. Returns its manifest.
  ///
  /// Throws as `importBundle` does where it is refused.
  public func stage(_ path: String, fingerprint: String? = nil) throws -> Manifest {
    try locked {
      let session = try isInitial() ? nil : session()
      var staged: Manifest?
      _ = try quarantining(path, session) {
        let bundle = try read(path, fingerprint: fingerprint, session, of: nil)
        _ = try scope(of: bundle.manifest)
        staged = bundle.manifest
        if ending == .keep {
          try platform.files.makeDirectory(folder.staged, mode: 0o755)
          try platform.files.copy(path, to: Paths.join(folder.staged, bundle.manifest.fileName), mode: 0o644)
        }
        return ImportReport(bundle.manifest, .part)
      }
      guard let staged else { throw WorkspaceError("staging", "Nothing was staged.") }
      return staged
    }
  }

  /// The bundles that wait to be applied, in the order of their numbers.
  public func staged() throws -> [String] {
    guard try platform.files.kind(folder.staged) == .directory else { return [] }
    return try platform.files.list(folder.staged).filter { $0.hasSuffix(".satchel") }
      .sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.map { Paths.join(folder.staged, $0) }
  }

  /// Takes a bundle away that waited and was applied.
  public func unstage(_ path: String) throws {
    if ending == .keep, Paths.parent(of: path) == folder.staged { try platform.files.removeIfThere(path) }
  }
}
