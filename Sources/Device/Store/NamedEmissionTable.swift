import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// `satchel_named_emissions`: a row for each emission that an imported bundle named in `follows`. The device may not
/// have imported that emission itself.
enum NamedEmissionTable {
  static let schema = """
    CREATE TABLE satchel_named_emissions (
      epoch TEXT NOT NULL,
      number INTEGER NOT NULL,
      digest TEXT NOT NULL, -- of its B2SUMS
      PRIMARY KEY (epoch, number, digest)
    ) WITHOUT ROWID
    """

  /// Adds the emissions that a bundle names. All of them are of the bundle's epoch.
  static func add(_ scope: Manifest.Scope, in database: borrowing Database) throws {
    guard let follows = scope.follows, !follows.isEmpty else { return }
    let insert = try database.prepare(
      "INSERT OR IGNORE INTO satchel_named_emissions (epoch, number, digest) VALUES (?, ?, ?)")
    for emission in follows {
      try insert.run([
        .string(scope.epoch.text), .integer(emission.number.rawValue), .string(emission.digest.hexadecimal),
      ])
    }
  }

  /// The digests that imported bundles named for the emission with this number.
  static func digests(
    of number: EmissionNumber, in epoch: Epoch, _ database: borrowing Database
  ) throws -> [Digest] {
    try database.all(
      "SELECT digest FROM satchel_named_emissions WHERE epoch = :epoch AND number = :number",
      ["epoch": .string(epoch.text), "number": .integer(number.rawValue)]
    ) { Digest(hexadecimal: $0.text(0)) }.compactMap(\.self)
  }
}

extension Manifest.Scope {
  /// Records the bundle's statements about the hub's history: the hub's former epochs, and its emissions in this epoch.
  func noteHistory(in database: borrowing Database) throws {
    try FormerEpochTable.add(former ?? [], in: database)
    try NamedEmissionTable.add(self, in: database)
  }
}
