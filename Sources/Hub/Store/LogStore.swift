import SatchelBundle
import SatchelCapture
import SatchelJSON
import SatchelMerge
import SatchelSQLite
import SatchelValues

/// Who made a change that the hub commits, and how it came.
struct Origin: Sendable {
  /// nil: somebody at the hub.
  let device: ReplicaID?
  let user: String
  let stamp: Stamp
  let bundle: BundleID?
  /// Whether the device itself needs its change sent back, because it may have rebased it away meanwhile.
  let echo: Bool
  /// Milliseconds since 1970 by the hub's clock.
  let at: Int64
}

/// The rows of one table that were changed, as one device needs to know it.
struct ChangedRows {
  /// Changed by somebody whose change the device does not have, or may have rebased away.
  var news = RowSet()
  /// Changed by the device itself, whatever became of it there.
  var allOwn = RowSet()
  /// Changed by the device itself, and there as it was sent.
  var own: [(cursor: Cursor, row: Int64)] = []

  func own(after cursor: Cursor) -> RowSet { RowSet(own.lazy.filter { $0.cursor > cursor }.map(\.row)) }
}

extension HubStore {
  /// Writes one change of a row into the log: the hub's cursor grows by one. The row itself is written already.
  func log(_ change: Change, of key: RowKey, in place: Int, from origin: Origin) throws {
    let schema = rows[place].schema
    let number = try numbers[place].assign(key)
    let operation: Operation
    let set: [Field]?
    let was: [Field]?
    switch change {
    case .insert(let row): (operation, set, was) = (.insert, schema.fields(row), nil)
    case .delete(let row): (operation, set, was) = (.delete, nil, schema.fields(row))
    case .update(let changes):
      operation = .update
      set = changes.map { Field(schema.columns[$0.column], $0.value) }
      was = changes.map { Field(schema.columns[$0.column], $0.was) }
    }
    try logged.add.run([
      .string(schema.name.text), .integer(number), .text(canonicalKey(key)), .string(operation.rawValue),
      set.map { .text(FieldsCoding.json($0)) } ?? .null, was.map { .text(FieldsCoding.json($0)) } ?? .null,
      origin.device.map { .string($0.text) } ?? .null, .string(origin.user), .integer(origin.stamp.rawValue),
      origin.bundle.map { .string($0.text) } ?? .null, .integer(origin.echo ? 1 : 0), .integer(origin.at),
    ])
  }

  /// What everyone but `device` changed in a row after `cursor`.
  func changesByOthers(of key: RowKey, in place: Int, after cursor: Cursor, than device: ReplicaID) throws -> OthersChanges {
    var others = OthersChanges()
    guard let number = try numbers[place].number(of: key) else { return others }
    let schema = rows[place].schema
    others.newest = try stamp(ofRow: number, in: place)
    defer { logged.since.reset() }
    try logged.since.bind([.string(schema.name.text), .integer(number), .integer(cursor.rawValue)])
    while try logged.since.step() {
      if logged.since.optionalText(2) == device.text { continue }
      let columns: [Int]
      if logged.since.text(0) == Operation.update.rawValue, case .text(let set) = logged.since.value(1) {
        columns = try FieldsCoding.parse(set).compactMap { schema.position(of: $0.name) }
      } else {
        others.presence = true
        columns = Array(schema.columns.indices)
      }
      let stamp = Stamp(logged.since.integer(3))
      for column in columns { others.columns[column] = max(others.columns[column] ?? .zero, stamp) }
    }
    return others
  }

  /// Whether nothing happened to a row since it was made.
  func isAsInserted(_ key: RowKey, in place: Int) throws -> Bool {
    guard let number = try numbers[place].number(of: key) else { return true }
    return try database.first(
      "SELECT 1 FROM satchel_log WHERE table_name = :table AND row = :row AND operation <> 'insert'",
      ["table": .string(tables[place].name.text), "row": .integer(number)]
    ) { _ in false } ?? true
  }

  /// The newest stamp of a row; zero where it was never changed.
  func stamp(ofRow number: Int64, in place: Int) throws -> Stamp {
    defer { logged.newestStamp.reset() }
    try logged.newestStamp.bind([.string(rows[place].schema.name.text), .integer(number)])
    return try logged.newestStamp.step() ? Stamp(logged.newestStamp.integer(0)) : .zero
  }

  /// The row as it was before it was deleted last; nil where the log does not know.
  func lastImage(of key: RowKey, in place: Int) throws -> Row? {
    guard let number = try numbers[place].number(of: key) else { return nil }
    let was = try database.first(
      """
      SELECT was_values FROM satchel_log WHERE table_name = :table AND row = :row AND operation = 'delete' ORDER BY cursor DESC LIMIT 1
      """, ["table": .string(rows[place].schema.name.text), "row": .integer(number)]
    ) { $0.value(0) }
    guard case .text(let bytes)? = was else { return nil }
    return try? rows[place].schema.row(FieldsCoding.parse(bytes))
  }

  /// What was changed in each table after `cursor`, as one device needs to know it.
  func changed(after cursor: Cursor, device: ReplicaID) throws -> [ChangedRows] {
    var result = tables.map { _ in ChangedRows() }
    try database.each(
      "SELECT table_name, row, device, echo, cursor FROM satchel_log WHERE cursor > :cursor",
      ["cursor": .integer(cursor.rawValue)]
    ) {
      guard let place = place(of: Name($0.text(0))) else { return }
      let row = $0.integer(1)
      let isOwn = $0.optionalText(2) == device.text
      let isEcho = $0.integer(3) != 0
      if isOwn { result[place].allOwn.insert(row) }
      if isOwn && !isEcho { result[place].own.append((Cursor($0.integer(4)), row)) } else { result[place].news.insert(row) }
    }
    return result
  }

  /// Takes what was written at the hub itself into the log: an administrator's plain SQL is a change like any other.
  func absorb(user: String, at now: Int64) throws {
    try Capture.settle(tables, in: database)
    for (place, table) in tables.enumerated() {
      try PreImageStore.each(table, since: .zero, in: database) { key, images, current in
        for (image, change) in SatchelValues.changes(from: images, to: current) {
          try log(
            change, of: key, in: place,
            from: Origin(device: nil, user: user, stamp: image.stamp, bundle: nil, echo: false, at: now))
        }
      }
    }
    try Capture.witness(PreImageStore.newestStamp(tables, in: database), in: database)
    try PreImageStore.forget(before: Generation(Int64.max), tables, in: database)
  }
}
