import SatchelBundle
import SatchelConflicts
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The rules about the last day on which a device may deliver and receive.
extension HubStore {
  /// The longest time, in milliseconds, for which work may be on its way and still count by its author's former rights:
  /// 90 days. Only the device states when the work was written. This limit bounds the effect of a false statement.
  static let longestOnTheWay: Int64 = 90 * 86_400_000

  /// Returns the end of the device's last day or of its user's last day, whichever is earlier, in milliseconds since
  /// 1970. nil if neither has a last day.
  func expiry(of device: EnrolledDevice) throws -> Int64? {
    [device.expires, try user(device.user)?.expires].compactMap(\.self).min()
  }

  func hasExpired(_ device: EnrolledDevice, now: Int64) throws -> Bool {
    try expiry(of: device).map { $0 <= now } ?? false
  }

  /// Whether a device is active, but its last day or its user's last day has passed.
  func isExpired(_ device: EnrolledDevice, now: Int64) throws -> Bool {
    try device.state == .active && hasExpired(device, now: now)
  }

  /// Whether a held change was written after the last day of its device or of its author.
  func isWrittenTooLate(_ record: ConflictRecord) throws -> Bool {
    let lastDays = try [device(record.device)?.expires, user(record.user)?.expires]
    return lastDays.contains { day in day.map { record.stamp.milliseconds > $0 } ?? false }
  }
}

extension HubWorkspace {
  /// The active devices for which the hub makes no bundle, because the device or its user has expired.
  public func expiredDevices() throws -> [String] {
    let store = try store()
    let now = platform.clock.milliseconds()
    return try store.devices().filter { try store.isExpired($0, now: now) }.map(\.name)
  }

  /// The number of changes that a former last day kept out, and that the present last days allow. A person can accept
  /// them now.
  /// - Parameters:
  ///   - former: the former last day, in milliseconds since 1970. nil: there was none.
  ///   - isMeant: whether a conflict belongs to the device or user whose last day was changed.
  func keptOut(after former: Int64?, where isMeant: (ConflictRecord) -> Bool) throws -> Int {
    guard let former else { return 0 }
    let store = try store()
    return try ConflictTable.list([.held], in: store.database).map(\.record).count {
      try $0.kind == .forbidden && $0.stamp.milliseconds > former && isMeant($0) && !store.isWrittenTooLate($0)
    }
  }

  /// The number of changes of a device that its former last day kept out. A person can accept them now.
  public func changesKeptOut(of device: EnrolledDevice, after former: Int64?) throws -> Int {
    try keptOut(after: former) { $0.device == device.id }
  }

  /// The number of changes of a user that the user's former last day kept out. A person can accept them now.
  public func changesKeptOut(of user: User, after former: Int64?) throws -> Int {
    try keptOut(after: former) { Name($0.user) == Name(user.name) }
  }

  static func refuseExpired(_ device: EnrolledDevice, _ user: User, by clock: any WallClock) throws {
    let now = clock.milliseconds()
    for (what, expires, command) in [
      ("device \(device.name)", device.expires, "device set \(device.name)"),
      ("user \(user.name)", user.expires, "user set \(user.name)"),
    ] {
      guard let expires, expires <= now else { continue }
      throw WorkspaceError(
        .expired, "The \(what) expired on \(clock.localText(milliseconds: expires)): no bundle is made for it.",
        hint: "To let it continue: satchel-hub \(command) --expires DATE, or --expires never")
    }
  }

  /// Refuses work that was written after the last day of the device or of its user. The bundle's stamp may be earlier
  /// than the true time. So the bundle is also refused if the last day is more than `longestOnTheWay` ago.
  func checkExpiry(of device: EnrolledDevice, _ manifest: Manifest, _ store: HubStore) throws {
    guard let expires = try store.expiry(of: device) else { return }
    try refuse(manifest, after: expires, "The device \(device.name), or its user \(device.user),", of: device)
  }

  private func refuse(_ manifest: Manifest, after expires: Int64, _ who: String, of device: EnrolledDevice) throws {
    let isLate = platform.clock.milliseconds() > expires + HubStore.longestOnTheWay
    guard manifest.stamp.milliseconds > expires || isLate else { return }
    let lastMoment = platform.clock.localText(milliseconds: expires)
    throw Refusal(
      .expired,
      "\(who) was to deliver until \(lastMoment)\(isLate ? ", which is too long ago" : "").",
      hint:
        "If it may continue: satchel-hub device set \(device.name) --expires DATE, or user set; then import it again.")
  }

  /// Refuses work of a former user of the device in two cases: the device got another user too long ago, or the former
  /// user has expired.
  func checkAuthor(_ manifest: Manifest, _ changes: Manifest.Changes, _ device: EnrolledDevice, _ store: HubStore)
    throws
  {
    let author = try store.author(of: manifest.user, on: store.emission(changes, of: device.id), by: device)
    if Name(author) == Name(device.user) { return }
    if let expires = try store.user(author)?.expires {
      try refuse(manifest, after: expires, "The user \(author) of the device \(device.name)", of: device)
    }
    let now = platform.clock.milliseconds()
    let former = try store.formerUsers(of: device).first { Name($0.user) == Name(author) }
    // Release 0.1 did not record former users. So the hub records this one now, and the time begins.
    guard let former else {
      return try store.writeTransaction(runMode) { try store.noteFormer(user: author, of: device.id, at: now) }
    }
    guard now > former.at + HubStore.longestOnTheWay else { return }
    throw Refusal(
      .formerUser,
      """
      \(author) wrote it, and the device \(device.name) works for \(device.user) since \
      \(platform.clock.localText(milliseconds: former.at)).
      """,
      hint:
        """
        If \(author) wrote it before that: satchel-hub device set \(device.name) --user \(author), import it, and \
        give the device back to \(device.user).
        """,
      keeping: .quarantine)
  }
}
