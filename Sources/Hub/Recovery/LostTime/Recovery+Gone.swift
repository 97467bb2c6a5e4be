import SatchelDataset
import SatchelMerge
import SatchelValues

/// Rows that a device lost in the lost time. A deletion looks the same as a row that left the user's sight, so a person
/// checks them.
extension Recovery {
  /// Whether an earlier version of the dataset showed the rows of a table, and of all tables above it, by the present
  /// rules.
  func showed(_ place: Int, byPresentRulesIn version: Int64, _ scope: ScopeStore) throws -> Bool {
    if version == store.dataset.version { return true }
    guard let then = try store.definition(of: version) else { return false }
    return try scope.links.withAbove(place).allSatisfy { table in
      let rules = store.tables[table].rules
      return then.rules(for: rules.name)?.shows(as: rules) == true
    }
  }

  /// Records the rows that a full bundle does not show although its user sees them here.
  ///
  /// The hub had such a row when it made the bundle, if an older bundle of the same epoch shows the row, or if the row
  /// is in the present files and these are from that epoch. About any other row the bundle says nothing.
  func noteMissing(in place: Int, _ scope: ScopeStore, _ emission: RankedEmission) throws {
    for number in try scope.visible(in: place) {
      guard try !seen.contains(number, in: place, notBefore: emission),
        let key = try store.numbers[place].key(of: number), let past = try store.past(of: key, in: place),
        past.stamp <= emission.stamp,
        try seen.contains(number, in: place, before: emission) || emission.isOfFiles && !cameLater(past, than: emission)
      else { continue }
      try noteGone(key, in: place, scope, emission)
    }
  }

  /// Whether the hub got a row after it made an emission, or as a whole in this merge. A device may bring a row later
  /// although the device wrote it before.
  private func cameLater(_ past: RowNumbers.Entry, than emission: RankedEmission) throws -> Bool {
    var cameLater = false
    try store.eachChange(of: past) { entry in
      guard entry.operation == .insert else { return .more }
      cameLater = entry.cursor > begin || emission.made.map { entry.at > $0 } ?? true
      return .enough
    }
    return cameLater
  }

  /// Records a conflict about a row that the device lost in the lost time. A deletion looks the same as a row that left
  /// the scope, so a person checks it. No conflict is necessary in three cases. A newer emission has the row, or the
  /// user does not see the row now, or the row was written since.
  func noteGone(_ key: RowKey, in place: Int, _ scope: ScopeStore, _ emission: RankedEmission) throws {
    guard let row = try store.rows[place].row(key), let past = try store.past(of: key, in: place),
      try scope.maySee(key, in: place), try !isWrittenSince(past),
      try !seen.contains(past.number, in: place, laterThan: emission)
    else { return }
    let isNew = try note(
      Disagreement(kind: .deleteUpdate, state: .open), .delete(was: row), key, at: past.stamp, row, in: place,
      """
      \(emission.words) The row was missing in that bundle. It was deleted, or the user was no longer allowed to see it.
      """)
    if isNew { report.gone += 1 }
  }

  /// Whether a row was written in this epoch before this merge.
  private func isWrittenSince(_ past: RowNumbers.Entry) throws -> Bool {
    var isWritten = false
    try store.eachChange(of: past, after: store.identity.epochCursor) { entry in
      isWritten = entry.cursor <= begin
      return isWritten ? .enough : .more
    }
    return isWritten
  }
}

extension TableRules {
  /// Whether these rules show the same rows as other rules of the table.
  fileprivate func shows(as other: TableRules) -> Bool {
    visible == other.visible && parents == other.parents && parentsMatch == other.parentsMatch
      && orphans == other.orphans && references == other.references
  }
}
