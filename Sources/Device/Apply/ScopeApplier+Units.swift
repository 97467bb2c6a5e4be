import SatchelCapture
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A unit is undone as a whole if rows from the hub collide with one of its changes.
extension ScopeApplier {
  /// Undoes each unit that deletes a gone row: the hub no longer has the row, hides it from the user, or has it marked
  /// as deleted by another writer. The hub takes no change of such a unit. A unit that only deletes gone rows stays,
  /// because it changes no row of the hub.
  func loseUnitsOfGoneRows() throws {
    guard let units else { return }
    let found = try units.unitsOfGoneRows { row in
      try rows(of: row.table).map { try pendingImages(of: row.key, in: $0) } ?? []
    }
    for (members, repeated) in found {
      let pending = try members.compactMap { member in
        try pendingChange(of: member).map { (member, $0.image, $0.change) }
      }
      let gone = pending.filter { _, image, change in if case .delete = change { image.isGone } else { false } }
      if gone.count == pending.count { continue }
      for (member, image, change) in gone {
        let rows = all[member.table]
        try note(
          .repeatedDelete(by: rows.rules.table), of: change, image: image, key: member.key, met: nil, in: rows)
      }
      for delete in repeated { try note(delete.lost, of: delete.row) }
    }
  }

  private func note(_ lost: Rebased.Lost, of row: RowInTable) throws {
    guard let rows = rows(of: row.table) else { return }
    try note(lost.disagreement, of: lost.change, image: lost.image, key: row.key, met: lost.met, in: rows)
  }

  /// Returns why a row's pending changes are lost, if they were made after a change of a refused unit. nil: there was
  /// no such change before them.
  func lossAfterRefusedUnit(_ images: [PreImage], of key: RowKey, in rows: RowTable) -> Disagreement? {
    guard units != nil, !images.isEmpty,
      let refused = refusedUnits[RowInTable(table: rows.name, key: key)],
      images.contains(where: { $0.generation > refused.generation })
    else { return nil }
    return Disagreement(kind: .unit, state: refused.state == .settled ? .settled : .open)
  }

  /// Records each pending change of a row as a conflict. Returns the hub's row, which replaces this row.
  func lose(
    _ images: [PreImage], of key: RowKey, from current: Row?, to hub: Row?, as loss: Disagreement, in rows: RowTable
  ) throws -> Row? {
    for (image, change) in changes(from: images, to: current) {
      try note(loss, of: change, image: image, key: key, met: hub, in: rows)
    }
    try PreImageStore.replace(
      images.map { $0.with(row: hub) }, of: key, in: rows.table, database: session.database)
    return hub
  }

  private func pendingChange(of member: StepUnits.Member) throws -> (image: PreImage, change: Change)? {
    let rows = all[member.table]
    let images = try pendingImages(of: member.key, in: rows)
    return try changes(from: images, to: rows.row(member.key)).first { $0.image.generation == member.generation }
  }

  /// Undoes the changes of lost units. Returns whether there were lost units.
  func takeBackUnits() throws -> Bool {
    guard let units else { return false }
    var isAny = false
    while let lost = units.next() {
      isAny = true
      for member in lost.members { try takeBack(member) }
    }
    return isAny
  }

  /// Gives a row the values that the hub last sent, and records all its pending changes as conflicts.
  private func takeBack(_ member: StepUnits.Member) throws {
    let rows = all[member.table]
    let images = try pendingImages(of: member.key, in: rows)
    guard let first = images.first else { return }
    let (current, hub) = (try rows.row(member.key), first.hubRow)
    let loss = Disagreement(kind: .unit, state: .open)
    let entry = try takeBack(images, of: member.key, to: hub, as: loss, met: hub, in: rows)
    noteReturn(of: member.key, images, from: current, to: hub, in: rows)
    try enter(entry)
  }

  /// Records the conflicts of all lost units.
  func keepLostUnits() throws {
    for record in units?.conflicts() ?? [] { try keep(record) }
  }

  private func pendingImages(of key: RowKey, in rows: RowTable) throws -> [PreImage] {
    try pending[rows.name]?.images(of: key) ?? []
  }

  /// Records that a row has the hub's last values again. After that, the import finds the missing parents and the
  /// deleted children of this row.
  private func noteReturn(of key: RowKey, _ images: [PreImage], from current: Row?, to hub: Row?, in rows: RowTable) {
    guard let change = Change(from: current, to: hub) else { return }
    tally.add(change, in: rows.name)
    guard let current else { return deletedChildren.note(images, of: rows.schema) }
    guard let hub else { return }
    written += 1
    restoredParents.note(hub, over: current, of: rows.schema)
  }
}

extension Disagreement {
  /// Whether the change is lost only because of another change of its unit. If a policy settled the conflict, the
  /// change is lost for its own reason.
  var isOfUnit: Bool { kind == .unit && state != .settled }
}
