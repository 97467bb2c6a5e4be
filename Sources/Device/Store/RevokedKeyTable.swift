import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// `satchel_revoked`: the revoked keys, from the hub's newest list.
enum RevokedKeyTable {
  static let schema = "CREATE TABLE satchel_revoked (key TEXT PRIMARY KEY) WITHOUT ROWID"

  static func contains(_ key: PublicKey, in database: borrowing Database) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_revoked WHERE key = :key", ["key": .string(key.line)]) { _ in true }
      ?? false
  }

  static func all(in database: borrowing Database) throws -> [PublicKey] {
    try database.all("SELECT key FROM satchel_revoked ORDER BY key") { PublicKey(line: $0.text(0)) }.compactMap(\.self)
  }

  static func add(_ keys: [PublicKey], in database: borrowing Database) throws {
    for key in keys {
      try database.run("INSERT OR IGNORE INTO satchel_revoked (key) VALUES (:key)", ["key": .string(key.line)])
    }
  }
}
