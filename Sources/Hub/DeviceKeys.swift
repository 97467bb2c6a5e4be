import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The keys by which a device's bundle speaks, and those that its rows have at the hub.
///
/// It is decided before anything of the bundle is merged which of its new rows must have another key: a child may stand
/// before its parent, and must not be hung on the row that has the parent's key here.
final class DeviceKeys {
  private let store: HubStore
  private let scope: ScopeStore
  private let device: EnrolledDevice
  private let received: EmissionNumber
  private let base: ChangeBase
  private let own: OwnChanges
  private let bundle: BundleID
  private let shared: SharedChanges?
  private let references: KeyReferences
  private let speech: Speech
  private(set) var map: KeyMap
  /// The rows of which the bundle speaks by other keys than the hub.
  private var named: Set<KeyedRow> = []
  /// The rows of the hub's that the bundle changes under their own keys.
  private var ownNames: Set<KeyedRow> = []
  /// The rows that got another key by this bundle, and those that became one with a row that was here.
  private(set) var given: [RekeyedRow] = []
  private(set) var folded: [RekeyedRow] = []
  /// The greatest keys that new rows may have, by table, as far as they were looked up.
  private var limits: [Int: Int64] = [:]

  /// - Parameters:
  ///   - scope: what the device's user may see and change.
  ///   - received: the emission on which the device stood.
  ///   - base: from what the device made its changes.
  ///   - own: which changes of the log are the device's own.
  ///   - speech: of the bundle.
  init(
    _ scope: ScopeStore, _ device: EnrolledDevice, received: EmissionNumber, base: ChangeBase, own: OwnChanges,
    bundle: BundleID,
    _ shared: SharedChanges?, _ speech: Speech
  ) throws {
    store = scope.store
    self.scope = scope
    self.device = device
    self.received = received
    self.base = base
    self.own = own
    self.bundle = bundle
    self.shared = shared
    self.speech = speech
    references = try KeyReferences(store.tables)
    map = KeyMap(references, store.tables)
  }

  /// A row that the bundle says the device made.
  private struct Birth: Hashable {
    let place: Int
    let key: Value
    let row: Row
    let step: Step
  }

  /// What a first reading of the bundle finds.
  private struct Findings {
    /// In the order of the bundle.
    var births: [Birth] = []
    var born: [KeyedRow: Birth] = [:]
    /// The rows of which the bundle says anything new.
    var seen: Set<KeyedRow> = []
    /// The rows of which it speaks at all, also of what was merged before.
    var spoken: Set<KeyedRow> = []
    /// Of those, the ones whose natural key it changes, or that it deletes.
    var moved: Set<KeyedRow> = []
    var greatest: [Int: Int64] = [:]
    var renamed: [(table: Name, old: Value, new: Value)] = []
  }

  /// Reads the bundle for the first time. Of its new rows, those that were made here too become one with what is here,
  /// and those that have a key that is taken get another one.
  func settle(_ bundle: borrowing VerifiedBundle, at now: Int64) throws {
    if references.isEmpty { return }
    let found = try findings(in: bundle)
    for name in found.renamed { try store.takeOver(name.old, name.new, in: name.table, of: device.id, at: received) }
    for row in try store.rekeyed(of: device.id, at: received, but: own.sealed) { add(row) }
    ownNames = found.seen.filter { found.born[$0] == nil }
    var decided: Set<KeyedRow> = []
    for birth in found.births { try decide(birth, found, &decided, at: now) }
  }

  /// Decides about a new row, and before it about those to which it refers: they may be a part of its natural key.
  private func decide(_ birth: Birth, _ found: Findings, _ decided: inout Set<KeyedRow>, at now: Int64) throws {
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
    } else if try store.tables[birth.place].givesNewKeys && isTaken(birth) {
      let floor = found.greatest[birth.place] ?? 0
      guard
        let row = try store.giveNewKey(to: birth.key, in: birth.place, of: device.id, by: bundle, above: floor, at: now)
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
        // What the device did before its last bundle, that one has told.
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
      let fitted = try store.fitted(line, in: place, speech)
      switch fitted.content {
      case .insert(let fields) where !found.seen.contains(row):
        let step = try fitted.step(in: schema)
        let birth = Birth(place: place, key: key, row: try schema.row(fields), step: step)
        found.births.append(birth)
        found.born[row] = birth
      case .update(let set, _):
        if set.contains(where: { schema.position(of: $0.name).map(natural[place].contains) ?? false }) {
          found.moved.insert(row)
        }
      default: found.moved.insert(row)
      }
      // A row that the device changed or deleted first, it had from the hub, or the hub has it: its key stays, come
      // what may.
      found.seen.insert(row)
    }
    return found
  }

  /// Whether new rows must get keys above this one. A key far above all others that a line names counts for nothing: a
  /// row with it is not taken.
  private func raisesNewKeys(_ key: Int64, in place: Int) throws -> Bool {
    let limit = try limits[place] ?? KeyLimit(store).greatest(in: place) ?? Int64.max
    limits[place] = limit
    return key <= limit
  }

  /// The key of the row that is the same thing as one that the device made: the only one with its natural key. nil:
  /// there is none, or it is not the device's to change, or the device tells the two apart: it changes the natural key
  /// of its row in the same bundle, or speaks of the other row as well.
  private func twin(of birth: Birth, _ found: Findings) throws -> Value? {
    let table = store.tables[birth.place]
    guard table.folds, !found.moved.contains(KeyedRow(place: birth.place, key: birth.key)) else { return nil }
    guard let twin = try store.twin(of: map.row(birth.row, of: birth.place), in: birth.place, for: scope) else {
      return nil
    }
    let row = KeyedRow(place: birth.place, key: twin)
    // A new row of the device's that has the key by chance is another one.
    if found.spoken.contains(row), found.born[row] == nil { return nil }
    if named.contains(row) { return nil }
    return try ConflictTable.isHeld(RowKey([twin]), of: table, device: device.id, in: store.database) ? nil : twin
  }

  /// Whether the key is another row's, or was one's since the device heard of the hub.
  private func isTaken(_ birth: Birth) throws -> Bool {
    let key = RowKey([birth.key])
    if let row = try store.rows[birth.place].row(key) {
      // That a row which the user may not see is just like the user's own would tell what is in it.
      if try !scope.maySee(key, in: birth.place) { return true }
      // The same row, made twice alike. One that was changed since is not: the device may have seen it before that.
      return try row != map.row(birth.row, of: birth.place) || !store.isAsInserted(key, in: birth.place)
    }
    if try store.isGiven(birth.key, in: birth.place) { return true }
    let past = try store.past(of: key, in: birth.place)
    // A number without a stamp is of no row that ever was here: somebody waits for it, or is owed it.
    guard let since = base.cursor else {
      guard let past, past.stamp != .zero else { return false }
      return try !isDeletedByOther(birth, past)
    }
    let others = try store.changesByOthers(of: past, in: birth.place, after: since, than: own)
    if others.presence { return true }
    return try ConflictTable.isAwaited(
      key, of: store.tables[birth.place].name, byOtherThan: device.id, in: store.database)
  }

  /// Whether the hub knows of this very row, and of its deletion alone: in the time that the hub lost, another device
  /// had the row, and it delivered again before the device that made it.
  private func isDeletedByOther(_ birth: Birth, _ past: RowNumbers.Entry) throws -> Bool {
    guard base.isFormerEpoch else { return false }
    let made = store.rows[birth.place].schema.fields(map.row(birth.row, of: birth.place))
    var isDeleted = false
    try store.eachChange(of: past, after: store.identity.epochCursor) { entry in
      isDeleted = entry.operation == .delete && entry.stamp > birth.step.stamp && entry.was == made
      return .enough
    }
    return isDeleted
  }

  // MARK: the hub's words for it

  /// The step as it concerns the hub's rows. What was not taken as sent is owed: the device must be shown it as it is.
  func translated(_ step: Step, in place: Int) throws -> Step {
    let moved = map.step(step, of: place)
    if moved == step { return step }
    for key in Set([step.key, moved.key]) { try store.owe(key, in: place, to: device.id) }
    return moved
  }

  /// Whether the step is of a row that became a part of one which the same bundle changes under its own key. To the
  /// device they were two: what it wrote into the one must not write over what it wrote into the other.
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
