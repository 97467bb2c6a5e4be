import SatchelValues

/// A change in the hub's log that a copy of a device delivered, and that the device contains too.
struct SharedWrite: Hashable {
  /// The copy's history.
  let history: ReplicaID
  let stamp: Stamp
}

/// Which of the log's changes are a device's own, to a change of it that comes.
///
/// A device that was given to another user delivers two histories: what its former user wrote is to the new one's
/// changes what anybody else wrote.
struct OwnChanges {
  private let device: String?
  private let user: String?
  private var shared: Set<SharedWrite> = []
  /// Bundles of the device's with a former user's changes, which the device does not have any more.
  let sealed: Set<String>

  /// - Parameters:
  ///   - user: whose changes alone are the device's own; nil: whoever's.
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

  /// To nobody: what anyone did.
  static let none = OwnChanges()

  func contains(_ entry: LogEntry) -> Bool {
    if shared.contains(where: { entry.device == $0.history.text && entry.stamp == $0.stamp }) { return true }
    guard let device, entry.device == device, user == nil || entry.user == user else { return false }
    return sealed.isEmpty || entry.bundle.map { !sealed.contains($0) } ?? true
  }
}

extension HubStore {
  /// The bundles of a former user of a device's: those up to `base`, which a bundle names as what it does not contain,
  /// that the emission on which it was made does not acknowledge.
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
