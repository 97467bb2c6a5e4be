import SatchelBundle
import SatchelSQLite
import SatchelValues

/// The users who may be authors of a device's changes: its present user and its former users. A former user counts
/// until the hub knows that the device has the new user, but not longer than `longestOnTheWay`.
extension HubStore {
  static let formerUsers = """
    CREATE TABLE satchel_former_users (
      device TEXT NOT NULL,
      user TEXT NOT NULL,            -- for whom it worked before
      at INTEGER NOT NULL DEFAULT 0, -- milliseconds since 1970 when it was given to another user
      PRIMARY KEY (device, user)
    ) WITHOUT ROWID
    """

  /// A user for whom a device worked before. This user may still be the author of changes that come from the device.
  struct FormerUser {
    let user: String
    /// The time when the device got another user, in milliseconds since 1970.
    let at: Int64
  }

  /// Adds the column `at` to the records of former users. An earlier build did not record this time, so it is set to
  /// now.
  static func noteTimeOfFormerUsers(in database: borrowing Database) throws {
    let columns = try database.all("SELECT name FROM pragma_table_info('satchel_former_users')") { $0.text(0) }
    if !columns.contains("at") {
      try database.execute("ALTER TABLE satchel_former_users ADD COLUMN at INTEGER NOT NULL DEFAULT 0")
    }
    try database.run("UPDATE satchel_former_users SET at = 1000 * CAST(strftime('%s', 'now') AS INTEGER)")
  }

  /// Records that a user is a former user, because the device works for another user as soon as it imports its next
  /// bundle.
  func noteFormer(user: String, of device: ReplicaID, at now: Int64) throws {
    try database.run(
      "INSERT OR REPLACE INTO satchel_former_users (device, user, at) VALUES (:device, :user, :at)",
      ["device": .string(device.text), "user": .string(user), "at": .integer(now)])
  }

  /// Sets the time of all former users to now, so that their work counts for the whole period again.
  func restartFormerUsers(at now: Int64) throws {
    try database.run("UPDATE satchel_former_users SET at = :now", ["now": .integer(now)])
  }

  func formerUsers(of device: EnrolledDevice) throws -> [FormerUser] {
    try database.all(
      "SELECT user, at FROM satchel_former_users WHERE device = :device AND user <> :user ORDER BY at, user",
      ["device": .string(device.id.text), "user": .string(device.user)]
    ) { FormerUser(user: $0.text(0), at: $0.integer(1)) }
  }

  /// The author of a bundle's changes.
  ///
  /// The emission on which the device made the bundle decides. If the hub has forgotten that emission, the manifest's
  /// user counts, but only if this user is a known former user. Otherwise the device's present user counts.
  func author(of manifestUser: String, on emission: Emission?, by device: EnrolledDevice) throws -> String {
    if let emission { return emission.user }
    let former = try database.first(
      "SELECT user FROM satchel_former_users WHERE device = :device AND user = :user COLLATE NOCASE",
      ["device": .string(device.id.text), "user": .string(manifestUser)]
    ) { $0.text(0) }
    return former ?? device.user
  }

  /// Forgets the users before the user of this emission. The device has the emission, and all changes of the earlier
  /// users have come. The device may have a later emission too, so the users of later emissions stay.
  func forgetFormerUsers(before emission: Emission, of device: ReplicaID) throws {
    try database.run(
      """
      DELETE FROM satchel_former_users
      WHERE device = :device AND user <> :user AND user NOT IN (
        SELECT user FROM satchel_emissions WHERE device = :device AND number > :number)
      """,
      [
        "device": .string(device.text), "user": .string(emission.user), "number": .integer(emission.number.rawValue),
      ])
  }
}
