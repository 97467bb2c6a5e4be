import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// Until when a device may deliver, and things are made for it.
extension HubStore {
  /// The end of its last day, or of its user's, whichever is earlier, in milliseconds since 1970; nil: it has none.
  func expiry(of device: EnrolledDevice) throws -> Int64? {
    [device.expires, try user(device.user)?.expires].compactMap(\.self).min()
  }

  func hasExpired(_ device: EnrolledDevice, now: Int64) throws -> Bool {
    try expiry(of: device).map { $0 <= now } ?? false
  }
}

extension HubWorkspace {
  /// The active devices for which nothing is made any more, because they or their users have expired.
  public func expiredDevices() throws -> [String] {
    let store = try store()
    let now = platform.clock.milliseconds()
    return try store.devices().filter { try $0.state == .active && store.hasExpired($0, now: now) }.map(\.name)
  }

  static func refuseExpired(_ device: EnrolledDevice, _ user: User, now: Int64) throws {
    for (what, expires, command) in [
      ("device \(device.name)", device.expires, "device set \(device.name)"),
      ("user \(user.name)", user.expires, "user set \(user.name)"),
    ] {
      guard let expires, expires <= now else { continue }
      throw WorkspaceError(
        "expired", "The \(what) expired on \(UTCTime.text(milliseconds: expires)): nothing is made for it.",
        hint: "To let it go on: satchel-hub \(command) --expires DATE, or --expires never")
    }
  }
}
