import SatchelBundle
import SatchelSQLite
import SatchelValues

/// The users in whose name changes of a device may still come: its own, and those whom it had before, until it is known
/// to have heard of the new one, and no longer than `longestOnTheWay`.
extension HubStore {
  static let formerUsers = """
    CREATE TABLE satchel_former_users (
      device TEXT NOT NULL,
      user TEXT NOT NULL,            -- for whom it worked before
      at INTEGER NOT NULL DEFAULT 0, -- milliseconds since 1970 when it was given to another user
      PRIMARY KEY (device, user)
    ) WITHOUT ROWID
    """

  /// A user for whom a device worked before, and who may still be the author of what comes from it.
  struct FormerUser {
    let user: String
    /// Milliseconds since 1970 when the device was given to another user.
    let at: Int64
  }

  /// A database of a build before this one does not know when: the time that a former user has begins now.
  static func noteTimeOfFormerUsers(in database: borrowing Database) throws {
    let columns = try database.all("SELECT name FROM pragma_table_info('satchel_former_users')") { $0.text(0) }
    if !columns.contains("at") {
      try database.execute("ALTER TABLE satchel_former_users ADD COLUMN at INTEGER NOT NULL DEFAULT 0")
    }
    try database.run("UPDATE satchel_former_users SET at = 1000 * CAST(strftime('%s', 'now') AS INTEGER)")
  }

  /// Notes that a device works for another user from its next bundle on.
  func noteFormer(user: String, of device: ReplicaID, at now: Int64) throws {
    try database.run(
      "INSERT OR REPLACE INTO satchel_former_users (device, user, at) VALUES (:device, :user, :at)",
      ["device": .string(device.text), "user": .string(user), "at": .integer(now)])
  }

  func formerUsers(of device: EnrolledDevice) throws -> [FormerUser] {
    try database.all(
      "SELECT user, at FROM satchel_former_users WHERE device = :device AND user <> :user ORDER BY at, user",
      ["device": .string(device.id.text), "user": .string(device.user)]
    ) { FormerUser(user: $0.text(0), at: $0.integer(1)) }
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
