import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of `revert`.
public struct RevertReport: Sendable {
  /// The reverted bundles, the newest first.
  public let bundles: [BundleID]
  /// Rows that are restored to their state before the bundle, by table.
  public let rows: [(table: Name, count: Int)]
  /// The number of rows that were changed since. Their former values are kept as conflicts.
  public let conflicts: Int
}

extension HubWorkspace {
  /// Reverts the changes of a bundle: writes the inverse changes, newest first, as new changes of the hub. If a value
  /// was changed again since, the newer value stays, and the former value becomes an open conflict.
  /// - Parameter name: the bundle's id or its beginning, or `DEVICE/NUMBER`.
  public func revert(_ name: String) throws -> RevertReport {
    try applying { store in
      let bundle = try store.bundle(named: name)
      return try revert([(bundle, try store.historiesToRevert(name, bundle))], store)
    }
  }

  /// Reverts in the same way all bundles of a device that this hub imported at this time or later, the newest first.
  /// - Parameter time: in milliseconds since 1970.
  public func revert(device name: String, since time: Int64) throws -> RevertReport {
    try applying { store in
      guard let device = try store.device(named: name) else { throw Self.noDevice(name) }
      let bundles = try Ledger.imported(from: device.name, since: time, in: store.database)
      if bundles.isEmpty {
        throw WorkspaceError(
          .noBundle, "No bundle of \(device.name) was imported here since \(UTCTime.text(milliseconds: time)).",
          hint: "satchel-hub log shows when bundles came.")
      }
      return try revert(bundles.map { ($0, try store.historiesToRevert("\(device.name)/", $0)) }, store)
    }
  }

  /// - Parameter bundles: the newest first, each with the histories whose changes count; nil for all.
  private func revert(
    _ bundles: [(id: BundleID, histories: Set<String>?)], _ store: HubStore
  ) throws -> RevertReport {
    let now = platform.clock.milliseconds()
    let stamp = try Capture.tick(now: now, in: store.database)
    let own = OwnChanges(reverting: Set(bundles.map(\.id)), at: stamp)
    var reverted = store.tables.map { _ in Set<RowKey>() }
    var conflicts = reverted
    for (bundle, histories) in bundles {
      let revert = Revert(store: store, bundle: bundle, own: own, now: now, stamp: stamp)
      let rows = try store.rows(changedBy: bundle, of: histories)
      if rows.isEmpty, store.identity.logFrom > .zero { try refuseForgotten(bundle, store) }
      for row in rows {
        switch try revert.take(row) {
        case .reverted: reverted[row.place].insert(row.key)
        case .conflict: conflicts[row.place].insert(row.key)
        case .nothing: break
        }
      }
    }
    let counts = zip(reverted, conflicts).map { $0.subtracting($1).count }
    return RevertReport(
      bundles: bundles.map(\.id), rows: zip(store.tables, counts).filter { $0.1 > 0 }.map { ($0.0.name, $0.1) },
      conflicts: conflicts.reduce(0) { $0 + $1.count })
  }

  /// Throws if a bundle had changes that the hub's history no longer has.
  private func refuseForgotten(_ bundle: BundleID, _ store: HubStore) throws {
    guard let imported = try Ledger.lastImport(of: bundle, in: store.database), imported.changes > 0 else { return }
    // A later bundle contains the changes of an earlier one, and may have brought nothing new.
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

/// A row that a bundle changed, and its entries in the log.
private struct RevertedRow {
  let place: Int
  let key: RowKey
  /// The bundle's changes of the row, oldest first.
  var entries: [LogEntry]
  let last: Cursor
}

/// The inverse of one bundle.
private struct Revert {
  let store: HubStore
  let bundle: BundleID
  /// The changes of all bundles that are reverted, and their inverse.
  let own: OwnChanges
  let now: Int64
  let stamp: Stamp

  enum Outcome { case reverted, conflict, nothing }

  func take(_ row: RevertedRow) throws -> Outcome {
    let rows = store.rows[row.place]
    let current = try rows.row(row.key)
    guard let change = try inverse(of: row) else { return .nothing }
    let past = try store.past(of: row.key, in: row.place)
    let others = try store.changesByOthers(of: past, in: row.place, after: row.last, than: own)
    let result = merge(change, at: stamp, onto: current, others: others, by: .manual(rows.schema))
    // Values that were not changed since are still reverted.
    if let disagreement = result.disagreement { try note(disagreement, change, row, met: current) }
    guard let made = Change(from: current, to: result.row) else {
      return result.disagreement == nil ? .nothing : .conflict
    }
    var parents = ParentCache()
    if let broken = try store.brokenReference(of: result.row, from: current, in: row.place, using: &parents) {
      try note(Disagreement(kind: .foreignKey, state: .open), change, row, met: current, because: broken.words)
      return .conflict
    }
    do { try store.database.savepoint { try rows.write(result.row, over: current, key: row.key) } } catch let error
      as SQLiteError
      where error.kind == .unique || error.kind == .constraint
    {
      let kind: ConflictKind = error.kind == .unique ? .unique : .constraint
      try note(Disagreement(kind: kind, state: .open), change, row, met: current, because: error.message)
      return .conflict
    }
    try store.log(
      made, of: row.key, with: past, in: row.place,
      from: Origin(device: nil, user: HubWorkspace.hubUser, stamp: stamp, bundle: nil, returnsToAuthor: false, at: now))
    return result.disagreement == nil ? .reverted : .conflict
  }

  /// The change from the row as the bundle left it to the row before the bundle. nil if the bundle left the row as it
  /// was.
  private func inverse(of row: RevertedRow) throws -> Change? {
    let schema = store.rows[row.place].schema
    guard let first = row.entries.first, let last = row.entries.last else { return nil }
    // Only inserts and deletes contain a whole row. Between them, columns are followed one by one.
    var before: [Name: Value] = [:]
    var after: [Name: Value] = [:]
    for entry in row.entries {
      for field in entry.was ?? [] where before[field.name] == nil { before[field.name] = field.value }
      for field in try entry.set ?? [] {
        if before[field.name] == nil, entry.operation == .insert { before[field.name] = .null }
        after[field.name] = field.value
      }
    }
    func whole(_ values: [Name: Value]) throws -> Row {
      try schema.row(kept: values.map { Field($0.key, $0.value) }, in: store.database)
    }
    switch (first.operation, last.operation) {
    case (.insert, .delete): return nil
    case (.insert, _): return .delete(was: try whole(after))
    case (_, .delete): return .insert(try whole(before))
    default:
      let columns = schema.columns.indices.filter { place in
        let name = schema.columns[place]
        return before[name].map { $0 != after[name] } ?? false
      }
      let changes = columns.map {
        ColumnChange(column: $0, was: after[schema.columns[$0]] ?? .null, value: before[schema.columns[$0]] ?? .null)
      }
      return changes.isEmpty ? nil : .update(changes)
    }
  }

  private func note(
    _ disagreement: Disagreement, _ change: Change, _ row: RevertedRow, met: Row?, because words: String? = nil
  ) throws {
    let record = ConflictRecord(
      disagreement, of: change, at: stamp, generation: .zero, key: row.key, in: store.rows[row.place].schema, met: met,
      device: store.identity.id, user: HubWorkspace.hubUser,
      note: words ?? "It was to be reverted with the bundle \(bundle).")
    try ConflictTable.add(record, bundle: bundle, noted: now, told: 0, in: store.database)
  }
}

extension HubStore {
  /// The rows that a bundle changed, the last changed first.
  /// - Parameter histories: the histories whose changes count, if another sender used the bundle's id too. nil for all.
  fileprivate func rows(changedBy bundle: BundleID, of histories: Set<String>?) throws -> [RevertedRow] {
    var found: [RevertedRow] = []
    var places: [String: Int] = [:]
    try eachEntry(of: bundle) { table, key, entry in
      guard let place = place(of: table) else { return }
      if let histories, !histories.contains(entry.device ?? "") { return }
      let reference = "\(place) \(key)"
      if let known = places[reference] {
        found[known].entries.insert(entry, at: 0)
      } else {
        places[reference] = found.count
        found.append(
          RevertedRow(
            place: place, key: try RowKey(canonical: Array(key.utf8)), entries: [entry], last: entry.cursor))
      }
    }
    return found
  }

  /// The histories of the device that sent the named bundle. nil if no other device used the bundle's id.
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

  /// The imported bundle that the operator named.
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
