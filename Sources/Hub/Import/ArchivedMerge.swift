import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Ensures that every merged bundle is in the archive, even if a command ends between the merge and the copy.
///
/// The archive needs each merged bundle, because the device stops carrying a bundle when it learns of the merge. Before
/// the merge, the hub copies the bundle into the archive under a pending name. Only bundles in the ledger may have a
/// final name, so the hub renames the copy after the merge. If a command ends before the renaming, the next command
/// renames the copy.
extension HubWorkspace {
  /// Runs `body`, which merges the bundle, and puts the bundle into the archive.
  func keepingInArchive(
    _ bundle: borrowing VerifiedBundle, _ store: HubStore, _ body: () throws -> HubImportReport
  ) throws -> HubImportReport {
    let archive = HubArchive(folder, platform.files)
    if runMode == .dryRun { return try body() }
    if try isArchived(bundle, store) {
      try archive.secure()
      return try body()
    }
    let brought = try archive.bring(bundle)
    do {
      let report = try body()
      try archive.settle(brought, store)
      return report
    } catch {
      // The commit may be in the database even if its sync failed. If the commit can now be synced and the ledger be
      // read, the hub settles the copy. Otherwise the next command settles it.
      if (try? platform.files.syncCommits(of: databasePath)) != nil { try? archive.settle(brought, store) }
      throw error
    }
  }

  /// Whether the archive has a sound file of a bundle. If the file is damaged, the caller replaces it by the bundle.
  private func isArchived(_ bundle: borrowing VerifiedBundle, _ store: HubStore) throws -> Bool {
    let place = HubArchive(folder, platform.files).place(of: bundle.manifest)
    guard try platform.files.kind(place) != nil else { return false }
    do {
      _ = try reader.read(place, trust: .keys(trustedKeys(store)), staging: folder.inbox)
      return true
    } catch is BundleError { return false }
  }

  /// Gives merged bundles their final archive names. A command may have ended before it renamed them.
  func settleArchive() throws {
    let archive = HubArchive(folder, platform.files)
    let pending = try archive.pending()
    // Only the ledger shows which bundles were merged. If the database has a fault, the running command reports the
    // fault.
    guard !pending.isEmpty, let store = try? examined() else { return }
    for pending in pending { try archive.settle(pending, store) }
  }
}
