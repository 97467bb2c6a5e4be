import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The bundles from the hub that a device keeps in its archive.
extension DeviceSession {
  /// Puts a copy of the bundle into the archive before `body` commits, so that each imported bundle is in the archive.
  /// A crash before the commit leaves an unneeded copy.
  func keepingInArchive<T>(
    _ bundle: borrowing VerifiedBundle, from path: String, _ body: () throws -> T
  ) throws -> T {
    if workspace.runMode == .dryRun { return try body() }
    let (number, digest) = (EmissionNumber(bundle.manifest.number), bundle.digest)
    let isNew = try keepInArchive(bundle, from: path)
    do { return try body() } catch {
      // If the sync of a commit failed, the commit may still be on the disk. In that case, the ledger has the bundle,
      // and the copy stays.
      if isNew, let known = try? digests(ofImported: number), !known.contains(digest) {
        try bundle.file.takeBack()
      }
      throw error
    }
  }

  /// Puts the file of a bundle from the hub into the archive, unless the archive has it already. Returns whether the
  /// file is new.
  private func keepInArchive(_ bundle: borrowing VerifiedBundle, from path: String) throws -> Bool {
    let (manifest, digest) = (bundle.manifest, bundle.digest)
    let copy = archive.path(incomingPrefix, manifest.number)
    if try platform.files.kind(copy) != nil {
      let keys = try archiveKeys ?? workspace.hubKeys()
      let kept = try workspace.reader.identityIfSound(of: copy, trust: .keys(keys))
      if kept?.digest == digest {
        try archive.secure()
        return false
      }
      // The file in the archive is a bundle of another epoch with the same number.
      try archive.setAside(incomingPrefix, manifest.number)
    }
    try archive.keep(bundle, from: path)
    return true
  }

  /// Completes the steps after the import of a bundle that was imported before. The first import may have ended before
  /// these steps, and the archive may have lost the file since.
  func completeKnown(_ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String) throws {
    if workspace.runMode == .dryRun || isRebuilt { return }
    if scope.epoch == state.epoch, try digests(ofImported: scope.number).contains(bundle.digest),
      try !isReplaced(scope.number)
    {
      _ = try keepInArchive(bundle, from: path)
    }
    if workspace.docking != nil { return }
    try moveToSent(below: state.acknowledged.next)
    try putOutBrought()
    try workspace.unstage(upTo: state.received)
  }

  /// Whether the archive has a newer full bundle. If it has, no earlier bundle is needed.
  private func isReplaced(_ number: EmissionNumber) throws -> Bool {
    let keys = try workspace.hubKeys()
    return try archive.numbers(incomingPrefix).contains { newer in
      guard newer > number.rawValue, newer <= state.received.rawValue else { return false }
      let path = archive.path(incomingPrefix, newer)
      guard case .scope(let scope) = try workspace.reader.manifestIfSound(of: path, trust: .keys(keys))?.body else {
        return false
      }
      return scope.extent == .full && scope.epoch == state.epoch
    }
  }

  /// Removes the bundles before a full bundle, because the full bundle replaces them.
  func forgetBundles(before scope: Manifest.Scope, _ isNewHistory: Bool) throws {
    if isNewHistory {
      // These bundles may be the only record of the time that the hub lost, so they are set aside and not deleted.
      try archive.setAside(incomingPrefix, but: scope.number.rawValue)
    } else {
      try archive.forget(incomingPrefix, below: scope.number.rawValue)
    }
    try archive.forget(outgoingPrefix, below: scope.acknowledged.rawValue)
  }
}
