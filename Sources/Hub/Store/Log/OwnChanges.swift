import SatchelValues

/// A change in the hub's log that a copy of a device delivered, and that the device has too.
struct SharedWrite: Hashable {
  /// The id of the copy's history.
  let history: ReplicaID
  let stamp: Stamp
}

/// Decides which log entries count as a device's own, in a comparison with a new change of the device.
///
/// A device that got another user delivers changes of two users. If the new change is by the new user, changes of the
/// former user count as changes of others.
struct OwnChanges {
  private let device: String?
  private let user: String?
  private var shared: Set<SharedWrite> = []
  /// The device's bundles with a former user's changes that the device does not have any more.
  let sealed: Set<String>

  /// - Parameters:
  ///   - user: only changes of this user are the device's own. nil: changes of all users are.
  init(of device: ReplicaID, by user: String? = nil, but sealed: Set<String> = []) {
    (self.device, self.user, self.sealed) = (device.text, user, sealed)
  }

  /// Returns a copy that also counts these writes as the device's own. Copies of the device delivered them.
  func with(_ shared: Set<SharedWrite>) -> OwnChanges {
    var own = self
    own.shared = shared
    return own
  }

  private init() { (device, user, sealed) = (nil, nil, []) }

  /// No change is the device's own. All changes are changes of others.
  static let none = OwnChanges()

  func contains(_ entry: LogEntry) -> Bool {
    if shared.contains(where: { entry.device == $0.history.text && entry.stamp == $0.stamp }) { return true }
    guard let device, entry.device == device, user == nil || entry.user == user else { return false }
    return sealed.isEmpty || entry.bundle.map { !sealed.contains($0) } ?? true
  }
}

extension HubStore {
  /// The bundles of a device's former user: those after the emission's acknowledgement, up to `base`. `base` is the
  /// last export whose changes the device's bundle does not contain, as that bundle says.
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
