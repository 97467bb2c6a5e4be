import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Ensures that every merged bundle is in the archive, even if a command ends between the merge and the copy.
///
/// Before the merge, the hub copies the bundle into the archive under a pending name. A file under its final name must
/// be in the ledger, so the copy gets its final name only after the merge. If a command ends before that, the next
/// command renames the copy. The archive needs the bundle, because the device stops carrying it as soon as the device
/// learns of the merge.
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
      // A commit whose sync failed may still be in the database. If it cannot be synced or the ledger cannot be read
      // now, the next command settles the copy.
      if (try? platform.files.syncCommits(of: databasePath)) != nil { try? archive.settle(brought, store) }
      throw error
    }
  }

  /// Whether the archive has a sound file of a bundle. If the file is damaged, the bundle replaces it.
  private func isArchived(_ bundle: borrowing VerifiedBundle, _ store: HubStore) throws -> Bool {
    let place = HubArchive(folder, platform.files).place(of: bundle.manifest)
    guard try platform.files.kind(place) != nil else { return false }
    do {
      _ = try reader.read(place, trust: .keys(trustedKeys(store)), staging: folder.inbox)
      return true
    } catch is BundleError { return false }
  }

  /// Gives the final archive names to merged bundles if a command ended before it renamed them.
  func settleArchive() throws {
    let archive = HubArchive(folder, platform.files)
    let pending = try archive.pending()
    // Only the ledger knows which bundles were merged. The command itself reports a fault of the database.
    guard !pending.isEmpty, let store = try? examined() else { return }
    for pending in pending { try archive.settle(pending, store) }
  }
}
