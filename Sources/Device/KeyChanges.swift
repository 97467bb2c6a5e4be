import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A row of this device's own that got another key.
public struct RekeyedHere: Hashable, Sendable {
  public let table: Name
  public let old: Int64
  public let new: Int64
  /// The emission with which it did.
  let number: EmissionNumber
}

/// What a bundle of the hub's changes in the keys of this device's own rows. It comes before all else that the bundle says.
///
/// There are two reasons for a new key. The hub gave one, because it had another row with the old one when this device's came: it says so.
/// Or the hub sends a row, or gives a key, that a row of this device's has of which the hub does not know: then the hub's row was first,
/// and the device finds another key by itself, and tells.
///
/// The rows that the hub itself owes are sent by it anyway. Here follow those that have pending changes, with their pre-images: they speak
/// of what this device wrote.
struct KeyChanges {
  private let session: DeviceSession
  private let scope: Manifest.Scope
  private let references: KeyReferences

  init(_ session: DeviceSession, _ scope: Manifest.Scope) throws {
    self.session = session
    self.scope = scope
    references = try KeyReferences(session.tables)
  }

  private struct NumberedRow: Hashable {
    let place: Int
    let key: Int64
  }

  /// What the bundle says that matters for keys.
  private struct Findings {
    var told: [KeyMap.Entry] = []
    /// The hub's rows that have the keys of new rows of this device's.
    var incoming: [NumberedRow: Row] = [:]
    /// The greatest key of each table.
    var greatest: [Int: Int64] = [:]

    mutating func see(_ key: Int64, in place: Int) { greatest[place] = max(greatest[place] ?? 0, key) }
  }

  /// Gives the rows their new keys. The caller holds the transaction, and triggers sleep.
  func carryOut(_ bundle: borrowing VerifiedBundle, _ snapshot: Snapshot?) throws -> [RekeyedHere] {
    if references.isEmpty { return [] }
    try session.database.run(
      "UPDATE satchel_rekeyed SET known = 1 WHERE sequence < :acknowledged",
      ["acknowledged": .integer(scope.acknowledged.rawValue)])
    let births = try births()
    var found = Findings()
    if let snapshot { try look(at: snapshot, for: births, &found) }
    try look(at: bundle, for: births, &found)
    let yielding = try yielding(births, found)
    for entry in found.told { try note(entry, sequence: nil) }
    for entry in yielding { try note(entry, sequence: session.state.sequence) }
    try move(found.told, yielding)
    return (found.told + yielding).map {
      RekeyedHere(table: session.tables[$0.place].name, old: $0.old, new: $0.new, number: scope.number)
    }
  }

  /// The rows that this device made and the hub is not known to have, as they were when they were made.
  private func births() throws -> [NumberedRow: Row] {
    var births: [NumberedRow: Row] = [:]
    for (place, table) in session.tables.enumerated() where table.givesNewKeys {
      try PreImageStore.each(table, since: .zero, in: session.database) { key, images, current in
        guard images[0].row == nil, let number = table.number(of: key) else { return }
        let made = (images.dropFirst().map(\.row) + [current]).compactMap(\.self).first
        if let made { births[NumberedRow(place: place, key: number)] = made }
      }
    }
    return births
  }

  private func look(at snapshot: Snapshot, for births: [NumberedRow: Row], _ found: inout Findings) throws {
    for (place, table) in session.tables.enumerated() where table.givesNewKeys {
      let rows = try RowTable(table, in: snapshot.database)
      for birth in births.keys where birth.place == place { found.incoming[birth] = try rows.row(RowKey([.integer(birth.key)])) }
      found.see(try table.greatestRow(in: snapshot.database), in: place)
    }
  }

  private func look(at bundle: borrowing VerifiedBundle, for births: [NumberedRow: Row], _ found: inout Findings) throws {
    try bundle.eachChange { line in
      guard let place = session.tables.firstIndex(where: { $0.name == line.table }), session.tables[place].givesNewKeys,
        let key = session.tables[place].number(of: line.key)
      else { return }
      switch line.content {
      case .rekey(let to, let number):
        guard let new = session.tables[place].number(of: to) else { throw LineProblem("its new key is no number") }
        found.see(new, in: place)
        // Another bundle has told before.
        if number <= session.state.received { return }
        let old = try own(key, in: line.table)
        if old != new { found.told.append(.init(place: place, old: old, new: new)) }
      // The device's next keys are to be of this range.
      case .block: found.see(key - 1, in: place)
      case .row(let fields):
        found.see(key, in: place)
        let row = NumberedRow(place: place, key: key)
        if births[row] != nil { found.incoming[row] = try session.tables[place].schema.row(fields) }
      default: break
      }
    }
  }

  /// The key that this device has meanwhile given a row that the hub knows by `key`.
  private func own(_ key: Int64, in table: Name) throws -> Int64 {
    try session.untoldKeys().reduce(key) { key, row in row.table == table && row.old == key ? row.new : key }
  }

  /// The rows of this device's own that must give way, with their new keys: greater than any that it has ever seen.
  private func yielding(_ births: [NumberedRow: Row], _ found: Findings) throws -> [KeyMap.Entry] {
    let targets = Set(found.told.map { NumberedRow(place: $0.place, key: $0.new) })
    var greatest = found.greatest
    return try births.keys.sorted { ($0.place, $0.key) < ($1.place, $1.key) }.compactMap { birth in
      let isSame = found.incoming[birth].map { $0 == births[birth] } ?? true
      if isSame, !targets.contains(birth) { return nil }
      let table = session.tables[birth.place]
      let last = max(greatest[birth.place] ?? 0, try table.greatestKey(in: session.database))
      // At the end of all numbers nothing is left to give: the rows meet, and that is a conflict.
      if last == Int64.max { return nil }
      greatest[birth.place] = last + 1
      return .init(place: birth.place, old: birth.key, new: last + 1)
    }
  }

  private func note(_ entry: KeyMap.Entry, sequence: SequenceNumber?) throws {
    try session.database.run(
      """
      INSERT INTO satchel_rekeyed (table_name, old_key, new_key, number, sequence, known)
      VALUES (:table, :old, :new, :number, :sequence, :known)
      """,
      [
        "table": .string(session.tables[entry.place].name.text), "old": .integer(entry.old), "new": .integer(entry.new),
        "number": .integer(scope.number.rawValue), "sequence": sequence.map { .integer($0.rawValue) } ?? .null,
        "known": .integer(sequence == nil ? 1 : 0),
      ])
  }

  // MARK: what has the new names

  /// A row with pending changes before and after.
  private struct Move {
    let rows: RowTable
    let old: (key: RowKey, row: Row?)
    let new: (key: RowKey, row: Row?, images: [PreImage])
  }

  /// Writes the new keys wherever this device's own changes name the old ones.
  private func move(_ told: [KeyMap.Entry], _ yielding: [KeyMap.Entry]) throws {
    if told.isEmpty && yielding.isEmpty { return }
    let byHub = KeyMap(references, session.tables, told)
    let all = KeyMap(references, session.tables, told + yielding)
    var moves: [Move] = []
    for (place, table) in session.tables.enumerated() where !references.columns[place].isEmpty {
      let rows = try RowTable(table, in: session.database)
      try PreImageStore.each(table, since: .zero, in: session.database) { key, images, current in
        let base = images[0].row
        // What stood there before this device wrote is the hub's word for it, and the hub's words are right.
        func moved(_ row: Row) -> Row {
          var moved = all.row(row, of: place)
          for column in references.columns[place].keys where base?[column] == row[column] {
            moved[column] = byHub.value(row[column], in: column, of: place)
          }
          return moved
        }
        let newImages = images.map { PreImage(generation: $0.generation, stamp: $0.stamp, row: $0.row.map(moved)) }
        let new = (key: (base == nil ? all : byHub).key(key, of: place), row: current.map(moved), images: newImages)
        if new.key == key, new.row == current, newImages == images { return }
        moves.append(Move(rows: rows, old: (key, current), new: new))
      }
    }
    for entry in try told.filter({ try gave($0) }) { try addRows(naming: entry, by: byHub, to: &moves) }
    try carryOut(moves)
    for conflict in try ConflictTable.list([.open, .held], in: session.database) {
      guard let place = session.tables.firstIndex(where: { $0.name == conflict.record.table }) else { continue }
      let moved = all.record(conflict.record, of: place)
      if moved != conflict.record { try ConflictTable.rename(moved, in: session.database) }
    }
  }

  /// Whether the old key is one that this device had given: no row of anybody else's has it, and the hub may not know that rows here name it.
  private func gave(_ entry: KeyMap.Entry) throws -> Bool {
    try session.database.first(
      "SELECT 1 FROM satchel_rekeyed WHERE table_name = :table AND new_key = :key AND sequence IS NOT NULL",
      ["table": .string(session.tables[entry.place].name.text), "key": .integer(entry.old)]
    ) { _ in true } ?? false
  }

  /// Adds the rows without pending changes that name a key.
  private func addRows(naming entry: KeyMap.Entry, by map: KeyMap, to moves: inout [Move]) throws {
    for (place, table) in session.tables.enumerated() {
      let rows = try RowTable(table, in: session.database)
      for (column, owner) in references.columns[place].sorted(by: { $0.key < $1.key }) where owner == entry.place {
        let found = try session.database.all(
          "SELECT \(quotedList(table.schema.columns)) FROM \(quoted(table.name)) WHERE \(quoted(table.schema.columns[column])) = :key",
          ["key": .integer(entry.old)]
        ) { Row($0.values(from: 0, count: table.schema.columns.count)) }
        for row in found {
          let key = table.schema.key(of: row)
          if moves.contains(where: { $0.rows.schema.name == table.name && $0.old.key == key }) { continue }
          moves.append(Move(rows: rows, old: (key, row), new: (map.key(key, of: place), map.row(row, of: place), [])))
        }
      }
    }
  }

  /// All leave before any enters: one may get the key that another had.
  private func carryOut(_ moves: [Move]) throws {
    for move in moves {
      try PreImageStore.replace([], of: move.old.key, in: move.rows.table, database: session.database)
      try move.rows.write(nil, over: move.old.row, key: move.old.key)
    }
    for move in moves {
      try PreImageStore.replace(move.new.images, of: move.new.key, in: move.rows.table, database: session.database)
      // A row that is still there is one that the hub is about to send anew.
      try move.rows.write(move.new.row, over: try move.rows.row(move.new.key), key: move.new.key)
    }
  }
}

extension KeyChanges {
  /// Makes SQLite hand out keys of the ranges that a bundle gives this device. Called when all rows of the bundle are there.
  /// - Parameter received: the emission up to which the device knows its ranges.
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
  /// The keys that rows of this device's own got with one emission.
  func keysGiven(with number: EmissionNumber) throws -> [KeyMap.Entry] {
    guard tables.contains(where: \.givesNewKeys) else { return [] }
    return try database.all(
      "SELECT table_name, old_key, new_key FROM satchel_rekeyed WHERE number = :number ORDER BY entry",
      ["number": .integer(number.rawValue)]
    ) { row in
      tables.firstIndex { $0.name == Name(row.text(0)) }.map { .init(place: $0, old: row.integer(1), new: row.integer(2)) }
    }.compactMap(\.self)
  }

  /// The rows that got their keys from this device, and of which the hub is not known to know that, in the order in which they got them.
  func untoldKeys() throws -> [RekeyedHere] {
    guard tables.contains(where: \.givesNewKeys) else { return [] }
    return try database.all("SELECT table_name, old_key, new_key, number FROM satchel_rekeyed WHERE known = 0 ORDER BY entry") {
      RekeyedHere(table: Name($0.text(0)), old: $0.integer(1), new: $0.integer(2), number: EmissionNumber($0.integer(3)))
    }
  }
}
