import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A verified backup, with its parts.
struct OpenedBackup {
  let backup: Manifest.Backup
  let database: String
  let files: BackupFiles
  let names: [String]

  init(_ bundle: borrowing VerifiedBundle, _ platform: Platform) throws {
    guard case .backup(let backup) = bundle.manifest.body, let database = bundle.path(of: .snapshot),
      let files = bundle.path(of: .files)
    else {
      throw Refusal(
        .wrongKind, "This is \(bundle.manifest.kind.words), not a backup.",
        hint: "satchel-hub backup FILE makes one.")
    }
    self.backup = backup
    self.database = database
    self.files = try BackupFiles.verified(at: files, platform.files)
    names = try self.files.names()
  }

  /// Returns the paths, in the backup, of the bundles that belong in `bundles/archive/lost`. The caller must call
  /// `check` first.
  func lostFiles() throws -> Set<String> {
    Set(try HubStore(path: database).lostEmissionsToMerge().compactMap(\.file).map { BackedUpFile.archived($0) })
  }

  /// Checks three things: the database is sound, it agrees with the manifest, and each file has a valid path. Returns
  /// the cursor of the database.
  func check() throws -> Cursor {
    if let strange = names.first(where: { BackedUpFile($0) == nil }) {
      throw BundleError.entry("files.sqlite", "holds a file that does not belong to a workspace: \(strange)")
    }
    guard names.contains("satchel.json") else { throw BundleError.entry("files.sqlite", "lacks satchel.json") }
    if let name = try files.incompleteFile() {
      throw BundleError.entry("files.sqlite", "lacks a part of \(name)")
    }
    // This call checks the pages of the database before the hub reads rows from them.
    _ = try Database.untrusted(path: database)
    let store = try HubStore(path: database)
    guard store.identity.epoch == backup.epoch, try store.cursor() == backup.cursor else {
      throw BundleError.entry("snapshot.sqlite", "is not the database that the manifest describes")
    }
    return backup.cursor
  }
}
