import SatchelMerge
import SatchelValues

/// What the hub knows of the state from which a device made its changes. It decides how others' changes are found.
enum ChangeBase {
  /// The emission on which the device was: others' changes are those that the log has after its cursor.
  case emission(Cursor)
  /// The device was away for longer than the hub remembers: what differs from the values from which a change started,
  /// somebody else changed.
  case forgotten
  /// The bundle is of an epoch before this one. The hub may lack what the device knew, so values say what differs, and
  /// stamps who came later. The cursor is that of the device's emission; nil: only the lost time knew that emission.
  case formerEpoch(Cursor?)

  var isFormerEpoch: Bool { if case .formerEpoch = self { true } else { false } }

  /// The cursor of an emission of the present epoch; nil: there is none, or it is not known.
  var cursor: Cursor? { if case .emission(let cursor) = self { cursor } else { nil } }
}

extension HubStore {
  /// What others did to a row since a device had it.
  /// - Parameters:
  ///   - change: the device's change of the row.
  ///   - past: what is known of the row's past.
  ///   - own: which changes are none of others', as far as the log still has them.
  ///   - walk: the row's log, if it is long and was read before.
  func changesByOthers(
    meeting change: Change, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int, from base: ChangeBase,
    besides own: OwnChanges, _ walk: RowWalks.Walk? = nil
  ) throws -> OthersChanges {
    switch base {
    case .emission(let cursor):
      let others =
        try walk.map { OthersChanges(columns: $0.columns, presence: $0.presence, newest: past?.stamp ?? .zero) }
        ?? changesByOthers(of: past, in: place, after: cursor, than: own)
      return others.meeting(change, onto: hub)
    case .forgotten:
      var others = OthersChanges(newest: past?.stamp ?? .zero)
      // A number without a stamp is one of a row that never was: its key was given away just now, or is owed.
      if case .insert = change { others.presence = try hub == nil && others.newest != .zero && !isOwn(past, own) }
      for column in differing(change, from: hub) { others.columns[column] = others.newest }
      return others
    case .formerEpoch(let cursor):
      return try changesInFormerEpoch(meeting: change, onto: hub, with: past, in: place, after: cursor, than: own, walk)
    }
  }

  /// Returns what others did to a row, by values and stamps.
  ///
  /// If the emission is known, the log shows what others changed after it. What they changed before this epoch began
  /// counts as it did in its own epoch, also if the values do not show it: the bundle may have come before the epoch
  /// began, and must find the same disagreements.
  private func changesInFormerEpoch(
    meeting change: Change, onto hub: Row?, with past: RowNumbers.Entry?, in place: Int, after cursor: Cursor?,
    than own: OwnChanges, _ walk: RowWalks.Walk?
  ) throws -> OthersChanges {
    var others = OthersChanges(newest: past?.stamp ?? .zero, judge: .stamps)
    var newest = walk?.stamps ?? [:]
    var unseen = walk?.unseen ?? []
    others.disputed = walk?.disputed ?? []
    let schema = rows[place].schema
    if walk == nil {
      try eachChange(of: past) { entry in
        let columns = entry.columns(in: schema)
        for column in columns { newest[column] = max(newest[column] ?? .zero, entry.stamp) }
        guard let cursor, entry.cursor > cursor, !own.contains(entry) else { return .more }
        unseen.formUnion(columns)
        if entry.cursor <= identity.epochCursor { others.disputed.formUnion(columns) }
        return .more
      }
    }
    if case .insert = change {
      let mayBeUnseen = cursor == nil || !unseen.isEmpty
      others.presence = try hub == nil && others.newest != .zero && mayBeUnseen && !isOwn(past, own)
    }
    var met = differing(change, from: hub)
    // A value that nobody else changed since is another one because the device's own changes were not taken.
    if cursor != nil, case .update = change { met.removeAll { !unseen.contains($0) } }
    for column in others.disputed.union(met) { others.columns[column] = newest[column] ?? .zero }
    return others
  }

  /// The columns in which the hub's row is not what a change started from.
  private func differing(_ change: Change, from hub: Row?) -> [Int] {
    guard let hub else { return [] }
    switch change {
    case .insert(let row): return row.values.indices.filter { hub[$0] != row[$0] }
    case .update(let changes): return changes.filter { hub[$0.column] != $0.was }.map(\.column)
    case .delete(let was): return was.values.indices.filter { hub[$0] != was[$0] }
    }
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

extension ChangeBase {
  /// The cursor after which others' changes count for a change that waits. nil: it is merged by values when it enters.
  func sinceOfWaiting(_ store: HubStore) throws -> Cursor? {
    switch self {
    case .emission(let cursor): cursor
    // It was found to be in nobody's way by now.
    case .forgotten: try store.cursor()
    case .formerEpoch: nil
    }
  }
}
