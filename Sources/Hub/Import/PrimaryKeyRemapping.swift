import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Translates the keys in a device's bundle into the keys of the same rows at the hub.
///
/// Before it merges any part of the bundle, the hub decides which new rows need another key. The reason: in the bundle,
/// a child may come before its parent. At the hub, another row may have the parent's key, and the child must not be
/// attached to that row.
final class PrimaryKeyRemapping {
  private let store: HubStore
  private let scope: ScopeStore
  private let device: EnrolledDevice
  private let received: EmissionNumber
  private let base: ChangeBase
  private let own: OwnChanges
  private let bundle: BundleID
  private let shared: SharedChanges?
  private let references: PrimaryKeyReferences
  private let translation: SchemaTranslation
  private let ranges: PrimaryKeyRanges
  private let lost: LostRows
  private(set) var map: PrimaryKeyMap
  /// The rows whose keys in the bundle differ from their keys at the hub, under their keys at the hub.
  private var named: Set<KeyedRow> = []
  /// Rows that the bundle changes and does not insert. The device has them under the hub's keys.
  private var ownNames: Set<KeyedRow> = []
  /// `given`: rows that get another key because of this bundle. `folded`: new rows that become one with a row at the
  /// hub.
  private(set) var given: [RekeyedRow] = []
  private(set) var folded: [RekeyedRow] = []
  /// The greatest key that a new row may have, for each table that was looked up.
  private var limits: [Int: Int64] = [:]

  /// - Parameters:
  ///   - scope: the rows that the device's user may see and change.
  ///   - received: the emission that the device had.
  ///   - base: the state from which the device made its changes.
  ///   - own: the changes in the log that count as the device's own.
  ///   - translation: the translation from the bundle's version of the dataset.
  ///   - ranges: the keys that the device may give to new rows.
  ///   - lost: rows of the lost time that devices will deliver again.
  init(
    _ scope: ScopeStore, _ device: EnrolledDevice, received: EmissionNumber, base: ChangeBase, own: OwnChanges,
    bundle: BundleID,
    _ shared: SharedChanges?, _ translation: SchemaTranslation, _ ranges: PrimaryKeyRanges, _ lost: LostRows
  ) throws {
    store = scope.store
    self.scope = scope
    self.device = device
    self.received = received
    self.base = base
    self.own = own
    self.bundle = bundle
    self.shared = shared
    self.translation = translation
    self.ranges = ranges
    self.lost = lost
    references = try PrimaryKeyReferences(store.tables)
    map = PrimaryKeyMap(references, store.tables)
  }

  /// A row that the bundle inserts.
  private struct InsertedRow: Hashable {
    let place: Int
    let key: Value
    let row: Row
    let step: Step
  }

  /// The results of the first reading of the bundle.
  private struct Findings {
    /// The new rows, in the order of the bundle.
    var insertedRows: [InsertedRow] = []
    var born: [KeyedRow: InsertedRow] = [:]
    /// The rows for which the bundle has a change that is not merged yet.
    var seen: Set<KeyedRow> = []
    /// All rows that the bundle names, even if their changes were merged before.
    var spoken: Set<KeyedRow> = []
    /// Rows whose natural key the bundle changes, and rows that the bundle deletes.
    var moved: Set<KeyedRow> = []
    var greatest: [Int: Int64] = [:]
    var renamed: [(row: KeyedRow, new: Value)] = []
  }

  /// Reads the bundle for the first time, and decides about the keys of its new rows. If the hub has the same row
  /// already, the two rows become one. If another row has the key of a new row, the new row gets another key.
  /// - Parameter most: the memory that the bundle's new rows may need, in bytes.
  func settle(_ bundle: borrowing VerifiedBundle, at now: Int64, mostMemory most: Int) throws {
    if references.isEmpty { return }
    var found = try findings(in: bundle, StepMemory(most: most))
    for birth in found.insertedRows { try raiseNewKeys(above: birth, &found) }
    try store.takeOver(found.renamed, of: device.id, at: received)
    for row in try store.rekeyed(of: device.id, at: received, but: own.sealed) { add(row) }
    ownNames = found.seen.filter { found.born[$0] == nil }
    var decided: Set<KeyedRow> = []
    for birth in found.insertedRows { try decideInOrder(birth, found, &decided, at: now) }
  }

  /// Decides about a new row, after it has decided about the new rows to which the row refers. They come first because
  /// they may be part of its natural key. A chain of such rows may have any length, so the code uses a stack and no
  /// recursion.
  private func decideInOrder(
    _ birth: InsertedRow, _ found: Findings, _ decided: inout Set<KeyedRow>, at now: Int64
  ) throws {
    var stack = [(row: birth, isNext: false)]
    while let (row, isNext) = stack.popLast() {
      if isNext {
        try decide(row, found, at: now)
      } else if decided.insert(KeyedRow(place: row.place, key: row.key)).inserted {
        stack.append((row, true))
        for parent in parents(of: row, found).reversed() { stack.append((parent, false)) }
      }
    }
  }

  /// Returns the new rows of the bundle to which a new row refers.
  private func parents(of birth: InsertedRow, _ found: Findings) -> [InsertedRow] {
    references.columns[birth.place].sorted { $0.key < $1.key }.compactMap { column, owner in
      found.born[KeyedRow(place: owner, key: store.tables[owner].key(namedBy: birth.row[column]))]
    }
  }

  private func decide(_ birth: InsertedRow, _ found: Findings, at now: Int64) throws {
    guard map.new(birth.key, in: birth.place) == nil else { return }
    // A copy of the device may have delivered the same row already.
    if let twin = try shared?.key(ofBorn: birth.step, in: birth.place) ?? twin(of: birth, found) {
      if twin == birth.key { return }
      let row = try store.rename(birth.key, to: twin, in: birth.place, of: device.id, by: bundle, at: now)
      add(row)
      folded.append(row)
    } else if try store.tables[birth.place].givesNewKeys && isTaken(birth) && !waitsForItsKey(birth) {
      let floor = found.greatest[birth.place] ?? 0
      guard
        let row = try store.giveNewKey(
          to: birth.key, in: birth.place, of: device.id, by: bundle, above: floor, at: now,
          butFor: { found.born[KeyedRow(place: birth.place, key: $0)] != nil })
      else { return }
      add(row)
      given.append(row)
    }
  }

  private func add(_ row: RekeyedRow) {
    guard let place = store.place(of: row.table) else { return }
    map.add(.init(place: place, old: row.old, new: row.new))
    named.insert(KeyedRow(place: place, key: row.new))
  }

  private func findings(in bundle: borrowing VerifiedBundle, _ limit: StepMemory) throws -> Findings {
    var found = Findings()
    var (memory, bytes) = (limit, 0)
    let natural = store.tables.map { $0.folds ? $0.naturalColumns : [] }
    try bundle.eachChange { line in
      guard let place = store.place(of: line.table), let key = store.tables[place].singleKey(line.key) else { return }
      if case .rekey(let to, let number) = line.content {
        guard let new = store.tables[place].singleKey(to) else {
          throw LineProblem("its new key is not a key of this table")
        }
        shared?.note((key, KeyedRow(place: place, key: new)))
        // New keys up to the proved emission are left out: an export that the hub has merged already reported them.
        if number > device.proved { found.renamed.append((row: KeyedRow(place: place, key: key), new: new)) }
        return
      }
      if case .integer(let number) = key, try raisesNewKeys(number, in: place) {
        found.greatest[place] = max(found.greatest[place] ?? 0, number)
      }
      let row = KeyedRow(place: place, key: key)
      found.spoken.insert(row)
      guard let generation = line.generation, generation.rawValue >= device.merged.rawValue else { return }
      let schema = store.tables[place].schema
      let fitted = try store.fitted(line, in: place, translation)
      switch fitted.content {
      case .insert(let fields) where !found.seen.contains(row):
        let step = try fitted.step(in: schema)
        let birth = InsertedRow(place: place, key: key, row: try schema.row(fields), step: step)
        found.insertedRows.append(birth)
        bytes += StepMemory.bytes(of: step)
        try memory.add(step) { bytes }
        if case .integer(let number) = key { ranges.noteSent(number, isFromBefore: step.first == nil, in: place) }
        found.born[row] = birth
      case .update(let set, _):
        if set.contains(where: { schema.position(of: $0.name).map(natural[place].contains) ?? false }) {
          found.moved.insert(row)
        }
      default: found.moved.insert(row)
      }
      // The bundle changes or deletes this row before any insert. So the row came from the hub, or the hub already has
      // it. In both cases the row keeps its key.
      found.seen.insert(row)
    }
    return found
  }

  /// Whether the hub must give later new rows keys above this key. The answer is no for a key above the limit, because
  /// the hub does not accept its row. With `"blocks"`, only keys of accepted rows count: see `raiseNewKeys`.
  private func raisesNewKeys(_ key: Int64, in place: Int) throws -> Bool {
    if store.tables[place].rules.keys == .blocks { return false }
    return try key <= limit(in: place)
  }

  private func limit(in place: Int) throws -> Int64 {
    let limit = try limits[place] ?? PrimaryKeyLimit(store).greatest(in: place) ?? Int64.max
    limits[place] = limit
    return limit
  }

  /// Ensures that no other row gets the key of this new row, if the hub is about to accept the row.
  private func raiseNewKeys(above birth: InsertedRow, _ found: inout Findings) throws {
    guard store.tables[birth.place].rules.keys == .blocks, case .integer(let number) = birth.key,
      try number > found.greatest[birth.place] ?? 0 && number <= limit(in: birth.place) && !isForbidden(birth)
    else { return }
    found.greatest[birth.place] = number
  }

  private func isForbidden(_ birth: InsertedRow) throws -> Bool {
    try ranges.forbids(RowKey([birth.key]), in: birth.place, .sent(isFromBefore: birth.step.first == nil))
  }

  /// Whether a new row must wait for a person's decision because of its key. If another row has the key, the new row
  /// gets another key and does not wait.
  private func waitsForItsKey(_ birth: InsertedRow) throws -> Bool {
    try store.rows[birth.place].row(RowKey([birth.key])) == nil && isForbidden(birth)
  }

  /// Returns the key of the only row at the hub with the same natural key as a new row of the device. nil if there is
  /// no such row, or if the user may not change it. nil also if the device distinguishes the two rows. Its bundle then
  /// names both rows, or changes the natural key of the new row.
  private func twin(of birth: InsertedRow, _ found: Findings) throws -> Value? {
    let table = store.tables[birth.place]
    guard table.folds, !found.moved.contains(KeyedRow(place: birth.place, key: birth.key)) else { return nil }
    guard let twin = try store.twin(of: map.row(birth.row, of: birth.place), in: birth.place, for: scope) else {
      return nil
    }
    let row = KeyedRow(place: birth.place, key: twin)
    // The bundle names the other row. But if the bundle also inserts a row with that key, only the keys are equal by
    // chance.
    if found.spoken.contains(row), found.born[row] == nil { return nil }
    if named.contains(row) { return nil }
    return try ConflictTable.isHeld(RowKey([twin]), of: table, device: device.id, in: store.database) ? nil : twin
  }

  /// Whether another row has the key, or had the key since the emission that the device had.
  private func isTaken(_ birth: InsertedRow) throws -> Bool {
    let key = RowKey([birth.key])
    if let row = try store.rows[birth.place].row(key) {
      // If the hidden row and the new row became one, the user would learn the content of the hidden row.
      if try !scope.maySee(key, in: birth.place) { return true }
      // If the hub's row is equal and was never changed, it is the same row, made twice. A hub's row that was changed
      // since its insert counts as another row, even if it is equal now: the device may have had that row before.
      return try row != map.row(birth.row, of: birth.place) || !store.isAsInserted(key, in: birth.place)
    }
    if try store.isGiven(birth.key, in: birth.place) {
      return try !lost.isSameThing(map.row(birth.row, of: birth.place), at: birth.key, in: birth.place)
    }
    let past = try store.past(of: key, in: birth.place)
    // A row number without a stamp belongs to a row that the hub never had. The number exists because a change waits
    // for the row, or because the hub must send the key again.
    guard let since = base.cursor else {
      guard let past, past.stamp != .zero else { return false }
      return try !isDeletedByOther(birth, past)
    }
    let others = try store.changesByOthers(of: past, in: birth.place, after: since, than: own)
    if others.presence { return true }
    return try ConflictTable.isAwaited(
      key, of: store.tables[birth.place].name, byOtherThan: device.id, in: store.database)
  }

  /// Whether the hub knows this new row only from its deletion. In the lost time, another device received the row and
  /// deleted it. That device delivered its work again before the device that made the row.
  ///
  /// If the deleted row had other values, the hub cannot know whether it is this row. It may be another row that had
  /// the same key by chance. So the new row keeps its key, and a person decides: see `UnknownDeletion.doubted`.
  private func isDeletedByOther(_ birth: InsertedRow, _ past: RowNumbers.Entry) throws -> Bool {
    guard base.isFormerEpoch else { return false }
    let made = store.rows[birth.place].schema.fields(map.row(birth.row, of: birth.place))
    let isUnknown = try store.unknownDeletion(past) != nil
    var isDeleted = false
    try store.eachChange(of: past, after: store.identity.epochCursor) { entry in
      isDeleted = entry.operation == .delete && entry.stamp > birth.step.stamp && (isUnknown || entry.was == made)
      return .enough
    }
    return isDeleted
  }

  // MARK: translation into the hub's keys

  /// Returns the step with the hub's keys. If the keys differ, the hub must send its row to the device.
  func translated(_ step: Step, in place: Int) throws -> Step {
    let moved = map.step(step, of: place)
    if moved == step { return step }
    for key in Set([step.key, moved.key]) { try store.owe(key, in: place, to: device.id) }
    return moved
  }

  /// Whether the step belongs to a folded row, and the bundle also changes the other row under that row's own key. On
  /// the device they were two rows, so a value of the first row must not overwrite a value of the second row.
  func isOfAnother(_ sent: Step, in place: Int) -> Bool {
    guard let key = store.tables[place].singleKey(sent.key), let new = map.new(key, in: place), new != key else {
      return false
    }
    return ownNames.contains(KeyedRow(place: place, key: new))
  }

  func translated(_ record: ConflictRecord) -> ConflictRecord {
    guard !map.isEmpty, let place = store.place(of: record.table) else { return record }
    return map.record(record, of: place)
  }
}
