import SatchelValues
import SatchelWorkspace

/// Stops a device if it brings work of a user whom this hub's record does not name for the device.
///
/// The device got another user in the lost time, or had another user at a hub that was lost. Its work could count in
/// the name of the wrong user, and it could receive the wrong user's rows. So the hub merges nothing of the device, and
/// makes no bundle for it. The operator ends this by recording the hand-over.
extension HubWorkspace {
  /// The user whom a waiting bundle of the device names, if this hub's record does not name that user for it. nil if no
  /// bundle of the device waits for this reason.
  func unknownUser(of device: EnrolledDevice, _ store: HubStore) throws -> String? {
    for manifest in try waitingManifests(of: device, store) {
      guard case .changes(let changes) = manifest.body else { continue }
      let check = HistoryCheck(self, store, device, changes, by: manifest.user)
      if let user = try check.unknownUser() { return user }
    }
    return nil
  }

  /// Throws a `WorkspaceError` if the device works for a user whom this hub's record does not name for it.
  func refuseUnknownUser(of device: EnrolledDevice, _ store: HubStore) throws {
    guard let user = try unknownUser(of: device, store) else { return }
    throw WorkspaceError(
      .otherUser, "\(wordsOfUnknownUser(user, of: device)) No bundle is made for it.",
      hint: Self.wayOutOfUnknownUser(user, of: device))
  }

  /// The active devices for which the hub makes no bundle, because its record does not name their users.
  public func devicesOfUnknownUsers() throws -> [String] {
    let store = try store()
    return try store.devices().filter { try $0.state == .active && unknownUser(of: $0, store) != nil }.map(\.name)
  }

  func wordsOfUnknownUser(_ user: String, of device: EnrolledDevice) -> String {
    """
    The device \(device.name) brings work of \(user), and this hub's record says that it works for \(device.user).
    """
  }

  static func wayOutOfUnknownUser(_ user: String, of device: EnrolledDevice) -> String {
    """
    Nothing is lost: its bundles wait here. If \(user) works or worked with it, enter that: satchel-hub device set \
    \(device.name) --user \(user), before that satchel-hub user add \(user) if the user is unknown here. If \
    \(device.user) works with it now, enter \(user) all the same. When its work has come, give it back: satchel-hub \
    device set \(device.name) --user \(device.user)
    """
  }
}
