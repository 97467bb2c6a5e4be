import SatchelConflicts
import SatchelRows
import SatchelValues

/// The rows that a device ever held for one user, as far as the hub still knows its emissions.
///
/// If a device continues another device's work, it has that device's rows until its own first emission comes.
final class EverHeldRows {
  private let store: HubStore
  private let user: String
  /// The device. If it still has the rows of a device that it continues, that device comes first.
  private let devices: [ReplicaID]
  private var known: [(emission: Emission, rows: [RowSet])]?
  private var knownHeld: [StepMerger.RowReference: Bool] = [:]

  /// - Parameter device: the device's record from before the bundle that is merged.
  init(_ store: HubStore, _ device: EnrolledDevice, user: String) {
    (self.store, self.user) = (store, user)
    let former = device.proved == .zero ? device.continues : nil
    devices = [former, device.id].compactMap(\.self)
  }

  /// Whether the device received the row for this user, or wrote the row itself. A row that was deleted and made again
  /// counts as another row.
  func contains(_ key: RowKey, in place: Int) throws -> Bool {
    let row = StepMerger.RowReference(place: place, key: key)
    if let known = knownHeld[row] { return known }
    guard let past = try store.past(of: key, in: place) else { return false }
    let made = try store.newestInsert(of: past)?.cursor ?? .zero
    let isHeld =
      try emissions().contains { $0.emission.cursor >= made && $0.rows[place].contains(past.number) }
      || lastOwn(past, key, in: place).map { $0 >= made } ?? false
    knownHeld[row] = isHeld
    return isHeld
  }

  /// The moments at which the device had the row and its user could see it, newest first. Each is an emission with the
  /// row for this user, or the device's own last change of the row. A row that was deleted and made again counts as
  /// another row. So moments before that are left out.
  func moments(of key: RowKey, in place: Int) throws -> [FormerMoment] {
    guard let past = try store.past(of: key, in: place) else { return [] }
    var found = try emissions().filter { $0.rows[place].contains(past.number) }.map { FormerMoment($0.emission) }
    if let own = try lastOwn(past, key, in: place),
      let then = try emissions().last(where: { $0.emission.cursor <= own })
    {
      found.append(FormerMoment(then.emission, cursor: own))
    }
    let made = try store.newestInsert(of: past)?.cursor ?? .zero
    return found.filter { $0.cursor >= made }.sorted { $0.cursor > $1.cursor }
  }

  /// The moments of all emissions for this user, newest first.
  func moments() throws -> [FormerMoment] { try emissions().reversed().map { FormerMoment($0.emission) } }

  /// The cursor of the device's last change of a row for this user. Changes that the hub accepted late do not count:
  /// they do not show that the user saw the row then.
  private func lastOwn(_ past: RowNumbers.Entry, _ key: RowKey, in place: Int) throws -> Cursor? {
    var last: Cursor?
    var late: Set<BundleID>?
    try store.eachChange(of: past) { entry in
      guard devices.contains(where: { $0.text == entry.device }), Name(entry.user) == Name(user) else { return .more }
      let taken = try late ?? lateBundles(key, in: place)
      late = taken
      if entry.bundle.map({ taken.contains(BundleID(unchecked: $0)) }) != true { last = entry.cursor }
      return last == nil ? .more : .enough
    }
    return last
  }

  private func lateBundles(_ key: RowKey, in place: Int) throws -> Set<BundleID> {
    try devices.reduce(into: []) {
      $0.formUnion(
        try ConflictTable.lateBundles(key, of: store.tables[place].name, device: $1, in: store.database))
    }
  }

  private func emissions() throws -> [(emission: Emission, rows: [RowSet])] {
    if let known { return known }
    var found: [(emission: Emission, rows: [RowSet])] = []
    for device in devices {
      let emissions = try store.emissions(of: device)
      let sets = try store.heldSets(of: device, after: emissions)
      for (emission, set) in zip(emissions, sets) where Name(emission.user) == Name(user) {
        found.append((emission, set))
      }
    }
    known = found
    return found
  }
}
