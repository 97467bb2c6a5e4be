import SatchelBundle
import SatchelConflicts
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A person's decision about a bundle that waits because it deletes or changes very many rows.
extension HubWorkspace {
  /// The path of a bundle.
  /// - Parameter name: `DEVICE/NUMBER` of a bundle that waits here, or a file.
  public func path(ofBraked name: String) throws -> String {
    if let bundle = try waiting().first(where: { "\($0.device)/\($0.number)" == name }) { return bundle.path }
    if try platform.files.kind(name) == .file { return name }
    throw WorkspaceError(
      .noBundle, "No bundle \"\(name)\" waits here, and there is no such file.",
      hint: "satchel-hub status names the bundles that wait, as DEVICE/NUMBER.")
  }

  /// Merges a bundle without any of its changes: each of them becomes a conflict, decided for the hub's row. The device
  /// gets its rows back with its next bundle. If the command is interrupted, the rest of these conflicts stay open, and
  /// the same call decides them.
  ///
  /// Throws the errors of `importBundle`.
  /// - Returns: the report, and the number of changes that were decided.
  public func reject(_ path: String) throws -> (report: HubImportReport, decided: Int) {
    let report = try importBundle(path, brake: .reject)
    let decided = try applying { store in
      let units = try ConflictTable.list([.open, .held], in: store.database).filter { conflict in
        conflict.bundle == report.manifest.bundle && conflict.record.device == report.manifest.from.id
      }.units
      for unit in units {
        // A decision about one conflict may have ended others.
        let found = try ConflictTable.find(unit.head.record.id.text, in: store.database)
        if found.record.state == .resolved { continue }
        try resolve(found, .hub, note: "The office rejected the whole bundle.", seen: .anyway, store)
      }
      return units.reduce(0) { $0 + $1.members.count }
    }
    return (report, decided)
  }
}
