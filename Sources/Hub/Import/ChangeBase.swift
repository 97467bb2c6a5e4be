import SatchelMerge
import SatchelRows
import SatchelValues

/// The state from which a device made its changes, as far as the hub knows that state. The base decides how the hub
/// finds the changes that others made since then.
enum ChangeBase: Equatable {
  /// The hub knows the emission that the device had. Entries of the log after this emission's cursor are later changes.
  case emission(Cursor)
  /// The hub has forgotten the device's emission, because the device was away too long. The hub compares its row with
  /// the old values of the device's change. If a column differs, the hub assumes that others changed this column.
  case forgotten
  /// The bundle is of an earlier epoch, and the hub may lack rows that the device had. The hub compares values to find
  /// differences, and stamps to find the later change. The value is the cursor of the device's emission. nil if the
  /// emission was made in the lost time.
  case formerEpoch(Cursor?)

  var isFormerEpoch: Bool { if case .formerEpoch = self { true } else { false } }

  /// The cursor of the device's emission, if the emission is of the present epoch. nil if it is unknown or of a former
  /// epoch.
  var cursor: Cursor? { if case .emission(let cursor) = self { cursor } else { nil } }

  /// The cursor of the device's emission, of any epoch. nil if the hub does not know the cursor.
  var knownCursor: Cursor? {
    switch self {
    case .emission(let cursor): cursor
    case .formerEpoch(let cursor): cursor
    case .forgotten: nil
    }
  }

  /// Returns this base with a later cursor, for a row that the device had in a later state.
  func moved(to cursor: Cursor) -> ChangeBase {
    switch self {
    case .emission: .emission(cursor)
    case .formerEpoch: .formerEpoch(cursor)
    case .forgotten: .forgotten
    }
  }
}

extension HubStore {
  /// Returns the changes that others made to a row since the device received the row.
  /// - Parameters:
  ///   - change: the device's change of the row.
  ///   - stamp: the stamp of the change.
  ///   - past: the known history of the row.
  ///   - own: the changes that count as the device's own.
  ///   - walk: the entries of the row's log, if the log is long and was already read.
  func changesByOthers(
    meeting change: Change, at stamp: Stamp, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int,
    from base: ChangeBase, besides own: OwnChanges, _ walk: RowWalks.Walk? = nil
  ) throws -> OthersChanges {
    switch base {
    case .emission(let cursor):
      let others =
        try walk.map {
          OthersChanges(
            columns: $0.columns, presence: $0.presence, newest: past?.stamp ?? .zero, own: $0.own)
        }
        ?? changesByOthers(of: past, in: place, after: cursor, than: own)
      return others.meeting(change, onto: hub)
    case .forgotten:
      var others = OthersChanges(newest: past?.stamp ?? .zero)
      // A row number may have no stamp. In this case, the row never existed: the hub only gave its key to a row, or
      // must send the key again.
      if case .insert = change { others.presence = try hub == nil && others.newest != .zero && !isOwn(past, own) }
      for column in differing(change, from: hub) { others.columns[column] = others.newest }
      return others
    case .formerEpoch(let cursor):
      return try changesInFormerEpoch(
        meeting: change, at: stamp, onto: hub, with: past, in: place, after: cursor, than: own, walk)
    }
  }

  /// Returns the changes that others made to a row, for a change of an earlier epoch. It uses values and stamps.
  ///
  /// If the hub knows the emission, the log shows the later changes of others. Changes from before the present epoch
  /// count as in their own epoch, even if the values are equal now. The reason: the hub may have merged this bundle
  /// before the epoch began, and must find the same disagreements again.
  private func changesInFormerEpoch(
    meeting change: Change, at stamp: Stamp, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int,
    after cursor: Cursor?, than own: OwnChanges, _ walk: RowWalks.Walk?
  ) throws -> OthersChanges {
    var others = OthersChanges(newest: past?.stamp ?? .zero, judge: .stamps)
    var newest = walk?.stamps ?? [:]
    var byOthers = walk?.byOthers ?? [:]
    var unseen = walk?.unseen ?? []
    others.disputed = walk?.disputed ?? []
    let schema = rows[place].schema
    if walk == nil {
      try eachChange(of: past) { entry in
        let columns = entry.columns(in: schema)
        for column in columns { newest[column] = max(newest[column] ?? .zero, entry.stamp) }
        if own.contains(entry) { return .more }
        for column in columns { byOthers[column] = max(byOthers[column] ?? .zero, entry.stamp) }
        guard let cursor, entry.cursor > cursor else { return .more }
        unseen.formUnion(columns)
        if entry.cursor <= identity.epochCursor { others.disputed.formUnion(columns) }
        return .more
      }
    }
    if let past {
      let known = try knownStamps(of: past.number, in: place)
      newest.merge(known, uniquingKeysWith: max)
      byOthers.merge(known, uniquingKeysWith: max)
    }
    if case .insert = change {
      let mayBeUnseen = cursor == nil || !unseen.isEmpty
      others.presence = try hub == nil && others.newest != .zero && mayBeUnseen && !isOwn(past, own)
    }
    var met = differing(change, from: hub)
    // No other replica changed these columns. So a different value only shows that the device's own change was refused.
    if cursor != nil, case .update = change { met.removeAll { !unseen.contains($0) } }
    // Another replica may have changed a column and then restored its old value. A newer stamp shows such a change.
    met += change.touched(of: schema).filter { byOthers[$0, default: .zero] > stamp }
    for column in others.disputed.union(met) { others.columns[column] = newest[column] ?? .zero }
    return others
  }

  /// Returns the columns in which the hub's row differs from the old values of a change. For an insert, it compares the
  /// new values.
  private func differing(_ change: Change, from hub: Row?) -> [Int] {
    guard let hub else { return [] }
    switch change {
    case .insert(let row): return row.values.indices.filter { hub[$0] != row[$0] }
    case .update(let changes): return changes.filter { hub[$0.column] != $0.was }.map(\.column)
    case .delete(let was): return was.values.indices.filter { hub[$0] != was[$0] }
    }
  }

  /// Whether the hub may lack a row that a device deletes in a unit. There are two reasons: the device itself deleted
  /// the row before, or another device may still deliver the row.
  /// - Parameters:
  ///   - past: the known history of the row.
  ///   - own: the changes that count as the device's own.
  func mayLack(_ past: RowNumbers.Entry?, from base: ChangeBase, own: OwnChanges) throws -> Bool {
    // The hub was set back, and never had the row in this epoch. Another device may still deliver the row.
    if base.isFormerEpoch, past?.cursor == nil { return true }
    return try isOwn(past, own)
  }

  /// Whether a row came back from a lost time, and another replica has deleted it since then. The deletion must be
  /// later than an insert of the row.
  /// - Parameter stamp: the stamp of the insert.
  func wasDeletedSinceRecovery(
    _ past: RowNumbers.Entry?, in place: Int, after stamp: Stamp, besides own: OwnChanges
  ) throws -> Bool {
    guard let past, past.cursor != nil, past.stamp > stamp else { return false }
    return try recoveredStamp(of: past.number, in: place, since: nil) != nil && !isOwn(past, own)
  }

  private func isOwn(_ past: RowNumbers.Entry?, _ own: OwnChanges) throws -> Bool {
    var isOwn = false
    try eachChange(of: past) { entry in
      isOwn = own.contains(entry)
      return .enough
    }
    return isOwn
  }
}

extension Change {
  /// The columns that the change overwrites or deletes. An insert has none.
  fileprivate func touched(of schema: TableSchema) -> [Int] {
    switch self {
    case .insert: []
    case .update(let changes): changes.map(\.column)
    case .delete: Array(schema.columns.indices)
    }
  }
}

extension ChangeBase {
  /// Returns the cursor after which changes of others count for a waiting change. nil if the hub must compare values
  /// when the waiting change enters.
  func sinceOfWaiting(_ store: HubStore) throws -> Cursor? {
    switch self {
    case .emission(let cursor): cursor
    // When the hub merged the bundle, this change met no change of others. So only later changes count.
    case .forgotten: try store.cursor()
    case .formerEpoch: nil
    }
  }
}
