import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues

extension DeviceSession {
  /// Applies the hub's snapshot to all tables. A row that the snapshot lacks is applied as gone.
  func applyWhole(_ snapshot: Snapshot, with applier: ScopeApplier) throws {
    for rows in applier.all.reversed() {
      let theirs = try RowTable(rows.table, in: snapshot.database)
      // Rows that were deleted here, and that the hub does not have either.
      var gone: [RowKey] = []
      try PreImageStore.each(rows.table, since: .zero, in: database) { key, _, current in
        if try current == nil && !theirs.contains(key) { gone.append(key) }
      }
      // A migration, or another row that got its key, may have deleted a row that was written unseen.
      let away = applier.unseen.keysBefore(in: rows.schema.name) + applier.keysOfOverwritten(in: rows)
      for key in away where try !rows.contains(key) && !theirs.contains(key) { gone.append(key) }
      // The loop deletes only the row that it visits, so the query stays valid.
      try database.each(rows.table.allKeysSQL) {
        let key = RowKey($0.values(from: 0, count: rows.schema.key.count))
        if try !theirs.contains(key) { try applier.apply(nil, key: key, at: .zero, in: rows) }
      }
      for key in gone { try applier.apply(nil, key: key, at: .zero, in: rows) }
    }
    for rows in applier.all {
      try snapshot.database.each(rows.table.allRowsSQL) {
        let row = Row($0.values(from: 0, count: rows.schema.columns.count))
        let key = rows.schema.key(of: row)
        let stamp = try snapshot.stamp(of: key, in: rows.schema.name)
        try applier.apply(
          row, key: key, at: stamp, in: rows, others: try snapshot.others(of: key, in: rows.schema.name))
      }
    }
  }
}
