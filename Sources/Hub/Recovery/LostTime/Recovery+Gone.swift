import SatchelDataset
import SatchelMerge
import SatchelValues

/// Rows that left a device in the lost time. The hub cannot distinguish a deleted row from a row that left the scope,
/// so a person checks them.
extension Recovery {
  /// Whether an earlier version of the dataset had the present visibility rules for a table and for all tables above
  /// it.
  func showed(_ place: Int, byPresentRulesIn version: Int64, _ scope: ScopeStore) throws -> Bool {
    if version == store.dataset.version { return true }
    guard let then = try store.definition(of: version) else { return false }
    return try scope.links.withAbove(place).allSatisfy { table in
      let rules = store.tables[table].rules
      return then.rules(for: rules.name)?.shows(as: rules) == true
    }
  }

  /// Records the rows that a full emission lacks, although its user may see them at this hub.
  ///
  /// A missing row counts only if the hub had it when it made the emission. There are two proofs. An older emission of
  /// the same epoch shows the row. Or the present files are from that epoch and have the row from before.
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

  /// Whether the hub received a row after it made an emission, or as a whole in this merge. A device may deliver a row
  /// long after it wrote the row.
  private func cameLater(_ past: RowNumbers.Entry, than emission: RankedEmission) throws -> Bool {
    var cameLater = false
    try store.eachChange(of: past) { entry in
      guard entry.operation == .insert else { return .more }
      cameLater = entry.cursor > begin || emission.made.map { entry.at > $0 } ?? true
      return .enough
    }
    return cameLater
  }

  /// Records a conflict about a row that left a device in the lost time, so that a person checks the row. There is no
  /// conflict in three cases. A newer emission has the row, the user may not see the row now, or the row was written
  /// again in this epoch.
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

  /// Whether a row was written in this epoch, before the merge of the lost time.
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
