import SatchelBundle
import SatchelCapture
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The content of a bundle from the hub that affects the keys of this device's rows.
struct PrimaryKeyFindings {
  private let session: DeviceSession
  private let tables: [RowTable]
  private let insertedRows: [KeyedRow: InsertedRow]
  /// The key changes that the hub made and that the bundle reports.
  private(set) var told: [PrimaryKeyMap.Entry] = []
  /// Rows from the hub that have the keys of new rows of this device.
  private var incoming: [KeyedRow: Row] = [:]
  /// For the key of a row here: the keys of the rows from the hub that have the same natural key.
  private var twins: [KeyedRow: [Value]] = [:]
  /// The greatest key of each table in the bundle.
  private var greatest: [Int: Int64] = [:]
  /// The new keys of this device's rows, by their old keys. `number` gives the order of the changes.
  private var given: [RowInTable: [(number: Int, new: Value)]] = [:]

  private struct InsertedRow {
    let row: Row
    /// Whether the row exists and has kept its natural key since it was made.
    let isSteady: Bool
  }

  /// - Parameter isNewHistory: whether the epoch of the bundle differs from the epoch of this device.
  init(_ session: DeviceSession, isNewHistory: Bool, in bundle: borrowing VerifiedBundle, _ snapshot: Snapshot?) throws
  {
    self.session = session
    tables = try session.tables.map { try RowTable($0, in: session.database) }
    insertedRows = try Self.insertedRows(session)
    // A restored hub may give a key a second time, because it lost the record of the first time.
    let renumbered = try isNewHistory ? session.allKeys() : session.untoldKeys()
    for (number, row) in renumbered.enumerated() {
      given[RowInTable(table: row.table, key: RowKey([row.old])), default: []].append((number, row.new))
    }
    if let snapshot { try look(at: snapshot) }
    try look(at: bundle)
  }

  /// The rows that this device made and the hub is not known to have, with the values that they had at first.
  private static func insertedRows(_ session: DeviceSession) throws -> [KeyedRow: InsertedRow] {
    var insertedRows: [KeyedRow: InsertedRow] = [:]
    for (place, table) in session.tables.enumerated() where table.renamesRows {
      let natural = table.naturalColumns
      try PreImageStore.each(table, since: .zero, in: session.database) { key, images, current in
        guard images[0].row == nil, let key = table.singleKey(key) else { return }
        let states = images.dropFirst().map(\.row) + [current]
        guard let made = states.compactMap(\.self).first else { return }
        let isSteady = states.allSatisfy { row in row.map { row in natural.allSatisfy { row[$0] == made[$0] } } ?? false
        }
        insertedRows[KeyedRow(place: place, key: key)] = InsertedRow(row: made, isSteady: isSteady)
      }
    }
    return insertedRows
  }

  private mutating func look(at snapshot: Snapshot) throws {
    for (place, table) in session.tables.enumerated() where table.renamesRows {
      let rows = try RowTable(table, in: snapshot.database)
      for birth in insertedRows.keys where birth.place == place { incoming[birth] = try rows.row(RowKey([birth.key])) }
      if table.givesNewKeys { see(.integer(try table.greatestRow(in: snapshot.database)), in: place) }
      guard table.folds, insertedRows.keys.contains(where: { $0.place == place }) else { continue }
      try snapshot.database.each(table.allRowsSQL) {
        try findTwin(of: Row($0.values(from: 0, count: table.schema.columns.count)), in: place)
      }
    }
  }

  private mutating func look(at bundle: borrowing VerifiedBundle) throws {
    let places = Set(insertedRows.keys.map(\.place))
    try bundle.eachChange { line in
      guard let place = session.tables.firstIndex(where: { $0.name == line.table }) else { return }
      let table = session.tables[place]
      guard let key = table.singleKey(line.key) else { return }
      switch line.content {
      case .rekey(let to, let number):
        guard let new = table.singleKey(to) else { throw LineProblem("its new key is not a key of this table") }
        see(new, in: place)
        // An earlier bundle has already brought this change of key.
        if number <= session.state.received { return }
        let old = own(key, in: line.table)
        // If a new row of this device has the old key now, the row that the hub means is gone here.
        if insertedRows[KeyedRow(place: place, key: old)] != nil { return }
        if old != new { told.append(.init(place: place, old: old, new: new)) }
      // The new keys that this device chooses must come from this range.
      case .block: if let first = table.number(of: line.key) { see(.integer(first - 1), in: place) }
      case .row(let fields):
        see(key, in: place)
        guard places.contains(place) else { return }
        let row = try table.schema.row(fields)
        if insertedRows[KeyedRow(place: place, key: key)] != nil { incoming[KeyedRow(place: place, key: key)] = row }
        if table.folds { try findTwin(of: row, in: place) }
      default: break
      }
    }
  }

  /// Records a row from the hub that duplicates a row which this device made under another key. The device joins the
  /// rows, although it does not know whether its user may change the hub's row. If the hub refuses a change to the
  /// joined row, the change is recorded as a conflict.
  private mutating func findTwin(of row: Row, in place: Int) throws {
    let rows = tables[place]
    guard rows.table.rules.write != .none, let new = rows.table.singleKey(rows.schema.key(of: row)) else { return }
    let target = KeyedRow(place: place, key: new)
    // If this device changed the hub's row, no row is joined with it, because the changes belong to the hub's row
    // alone. A new row that has the same key by chance is another row, and prevents nothing.
    guard
      try insertedRows[target] != nil
        || PreImageLookup(rows.table, in: session.database).images(of: RowKey([new])).isEmpty
    else {
      return
    }
    for rival in try rows.rivals(of: row, in: session.database) {
      guard let key = rows.table.singleKey(rival) else { continue }
      twins[KeyedRow(place: place, key: key), default: []].append(new)
    }
  }

  private mutating func see(_ key: Value, in place: Int) {
    if case .integer(let number) = key { greatest[place] = max(greatest[place] ?? 0, number) }
  }

  /// The key that this device has meanwhile given to the row that the hub knows as `key`.
  private func own(_ key: Value, in table: Name) -> Value {
    var (key, last) = (key, -1)
    while let next = given[RowInTable(table: table, key: RowKey([key]))]?.first(where: { $0.number > last }) {
      (key, last) = (next.new, next.number)
    }
    return key
  }

  private var orderedBirths: [KeyedRow] {
    insertedRows.keys.sorted { $0.place == $1.place ? $0.key.isBeforeInSQL($1.key) : $0.place < $1.place }
  }

  /// The key changes of this device's rows that join rows from the hub. Rows whose key is a new key in `entries` are
  /// left out.
  func folding(besides entries: [PrimaryKeyMap.Entry]) -> [PrimaryKeyMap.Entry] {
    let taken = Set(entries.map { KeyedRow(place: $0.place, key: $0.new) })
    return orderedBirths.compactMap { birth in
      taken.contains(birth) ? nil : twin(of: birth).map { .init(place: birth.place, old: birth.key, new: $0) }
    }
  }

  /// The key of the hub's row that duplicates a new row; nil if there is none, or more than one.
  private func twin(of birth: KeyedRow) -> Value? {
    guard let found = twins[birth], found.count == 1, insertedRows[birth]?.isSteady == true else { return nil }
    return found[0]
  }

  /// Whether a row from the hub and a new row of this device with the same key are one row.
  private func isSame(_ row: Row, as birth: KeyedRow) -> Bool {
    guard let own = insertedRows[birth] else { return false }
    let table = session.tables[birth.place]
    return row == own.row || table.folds && own.isSteady && table.naturalColumns.allSatisfy { row[$0] == own.row[$0] }
  }

  /// The new keys that the device chooses for its rows. A new key is the key of the row's duplicate, or is greater than
  /// any key that the device has seen.
  func yielding() throws -> [PrimaryKeyMap.Entry] {
    let targets = Set(told.map { KeyedRow(place: $0.place, key: $0.new) })
    var greatest = greatest
    return try orderedBirths.compactMap { birth in
      if let twin = twin(of: birth) { return .init(place: birth.place, old: birth.key, new: twin) }
      let table = session.tables[birth.place]
      let isOwn = incoming[birth].map { isSame($0, as: birth) } ?? true
      if isOwn && !targets.contains(birth) || !table.givesNewKeys { return nil }
      let last = max(greatest[birth.place] ?? 0, try table.greatestKey(in: session.database))
      // No greater key is left. The rows collide, and the import records a conflict.
      if last == Int64.max { return nil }
      greatest[birth.place] = last + 1
      return .init(place: birth.place, old: birth.key, new: .integer(last + 1))
    }
  }
}
