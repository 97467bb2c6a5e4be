import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What a bundle of the hub's says that matters for the keys of this device's own rows.
struct KeyFindings {
  private let session: DeviceSession
  private let isNewHistory: Bool
  private let tables: [RowTable]
  private let births: [KeyedRow: Birth]
  /// The rows to which the hub gave other keys.
  private(set) var told: [KeyMap.Entry] = []
  /// The hub's rows that have the keys of new rows of this device's.
  private var incoming: [KeyedRow: Row] = [:]
  /// The keys of the hub's rows that have the natural key of a row here, by that.
  private var twins: [KeyedRow: [Value]] = [:]
  /// The greatest key of each table.
  private var greatest: [Int: Int64] = [:]

  private struct Birth {
    let row: Row
    /// It is there, and has had the same natural key ever since it was made.
    let isSteady: Bool
  }

  /// - Parameter isNewHistory: the bundle is of another epoch than this device's.
  init(_ session: DeviceSession, isNewHistory: Bool, in bundle: borrowing VerifiedBundle, _ snapshot: Snapshot?) throws
  {
    self.session = session
    self.isNewHistory = isNewHistory
    tables = try session.tables.map { try RowTable($0, in: session.database) }
    births = try Self.births(session)
    if let snapshot { try look(at: snapshot) }
    try look(at: bundle)
  }

  /// The rows that this device made and the hub is not known to have, as they were when they were made.
  private static func births(_ session: DeviceSession) throws -> [KeyedRow: Birth] {
    var births: [KeyedRow: Birth] = [:]
    for (place, table) in session.tables.enumerated() where table.renamesRows {
      let natural = table.naturalColumns
      try PreImageStore.each(table, since: .zero, in: session.database) { key, images, current in
        guard images[0].row == nil, let key = table.singleKey(key) else { return }
        let states = images.dropFirst().map(\.row) + [current]
        guard let made = states.compactMap(\.self).first else { return }
        let isSteady = states.allSatisfy { row in row.map { row in natural.allSatisfy { row[$0] == made[$0] } } ?? false
        }
        births[KeyedRow(place: place, key: key)] = Birth(row: made, isSteady: isSteady)
      }
    }
    return births
  }

  private mutating func look(at snapshot: Snapshot) throws {
    for (place, table) in session.tables.enumerated() where table.renamesRows {
      let rows = try RowTable(table, in: snapshot.database)
      for birth in births.keys where birth.place == place { incoming[birth] = try rows.row(RowKey([birth.key])) }
      if table.givesNewKeys { see(.integer(try table.greatestRow(in: snapshot.database)), in: place) }
      guard table.folds, births.keys.contains(where: { $0.place == place }) else { continue }
      try snapshot.database.each(table.allRowsSQL) {
        try findTwin(of: Row($0.values(from: 0, count: table.schema.columns.count)), in: place)
      }
    }
  }

  private mutating func look(at bundle: borrowing VerifiedBundle) throws {
    let places = Set(births.keys.map(\.place))
    try bundle.eachChange { line in
      guard let place = session.tables.firstIndex(where: { $0.name == line.table }) else { return }
      let table = session.tables[place]
      guard let key = table.singleKey(line.key) else { return }
      switch line.content {
      case .rekey(let to, let number):
        guard let new = table.singleKey(to) else { throw LineProblem("its new key is none of this table") }
        see(new, in: place)
        // Another bundle has told before.
        if number <= session.state.received { return }
        let old = try own(key, in: line.table)
        // A row that the hub cannot know yet has the old one by now: what had it is gone from here.
        if births[KeyedRow(place: place, key: old)] != nil { return }
        if old != new { told.append(.init(place: place, old: old, new: new)) }
      // The device's next keys are to be of this range.
      case .block: if let first = table.number(of: line.key) { see(.integer(first - 1), in: place) }
      case .row(let fields):
        see(key, in: place)
        guard places.contains(place) else { return }
        let row = try table.schema.row(fields)
        if births[KeyedRow(place: place, key: key)] != nil { incoming[KeyedRow(place: place, key: key)] = row }
        if table.folds { try findTwin(of: row, in: place) }
      default: break
      }
    }
  }

  /// Looks whether a row that the hub sends is one that this device made too, under a key of its own. Whether its user
  /// may change the hub's row, a device does not know; what the hub does not take of it then is kept.
  private mutating func findTwin(of row: Row, in place: Int) throws {
    let rows = tables[place]
    guard rows.table.rules.write != .none, let new = rows.table.singleKey(rows.schema.key(of: row)) else { return }
    let target = KeyedRow(place: place, key: new)
    // What this device did to the hub's row is of that one alone. A new row that has the key by chance is another one.
    guard
      try births[target] != nil || PreImageLookup(rows.table, in: session.database).images(of: RowKey([new])).isEmpty
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

  /// The key that this device has meanwhile given a row that the hub knows by `key`.
  private func own(_ key: Value, in table: Name) throws -> Value {
    // A restored hub may give a key once more to a row that had got another one in the history which that hub forgot.
    try (isNewHistory ? session.allKeys() : session.untoldKeys()).reduce(key) { key, row in
      row.table == table && row.old == key ? row.new : key
    }
  }

  private var orderedBirths: [KeyedRow] {
    births.keys.sorted { $0.place == $1.place ? $0.key.isBeforeInSQL($1.key) : $0.place < $1.place }
  }

  /// The rows of this device's own that become one with rows of the hub's, but for those that have a key of these
  /// entries.
  func folding(besides entries: [KeyMap.Entry]) -> [KeyMap.Entry] {
    let taken = Set(entries.map { KeyedRow(place: $0.place, key: $0.new) })
    return orderedBirths.compactMap { birth in
      taken.contains(birth) ? nil : twin(of: birth).map { .init(place: birth.place, old: birth.key, new: $0) }
    }
  }

  /// The key of the hub's row that is the same as a new one; nil where there is none, or more than one.
  private func twin(of birth: KeyedRow) -> Value? {
    guard let found = twins[birth], found.count == 1, births[birth]?.isSteady == true else { return nil }
    return found[0]
  }

  /// Whether the hub's row with the key of a new one is that row, made twice.
  private func isSame(_ row: Row, as birth: KeyedRow) -> Bool {
    guard let own = births[birth] else { return false }
    let table = session.tables[birth.place]
    return row == own.row || table.folds && own.isSteady && table.naturalColumns.allSatisfy { row[$0] == own.row[$0] }
  }

  /// The rows of this device's own that get other keys of the device's choice: that of their twin, or one greater than
  /// any that the device has ever seen.
  func yielding() throws -> [KeyMap.Entry] {
    let targets = Set(told.map { KeyedRow(place: $0.place, key: $0.new) })
    var greatest = greatest
    return try orderedBirths.compactMap { birth in
      if let twin = twin(of: birth) { return .init(place: birth.place, old: birth.key, new: twin) }
      let table = session.tables[birth.place]
      let isOwn = incoming[birth].map { isSame($0, as: birth) } ?? true
      if isOwn && !targets.contains(birth) || !table.givesNewKeys { return nil }
      let last = max(greatest[birth.place] ?? 0, try table.greatestKey(in: session.database))
      // At the end of all numbers nothing is left to give: the rows meet, and that is a conflict.
      if last == Int64.max { return nil }
      greatest[birth.place] = last + 1
      return .init(place: birth.place, old: birth.key, new: .integer(last + 1))
    }
  }
}
