import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension ScopeApplier {
  /// If capture missed the last write of a row, keeps that row as a conflict before the hub's row replaces it.
  /// - Parameters:
  ///   - current: the row as it is; nil: the row is not here.
  ///   - images: the row's pending pre-images, oldest first.
  ///   - incoming: the row as the hub has it; nil: the row is gone, or out of scope.
  ///   - expected: the versions that the hub expects here; empty: the hub does not say.
  func keepIfUnseen(
    _ current: Row?, _ images: [PreImage], key: RowKey, met incoming: Row?, in rows: RowTable, expected: [UInt64?]
  ) throws {
    let table = rows.schema.name
    if !overwritten.isEmpty, let victim = overwritten[RowInTable(table: table, key: key)],
      victim != incoming, try !witness.isExpected(victim, before: key, in: rows.schema, expected: expected),
      let record = try session.record(ofUnseen: victim, key: key, met: incoming, in: rows.schema)
    {
      try keep(record)
    }
    if witness.isKept(key, in: rows.schema) { return }
    var local = current
    if unseen.isAny(in: table) {
      guard let content = unseen.content(of: key, in: table) else { return }
      if case .before(let row) = content { local = row }
    } else if try current == incoming
      || !witness.isUnseen(current, images, key: key, in: rows.schema, expected: expected)
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
