import SatchelCapture
import SatchelMerge
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension DeviceSession {
  /// The rows that no trigger saw, found with the archive of signed bundles; nil: the archive is incomplete.
  ///
  /// Reads all bundles since the last full one. This is worthwhile only for a full bundle: it brings every row without
  /// its former versions.
  func findUnseen() throws -> [UnseenChange]? {
    do { return try database.writeTransaction(.takeBack) { try reinstallAndCompare() } } catch let error
      as WorkspaceError
      where error.reason == "no-history"
    { return nil }
  }

  /// Whether a row without pending changes differs from a snapshot's.
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

  /// The conflict that keeps a row whose change no trigger saw.
  /// - Parameters:
  ///   - local: the row here; nil: it is not here.
  ///   - hub: the row as the hub has it; nil: it is gone, or out of scope.
  func record(ofUnseen local: Row?, key: RowKey, met hub: Row?, in schema: TableSchema) throws -> ConflictRecord? {
    guard let change: Change = local.map({ .insert($0) }) ?? hub.map({ .delete(was: $0) }) else { return nil }
    return ConflictRecord(
      Disagreement(kind: .unseen, state: .open), of: change, at: Stamp(milliseconds: platform.clock.milliseconds()),
      generation: try Capture.generation(in: database), key: key, in: schema, met: hub, device: state.id,
      user: state.user)
  }
}
