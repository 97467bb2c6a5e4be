import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The places of files that came from devices, in the records and in the folder.
///
/// Files are moved before the transaction with their records is committed. If the command is stopped between the two,
/// the folder may have another file under a name than the records say. In that case, the folder is right, and `correct`
/// changes the records.
struct FilePlaces {
  let store: HubStore
  let files: AttachedFiles
  private let platform: Platform

  init(_ workspace: HubWorkspace, _ store: HubStore) {
    self.store = store
    files = AttachedFiles(workspace.folder, workspace.platform)
    platform = workspace.platform
  }

  /// Corrects the records of all files that have this name, or are kept beside this name.
  /// - Parameter present: the digest of the file that has the name now.
  func correct(_ path: AttachmentPath, present: Digest) throws {
    for file in try store.brought(path) {
      if file.kept == path, file.digest != present, let found = try files.placeBeside(path, file.digest),
        case .present = found.status
      {
        try store.noteBeside(path, file.digest, at: found.path)
      }
      if file.kept != path, file.digest == present, try files.digest(at: file.kept) != present {
        try store.noteInPlace(path, present)
      }
    }
  }

  /// Records that a new file gets a name that no file has. The hub has lost older files of this name, if they are not
  /// kept beside the name. Their devices have not shown that they have the new file.
  func noteFirst(_ path: AttachmentPath, _ digest: Digest) throws {
    try correct(path, present: digest)
    if try store.brought(path).contains(where: { $0.kept == path && $0.digest != digest }) {
      try store.noteLost(path, but: digest)
    }
  }

  /// Gives the name `path` to a file that is kept beside it. The file that had the name is then kept beside it.
  ///
  /// The present file is copied first, and then replaced in one step. So if the command is stopped, no file is lost,
  /// and the name has one of the two files.
  /// - Parameter present: the digest of the file that has the name now. nil if there is none.
  /// - Returns: whether the given file has the name now.
  func give(
    _ path: AttachmentPath, to file: HubStore.ArchivedFile, over present: Digest?
  ) throws -> Bool {
    if let present {
      guard let free = try files.placeBeside(path, present) else { return false }
      if free.status == .absent {
        let aside = try StagingFolder(in: files.root, platform: platform)
        try files.copy(path, to: free.path, aside: aside)
      }
      // An app may have written the file since its digest was read.
      guard try files.digest(at: path) == present else { return false }
      try files.move(file.kept, to: path)
      try store.noteBeside(path, present, at: free.path)
    } else {
      try files.move(file.kept, to: path)
      try noteFirst(path, file.digest)
    }
    try store.noteInPlace(path, file.digest)
    return true
  }
}
