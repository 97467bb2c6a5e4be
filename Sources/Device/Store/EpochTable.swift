import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// `satchel_former_epochs`: a row for each known former epoch of the hub.
enum FormerEpochTable {
  static let schema = "CREATE TABLE satchel_former_epochs (epoch TEXT PRIMARY KEY) WITHOUT ROWID"

  static func contains(_ epoch: Epoch, in database: borrowing Database) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_former_epochs WHERE epoch = :epoch", ["epoch": .string(epoch.text)]) {
      _ in true
    } ?? false
  }

  /// The former epochs other than `present`, in the order of their text, at most as many as a bundle can name.
  static func all(but present: Epoch, in database: borrowing Database) throws -> [Epoch] {
    try database.all(
      "SELECT epoch FROM satchel_former_epochs WHERE epoch <> :present ORDER BY epoch LIMIT :most",
      ["present": .string(present.text), "most": .integer(Int64(Manifest.Scope.mostEpochs))]
    ) { Epoch(unchecked: $0.text(0)) }
  }

  static func add(_ epochs: [Epoch], in database: borrowing Database) throws {
    for epoch in epochs {
      try database.run("INSERT OR IGNORE INTO satchel_former_epochs VALUES (:epoch)", ["epoch": .string(epoch.text)])
    }
  }
}

/// `satchel_brought_emissions`: a row for each emission of a former epoch that the hub is not known to have. This
/// device carries the file of that emission to the hub.
enum BroughtEmissionTable {
  static let schema = """
    CREATE TABLE satchel_brought_emissions (
      digest TEXT PRIMARY KEY, -- of its B2SUMS
      number INTEGER NOT NULL,
      file TEXT NOT NULL       -- its name in the outbox
    ) WITHOUT ROWID
    """

  static func add(_ digest: Digest, _ number: Int64, file: String, in database: borrowing Database) throws {
    try database.run(
      "INSERT OR IGNORE INTO satchel_brought_emissions (digest, number, file) VALUES (:digest, :number, :file)",
      ["digest": .string(digest.hexadecimal), "number": .integer(number), "file": .string(file)])
  }

  static func remove(_ digest: Digest, in database: borrowing Database) throws {
    try database.run(
      "DELETE FROM satchel_brought_emissions WHERE digest = :digest", ["digest": .string(digest.hexadecimal)])
  }

  /// All recorded emissions, sorted by the text of their digests.
  static func all(in database: borrowing Database) throws -> [(digest: Digest, file: String)] {
    try newest(.max, in: database)
  }

  /// The emissions with the highest numbers, at most `most` of them, sorted by the text of their digests.
  static func newest(_ most: Int, in database: borrowing Database) throws -> [(digest: Digest, file: String)] {
    try database.all(
      """
      SELECT digest, file
      FROM (SELECT digest, file FROM satchel_brought_emissions ORDER BY number DESC, digest LIMIT :most)
      ORDER BY digest
      """, ["most": .integer(Int64(most))]
    ) { row in
      Digest(hexadecimal: row.text(0)).map { ($0, row.text(1)) }
    }.compactMap(\.self)
  }

  static func count(in database: borrowing Database) throws -> Int {
    try database.first("SELECT count(*) FROM satchel_brought_emissions") { Int($0.integer(0)) } ?? 0
  }
}
