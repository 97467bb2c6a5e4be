import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The changes of primary keys that a bundle from the hub causes in this device's rows. The import makes these changes
/// before it applies the rest of the bundle.
///
/// A row gets a new key for one of two reasons:
/// - The hub gave the key, and the bundle says so. The hub had another row with the old key, or it had the same row
///   under another key.
/// - A row or a new key from the hub collides with a row here that the hub does not know. The hub's row was first, so
///   the device chooses another key and reports it. In tables that fold rows, a new row with the natural key of a row
///   from the hub also gets another key.
///
/// The bundle brings the hub's own rows under their new keys. This type moves the rows with pending changes and their
/// pre-images, because they hold the writes of this device.
struct PrimaryKeyCollisions {
  private let session: DeviceSession
  private let scope: Manifest.Scope
  private let exported: ExportedRows
  private var outcome = Outcome()
  private let references: PrimaryKeyReferences
  private let tables: [RowTable]

  init(_ session: DeviceSession, _ scope: Manifest.Scope, _ exported: ExportedRows) throws {
    self.session = session
    self.scope = scope
    self.exported = exported
    references = try PrimaryKeyReferences(session.tables)
    tables = try session.tables.map { try RowTable($0, in: session.database) }
  }

  struct Outcome {
    var rekeyed: [RenumberedRow] = []
    var stranded: [StrandedRow] = []
    /// Rows without pending changes that gave way to other rows.
    var overwritten: [OverwrittenRow] = []
    /// The keys that the moved rows had before the bundle, by the present places of these rows.
    var former: [RowInTable: RowKey] = [:]
    /// The places that rows left. Other rows may be at these places now.
    var left: Set<RowInTable> = []
  }

  /// A row without pending changes whose place was taken by a row with a new key. If the hub knew the former row, the
  /// hub still has it.
  struct OverwrittenRow {
    /// The row's place when another row took this place.
    let place: RowInTable
    /// The row's key before the bundle.
    let former: RowKey
    let row: Row
  }

  /// Gives the rows their new keys. The caller holds the transaction and has turned triggers off.
  mutating func carryOut(_ bundle: borrowing VerifiedBundle, _ snapshot: Snapshot?) throws -> Outcome {
    if references.isEmpty { return Outcome() }
    try RenumberedTable.markKnown(before: scope.acknowledged, in: session.database)
    let isNewHistory = scope.epoch != session.state.epoch
    var found = try PrimaryKeyFindings(session, isNewHistory: isNewHistory, in: bundle, snapshot)
    var (told, yielding) = (found.told, try found.yielding())
    var taken: [PrimaryKeyMap.Entry] = []
    while !(told + yielding).isEmpty {
      try exported.willWriteAny()
      for entry in told { try note(entry, sequence: nil) }
      for entry in yielding { try note(entry, sequence: session.state.sequence) }
      taken += told + yielding
      try keepLocalKeys(of: told + yielding)
      var next: [PrimaryKeyMap.Entry] = []
      for stranded in try move(told, yielding) {
        if let entry = try join(stranded) { next.append(entry) } else { outcome.stranded.append(stranded) }
      }
      // Renumbering a parent can make two of its children duplicates.
      if next.isEmpty, session.tables.contains(where: \.folds) {
        found = try PrimaryKeyFindings(session, isNewHistory: isNewHistory, in: bundle, snapshot)
        next = found.folding(besides: taken)
      }
      (told, yielding) = ([], next)
    }
    outcome.rekeyed = taken.map {
      RenumberedRow(table: session.tables[$0.place].name, old: $0.old, new: $0.new, number: scope.number)
    }
    return outcome
  }

  /// Joins a stranded new row with the row that has the same natural key. Returns the change of key; nil: several rows
  /// have this natural key, or the rows must not be joined.
  private mutating func join(_ stranded: StrandedRow) throws -> PrimaryKeyMap.Entry? {
    let rows = stranded.rows
    let rivals = try rows.rivals(of: stranded.row, in: session.database)
    guard rows.table.folds, rows.table.rules.write != .none, stranded.images.first?.row == nil, rivals.count == 1,
      let place = tables.firstIndex(where: { $0 === rows }), let old = rows.table.singleKey(stranded.key),
      let new = rows.table.singleKey(rivals[0]),
      try PreImageLookup(rows.table, in: session.database).images(of: rivals[0]).isEmpty
    else { return nil }
    let entry = PrimaryKeyMap.Entry(place: place, old: old, new: new)
    let map = PrimaryKeyMap(references, session.tables, [entry])
    let images = stranded.images.map {
      $0.mapRow { map.row($0, of: place) }
    }
    let rival = try rows.row(rivals[0])
    noteOverwritten(rival, at: rivals[0], in: rows)
    try PreImageStore.replace(images, of: rivals[0], in: rows.table, database: session.database)
    try rows.write(map.row(stranded.row, of: place), over: rival, key: rivals[0])
    return entry
  }

  private func note(_ entry: PrimaryKeyMap.Entry, sequence: SequenceNumber?) throws {
    let table = session.tables[entry.place].name
    try RenumberedTable.add(
      RenumberedRow(table: table, old: entry.old, new: entry.new, number: scope.number), sequence: sequence,
      in: session.database)
  }

  // MARK: references to the new keys

  /// A row before and after the change of its keys.
  private struct Move {
    let rows: RowTable
    let old: (key: RowKey, row: Row?)
    let new: (key: RowKey, row: Row?, images: [PreImage])

    /// The places of the row before and after the change.
    var place: RowInTable { RowInTable(table: rows.schema.name, key: old.key) }
    var target: RowInTable { RowInTable(table: rows.schema.name, key: new.key) }
  }

  /// Replaces the old keys by the new keys in all changes of this device. Returns the rows that cannot stay in their
  /// tables.
  private mutating func move(_ told: [PrimaryKeyMap.Entry], _ yielding: [PrimaryKeyMap.Entry]) throws -> [StrandedRow] {
    let byHub = PrimaryKeyMap(references, session.tables, told)
    let all = PrimaryKeyMap(references, session.tables, told + yielding)
    var moves: [Move] = []
    for (place, table) in session.tables.enumerated() where !references.columns[place].isEmpty {
      let rows = tables[place]
      try PreImageStore.each(table, since: .zero, in: session.database) { key, images, current in
        let base = images[0].row
        // Values that this device did not write came from the hub, so only the hub's key changes apply to them.
        func moved(_ row: Row) -> Row {
          var moved = all.row(row, of: place)
          for column in references.columns[place].keys where base?[column] == row[column] {
            moved[column] = byHub.value(row[column], in: column, of: place)
          }
          return moved
        }
        let newImages = images.map { $0.mapRow(moved) }
        let new = (key: (base == nil ? all : byHub).key(key, of: place), row: current.map(moved), images: newImages)
        if new.key == key, new.row == current, newImages == images { return }
        moves.append(Move(rows: rows, old: (key, current), new: new))
      }
    }
    try addRows(naming: told.filter { try gave($0) }, by: byHub, to: &moves)
    var stranded: [StrandedRow] = []
    let leaving = Set(moves.filter { $0.new.key != $0.old.key }.map(\.place))
    let free = try moves.filter { move in
      if try isFree(move, besides: leaving) { return true }
      // A new row without a free key is stranded. Changes to a row from the hub stay under the old key, and find the
      // row deleted there.
      if let row = move.new.row, move.new.images.first?.row == nil, !move.new.images.isEmpty {
        stranded.append(StrandedRow(rows: move.rows, key: move.new.key, row: row, images: move.new.images))
        outcome.left.insert(move.place)
        try PreImageStore.replace([], of: move.old.key, in: move.rows.table, database: session.database)
        try move.rows.write(nil, over: move.old.row, key: move.old.key)
      }
      return false
    }
    stranded += try carryOut(free)
    for conflict in try ConflictTable.list([.open, .held], in: session.database) {
      guard let place = session.tables.firstIndex(where: { $0.name == conflict.record.table }) else { continue }
      let moved = all.record(conflict.record, of: place)
      if moved != conflict.record { try ConflictTable.rename(moved, in: session.database) }
    }
    return stranded
  }

  /// Whether the new key of a row is free. A key is not free if this device wrote to another row that has it. Those
  /// changes stay with that other row.
  /// - Parameter leaving: the places that rows leave in the same step.
  private func isFree(_ move: Move, besides leaving: Set<RowInTable>) throws -> Bool {
    if move.new.key == move.old.key { return true }
    if leaving.contains(RowInTable(table: move.rows.schema.name, key: move.new.key)) { return true }
    return try PreImageLookup(move.rows.table, in: session.database).images(of: move.new.key).isEmpty
  }

  /// Whether this device chose the old key. If so, no other row has this key, and the hub may not know that rows here
  /// refer to it.
  private func gave(_ entry: PrimaryKeyMap.Entry) throws -> Bool {
    try RenumberedTable.isGivenHere(entry.old, in: session.tables[entry.place].name, session.database)
  }

  /// Adds the rows without pending changes that refer to one of these keys.
  private func addRows(naming entries: [PrimaryKeyMap.Entry], by map: PrimaryKeyMap, to moves: inout [Move]) throws {
    var known = Set(moves.map(\.place))
    for entry in entries { try addRows(naming: entry, by: map, to: &moves, besides: &known) }
  }

  private func addRows(
    naming entry: PrimaryKeyMap.Entry, by map: PrimaryKeyMap, to moves: inout [Move],
    besides known: inout Set<RowInTable>
  ) throws {
    for (place, table) in session.tables.enumerated() {
      let rows = tables[place]
      for (column, owner) in references.columns[place].sorted(by: { $0.key < $1.key }) where owner == entry.place {
        let found = try session.database.all(
          """
          SELECT \(quotedList(table.schema.columns)) FROM \(quoted(table.name)) WHERE \
          \(quoted(table.schema.columns[column])) = :key
          """,
          ["key": entry.old]
        ) { Row($0.values(from: 0, count: table.schema.columns.count)) }
        for row in found {
          let key = table.schema.key(of: row)
          guard known.insert(RowInTable(table: table.name, key: key)).inserted else { continue }
          moves.append(Move(rows: rows, old: (key, row), new: (map.key(key, of: place), map.row(row, of: place), [])))
        }
      }
    }
  }

  /// Moves the rows, and returns the rows that cannot stay in their tables. All rows are deleted before any row is
  /// written, because a row may get the former key of another row.
  private mutating func carryOut(_ moves: [Move]) throws -> [StrandedRow] {
    var localKeys: [Int64?] = []
    var formerKeys: [RowKey] = []
    for move in moves {
      formerKeys.append(leave(move.place))
      localKeys.append(try move.rows.localKey(of: move.old.key))
      try PreImageStore.replace([], of: move.old.key, in: move.rows.table, database: session.database)
      try move.rows.write(nil, over: move.old.row, key: move.old.key)
    }
    var stranded: [StrandedRow] = []
    for ((move, localKey), former) in zip(zip(moves, localKeys), formerKeys) {
      try move.rows.keepLocalKey(localKey, for: move.new.key)
      let victim = try move.rows.row(move.new.key)
      do { try move.rows.write(move.new.row, over: victim, key: move.new.key) } catch let error as SQLiteError
        where error.kind == .unique
      {
        guard let row = move.new.row, !move.new.images.isEmpty else {
          if let row = move.old.row {
            outcome.overwritten.append(OverwrittenRow(place: move.place, former: former, row: row))
          }
          continue
        }
        stranded.append(StrandedRow(rows: move.rows, key: move.new.key, row: row, images: move.new.images))
        continue
      }
      noteOverwritten(victim, at: move.new.key, in: move.rows)
      outcome.former[move.target] = former
      try PreImageStore.replace(move.new.images, of: move.new.key, in: move.rows.table, database: session.database)
    }
    return stranded
  }

  /// Records that a row leaves its place. Returns the key that the row had before the bundle.
  private mutating func leave(_ place: RowInTable) -> RowKey {
    outcome.left.insert(place)
    return outcome.former.removeValue(forKey: place) ?? place.key
  }

  /// Records that another row takes the place of `row`. nil: the place was empty.
  private mutating func noteOverwritten(_ row: Row?, at key: RowKey, in rows: RowTable) {
    guard let row else { return }
    let place = RowInTable(table: rows.schema.name, key: key)
    outcome.overwritten.append(OverwrittenRow(place: place, former: leave(place), row: row))
  }
}

extension PrimaryKeyCollisions {
  /// Keeps the local keys of rows that get other primary keys. The hub sends each of these rows as one deleted row and
  /// one new row.
  private func keepLocalKeys(of entries: [PrimaryKeyMap.Entry]) throws {
    let map = PrimaryKeyMap(references, session.tables, entries)
    for (place, table) in session.tables.enumerated() where table.info.localKey != nil {
      let rows = tables[place]
      for (column, owner) in references.columns[place] where table.schema.key.contains(column) {
        for entry in entries where entry.place == owner {
          for key in try keys(in: table, whose: column, is: entry.old) {
            let new = map.key(key, of: place)
            if try !rows.contains(new) { try rows.keepLocalKey(rows.localKey(of: key), for: new) }
          }
        }
      }
    }
  }

  private func keys(in table: TrackedTable, whose column: Int, is value: Value) throws -> [RowKey] {
    try session.database.all(
      "\(table.allKeysSQL) WHERE \(quoted(table.schema.columns[column])) = :value", ["value": value]
    ) { RowKey($0.values(from: 0, count: table.schema.key.count)) }
  }
}

extension PrimaryKeyCollisions {
  /// Makes SQLite take new keys from the ranges that a bundle gives this device. Called after all rows of the bundle
  /// are written.
  /// - Parameter received: the newest emission whose ranges the device already has.
  static func takeBlocks(
    of bundle: borrowing VerifiedBundle, after received: EmissionNumber, _ tables: [TrackedTable], device: ReplicaID,
    in database: borrowing Database
  ) throws {
    guard tables.contains(where: { $0.rules.keys == .blocks }) else { return }
    try bundle.eachChange { line in
      guard case .block(let to, let number) = line.content, number > received else { return }
      guard let table = tables.first(where: { $0.name == line.table }), table.rules.keys == .blocks,
        let first = table.number(of: line.key), let last = table.number(of: to), first > 0, first <= last
      else { throw LineProblem("it gives no range of keys that a table here could use") }
      let block = KeyBlock(table: table.name, first: first, last: last, number: number)
      try BlockTable.add(block, of: device, in: database)
      try table.count(from: block, in: database)
    }
  }
}

extension DeviceSession {
  /// The key changes of this device's rows that one emission caused.
  func keysGiven(with number: EmissionNumber) throws -> [PrimaryKeyMap.Entry] {
    guard tables.contains(where: \.renamesRows) else { return [] }
    return try RenumberedTable.rows(with: number, in: database).compactMap { row in
      tables.firstIndex { $0.name == row.table }.map { .init(place: $0, old: row.old, new: row.new) }
    }
  }

  /// The emissions that changed keys of this device's rows, in their order.
  func emissionsWithKeys(after first: EmissionNumber, through last: EmissionNumber) throws -> [EmissionNumber] {
    try RenumberedTable.emissions(after: first, through: last, in: database)
  }

  /// The rows whose new keys this device chose, if the hub may not know these keys yet. In the order of the changes.
  func untoldKeys() throws -> [RenumberedRow] {
    guard tables.contains(where: \.renamesRows) else { return [] }
    return try RenumberedTable.unknownToHub(in: database)
  }

  /// All rows of this device that ever got other keys, in the order of the changes.
  func allKeys() throws -> [RenumberedRow] { try RenumberedTable.all(in: database) }
}
