import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of `revert`.
public struct RevertReport: Sendable {
  /// The reverted bundles, the newest first.
  public let bundles: [BundleID]
  /// The number of rows, by table, that have their state from before the bundles again.
  public let rows: [(table: Name, count: Int)]
  /// The number of rows about which a person must decide: other people changed them since, or other rows depend on
  /// them. The former values of these rows are recorded as conflicts.
  public let conflicts: Int
  /// The number of changes of the bundles that waited for a decision or for another row. They are given up.
  public let givenUp: Int
  /// Whether some of the rows name attachments. Attachments are not reverted.
  public let areFilesNamed: Bool
}

extension HubWorkspace {
  /// Reverts the changes of a bundle: writes the inverse changes, newest first, as new changes of the hub. If a value
  /// was changed again since, the newer value stays, and the former value becomes an open conflict. Changes of the
  /// bundle that still wait are given up.
  /// - Parameter name: the bundle's id or its beginning, or `DEVICE/NUMBER`.
  public func revert(_ name: String) throws -> RevertReport {
    try applying { store in
      let bundle = try store.bundle(named: name)
      return try revert([(bundle, try store.historiesToRevert(name, bundle))], store)
    }
  }

  /// Reverts all bundles that this hub imported from a device at this time or later, as the other `revert` does. This
  /// includes bundles under the device's former names.
  /// - Parameter time: in milliseconds since 1970.
  public func revert(device name: String, since time: Int64) throws -> RevertReport {
    try applying { store in
      guard let device = try store.device(named: name) else { throw Self.noDevice(name) }
      var bundles: [(BundleID, Set<String>?)] = []
      for former in try store.namesOfHistory(of: device) {
        bundles += try Ledger.imported(from: former, since: time, in: store.database).map {
          ($0, try store.historiesToRevert("\(former)/", $0))
        }
      }
      if bundles.isEmpty {
        throw WorkspaceError(
          .noBundle,
          "No bundle of \(device.name) was imported here since \(platform.clock.localText(milliseconds: time)).",
          hint: "satchel-hub log shows when bundles came.")
      }
      return try revert(bundles, store)
    }
  }

  /// - Parameter bundles: the newest first, each with the histories whose changes are reverted. nil: all histories.
  private func revert(
    _ bundles: [(id: BundleID, histories: Set<String>?)], _ store: HubStore
  ) throws -> RevertReport {
    let givenUp = try giveUp(bundles, store)
    let rows = try store.rows(changedBy: bundles)
    for bundle in bundles where !rows.contains(where: { $0.bundles.contains(bundle.id) }) {
      try refuseForgotten(bundle.id, store)
    }
    let now = platform.clock.milliseconds()
    var revert = Revert(store: store, now: now, stamp: try Capture.tick(now: now, in: store.database), left: .conflicts)
    try revert.run(rows)
    return RevertReport(
      bundles: bundles.map(\.id),
      rows: zip(store.tables, revert.counts).filter { $0.1 > 0 }.map { ($0.0.name, $0.1) },
      conflicts: revert.left, givenUp: givenUp,
      areFilesNamed: rows.contains { !store.tables[$0.place].rules.attachments.isEmpty })
  }

  /// Decides for the hub all changes of these bundles that wait. Otherwise the hub could still take them later.
  private func giveUp(_ bundles: [(id: BundleID, histories: Set<String>?)], _ store: HubStore) throws -> Int {
    let waiting = try ConflictTable.list([.open, .held], in: store.database) { conflict in
      bundles.contains { bundle, histories in
        conflict.bundle == bundle && histories?.contains(conflict.record.device.text) ?? true
          && conflict.record.device != store.identity.id
      }
    }
    let now = platform.clock.milliseconds()
    for conflict in waiting { try close(conflict.record, .hub, note: "Its bundle was reverted.", at: now, store) }
    try ConflictTable.openHeld(behind: waiting.map(\.record), in: store.database)
    return waiting.count
  }

  /// Throws if a bundle had changes that the hub's history no longer has.
  private func refuseForgotten(_ bundle: BundleID, _ store: HubStore) throws {
    guard store.identity.logFrom > .zero, let imported = try Ledger.lastImport(of: bundle, in: store.database),
      imported.changes > 0
    else { return }
    // If the history reaches back to the import, the hub has forgotten nothing of this bundle. Its log then lacks
    // changes of the bundle only because the bundle repeated an earlier one.
    if let since = try store.timeOfFirstChange(after: store.identity.logFrom), imported.at >= since { return }
    throw WorkspaceError(
      .forgotten,
      """
      The changes of the bundle \(bundle) are forgotten: the hub's history begins after its change \
      \(store.identity.logFrom).
      """,
      hint: "Change the rows yourself: that travels as any other change.")
  }
}

extension HubStore {
  /// The names under which a device delivered: its own name, and the names of the devices that it continues.
  fileprivate func namesOfHistory(of device: EnrolledDevice) throws -> [String] {
    var (names, next) = ([device.name], device.continues)
    while let former = try next.flatMap({ try self.device($0) }), !names.contains(former.name) {
      names.append(former.name)
      next = former.continues
    }
    return names
  }

  /// The rows that these bundles changed. The row with the latest change is first.
  fileprivate func rows(changedBy bundles: [(id: BundleID, histories: Set<String>?)]) throws -> [RevertedRow] {
    var found: [RevertedRow] = []
    var places: [String: Int] = [:]
    for (bundle, histories) in bundles {
      try eachEntry(of: bundle) { table, key, entry in
        // Entries up to `logFrom` are forgotten. The newest of them may still be there, because it holds the hub's
        // cursor.
        guard let place = place(of: table), entry.cursor > identity.logFrom else { return }
        if let histories, !histories.contains(entry.device ?? "") { return }
        let reference = "\(place) \(key)"
        if let known = places[reference] {
          found[known].add(entry, of: bundle)
        } else {
          places[reference] = found.count
          found.append(
            RevertedRow(
              place: place, key: try RowKey(canonical: Array(key.utf8)), entries: [entry], bundles: [bundle]))
        }
      }
    }
    return found
  }

  /// The histories of the device that the operator named together with the bundle. nil if only one device used the
  /// bundle's id.
  fileprivate func historiesToRevert(_ name: String, _ bundle: BundleID) throws -> Set<String>? {
    let senders = try Ledger.senders(of: bundle, in: database)
    if senders.count < 2 { return nil }
    guard let device = try name.split(separator: "/").first.flatMap({ try device(named: String($0)) }) else {
      throw WorkspaceError(
        .ambiguous, "More than one device sent a bundle with this id: \(senders.joined(separator: ", ")).",
        hint: "Write DEVICE/NUMBER, as satchel-hub log shows them.")
    }
    let histories = try [device.id] + branches(of: device.id).map(\.id) + heirs(of: device.id).map(\.id)
    return Set(histories.map(\.text))
  }

  /// The imported bundle that the operator named. Throws a `WorkspaceError` if there is none, or more than one.
  fileprivate func bundle(named name: String) throws -> BundleID {
    let found = try Ledger.imported(named: name, in: database)
    guard let bundle = found.first, !name.isEmpty else {
      throw WorkspaceError(
        .noBundle, "No bundle \"\(name)\" was imported here.",
        hint: "Write DEVICE/NUMBER, as satchel-hub log shows them.")
    }
    guard found.count == 1 else {
      throw WorkspaceError(.ambiguous, "More than one bundle's id begins with \"\(name)\".", hint: "Write more of it.")
    }
    return bundle
  }
}
