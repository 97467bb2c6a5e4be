import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The keys that a device's bundle uses, and the keys of the same rows at the hub.
///
/// Before anything of the bundle is merged, it is decided which of its new rows need another key. A child may come
/// before its parent, and must not be attached to the row that has the parent's key here.
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
  private(set) var map: PrimaryKeyMap
  /// The rows whose keys in the bundle differ from their keys at the hub.
  private var named: Set<KeyedRow> = []
  /// The hub's rows that the bundle changes under their own keys.
  private var ownNames: Set<KeyedRow> = []
  /// The rows that got another key by this bundle, and the rows that became one with a row that was here.
  private(set) var given: [RekeyedRow] = []
  private(set) var folded: [RekeyedRow] = []
  /// The greatest keys that new rows may have, by table. Filled as they are looked up.
  private var limits: [Int: Int64] = [:]

  /// - Parameters:
  ///   - scope: the rows that the device's user may see and change.
  ///   - received: the device's emission.
  ///   - base: the state from which the device made its changes.
  ///   - own: the changes of the log that are the device's own.
  ///   - translation: the translation of the bundle's version.
  ///   - ranges: the keys that the device may assign.
  init(
    _ scope: ScopeStore, _ device: EnrolledDevice, received: EmissionNumber, base: ChangeBase, own: OwnChanges,
    bundle: BundleID,
    _ shared: SharedChanges?, _ translation: SchemaTranslation, _ ranges: PrimaryKeyRanges
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
    references = try PrimaryKeyReferences(store.tables)
    map = PrimaryKeyMap(references, store.tables)
  }

  /// A row that the device made, according to the bundle.
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
    /// The rows about which the bundle says anything new.
    var seen: Set<KeyedRow> = []
    /// All rows that the bundle names, also in changes that were merged before.
    var spoken: Set<KeyedRow> = []
    /// Rows among these whose natural key the bundle changes, or that it deletes.
    var moved: Set<KeyedRow> = []
    var greatest: [Int: Int64] = [:]
    var renamed: [(table: Name, old: Value, new: Value)] = []
  }

  /// Reads the bundle for the first time. A new row that was made here too becomes one with that row. A new row whose
  /// key is in use gets another key.
  func settle(_ bundle: borrowing VerifiedBundle, at now: Int64) throws {
    if references.isEmpty { return }
    var found = try findings(in: bundle)
    for birth in found.insertedRows { try raiseNewKeys(above: birth, &found) }
    for name in found.renamed { try store.takeOver(name.old, name.new, in: name.table, of: device.id, at: received) }
    for row in try store.rekeyed(of: device.id, at: received, but: own.sealed) { add(row) }
    ownNames = found.seen.filter { found.born[$0] == nil }
    var decided: Set<KeyedRow> = []
    for birth in found.insertedRows { try decide(birth, found, &decided, at: now) }
  }

  /// Decides about a new row, after the rows that it refers to: they may be part of its natural key.
  private func decide(_ birth: InsertedRow, _ found: Findings, _ decided: inout Set<KeyedRow>, at now: Int64) throws {
    guard decided.insert(KeyedRow(place: birth.place, key: birth.key)).inserted else { return }
    for (column, owner) in references.columns[birth.place].sorted(by: { $0.key < $1.key }) {
      let key = store.tables[owner].key(namedBy: birth.row[column])
      if let parent = found.born[KeyedRow(place: owner, key: key)] {
        try decide(parent, found, &decided, at: now)
      }
    }
    guard map.new(birth.key, in: birth.place) == nil else { return }
    // Another copy of the device may have delivered the same row.
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

  private func findings(in bundle: borrowing VerifiedBundle) throws -> Findings {
    var found = Findings()
    let natural = store.tables.map { $0.folds ? $0.naturalColumns : [] }
    try bundle.eachChange { line in
      guard let place = store.place(of: line.table), let key = store.tables[place].singleKey(line.key) else { return }
      if case .rekey(let to, let number) = line.content {
        guard let new = store.tables[place].singleKey(to) else {
          throw LineProblem("its new key is none of this table")
        }
        shared?.note((key, KeyedRow(place: place, key: new)))
        // The device's last bundle already contains everything that the device did before it.
        if number > device.proved { found.renamed.append((line.table, key, new)) }
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
        if case .integer(let number) = key { ranges.noteSent(number, isFromBefore: step.first == nil, in: place) }
        found.born[row] = birth
      case .update(let set, _):
        if set.contains(where: { schema.position(of: $0.name).map(natural[place].contains) ?? false }) {
          found.moved.insert(row)
        }
      default: found.moved.insert(row)
      }
      // The device changed or deleted this row before any insert. So it got the row from the hub, or the hub already
      // has the row. The row's key stays in any case.
      found.seen.insert(row)
    }
    return found
  }

  /// Whether later new rows must get keys above this one. A key far above all others has no effect, because its row is
  /// not accepted. With `"blocks"` only keys of accepted rows count: see `raiseNewKeys`.
  private func raisesNewKeys(_ key: Int64, in place: Int) throws -> Bool {
    if store.tables[place].rules.keys == .blocks { return false }
    return try key <= limit(in: place)
  }

  private func limit(in place: Int) throws -> Int64 {
    let limit = try limits[place] ?? PrimaryKeyLimit(store).greatest(in: place) ?? Int64.max
    limits[place] = limit
    return limit
  }

  /// Sees to it that rows that get new keys get other ones than this new row, which is about to be taken.
  private func raiseNewKeys(above birth: InsertedRow, _ found: inout Findings) throws {
    guard store.tables[birth.place].rules.keys == .blocks, case .integer(let number) = birth.key,
      try number > found.greatest[birth.place] ?? 0 && number <= limit(in: birth.place) && !isForbidden(birth)
    else { return }
    found.greatest[birth.place] = number
  }

  private func isForbidden(_ birth: InsertedRow) throws -> Bool {
    try ranges.forbids(RowKey([birth.key]), in: birth.place, .sent(isFromBefore: birth.step.first == nil))
  }

  /// Whether a person must let a new row in because of its key. A key that a row has is no key for it: it gets another
  /// one.
  private func waitsForItsKey(_ birth: InsertedRow) throws -> Bool {
    try store.rows[birth.place].row(RowKey([birth.key])) == nil && isForbidden(birth)
  }

  /// The key of the only row with the same natural key as a row that the device made. nil if there is none, if the
  /// device may not change it, or if the device distinguishes the two. It does so if the same bundle changes the
  /// natural key of its row, or names the other row as well.
  private func twin(of birth: InsertedRow, _ found: Findings) throws -> Value? {
    let table = store.tables[birth.place]
    guard table.folds, !found.moved.contains(KeyedRow(place: birth.place, key: birth.key)) else { return nil }
    guard let twin = try store.twin(of: map.row(birth.row, of: birth.place), in: birth.place, for: scope) else {
      return nil
    }
    let row = KeyedRow(place: birth.place, key: twin)
    // A new row of the device that has the key by chance is a different row.
    if found.spoken.contains(row), found.born[row] == nil { return nil }
    if named.contains(row) { return nil }
    return try ConflictTable.isHeld(RowKey([twin]), of: table, device: device.id, in: store.database) ? nil : twin
  }

  /// Whether the key belongs to another row, or did since the device's last bundle from the hub.
  private func isTaken(_ birth: InsertedRow) throws -> Bool {
    let key = RowKey([birth.key])
    if let row = try store.rows[birth.place].row(key) {
      // A match with a row that the user may not see would reveal the content of that row.
      if try !scope.maySee(key, in: birth.place) { return true }
      // The same row, made twice. A row that was changed since is not the same: the device may have seen it before.
      return try row != map.row(birth.row, of: birth.place) || !store.isAsInserted(key, in: birth.place)
    }
    if try store.isGiven(birth.key, in: birth.place) { return true }
    let past = try store.past(of: key, in: birth.place)
    // A number without a stamp belongs to no row that was ever here: a change waits for it, or it must be sent again.
    guard let since = base.cursor else {
      guard let past, past.stamp != .zero else { return false }
      return try !isDeletedByOther(birth, past)
    }
    let others = try store.changesByOthers(of: past, in: birth.place, after: since, than: own)
    if others.presence { return true }
    return try ConflictTable.isAwaited(
      key, of: store.tables[birth.place].name, byOtherThan: device.id, in: store.database)
  }

  /// Whether the hub only knows this same row from its deletion. In the time that the hub lost, another device had the
  /// row, and it delivered again before the device that made the row.
  private func isDeletedByOther(_ birth: InsertedRow, _ past: RowNumbers.Entry) throws -> Bool {
    guard base.isFormerEpoch else { return false }
    let made = store.rows[birth.place].schema.fields(map.row(birth.row, of: birth.place))
    var isDeleted = false
    try store.eachChange(of: past, after: store.identity.epochCursor) { entry in
      isDeleted = entry.operation == .delete && entry.stamp > birth.step.stamp && entry.was == made
      return .enough
    }
    return isDeleted
  }

  // MARK: translation into the hub's keys

  /// The step in the hub's keys. If the keys differ, the row must be sent to the device as it is here.
  func translated(_ step: Step, in place: Int) throws -> Step {
    let moved = map.step(step, of: place)
    if moved == step { return step }
    for key in Set([step.key, moved.key]) { try store.owe(key, in: place, to: device.id) }
    return moved
  }

  /// Whether the step belongs to a row that became one with a row which the same bundle changes under its own key. On
  /// the device they were two rows, so a value written into the first must not overwrite a value written into the
  /// second.
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
