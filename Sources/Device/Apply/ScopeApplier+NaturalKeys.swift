import SatchelCapture
import SatchelConflicts
import SatchelDataset
import SatchelMerge
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Rows that exclude each other, because they have the same value in UNIQUE columns.
extension ScopeApplier {
  /// A row from the hub that a pending row of this device keeps out.
  struct KeptOut {
    let entry: Blocked
    /// The pending row.
    let key: RowKey
    let image: PreImage
    let change: Change
  }

  /// Writes a row, although pending rows may have its UNIQUE values. Each such pending row returns to the values that
  /// the hub last sent, and may then displace another pending row. The chain ends, because two rows with the hub's
  /// values never collide.
  /// - Parameter entry: the row; nil: there is no row to write.
  func enter(_ entry: Blocked?) throws {
    var chain = [entry].compactMap(\.self)
    while let next = chain.last {
      guard let rival = try insertUnlessTaken(next) else {
        chain.removeLast()
        continue
      }
      if let displaced = try yield(rival, to: next) { chain.append(displaced) }
    }
  }

  /// Inserts a row, unless another row holds its key or one of its UNIQUE values. Returns the key of that other row.
  private func insertUnlessTaken(_ entry: Blocked) throws -> RowKey? {
    do { return try entry.table.insertUnlessTaken(entry.row) } catch let error as SQLiteError
      where error.kind == .constraint && entry.isHubs
    {
      throw UnwritableRow(rows: entry.table, row: entry.row, error: error).refusal(in: session.database)
    }
  }

  /// Undoes a row's pending changes, and records each as a conflict. Returns the hub's last version of the row, which
  /// the caller must write; nil: the hub had none.
  private func yield(_ key: RowKey, to entry: Blocked) throws -> Blocked? {
    let rows = entry.table
    let images = try pending[rows.schema.name]?.images(of: key) ?? []
    guard let first = images.first, try rows.row(key) != first.hubRow else {
      throw try collision(of: entry)
    }
    let verdict = decide(policy(for: key, in: rows), device: images.last?.stamp ?? .zero, hub: entry.stamp)
    let loss = Disagreement(
      kind: .unique, state: try isRemovable(key, images, in: rows) ? stateOfLoss(by: verdict) : .open)
    return try takeBack(
      images, of: key, to: first.hubRow, as: loss, met: entry.row, in: rows,
      departure: loss.state == .open ? .kept : .gone)
  }

  /// The policy for a row of this device that another row keeps out. The time of an unseen write is not known, so no
  /// policy prefers a row that was written unseen.
  private func policy(for key: RowKey, in rows: RowTable) -> Policy {
    let isUnseen = takenUp.contains(RowInTable(table: rows.name, key: key))
    return isUnseen ? rows.rules.uncompared.table : rows.rules.table
  }

  /// Whether the policy may settle the conflict about a pending row that loses its natural key. Under `newest`, this is
  /// so only if the hub would also have removed the row for the other row. The hub does that if the row is new and no
  /// row refers to it.
  private func isRemovable(_ key: RowKey, _ images: [PreImage], in rows: RowTable) throws -> Bool {
    if rows.rules.table != .newest { return true }
    guard rows.table.rules.delete == .hard, let first = images.first, first.hubRow == nil, let row = try rows.row(key)
    else { return false }
    return try references(of: rows.table).tableWithChildren(
      of: row, becoming: nil, rows.schema, in: session.database) == nil
  }

  /// The refusal of a bundle with two rows that collide here. The rows do not collide at the hub, so this database has
  /// stricter constraints.
  private func collision(of entry: Blocked) throws -> Refusal {
    let table = entry.table.schema.name
    let full = "ask the hub's operator for a full bundle: satchel-hub emit --device \(session.state.name) --full"
    switch try entry.table.obstruction(to: entry.row, in: session.database) {
    case .index(let name)?:
      return Refusal(
        .rowsCollide,
        "Two rows of \(table) that the hub sent have the same value in the UNIQUE index \(name) of this database.",
        hint: """
          If only this database has the index, drop it: DROP INDEX \(quoted(name)). Then run satchel doctor --repair, \
          and import the file again. If the hub has it too, \(full)
          """)
    case .declaration(let columns)?:
      return Refusal(
        .rowsCollide,
        "Two rows of \(table) that the hub sent have the same value in \(columns), which is UNIQUE in this database.",
        hint: """
          If the hub's table does not demand that, have the app make the table as the hub has it. Then run satchel \
          doctor --repair, and import the file again. If the hub's table does, \(full)
          """)
    case nil:
      return Refusal(
        .rowsCollide, "Two rows of \(table) that the hub sent have the same value where only one may have it.",
        hint: "To go on, \(full)")
    }
  }

  /// Leaves a row from the hub out for a pending row with the same natural key, if the policy prefers the device. The
  /// hub's row is deleted here, and the next export carries this delete. Returns whether the row was left out.
  func keepOut(_ entry: Blocked, for key: RowKey) throws -> Bool {
    let rows = entry.table
    // A device does not know which rows its user may change, unless every visible row may be changed.
    guard entry.isHubs, rows.table.rules.delete == .hard, rows.table.rules.write == .visible,
      // If this device had the row before, `newest` does not let the hub remove it for a newer row.
      entry.isNew || rows.rules.table != .newest,
      let (image, change) = try changes(from: pending[rows.schema.name]?.images(of: key) ?? [], to: rows.row(key)).last,
      // If the pending row's change is acknowledged, the row waits for a decision of a person at the hub.
      image.generation >= session.acknowledgedGeneration,
      decide(policy(for: key, in: rows), device: image.stamp, hub: entry.stamp).winner == .device,
      try references(of: rows.table).tableWithChildren(
        of: entry.row, becoming: nil, rows.schema, in: session.database) == nil
    else { return false }
    keptOut.append(KeptOut(entry: entry, key: key, image: image, change: change))
    return true
  }

  /// Writes the kept-out rows whose pending row no longer excludes them. Returns whether there were any.
  func letInFreed() throws -> Bool {
    var freed: [KeptOut] = []
    keptOut = try keptOut.filter { kept in
      let rivals = try kept.entry.table.rivals(of: kept.entry.row, in: session.database)
      if !rivals.contains(kept.key) { freed.append(kept) }
      return rivals.contains(kept.key)
    }
    for row in freed { try enter(row.entry) }
    return !freed.isEmpty
  }

  /// Records a pending delete and a settled conflict for each row that is kept out.
  func settleKeptOut() throws {
    for kept in keptOut {
      let (entry, rows) = (kept.entry, kept.entry.table)
      let won = Disagreement(kind: .unique, state: .settled, rowWinner: .device)
      try note(won, of: kept.change, image: kept.image, key: kept.key, met: entry.row, in: rows)
      let removal = PreImage(
        generation: try Capture.generation(in: session.database), stamp: kept.image.stamp, row: entry.row)
      try PreImageStore.replace([removal], of: entry.key, in: rows.table, database: session.database)
    }
    keptOut = []
  }

  /// Records the pending changes of a stranded row as conflicts. The row cannot stay, because another row has its
  /// natural key, or because its table does not allow the row.
  func giveUp(_ stranded: StrandedRow) throws {
    let (rows, key) = (stranded.rows, stranded.key)
    let isUnique = stranded.kind == .unique
    let rivals = try isUnique ? rows.rivals(of: stranded.row, in: session.database) : []
    let met = try rivals.count == 1 ? rows.row(rivals[0]) : rows.row(key)
    // A policy may settle only a conflict about a natural key.
    let loss = Disagreement(kind: stranded.kind, state: isUnique ? rows.rules.table.stateOfUncompared : .open)
    for (image, change) in changes(from: stranded.images, to: stranded.row) {
      try note(loss, of: change, image: image, key: key, met: met, in: rows)
    }
    if stranded.images.first?.hubRow == nil {
      orphans.note(stranded.row, of: rows.schema, isUnique && loss.state == .open ? .kept : .gone)
      departed?.note(stranded.row, of: rows.schema)
    }
  }
}
