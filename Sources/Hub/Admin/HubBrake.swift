import SatchelBundle
import SatchelConflicts
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Decisions of a person about a bundle that waits because it deletes or changes very many rows.
extension HubWorkspace {
  /// The path of a bundle that waits because of the brake. Throws a `WorkspaceError` if there is none.
  /// - Parameters:
  ///   - name: `DEVICE/NUMBER` of the bundle, or the name of a file.
  ///   - file: the path of the file, if `name` is the name of a file.
  public func path(ofBraked name: String, file: String) throws -> String {
    if let bundle = try waiting().first(where: { $0.name == name }) { return bundle.path }
    if try platform.files.kind(file) == .file { return file }
    throw WorkspaceError(
      .noBundle, "No bundle \"\(name)\" waits here, and there is no such file.",
      hint: "satchel-hub status names the bundles that wait, as DEVICE/NUMBER.")
  }

  /// Decides all conflicts that a rejected bundle made, in favour of the hub's rows. The device gets the hub's rows
  /// with its next bundle. The caller must hold the transaction of the bundle. Returns the number of changes that were
  /// decided.
  func rejectChanges(of manifest: Manifest, _ store: HubStore) throws -> Int {
    let units = try ConflictTable.list([.open, .held], in: store.database) { conflict in
      conflict.bundle == manifest.bundle && conflict.record.device == manifest.from.id
    }.units
    let earlier = EarlierUnits(store)
    for unit in units {
      // The decision about an earlier unit in this loop may have resolved this conflict too.
      let found = try ConflictTable.find(unit.head.record.id.text, in: store.database)
      if found.record.state == .resolved { continue }
      try resolve(
        [found], .hub, note: "The office rejected the whole bundle.", seen: .anyway,
        at: platform.clock.milliseconds(), store, after: earlier)
    }
    try LostParents(store).openBelow()
    return units.reduce(0) { $0 + $1.members.count }
  }
}
