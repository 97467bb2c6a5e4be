import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension ScopeApplier {
  /// Keeps a row whose last write was not captured as a conflict, before the hub's row takes its place.
  /// - Parameters:
  ///   - current: the row as it is; nil: it is not here.
  ///   - images: its pending pre-images, oldest first.
  ///   - incoming: the row as the hub has it; nil: it is gone, or out of sight.
  ///   - expected: what the row may be here, as the hub says; empty: it does not say.
  func keepIfUnseen(
    _ current: Row?, _ images: [PreImage], key: RowKey, met incoming: Row?, in rows: RowTable, expected: [UInt64?]
  ) throws {
    let table = rows.schema.name
    var local = current
    if unseen.isAny(in: table) {
      guard let content = unseen.content(of: key, in: table) else { return }
      if case .before(let row) = content { local = row }
    } else if current == incoming
      || !witness.isUnseen(current, images, key: key, met: incoming, in: rows.schema, expected: expected)
    {
      return
    }
    guard local != incoming,
      let record = try session.record(ofUnseen: local, key: key, met: incoming, in: rows.schema)
    else { return }
    try keep(record)
    unseen.forget(key, in: table)
  }
}
