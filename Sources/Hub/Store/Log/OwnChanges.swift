import SatchelValues

/// A change in the hub's log that a copy of a device delivered, and that the device contains too.
struct SharedWrite: Hashable {
  /// The copy's history.
  let history: ReplicaID
  let stamp: Stamp
}

/// Decides which changes in the log count as a device's own, when they are compared with a new change of the device.
///
/// A device that was given to another user delivers two histories. If a new change comes from the new user, changes of
/// the former user count as changes of others.
struct OwnChanges {
  private let device: String?
  private let user: String?
  private var shared: Set<SharedWrite> = []
  /// Bundles of the device with a former user's changes, which the device does not have any more.
  let sealed: Set<String>

  /// - Parameters:
  ///   - user: only changes of this user are the device's own. nil: changes of any user are.
  init(of device: ReplicaID, by user: String? = nil, but sealed: Set<String> = []) {
    (self.device, self.user, self.sealed) = (device.text, user, sealed)
  }

  /// Also counts these writes, which copies of the device delivered, as the device's own.
  func with(_ shared: Set<SharedWrite>) -> OwnChanges {
    var own = self
    own.shared = shared
    return own
  }

  private init() { (device, user, sealed) = (nil, nil, []) }

  /// No change is the device's own: all changes are changes of others.
  static let none = OwnChanges()

  func contains(_ entry: LogEntry) -> Bool {
    if shared.contains(where: { entry.device == $0.history.text && entry.stamp == $0.stamp }) { return true }
    guard let device, entry.device == device, user == nil || entry.user == user else { return false }
    return sealed.isEmpty || entry.bundle.map { !sealed.contains($0) } ?? true
  }
}

extension HubStore {
  /// The bundles of a device's former user. These are bundles up to `base` that the emission does not acknowledge.
  /// `base` is the last export that the device's bundle does not contain, as that bundle says.
  func sealedBundles(before base: SequenceNumber?, since emission: Emission, of name: String) throws -> Set<String> {
    guard let base, base > emission.acknowledged else { return [] }
    return Set(
      try database.all(
        """
        SELECT bundle
        FROM satchel_ledger
        WHERE peer = :name AND direction = 'in' AND kind = 'changes' AND verdict = 'imported' AND number > :acknowledged
          AND number <= :base
        """,
        [
          "name": .string(name), "acknowledged": .integer(emission.acknowledged.rawValue),
          "base": .integer(base.rawValue),
        ]
      ) { $0.text(0) })
  }
}
