import SatchelMerge
import SatchelRows
import SatchelValues

/// The hub's knowledge of the state from which a device made its changes. It decides how the changes of others are
/// found.
enum ChangeBase {
  /// The emission that the device had. The changes of others are the log's entries after its cursor.
  case emission(Cursor)
  /// The device was away longer than the hub's memory. If the hub's value differs from the value that a change
  /// started from, it counts as changed by another side.
  case forgotten
  /// The bundle is of an earlier epoch. The hub may lack rows that the device knew, so values show the differences, and
  /// stamps show who came later. The cursor is that of the device's emission; nil if only the lost time knew that
  /// emission.
  case formerEpoch(Cursor?)

  var isFormerEpoch: Bool { if case .formerEpoch = self { true } else { false } }

  /// The cursor of an emission of the present epoch. nil if there is none, or if it is unknown.
  var cursor: Cursor? { if case .emission(let cursor) = self { cursor } else { nil } }
}

extension HubStore {
  /// The changes that others made to a row since a device had it.
  /// - Parameters:
  ///   - change: the device's change of the row.
  ///   - past: the known history of the row.
  ///   - own: the changes that are not those of others, as far as the log still has them.
  ///   - walk: the row's log, if it is long and was already read.
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
      // A number without a stamp belongs to a row that never existed: its key was just given away, or must be sent
      // again.
      if case .insert = change { others.presence = try hub == nil && others.newest != .zero && !isOwn(past, own) }
      for column in differing(change, from: hub) { others.columns[column] = others.newest }
      return others
    case .formerEpoch(let cursor):
      return try changesInFormerEpoch(meeting: change, onto: hub, with: past, in: place, after: cursor, than: own, walk)
    }
  }

  /// Returns the changes that others made to a row, by values and stamps.
  ///
  /// If the emission is known, the log shows the later changes of others. Changes from before this epoch count as they
  /// did in their own epoch, even if the values do not show them. The bundle may have come before the epoch began, and
  /// must find the same disagreements.
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
    // A value that others did not change differs only because the device's own changes were not accepted.
    if cursor != nil, case .update = change { met.removeAll { !unseen.contains($0) } }
    for column in others.disputed.union(met) { others.columns[column] = newest[column] ?? .zero }
    return others
  }

  /// The columns in which the hub's row differs from the old values of a change. For an insert: from its new values.
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
  /// The cursor after which the changes of others count for a waiting change. nil if it is merged by values when it
  /// enters.
  func sinceOfWaiting(_ store: HubStore) throws -> Cursor? {
    switch self {
    case .emission(let cursor): cursor
    // When it was merged, it met no change of others.
    case .forgotten: try store.cursor()
    case .formerEpoch: nil
    }
  }
}
