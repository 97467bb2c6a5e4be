import SatchelBundle
import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Unseen rows: capture did not record their last change. The device finds them before it applies a bundle that does
/// not state the former versions of its rows.
struct UnseenRows {
  /// A row's values before the bundle.
  enum Content {
    /// The values are those of the row in its table. `known` is the row as the hub had sent it; nil: the hub had sent
    /// none.
    case asItIs(known: Row?)
    /// The row as it was before the migrations ran; nil: the row was not there.
    case before(Row?)
  }

  private var rows: [Name: [RowKey: Content]] = [:]

  static let none = UnseenRows([])

  init(_ changes: [UnseenChange]) {
    for change in changes where change.change != nil {
      rows[change.table, default: [:]][change.key] = .asItIs(known: change.known)
    }
  }

  /// Returns the rows under the keys that the bundle gave them. Rows that gave way to other rows are left out.
  func following(_ keys: PrimaryKeyCollisions.Outcome) -> UnseenRows {
    var moved = self
    for place in keys.left.union(keys.overwritten.map(\.place)) { moved.forget(place.key, in: place.table) }
    for (place, former) in keys.former {
      if let content = content(of: former, in: place.table) { moved.rows[place.table]?[place.key] = content }
    }
    return moved
  }

  /// Returns these rows with their values from before the migrations. `row` returns these values.
  func mapRows(_ row: (Name, RowKey) throws -> Row?) rethrows -> UnseenRows {
    var mapped = self
    for (table, keys) in rows {
      for key in keys.keys { mapped.rows[table]?[key] = .before(try row(table, key)) }
    }
    return mapped
  }

  /// Whether rows of this table were written unseen.
  func isAny(in table: Name) -> Bool { rows[table] != nil }

  /// The unseen rows of a table that existed before the migrations ran.
  func keysBefore(in table: Name) -> [RowKey] {
    rows[table, default: [:]].compactMap { key, content in
      if case .before(.some) = content { key } else { nil }
    }
  }

  /// Forgets a row that is recorded as a conflict, so that no row is recorded twice. The row's table still counts as
  /// compared.
  mutating func forget(_ key: RowKey, in table: Name) { rows[table]?[key] = nil }

  /// The values of an unseen row; nil: the row was not written unseen.
  func content(of key: RowKey, in table: Name) -> Content? { rows[table]?[key] }
}

extension PrimaryKeyCollisions.Outcome {
  /// Returns `rows` and the new places of those rows that the bundle moved. The former places stay in the set.
  func following(_ rows: Set<RowInTable>) -> Set<RowInTable> {
    var places = rows
    for row in rekeyed where places.contains(RowInTable(table: row.table, key: RowKey([row.old]))) {
      places.insert(RowInTable(table: row.table, key: RowKey([row.new])))
    }
    for (place, key) in former where rows.contains(RowInTable(table: place.table, key: key)) { places.insert(place) }
    return places
  }
}

extension DeviceSession {
  /// Finds the rows that were written unseen, unless the bundle states the former version of each row. A former user's
  /// unseen writes are sealed with that user's other changes.
  /// - Parameter comparison: the rows to compare, if the bundle states the former versions.
  /// - Returns: the unseen rows; nil: only the rows of the bundle's lines are compared. `needsCopy`: the unseen rows
  ///   cannot be found, so a copy of the database must be kept.
  func compareBeforeWritingOver(
    _ manifest: Manifest, _ snapshot: Snapshot?, _ upgrade: DeviceUpgrade?, _ handover: Handover?,
    _ comparison: ScopeWriting.Comparison
  ) throws -> (unseen: UnseenRows?, needsCopy: Bool) {
    // The lines of a delta may lack the former versions: the hub did not know that this device's release can read them.
    let isBlind = manifest.changes > 0 && !manifest.critical.contains(.unseen)
    guard snapshot != nil || upgrade != nil || isBlind || comparison == .allRows else { return (nil, false) }
    guard handover == nil, !isRebuilt, manifest.understands.contains(.unseen) else { return (UnseenRows.none, false) }
    if let found = try findUnseen() { return (UnseenRows(found), false) }
    // Rows of two versions of the dataset cannot be compared. Rows without their former versions cannot be compared
    // either.
    let isUnknown = upgrade != nil || isBlind || comparison == .allRows
    return (UnseenRows.none, try isUnknown || snapshot.map { try differs(from: $0) } ?? false)
  }

  /// The rows that were written unseen, as the archive of signed bundles shows; nil: the archive is not complete.
  ///
  /// Reads all bundles since the last full bundle, which takes time. This is done only before a bundle that does not
  /// state the former rows. Examples are a full bundle and a bundle of another version, which bring or change every
  /// row.
  func findUnseen() throws -> [UnseenChange]? {
    try ArchivedBundles.ifComplete { try database.writeTransaction(.dryRun) { try reinstallAndCompare() } }
  }

  /// Turns the writes of unseen rows into pending changes, as `doctor --repair` does. Returns these changes.
  func takeUpUnseen() throws -> [UnseenChange] {
    try database.writeTransaction(workspace.runMode) {
      let changes = try reinstallAndCompare()
      try save(changes)
      return changes
    }
  }

  /// Whether a row without pending changes differs from the row in the snapshot.
  func differs(from snapshot: Snapshot) throws -> Bool {
    struct Found: Error {}
    do {
      for table in tables {
        let theirs = try RowTable(table, in: snapshot.database)
        let pending = try PreImageLookup(table, in: database)
        try database.each(table.namedRowsSQL) {
          let row = Row($0.values(from: 0, count: table.schema.columns.count))
          let key = table.schema.key(of: row)
          if try theirs.row(key) != row, try pending.images(of: key).isEmpty { throw Found() }
        }
        if try table.count(in: database) < table.count(in: snapshot.database) { return true }
      }
    } catch is Found { return true }
    return false
  }

  /// The conflict that keeps a row whose change no trigger recorded.
  /// - Parameters:
  ///   - local: the row here; nil: the row is not here.
  ///   - hub: the row as the hub has it; nil: the row is gone, or out of scope.
  func record(ofUnseen local: Row?, key: RowKey, met hub: Row?, in schema: TableSchema) throws -> ConflictRecord? {
    guard let change: Change = local.map({ .insert($0) }) ?? hub.map({ .delete(was: $0) }) else { return nil }
    return ConflictRecord(
      Disagreement(kind: .unseen, state: .open), of: change, at: Stamp(milliseconds: platform.clock.milliseconds()),
      generation: try Capture.generation(in: database), key: key, in: schema, met: hub, device: state.id,
      user: state.user)
  }
}
