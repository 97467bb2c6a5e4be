import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelDataset
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// New rows of this device that the hub has not accepted yet. These rows stay in their tables here.
///
/// A row waits if another row has its natural key, and this device's user may not see that other row. A person decides
/// at the hub. Until then the waiting row keeps its pre-images, although the hub has acknowledged its export. So
/// digests, full bundles and the doctor treat it as a row that the hub does not have. New rows that refer to a waiting
/// row wait too. If the hub has a row of another replica with the same primary key, the hub's row replaces the waiting
/// row.
struct WaitingRows {
  struct Kept {
    let table: TrackedTable
    let key: RowKey
    let row: Row
    let images: [PreImage]

    var place: RowInTable { RowInTable(table: table.name, key: key) }
  }

  private let session: DeviceSession
  /// The rows that wait.
  private(set) var kept: [Kept] = []
  /// Whether a row may wait, or may have waited until this bundle.
  private(set) var mayMatter = false

  /// Finds the rows that will wait after the bundle is imported. Called before the bundle's acknowledgement is applied.
  /// - Parameter snapshot: the rows of a full bundle.
  init(_ session: DeviceSession, _ bundle: borrowing VerifiedBundle, _ snapshot: Snapshot?) throws {
    self.session = session
    var told: [ConflictID: ConflictRecord] = [:]
    try bundle.eachConflict { if $0.operation == .insert, $0.unit == nil { told[$0.id] = $0 } }
    let known = try ConflictTable.list([.open, .held], in: session.database).map(\.record)
      .filter { $0.operation == .insert && $0.unit == nil && [.unique, .foreignKey].contains($0.kind) }
    mayMatter = known.contains { $0.kind == .unique } || told.values.contains { $0.kind == .unique }
    if !mayMatter { return }
    var records = known.filter { told[$0.id] == nil }
    for record in told.values.sorted(by: { $0.id.text < $1.id.text })
    where try ConflictTable.conflict(record.id, in: session.database)?.record.state != .resolved {
      records.append(record)
    }
    var found = try records.compactMap { record in try find(record).map { (record: record, row: $0) } }
    if found.contains(where: \.record.awaitsOtherRow) {
      let hubRows = try Self.hubRows(among: Set(found.map(\.row.place)), in: bundle, snapshot)
      found.removeAll { hubRows.contains($0.row.place) }
    }
    kept = found.filter(\.record.awaitsOtherRow).map(\.row)
    let children = found.filter { $0.record.kind == .foreignKey && [.open, .held].contains($0.record.state) }
    try addChildren(children.map(\.row))
  }

  /// The rows among `asked` that the bundle brings.
  private static func hubRows(
    among asked: Set<RowInTable>, in bundle: borrowing VerifiedBundle, _ snapshot: Snapshot?
  ) throws -> Set<RowInTable> {
    guard let snapshot, let source = try bundle.dataset(limit: DatasetDefinition.maximumBytes) else {
      var brought: Set<RowInTable> = []
      try bundle.eachChange { line in
        let row = RowInTable(table: line.table, key: line.key)
        if case .row = line.content, asked.contains(row) { brought.insert(row) }
      }
      return brought
    }
    // The snapshot may be of a later version of the dataset.
    let tables = try TrackedTable.find(DatasetDefinition(json: source), in: snapshot.database)
    let rows = try tables.map { try RowTable($0, in: snapshot.database) }
    return try asked.filter { row in try rows.contains { try $0.name == row.table && $0.contains(row.key) } }
  }

  /// The row that a record is about, if this device made the row and the hub does not have it.
  private func find(_ record: ConflictRecord) throws -> Kept? {
    guard let table = session.table(record.table), !table.renamesRows,
      let row = try RowTable(table, in: session.database).row(record.key)
    else { return nil }
    let images = try PreImageLookup(table, in: session.database).images(of: record.key)
    guard let first = images.first, first.row == nil else { return nil }
    return Kept(table: table, key: record.key, row: row, images: images)
  }

  /// Adds the rows that waited before, and the rows that refer to waiting rows, at any depth.
  private mutating func addChildren(_ children: [Kept]) throws {
    var below = RowsBelow(among: session.tables, in: session.database)
    var left: [Kept] = []
    for found in children {
      if found.images[0].generation < session.acknowledgedGeneration {
        kept.append(found)
      } else {
        below.add(found.row, of: found.table.name)
        left.append(found)
      }
    }
    kept += below.find(below: kept.map { ($0.row, $0.table.name) }).map { left[$0] }
  }

  /// Deletes the acknowledged pre-images, except the pre-images of waiting rows. Returns the number of acknowledged
  /// pre-images for each table.
  func forgetOthers() throws -> [Name: Int64] {
    let acknowledged = try PreImageStore.forget(
      before: session.acknowledgedGeneration, session.tables, in: session.database)
    for row in kept {
      try PreImageStore.replace(row.images, of: row.key, in: row.table, database: session.database)
    }
    return acknowledged
  }
}

extension ConflictRecord {
  /// Whether a new row waits because another row has its natural key. The user who made the new row may not see that
  /// other row.
  var awaitsOtherRow: Bool {
    kind == .unique && state == .open && operation == .insert && hubValues == nil && unit == nil
  }
}

extension DeviceSession {
  /// Whether the row that a conflict is about waits in its table here.
  func isWaiting(_ record: ConflictRecord) throws -> Bool {
    guard record.operation == .insert, record.unit == nil, [.unique, .foreignKey].contains(record.kind),
      [.open, .held].contains(record.state), let table = table(record.table), !table.renamesRows,
      try RowTable(table, in: database).contains(record.key)
    else { return false }
    let images = try PreImageLookup(table, in: database).images(of: record.key)
    return images.first.map { $0.row == nil && $0.generation < acknowledgedGeneration } ?? false
  }
}
