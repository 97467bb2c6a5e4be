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
    try !emissions(showing: key, in: place).isEmpty || isOwn(key, in: place)
  }

  /// The emissions for this user that showed the row, oldest first.
  func emissions(showing key: RowKey, in place: Int) throws -> [Emission] {
    guard let past = try store.past(of: key, in: place) else { return [] }
    return try emissions().filter { $0.rows[place].contains(past.number) }.map(\.emission)
  }

  /// The last emission for this user. nil if none is known.
  func newest() throws -> Emission? { try emissions().last?.emission }

  private func isOwn(_ key: RowKey, in place: Int) throws -> Bool {
    guard let past = try store.past(of: key, in: place) else { return false }
    let own = [device.id.text, device.continues?.text]
    var isOwn = false
    try store.eachChange(of: past) { entry in
      isOwn = own.contains(entry.device) && Name(entry.user) == Name(user)
      return isOwn ? .enough : .more
    }
    return isOwn
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
