import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The expected rows of the last export, if capture missed no write.
extension DeviceSession {
  /// The exported rows that need a comparison, with their expected values.
  ///
  /// An import may have undone an exported change, and bundles do not show this. For example, the new parent left, the
  /// table forbade the row, or another change of its unit lost. But the device recorded a digest of each row after its
  /// export or import (`satchel_exported_rows`). A row that still has this digest needs no comparison. Any other row is
  /// compared with the values that bundles show, or else with the hub's row.
  /// - Parameter unsent: the first generation whose writes are in no export.
  func expected(_ sent: [RowKey: SentRow], in known: BaselineTable, unsent: Generation) throws -> [RowKey: SentRow] {
    let table = known.table
    let (rows, lookup) = (try RowTable(table, in: database), try PreImageLookup(table, in: database))
    let digests = ExportedRows(self)
    let settled = try settled(sent, in: known)
    var expected = settled
    for (key, own) in sent {
      let images = try lookup.images(of: key)
      guard !images.isEmpty,
        let recorded = try ExportedRowTable.row(RowInTable(table: table.name, key: key), in: database)
      else { continue }
      let exported = try images.first { $0.generation >= unsent }.map(\.row) ?? rows.row(key)
      if digests.digest(exported, in: table.schema) == recorded.digest {
        expected[key] = nil
      } else if settled[key] == nil {
        expected[key] = try own.undone(to: known.row(key))
      }
    }
    return expected
  }

  /// The expected result of the last export's changes, as far as bundles show it.
  ///
  /// Bundles do not show rows that had to give way to another row's UNIQUE value. In a table that merges whole rows, an
  /// export does not show which other columns the hub had changed by then. Such rows are left out. But if all changes
  /// of a row lost or were undone, the hub's row is expected.
  func settled(_ sent: [RowKey: SentRow], in known: BaselineTable) throws -> [RowKey: SentRow] {
    let table = known.table
    let records = try ConflictTable.list(ConflictState.allCases, in: database).map(\.record)
      .filter { $0.device == state.id && $0.table == table.name }
    let disputes = Dictionary(grouping: records, by: \.key)
    var settled = sent
    for (key, own) in sent {
      let disputes = disputes[key, default: []].filter { dispute in
        dispute.kind == .unique || own.images.contains { dispute.isAbout($0) }
      }
      if disputes.isEmpty { continue }
      let isUndone = own.images[0].row != nil && disputes.contains(where: \.isAboutWholeRow)
      if disputes.contains(where: { $0.kind == .unique }) {
        settled[key] = nil
      } else if table.rules.merge == .row || isUndone {
        let areLost = own.images.allSatisfy { image in disputes.contains { $0.isLost && $0.isAbout(image) } }
        settled[key] = try areLost ? own.undone(to: known.row(key)) : nil
      }
    }
    return settled
  }
}

extension SentRow {
  /// The sent row after an import replaced it by the hub's row.
  fileprivate func undone(to row: Row?) -> SentRow { SentRow(images: images.map { $0.with(row: row) }, row: row) }
}

extension ConflictRecord {
  /// Whether this conflict is about the row as a whole: the new parent left, the table forbids the row, or another
  /// change of the unit lost.
  fileprivate var isAboutWholeRow: Bool { unit != nil || [.foreignKey, .constraint, .unit].contains(kind) }

  /// Whether the hub's values won in the whole row.
  fileprivate var isLost: Bool { winners.isEmpty ? rowWinner == .hub : winners.allSatisfy { $0.winner == .hub } }

  /// Whether this conflict is about the change that begins with this pre-image. The conflict's stamp may be later,
  /// because the app may have written the row again in the same generation.
  fileprivate func isAbout(_ image: PreImage) -> Bool { generation == image.generation && stamp >= image.stamp }
}
