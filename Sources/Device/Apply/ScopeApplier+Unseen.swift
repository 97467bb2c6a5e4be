import SatchelCapture
import SatchelConflicts
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Rows whose last write capture missed. The import records these rows as conflicts before the hub's rows replace them.
extension ScopeApplier {
  /// Records a row as a conflict if it was written unseen. Does the same for rows that gave way when another row got
  /// this key.
  /// - Parameters:
  ///   - current: the row as it is; nil: the row is not here.
  ///   - images: the row's pending pre-images, oldest first.
  ///   - incoming: the row as the hub has it; nil: the row is gone, or out of scope.
  ///   - expected: the versions that the hub expects here; empty: the hub does not say.
  func keepIfUnseen(
    _ current: Row?, _ images: [PreImage], key: RowKey, met incoming: Row?, in rows: RowTable, expected: [UInt64?]
  ) throws {
    if !overwritten.isEmpty,
      let victims = overwritten.removeValue(forKey: RowInTable(table: rows.schema.name, key: key))
    {
      for victim in victims where try isUnseen(victim, in: rows, expected: expected) {
        try keep(row(before: victim, in: rows), key: key, met: incoming, in: rows)
      }
      // No row is at this place now. The rows that gave way here have just been compared.
      if current == nil { return }
    }
    if witness.isKept(key, in: rows.schema) { return }
    guard let row = try unseenRow(current, images, key: key, met: incoming, in: rows, expected: expected) else {
      return
    }
    try keep(row, key: key, met: incoming, in: rows)
    unseen.forget(key, in: rows.schema.name)
  }

  /// Returns the row as it was before the bundle, with the present keys. Returns nil if the row was not written unseen.
  private func unseenRow(
    _ current: Row?, _ images: [PreImage], key: RowKey, met incoming: Row?, in rows: RowTable, expected: [UInt64?]
  ) throws -> Row?? {
    let schema = rows.schema
    if unseen.isAny(in: schema.name) {
      guard let content = unseen.content(of: key, in: schema.name) else { return nil }
      if case .before(let row) = content { return .some(witness.withNewKeys(row, in: schema)) }
    } else if try current == incoming
      || !witness.isUnseen(current, images, key: key, in: schema, expected: expected)
    {
      return nil
    }
    return .some(witness.isMoved(key, in: schema) ? current : witness.withNewKeys(current, in: schema))
  }

  /// Whether a row still refers to a row that left with this bundle, or to a value that the bundle replaced. The
  /// referring row has no pending changes: it was written unseen, or the hub also has it without its parent.
  func isAnyLeftWithoutParent() throws -> Bool {
    guard let departed, !departed.isEmpty else { return false }
    // Very many rows may have left. If the database reports its writes, the lookups can make an index.
    session.database.writes.turnOn()
    for rows in all {
      let lookups = references(of: rows.table)
      for row in departed.rows(of: rows.name) {
        let table = try lookups.tableWithOrphans(of: row, becoming: nil, rows.schema, in: session.database)
        if table != nil { return true }
      }
      for row in departed.changed(of: rows.name) {
        // A child with pending changes stays as it is, because the hub decides about it after the next export.
        let isAny = try lookups.hasOrphan(of: row, rows.schema, in: session.database) { table, key in
          try !isPending(key, in: table)
        }
        if isAny { return true }
      }
    }
    return false
  }

  private func isPending(_ key: RowKey, in table: Name) throws -> Bool {
    try pending[table]?.images(of: key).isEmpty == false
  }

  private func keep(_ local: Row?, key: RowKey, met hub: Row?, in rows: RowTable) throws {
    // A row that the hub marks as deleted agrees with a delete on this device.
    if local == nil, let hub, rows.rules.deleting(hub, like: hub) == hub { return }
    guard local != hub, let record = try session.record(ofUnseen: local, key: key, met: hub, in: rows.schema),
      try !isKeptEarlier(record)
    else { return }
    try keep(record)
  }

  /// Whether an earlier import kept the same row with the same values, and this device knows no decision yet. The
  /// bundle may bring the decision, and with it the row that replaces these values.
  private func isKeptEarlier(_ record: ConflictRecord) throws -> Bool {
    let known = try keptEarlier ?? openUnseen()
    keptEarlier = known
    return known[RowInTable(table: record.table, key: record.key)]?.contains {
      $0.operation == record.operation && $0.deviceValues == record.deviceValues
    } ?? false
  }

  private func openUnseen() throws -> [RowInTable: [ConflictRecord]] {
    let records = try ConflictTable.list([.open], in: session.database).map(\.record).filter {
      $0.kind == .unseen && $0.device == session.state.id && $0.user == session.state.user
    }
    return Dictionary(grouping: records) { RowInTable(table: $0.table, key: $0.key) }
  }
}

/// Rows without pending changes whose place was taken by rows with new keys.
extension ScopeApplier {
  typealias OverwrittenRow = PrimaryKeyCollisions.OverwrittenRow

  func keysOfOverwritten(in rows: RowTable) -> [RowKey] {
    overwritten.keys.filter { $0.table == rows.schema.name }.map(\.key)
  }

  /// Records overwritten rows as conflicts if they were written unseen and the bundle has no line for them. Only a
  /// comparison before the import can show that a row was written unseen.
  func keepOverwritten() throws {
    for rows in all {
      let victims = overwritten.filter { $0.key.table == rows.schema.name }
      for (place, victims) in victims.sorted(by: { $0.key.key.isBeforeInSQL($1.key.key) }) {
        for victim in victims where try isUnseen(victim, in: rows, expected: []) {
          try keep(row(before: victim, in: rows), key: place.key, met: hubRow(of: victim, in: rows), in: rows)
        }
      }
    }
    overwritten = [:]
  }

  private func isUnseen(_ victim: OverwrittenRow, in rows: RowTable, expected: [UInt64?]) throws -> Bool {
    let schema = rows.schema
    if witness.isKept(before: victim.former, in: schema) { return false }
    if unseen.isAny(in: schema.name) { return unseenBefore.content(of: victim.former, in: schema.name) != nil }
    return try !witness.isExpected(victim.row, before: victim.former, in: schema, expected: expected)
  }

  /// Returns the overwritten row as it was before the bundle, with the present keys.
  private func row(before victim: OverwrittenRow, in rows: RowTable) -> Row? {
    let content = unseenBefore.content(of: victim.former, in: rows.schema.name)
    if case .before(let row)? = content { return witness.withNewKeys(row, in: rows.schema) }
    return witness.withNewKeys(victim.row, in: rows.schema)
  }

  /// Returns the overwritten row as the hub has it, with the present keys; nil: the hub has no such row.
  private func hubRow(of victim: OverwrittenRow, in rows: RowTable) -> Row? {
    let content = unseenBefore.content(of: victim.former, in: rows.schema.name)
    guard case .asItIs(let known)? = content else { return nil }
    return witness.withNewKeys(known, in: rows.schema)
  }
}
