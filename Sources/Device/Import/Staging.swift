import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Verified bundles that wait until the app applies them.
extension DeviceWorkspace {
  /// Verifies a bundle from the hub and stores it, so that a later command applies it. The database is not touched. A
  /// volume is stored until the bundle is whole.
  ///
  /// Throws the errors of `importBundle` if the bundle is refused.
  public func stage(_ path: String, fingerprint: String? = nil) throws -> StagedBundle {
    try lockedWithoutDatabase {
      try stage(path, fingerprint, isDocked ? nil : sessionIfCaptured(), of: nil)
    }
  }

  /// - Parameter volume: the volume that completed the bundle at `path`; nil: the bundle came in one file.
  private func stage(
    _ path: String, _ fingerprint: String?, _ session: DeviceSession?, of volume: Manifest?
  ) throws -> StagedBundle {
    let staged = try quarantining(path, session) {
      let bundle = try read(path, fingerprint: fingerprint, session, of: volume)
      if case .volume(let volume) = bundle.manifest.body {
        let report = try keep(bundle, volume, session)
        return StagedBundle(manifest: report.manifest, waiting: report.waiting)
      }
      _ = try scope(of: bundle.manifest)
      if runMode == .commit {
        try platform.files.makeDirectory(folder.staged, mode: 0o755)
        try bundle.file.put(at: Paths.join(folder.staged, bundle.manifest.fileName))
      }
      return StagedBundle(manifest: bundle.manifest, waiting: nil)
    }
    let parts = BundleParts(folder, platform: platform)
    return try parts.whole(of: staged.manifest, staged.waiting, in: session?.stateForJoining) { path, volume in
      try stage(path, fingerprint, session, of: volume)
    } ?? staged
  }

  /// The paths of the bundles that wait to be applied, in the order of their numbers.
  public func staged() throws -> [String] { try WaitingBundles.list(in: folder.staged, platform.files) }

  /// Removes a waiting bundle that was applied.
  public func unstage(_ path: String) throws {
    if runMode == .dryRun || Paths.parent(of: path) != folder.staged { return }
    for file in [path, Self.reason(of: path)] { try platform.files.removeIfThere(file) }
  }

  /// Removes the waiting bundles whose number is at most `received`, because a newer bundle replaced them.
  func unstage(upTo received: EmissionNumber) throws {
    for path in try staged() {
      guard let manifest = try reader.manifestIfSound(of: path, trust: .keys(hubKeys())),
        manifest.number <= received.rawValue
      else {
        continue
      }
      try unstage(path)
    }
  }

  /// Stores a bundle that cannot be applied to the database as it is now, with the reason beside it.
  /// - Parameter path: the file from which the bundle was read.
  func park(_ bundle: borrowing VerifiedBundle, from path: String, because error: any ExplainedError) throws {
    if runMode == .dryRun { return }
    let place = Paths.join(folder.staged, bundle.manifest.fileName)
    try platform.files.makeDirectory(folder.staged, mode: 0o755)
    if place != path { try bundle.file.put(at: place) }
    let words = Self.paragraph(error.message) + (error.hint.map { "\n\(Self.paragraph($0))" } ?? "")
    try platform.files.replace(Self.reason(of: place), mode: 0o644, contents: Array("\(words)\n".utf8))
  }

  /// The reasons why waiting bundles could not be applied.
  func obstacles() throws -> [StagingObstacle] {
    try staged().compactMap { path in
      let reason = Self.reason(of: path)
      guard try platform.files.kind(reason) == .file else { return nil }
      let text = String(decoding: try platform.files.read(reason, limit: 64 << 10), as: UTF8.self)
      let lines = text.split(separator: "\n", maxSplits: 1).map { Self.paragraph(String($0)) }
      return StagingObstacle(
        file: Paths.name(of: path), words: lines.first ?? "", hint: lines.count > 1 ? lines[1] : nil)
    }
  }

  /// Returns the text as one line, without characters that control a terminal or reverse the direction of text. A
  /// person may read the line with `cat`, and anyone may have chosen the names in it.
  private static func paragraph(_ text: String) -> String {
    visible(text.split(separator: "\n").joined(separator: " "))
  }

  private static func reason(of path: String) -> String { path + ".reason.txt" }
}

/// A bundle that was verified and waits to be applied, or a volume of a bundle.
public struct StagedBundle: Sendable {
  public let manifest: Manifest
  /// For a volume: the other volumes that must still come.
  public let waiting: BundleParts.Waiting?
}

/// The reason why a waiting bundle could not be applied.
public struct StagingObstacle: Sendable {
  /// The name of the bundle's file.
  public let file: String
  public let words: String
  /// The next step. nil: an earlier release stored the bundle.
  public let hint: String?
}
