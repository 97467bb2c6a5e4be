import SatchelValues

/// A change in the hub's log that a copy of a device delivered, and that the device has too.
struct SharedWrite: Hashable {
  /// The id of the copy's history.
  let history: ReplicaID
  let stamp: Stamp
}

/// Decides which log entries count as a device's own, in a comparison with a new change of the device.
///
/// A device whose user changed delivers changes of two users. If the new change is by the new user, changes of the
/// former user count as changes of others.
struct OwnChanges {
  private let device: String?
  private let user: String?
  private var shared: Set<SharedWrite> = []
  /// Bundles of the device with a former user's changes. The device does not have these changes any more.
  let sealed: Set<String>

  /// - Parameters:
  ///   - user: only changes of this user are the device's own. nil: changes of every user are.
  init(of device: ReplicaID, by user: String? = nil, but sealed: Set<String> = []) {
    (self.device, self.user, self.sealed) = (device.text, user, sealed)
  }

  /// Returns the same rule with these writes added. They count as the device's own, although copies of the device
  /// delivered them.
  func with(_ shared: Set<SharedWrite>) -> OwnChanges {
    var own = self
    own.shared = shared
    return own
  }

  private init() { (device, user, sealed) = (nil, nil, []) }

  /// Counts no change as the device's own.
  static let none = OwnChanges()

  func contains(_ entry: LogEntry) -> Bool {
    if shared.contains(where: { entry.device == $0.history.text && entry.stamp == $0.stamp }) { return true }
    guard let device, entry.device == device, user == nil || entry.user == user else { return false }
    return sealed.isEmpty || entry.bundle.map { !sealed.contains($0) } ?? true
  }
}

extension HubStore {
  /// The bundles of a device's former user: they come after the export that the emission acknowledges, and end with
  /// `base`. `base` is the last export whose changes are not in the device's new bundle, as that bundle says.
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
