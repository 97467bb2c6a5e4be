import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelJSON
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Reads the rows of a plan and writes them into the bundle. Their order depends only on the rows.
struct EmissionWriter {
  let store: HubStore
  let plan: EmissionPlan

  /// Adds the plan's rows. Returns the newest stamp of these rows.
  func addRows(to draft: inout BundleDraft) throws -> Stamp {
    switch plan.extent {
    case .full:
      try draft.addChanges { try addKeys(to: $0) }
      return try addSnapshot(to: &draft)
    case .delta: return try addLines(to: &draft)
    }
  }

  /// Adds the device's key ranges, and the new keys of the device's own rows that it may not know. These lines come
  /// first, in a full bundle too.
  private func addKeys(to line: (ChangeLine) throws -> Void) throws {
    guard store.tables.contains(where: \.renamesRows) else { return }
    for row in try keysToTell() {
      try line(
        ChangeLine(
          table: row.table, key: RowKey([row.old]), generation: nil, stamp: .zero,
          content: .rekey(to: RowKey([row.new]), number: row.told ?? plan.number)))
    }
    // A device that gets a full bundle may have lost its key ranges, so all of them are sent again.
    let known = plan.extent == .full ? .zero : plan.device.proved
    for block in try BlockTable.given(to: plan.device.id, after: known, in: store.database) {
      try line(
        ChangeLine(
          table: block.table, key: RowKey([.integer(block.first)]), generation: nil, stamp: .zero,
          content: .block(last: RowKey([.integer(block.last)]), number: block.number)))
    }
  }

  /// The device's own rows that got new keys, if the device may not know these keys. A row is left out if it was folded
  /// into a row that the user cannot see: for such a row, the bundle only has the deletion.
  func keysToTell() throws -> [RekeyedRow] {
    try store.rekeyed(of: plan.device.id, at: plan.device.proved).filter { row in
      guard let place = store.place(of: row.table) else { return false }
      if !store.tables[place].folds { return true }
      return try store.numbers[place].number(of: RowKey([row.new])).map { plan.visible[place].contains($0) } ?? false
    }
  }

  private func addSnapshot(to draft: inout BundleDraft) throws -> Stamp {
    var newest = Stamp.zero
    let path = draft.file("building.sqlite")
    let beliefs = RowBeliefs(store, plan)
    let builder = try SnapshotBuilder(
      at: path, like: store.database, tables: store.tables, saysOthers: beliefs != nil)
    for (place, table) in store.tables.enumerated() {
      let rows = try builder.rows(of: table)
      try store.numbers[place].each(of: plan.rows[place], in: store.database) { member in
        guard let key = try rows.copy(member.key, from: store.rows[place]) else { return }
        if member.stamp > .zero {
          let others = try beliefs?.others(of: member, in: place) ?? []
          try builder.addStamp(member.stamp, others, of: key, in: table.name)
        }
        newest = max(newest, member.stamp)
      }
    }
    try builder.finish()
    try builder.refuseLargeRows(of: store.tables)
    try draft.addSnapshot(at: path)
    return newest
  }

  /// Adds the deletions first, children before their parents. Then adds the rows, parents before their children.
  private func addLines(to draft: inout BundleDraft) throws -> Stamp {
    var newest = Stamp.zero
    let beliefs = RowBeliefs(store, plan)
    let saysBefore = plan.device.understands.contains(.unseen)
    try draft.addChanges(by: EmissionLines(of: store.tables, saysBefore: saysBefore)) { add in
      try addKeys { try add(EmissionLines.Item(line: $0)) }
      for place in store.tables.indices.reversed() {
        try store.numbers[place].each(of: plan.gone[place], in: store.database) { member in
          // The time of the deletion is not sent. It would reveal that the row was deleted, and not only hidden from
          // the user.
          let beliefs = saysBefore ? beliefs : nil
          let current = try beliefs == nil ? nil : store.rows[place].row(member.key)
          let line = ChangeLine(
            table: store.rows[place].name, key: try sentKey(of: member, in: place), generation: nil, stamp: .zero,
            content: .gone)
          try add(.init(line: line, place: place, belief: beliefs?.belief(of: member, now: current, in: place)))
        }
      }
      for (place, table) in store.tables.enumerated() {
        try store.numbers[place].each(of: plan.rows[place], in: store.database) { member in
          guard let row = try store.rows[place].row(member.key) else { return }
          newest = max(newest, member.stamp)
          let content = ChangeLine.Content.row(table.schema.fields(row))
          let line = ChangeLine(
            table: table.name, key: table.schema.key(of: row), generation: nil, stamp: member.stamp, content: content)
          try add(.init(line: line, place: place, belief: beliefs?.belief(of: member, now: row, in: place)))
        }
      }
    }
    return newest
  }

  /// The key of a deleted row, in the spelling that the hub sent to the device last. The user must not learn a later
  /// spelling. Devices of release 0.1 find the row only by this spelling.
  private func sentKey(of member: RowNumbers.Member, in place: Int) throws -> RowKey {
    let table = store.tables[place]
    guard table.keepsSpellings else { return member.key }
    for (emission, held) in zip(plan.emissions, plan.held).reversed()
    where held[place].contains(member.number) && emission.version == store.dataset.version {
      if let row = try store.row(member.key, in: place, at: emission.cursor) { return table.schema.key(of: row) }
    }
    return member.key
  }

  /// The state of a conflict that is sent to the device, if the device lost the conflict's row. Only the policy decides
  /// it. A comparison of stamps would reveal that the row was deleted and not hidden.
  private func stateForUser(of record: ConflictRecord, in place: Int) -> ConflictState {
    [.open, .settled].contains(record.state) ? store.tables[place].rules.conflict.stateOfUncompared : record.state
  }

  /// Adds the conflicts of the device's user that the device may not know. Only one conflict is in memory at a time.
  /// Returns the ids of these conflicts.
  func addConflicts(to draft: inout BundleDraft) throws -> [ConflictID] {
    let ids = try ConflictTable.untold(
      of: plan.device.id, by: plan.user.name, after: plan.device.proved.rawValue, in: store.database)
    try draft.addConflicts { add in
      for id in ids {
        guard let record = try ConflictTable.recordForOtherSide(id, in: store.database) else { continue }
        try add(store.asTheDeviceCallsIt(forUser(record)))
      }
    }
    return ids
  }

  /// Returns the record without the values of rows that the user may not see.
  private func forUser(_ known: ConflictRecord) throws -> ConflictRecord {
    let place = store.place(of: known.table)
    var record = known
    // The user must not learn whether the row was deleted or is only hidden. But a table that left the dataset is no
    // secret.
    if record.kind == .revoked, place != nil, !record.isTakenLate { record.kind = .updateDelete }
    guard let place,
      let number = try store.numbers[place].number(of: record.rivalKey(in: store.tables[place].schema) ?? record.key),
      plan.visible[place].contains(number)
    else {
      record.hubValues = nil
      // The state of a unit reveals nothing about one of its rows, so it stays.
      if let place, record.kind == .updateDelete, record.unit == nil {
        record.state = stateForUser(of: record, in: place)
      }
      return record
    }
    return record
  }
}
