import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The places of files that came from devices, in the records and in the folder.
///
/// Files are moved before the transaction with their records is committed. If the command ends in between, the records
/// say that a file has its name, and the folder shows another file there. The folder is right, and the records follow.
struct FilePlaces {
  let store: HubStore
  let files: AttachedFiles
  private let platform: Platform

  init(_ workspace: HubWorkspace, _ store: HubStore) {
    self.store = store
    files = AttachedFiles(workspace.folder, workspace.platform)
    platform = workspace.platform
  }

  /// Corrects the records of all files that have this name, or are kept beside it.
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

  /// Records that a new file gets a name that no file has. Files that had the name before and are not beside it either
  /// are lost here. Their devices did not show that they have the new file.
  func noteFirst(_ path: AttachmentPath, _ digest: Digest) throws {
    try correct(path, present: digest)
    if try store.brought(path).contains(where: { $0.kept == path && $0.digest != digest }) {
      try store.noteLost(path, but: digest)
    }
  }

  /// Gives the name at `path` to a file that is kept beside it. The file that has the name is kept beside it then.
  ///
  /// That file is copied first, and then replaced in one step. So whenever the command ends, no file is lost and the
  /// name has one of the two files.
  /// - Parameter present: the digest of the file that has the name; nil: there is none.
  /// - Returns: whether the file has the name.
  func give(
    _ path: AttachmentPath, to file: HubStore.ArchivedFile, over present: Digest?
  ) throws -> Bool {
    if let present {
      guard let free = try files.placeBeside(path, present) else { return false }
      if free.status == .absent {
        let aside = try StagingFolder(in: files.root, platform: platform)
        try files.copy(path, to: free.path, aside: aside)
      }
      // An app may have written the file meanwhile.
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
