import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A bundle that is merged is in the archive, whatever happens between the two.
///
/// Before the merge a copy is there under a pending name: what has its own name there, the ledger must know. After the
/// merge the copy gets its own name. If a command ends in between, the next one does that: the device stops carrying
/// the bundle as soon as it hears that it was merged.
extension HubWorkspace {
  /// Runs `body`, which merges the bundle, and keeps the bundle in the archive.
  func keepingInArchive(
    _ bundle: borrowing VerifiedBundle, _ store: HubStore, _ body: () throws -> HubImportReport
  ) throws -> HubImportReport {
    let archive = HubArchive(folder, platform.files)
    if ending == .takeBack { return try body() }
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
      // A commit that failed to be synced may be there all the same. What cannot be asked now, the next command asks.
      try? archive.settle(brought, store)
      throw error
    }
  }

  /// Whether the archive has a sound file for a bundle. A damaged one makes room for the bundle.
  private func isArchived(_ bundle: borrowing VerifiedBundle, _ store: HubStore) throws -> Bool {
    let place = HubArchive(folder, platform.files).place(of: bundle.manifest)
    guard try platform.files.kind(place) != nil else { return false }
    do {
      _ = try reader.read(place, trust: .keys(trustedKeys(store)), staging: folder.inbox)
      return true
    } catch is BundleError { return false }
  }

  /// Gives bundles their names in the archive that were merged by a command which ended before that.
  func settleArchive() throws {
    let archive = HubArchive(folder, platform.files)
    let pending = try archive.pending()
    // Only the ledger knows what was merged. What is wrong with its database, the command itself says.
    guard !pending.isEmpty, let store = try? examined() else { return }
    for pending in pending { try archive.settle(pending, store) }
  }
}
