import SatchelBundle
import SatchelCapture
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The keys by which a device's bundle speaks, and those that its rows have at the hub.
///
/// It is decided before anything of the bundle is merged which of its new rows must have another key: a child may stand before its
/// parent, and must not be hung on the row that has the parent's key here.
struct DeviceKeys {
  private let store: HubStore
  private let device: EnrolledDevice
  private let received: EmissionNumber
  private let since: Cursor
  private let references: KeyReferences
  private(set) var map: KeyMap
  /// The rows that got another key by this bundle.
  private(set) var given: [RekeyedRow] = []

  /// - Parameters:
  ///   - received: the emission on which the device stood.
  ///   - since: the hub's cursor at that emission.
  init(_ store: HubStore, _ device: EnrolledDevice, received: EmissionNumber, since: Cursor) throws {
    self.store = store
    self.device = device
    self.received = received
    self.since = since
    references = try KeyReferences(store.tables)
    map = KeyMap(references, store.tables)
  }

  /// A row that the bundle says the device made.
  private struct Birth: Hashable {
    let place: Int
    let key: Int64
    let row: Row
  }

  /// What a first reading of the bundle finds.
  private struct Findings {
    var births: [Birth] = []
    var seen: [Int: Set<Int64>] = [:]
    var greatest: [Int: Int64] = [:]
    var renamed: [(table: Name, old: Int64, new: Int64)] = []
  }

  /// Reads the bundle for the first time, and gives new keys to those of its rows that have one that is taken.
  mutating func settle(_ bundle: borrowing VerifiedBundle, at now: Int64) throws {
    if references.isEmpty { return }
    let found = try findings(in: bundle)
    for name in found.renamed { try store.takeOver(name.old, name.new, in: name.table, of: device.id, at: received) }
    for row in try store.rekeyed(of: device.id, at: received) { add(row) }
    for birth in found.births where map.new(birth.key, in: birth.place) == nil {
      guard try isTaken(birth) else { continue }
      let floor = found.greatest[birth.place] ?? 0
      guard let row = try store.giveNewKey(to: birth.key, in: birth.place, of: device.id, above: floor, at: now) else { continue }
      add(row)
      given.append(row)
    }
  }

  private mutating func add(_ row: RekeyedRow) {
    if let place = store.place(of: row.table) { map.add(.init(place: place, old: row.old, new: row.new)) }
  }

  private func findings(in bundle: borrowing VerifiedBundle) throws -> Findings {
    var found = Findings()
    try bundle.eachChange { line in
      guard let place = store.place(of: line.table), store.tables[place].givesNewKeys,
        let key = store.tables[place].number(of: line.key)
      else { return }
      if case .rekey(let to, let number) = line.content {
        guard let new = store.tables[place].number(of: to) else { throw LineProblem("its new key is no number") }
        // What the device did before its last bundle, that one has told.
        if number > device.proved { found.renamed.append((line.table, key, new)) }
        return
      }
      found.greatest[place] = max(found.greatest[place] ?? 0, key)
      guard let generation = line.generation, generation.rawValue >= device.merged.rawValue else { return }
      // A row that the device changed or deleted first, it had from the hub, or the hub has it: its key stays, come what may.
      guard found.seen[place, default: []].insert(key).inserted,
        case .insert(let fields) = try store.fitted(line, in: place).content
      else { return }
      found.births.append(Birth(place: place, key: key, row: try store.tables[place].schema.row(fields)))
    }
    return found
  }

  /// Whether the key is another row's, or was one's since the device heard of the hub.
  private func isTaken(_ birth: Birth) throws -> Bool {
    let key = RowKey([.integer(birth.key)])
    if let row = try store.rows[birth.place].row(key) {
      // The same row, made twice alike. One that was changed since is not: the device may have seen it before that.
      return try row != map.row(birth.row, of: birth.place) || !store.isAsInserted(key, in: birth.place)
    }
    if try store.isGiven(birth.key, in: birth.place) { return true }
    let others = try store.changesByOthers(
      of: store.past(of: key, in: birth.place), in: birth.place, after: since, than: device.id)
    if others.presence { return true }
    return try ConflictTable.isAwaited(key, of: store.tables[birth.place].name, byOtherThan: device.id, in: store.database)
  }

  // MARK: the hub's words for it

  /// The step as it concerns the hub's rows. What was not taken as sent is owed: the device must be shown it as it is.
  func translated(_ step: Step, in place: Int) throws -> Step {
    let moved = map.step(step, of: place)
    if moved == step { return step }
    for key in Set([step.key, moved.key]) { try store.owe(key, in: place, to: device.id) }
    return moved
  }

  func translated(_ record: ConflictRecord) -> ConflictRecord {
    guard !map.isEmpty, let place = store.place(of: record.table) else { return record }
    return map.record(record, of: place)
  }
}
