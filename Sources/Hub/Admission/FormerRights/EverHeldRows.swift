import SatchelRows
import SatchelValues

/// The rows that a device ever held for one user, as far as the hub still knows its emissions.
final class EverHeldRows {
  private let store: HubStore
  private let device: EnrolledDevice
  private let user: String
  private var known: [(emission: Emission, rows: [RowSet])]?

  init(_ store: HubStore, _ device: EnrolledDevice, user: String) {
    (self.store, self.device, self.user) = (store, device, user)
  }

  /// Whether the device received the row for this user, or wrote the row itself.
  func contains(_ key: RowKey, in place: Int) throws -> Bool {
    guard let past = try store.past(of: key, in: place) else { return false }
    return try emissions().contains { $0.rows[place].contains(past.number) } || lastOwn(past) != nil
  }

  /// The moments at which the device had the row and its user could see it: the emissions for this user that showed the
  /// row, and the last change of the row by the device itself.
  func moments(of key: RowKey, in place: Int) throws -> [FormerMoment] {
    guard let past = try store.past(of: key, in: place) else { return [] }
    var found = try emissions().filter { $0.rows[place].contains(past.number) }.map { FormerMoment($0.emission) }
    if let own = try lastOwn(past), let then = try emissions().last(where: { $0.emission.cursor <= own }) {
      found.append(FormerMoment(then.emission, cursor: own))
    }
    return found
  }

  /// The moments of all emissions for this user, oldest first.
  func moments() throws -> [FormerMoment] { try emissions().map { FormerMoment($0.emission) } }

  /// The cursor of the last change of a row that the hub accepted from the device, for this user.
  private func lastOwn(_ past: RowNumbers.Entry) throws -> Cursor? {
    let own = [device.id.text, device.continues?.text]
    var last: Cursor?
    try store.eachChange(of: past) { entry in
      if own.contains(entry.device) && Name(entry.user) == Name(user) { last = entry.cursor }
      return last == nil ? .more : .enough
    }
    return last
  }

  private func emissions() throws -> [(emission: Emission, rows: [RowSet])] {
    if let known { return known }
    var found: [(emission: Emission, rows: [RowSet])] = []
    for device in [device.continues, device.id].compactMap(\.self) {
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
