import SatchelValues

/// A change in the hub's log that a copy of a device delivered, and that the device contains too.
struct SharedWrite: Hashable {
  /// The copy's history.
  let history: ReplicaID
  let stamp: Stamp
}

/// The log's changes that count as a device's own, compared with its new change.
///
/// A device that was given to another user delivers two histories. Changes of its former user count for the new user's
/// changes as changes of others.
struct OwnChanges {
  private let device: String?
  private let user: String?
  private var shared: Set<SharedWrite> = []
  /// Bundles of the device with a former user's changes, which the device does not have any more.
  let sealed: Set<String>

  /// - Parameters:
  ///   - user: only this user's changes are the device's own. nil for those of any user.
  init(of device: ReplicaID, by user: String? = nil, but sealed: Set<String> = []) {
    (self.device, self.user, self.sealed) = (device.text, user, sealed)
  }

  /// Counts writes that copies of the device delivered as the device's own, too.
  func with(_ shared: Set<SharedWrite>) -> OwnChanges {
    var own = self
    own.shared = shared
    return own
  }

  private init() { (device, user, sealed) = (nil, nil, []) }

  /// No change is the device's own: all changes are those of others.
  static let none = OwnChanges()

  func contains(_ entry: LogEntry) -> Bool {
    if shared.contains(where: { entry.device == $0.history.text && entry.stamp == $0.stamp }) { return true }
    guard let device, entry.device == device, user == nil || entry.user == user else { return false }
    return sealed.isEmpty || entry.bundle.map { !sealed.contains($0) } ?? true
  }
}

extension HubStore {
  /// The bundles of a device's former user. These are bundles up to `base` that the emission does not acknowledge. The
  /// device's bundle names `base` as the end of what it does not contain.
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
