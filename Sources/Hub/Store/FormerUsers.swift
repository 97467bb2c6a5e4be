import SatchelValues

/// The users in whose name changes of a device may still come: its own, and those whom it had before, until it is known
/// to have heard of the new one.
extension HubStore {
  static let formerUsers = """
    CREATE TABLE satchel_former_users (
      device TEXT NOT NULL,
      user TEXT NOT NULL,   -- for whom it worked before
      PRIMARY KEY (device, user)
    ) WITHOUT ROWID
    """

  /// Notes that a device works for another user from its next bundle on.
  func noteFormer(user: String, of device: ReplicaID) throws {
    try database.run(
      "INSERT OR IGNORE INTO satchel_former_users (device, user) VALUES (:device, :user)",
      ["device": .string(device.text), "user": .string(user)])
  }

  /// Who wrote what a bundle brings.
  ///
  /// The emission on which the bundle was made tells it. Where the hub has forgotten that one, the bundle's word is
  /// taken for a user whose changes may still come.
  func author(of manifestUser: String, on emission: Emission?, by device: EnrolledDevice) throws -> String {
    if let emission { return emission.user }
    let former = try database.first(
      "SELECT user FROM satchel_former_users WHERE device = :device AND user = :user COLLATE NOCASE",
      ["device": .string(device.id.text), "user": .string(manifestUser)]
    ) { $0.text(0) }
    return former ?? device.user
  }

  /// Forgets the users before the one for whom an emission was made: the device has it, and all that they wrote has
  /// come.
  func forgetFormerUsers(before user: String, of device: ReplicaID) throws {
    try database.run(
      "DELETE FROM satchel_former_users WHERE device = :device AND user <> :user",
      ["device": .string(device.text), "user": .string(user)])
  }
}
