import SatchelCapture
import SatchelConflicts
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension DeviceAttachments {
  /// Deletes files from the hub that no row, no pending change and no conflict here names any more. If a later row
  /// names such a file, the device requests it again. Files that the app put into `files/` stay.
  func compact() throws -> UnnamedFiles {
    guard list.named.areAny else { return UnnamedFiles() }
    return try database.writeTransaction(session.workspace.runMode) {
      let known = try list.fromHub(database)
      if known.isEmpty { return UnnamedFiles() }
      let all = Set(known.map(\.path))
      var named = all.subtracting(try list.named.unnamed(all, in: database))
      try Capture.settle(session.tables, in: database)
      try PreImageStore.eachStep(session.tables, since: session.acknowledgedGeneration, in: database) {
        _, place, step in
        let table = session.tables[place]
        if table.rules.attachments.isEmpty { return }
        named.formUnion(table.attachments(of: step.change))
        named.formUnion(table.attachments(before: step.change))
      }
      try ConflictTable.eachText(in: database) { if let path = AttachmentPath($0) { named.insert(path) } }
      let unnamed = try UnnamedFiles(known, but: named, in: list.files)
      if session.workspace.runMode == .commit { try unnamed.remove(from: list.files) }
      return unnamed
    }
  }
}
