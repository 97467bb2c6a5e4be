import SatchelConflicts
import SatchelRows
import SatchelValues

/// The rows that a device ever held for one user, as far as the hub still knows its emissions.
///
/// A device that continues another device's work has the other device's rows until it receives its own first emission.
final class EverHeldRows {
  private let store: HubStore
  private let user: String
  /// The device, and before it the device whose rows it still has.
  private let devices: [ReplicaID]
  private var known: [(emission: Emission, rows: [RowSet])]?
  private var knownHeld: [StepMerger.RowReference: Bool] = [:]

  /// - Parameter device: the device before the bundle that is merged.
  init(_ store: HubStore, _ device: EnrolledDevice, user: String) {
    (self.store, self.user) = (store, user)
    let former = device.proved == .zero ? device.continues : nil
    devices = [former, device.id].compactMap(\.self)
  }

  /// Whether the device received the row for this user, or wrote the row itself. If the row was deleted and made again,
  /// it is another row.
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

  /// The moments at which the device had the row and its user could see it: the emissions for this user that showed the
  /// row, and the last change of the row by the device itself. The newest is first. If the row was deleted and made
  /// again, it is another row, so only moments since then count.
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

  /// The moments of all emissions for this user. The newest is first.
  func moments() throws -> [FormerMoment] { try emissions().reversed().map { FormerMoment($0.emission) } }

  /// The cursor of the last change of a row that the hub accepted from the device, for this user. A change that was
  /// accepted late does not show that the user could see the row then.
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
