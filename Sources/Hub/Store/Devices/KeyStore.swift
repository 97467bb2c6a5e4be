import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// The hub's records of former keys and of revoked keys.
extension HubStore {
  /// The keys with which a device signed before.
  func formerKeys(of device: ReplicaID) throws -> [PublicKey] {
    try database.all(
      "SELECT key FROM satchel_former_keys WHERE device = :device ORDER BY key", ["device": .string(device.text)]
    ) { PublicKey(line: $0.text(0)) }.compactMap(\.self)
  }

  func retire(_ key: PublicKey, of device: ReplicaID) throws {
    try database.run(
      "INSERT OR IGNORE INTO satchel_former_keys (key, device) VALUES (:key, :device)",
      ["key": .string(key.line), "device": .string(device.text)])
  }

  /// The list of keys with which no replica may sign any more. nil if there was never such a key.
  func revocations() throws -> Manifest.Revocations? {
    let number = try database.first("SELECT revocations FROM satchel_hub") { $0.integer(0) } ?? 0
    if number == 0 { return nil }
    let keys = try database.all("SELECT key FROM satchel_revoked ORDER BY key") { PublicKey(line: $0.text(0)) }
    return .init(number: number, keys: keys.compactMap(\.self))
  }

  /// Adds keys to the list of revoked keys, with which no replica may sign any more. Every device gets the list.
  func revoke(_ keys: [PublicKey], at time: Int64) throws {
    for key in keys {
      try database.run(
        "INSERT OR IGNORE INTO satchel_revoked (key, at) VALUES (:key, :at)",
        ["key": .string(key.line), "at": .integer(time)])
    }
    try database.run("UPDATE satchel_hub SET revocations = revocations + 1")
  }

  /// Removes keys from the list of revoked keys, because they should never have been on it.
  func takeOffRevoked(_ keys: [PublicKey]) throws {
    for key in keys { try database.run("DELETE FROM satchel_revoked WHERE key = :key", ["key": .string(key.line)]) }
    try database.run("UPDATE satchel_hub SET revocations = revocations + 1")
  }

  /// Forgets which emission announced the hub's next key to each device.
  func forgetToldKeys() throws { try database.run("UPDATE satchel_devices SET told_key = NULL") }
}
