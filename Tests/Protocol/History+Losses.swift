import SatchelBundle
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport

/// Hubs and databases that are lost, repaired, or replaced by older copies.
extension History {
  func lose() throws {
    if doctor.once(in: 12) {
      let file = Paths.join(folder, "backup-\(doctor.below(1 << 30)).satchel")
      _ = try hub.backup(to: file, keys: .included)
      backup = file
      say("the hub is backed up")
    }
    if let backup, doctor.once(in: 50) { try restore(backup) }
    if doctor.once(in: 12) {
      time.pass(days: 2)
      remembered += try admin.logged()
      let report = try hub.compact(olderThan: doctor.once(in: 3) ? 5 : nil)
      say(
        """
        the hub forgets \(report.logEntries) changes up to \(report.logFrom), \(report.goneRows) rows, and \
        \(report.forgotten)
        """
      )
    }
  }

  /// The hub is lost, and is restored from the backup.
  func restore(_ backup: String) throws {
    time.pass(days: 1)
    let root = hub.folder.root
    let fingerprint = try hub.fingerprint()
    try files.removeTree(root)
    let report = try HubRestore(platform: hubPlatform).restore(
      backup, into: root, keys: .inBackup, fingerprint: fingerprint)
    hub = try HubWorkspace.open(root, platform: hubPlatform)
    admin = try App(path: hub.configuration.databasePath(hub.folder))
    for device in devices { try restoreRights(of: device) }
    say("the hub is restored: \(report.devices.map { "\($0.name) \($0.merged)" })")
  }

  /// Changes of rights since the backup are made at the hub again.
  func restoreRights(of device: TestDevice) throws {
    _ = try hub.setUser("user-\(device.index)", attributes: [("hidden", String(hidden[device.index]))])
  }

  /// Replaces a device's database with an older copy. All changes in the newer file are in exports.
  func putBack(_ device: TestDevice) throws {
    guard let backup = device.backup else { return }
    say("\(device.name) gets an old copy of its database")
    try device.putBack(backup)
    for _ in 0..<doctor.below(3) {
      guard let app = try device.app(), let item = try app.items().first else { break }
      let value = value()
      say("\(device.name) sets \(item.id).a = \(value)")
      try device.set(0, of: item.id, to: value, app)
    }
    try repair(device)
  }

  func repairHub() throws {
    if try !hasVandals || hub.status().damage.isEmpty { return }
    let report = try hub.repair()
    say("the hub is repaired: \(report.unseen)")
    if try !hub.examine().isWell { throw Wrong("the hub was repaired, and is not well") }
  }

  /// Sometimes gives the rows of one replica other local keys. No other replica may notice this.
  func moveLocalKeys(_ app: App, _ name: String) throws {
    guard names != .primaryKey, local.once(in: 3) else { return }
    // If an UPDATE changes a local key, SQLite's counter for new keys does not follow.
    let (distance, reloading) = (100 + local.below(400), local.once(in: 3) || names == .columnBesideCount)
    say("\(name) gives other local keys, \(reloading ? "loading all again" : "by \(distance)")")
    try app.moveLocalKeys(by: distance, reloading: reloading)
  }

  /// Runs `body`, and expects that rows which still exist keep their local keys. Programs use local keys to find rows.
  func keepingLocalKeys<T>(_ app: App?, _ name: String, _ body: () throws -> T) throws -> T {
    guard names != .primaryKey, let app else { return try body() }
    let before = try app.localKeys()
    let result = try body()
    for (id, key) in try app.localKeys() {
      if let old = before[id], old != key { throw Wrong("\(name) gave \(id) the local key \(key), which had \(old)") }
    }
    return result
  }
}
