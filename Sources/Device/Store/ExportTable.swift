import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues

/// One row of `satchel_exports`, with the sealed file if the export was made just now.
struct ExportRecord {
  let sequence: SequenceNumber
  let received: EmissionNumber
  let file: String
  let isWritten: Bool
  /// The time when the export was made, in milliseconds since 1970.
  let created: Int64
  var sealed: SealedBundle?
  var isProved: Bool { sealed?.manifest.critical.contains(.state) ?? false }
}

/// `satchel_exports`: a row for each export that was ever begun.
enum ExportTable {
  static let schema = """
    CREATE TABLE satchel_exports (
      sequence INTEGER PRIMARY KEY,
      bundle TEXT NOT NULL,
      digest TEXT NOT NULL,       -- of its B2SUMS
      received INTEGER NOT NULL,  -- the emission on which it stood; 0: it was in an earlier epoch
      created INTEGER NOT NULL,   -- milliseconds since 1970
      file TEXT NOT NULL,         -- its name in the outbox, later in bundles/sent
      written INTEGER NOT NULL,   -- 1: the file is there and safe
      base INTEGER                -- the export since which it holds all changes; NULL: release 0.1 made it
    )
    """

  /// Records an export that was sealed just now. Its file is not in place yet.
  static func add(_ sealed: SealedBundle, _ changes: Manifest.Changes, at now: Int64, in database: borrowing Database)
    throws
  {
    try database.run(
      """
      INSERT INTO satchel_exports (sequence, bundle, digest, received, created, file, written, base)
      VALUES (:sequence, :bundle, :digest, :received, :created, :file, 0, :base)
      """,
      values(sealed.manifest, sealed.digest, changes, received: changes.received, created: now))
  }

  /// Records an export whose file is in the workspace. The database may have lost its record of that export.
  /// - Parameters:
  ///   - received: the present emission of the device when it made the export; zero: it was of an earlier epoch.
  ///   - isWritten: whether the file counts as an export under the device's present name.
  static func restore(
    _ bundle: borrowing VerifiedBundle, _ changes: Manifest.Changes, received: EmissionNumber, isWritten: Bool,
    in database: borrowing Database
  ) throws {
    let manifest = bundle.manifest
    // The record needs the time of this device's clock. The stamp is the second choice, because it follows the hub's
    // clock.
    let created = UTCTime.milliseconds(of: manifest.created) ?? manifest.stamp.milliseconds
    try database.run(
      """
      INSERT OR REPLACE INTO satchel_exports (sequence, bundle, digest, received, created, file, written, base)
      VALUES (:sequence, :bundle, :digest, :received, :created, :file, \(isWritten ? 1 : 0), :base)
      """,
      values(manifest, bundle.digest, changes, received: received, created: created))
  }

  private static func values(
    _ manifest: Manifest, _ digest: Digest, _ changes: Manifest.Changes, received: EmissionNumber, created: Int64
  ) -> KeyValuePairs<String, Value> {
    [
      "sequence": .integer(changes.sequence.rawValue), "bundle": .string(manifest.bundle.text),
      "digest": .string(digest.hexadecimal), "received": .integer(received.rawValue), "created": .integer(created),
      "file": .string(manifest.fileName), "base": changes.base.map { .integer($0.rawValue) } ?? .null,
    ]
  }

  /// Records that an export's file is in place.
  static func markWritten(_ sequence: SequenceNumber, in database: borrowing Database) throws {
    try database.run(
      "UPDATE satchel_exports SET written = 1 WHERE sequence = :sequence", ["sequence": .integer(sequence.rawValue)])
  }

  /// Records that no export was written under the device's new name yet.
  static func markAllUnwritten(in database: borrowing Database) throws {
    try database.run("UPDATE satchel_exports SET written = 0")
  }

  /// Sets the emission of each export to 0, because numbers of another epoch have no meaning in this epoch.
  static func forgetReceived(in database: borrowing Database) throws {
    try database.run("UPDATE satchel_exports SET received = 0")
  }

  /// Deletes the records of the exports up to `last`.
  static func forget(through last: SequenceNumber, in database: borrowing Database) throws {
    try database.run("DELETE FROM satchel_exports WHERE sequence <= :last", ["last": .integer(last.rawValue)])
  }

  // MARK: reading

  /// The newest export. nil if there was none.
  static func last(in database: borrowing Database) throws -> ExportRecord? {
    try database.first(
      "SELECT sequence, received, file, written, created FROM satchel_exports ORDER BY sequence DESC LIMIT 1"
    ) {
      ExportRecord(
        sequence: SequenceNumber($0.integer(0)), received: EmissionNumber($0.integer(1)), file: $0.text(2),
        isWritten: $0.integer(3) != 0, created: $0.integer(4))
    }
  }

  /// The newest export whose file was written, and the device's present emission at that time. nil if there was none.
  static func lastWritten(in database: borrowing Database) throws -> (SequenceNumber, EmissionNumber)? {
    try database.first(
      "SELECT sequence, received FROM satchel_exports WHERE written = 1 ORDER BY sequence DESC LIMIT 1"
    ) { (SequenceNumber($0.integer(0)), EmissionNumber($0.integer(1))) }
  }

  static func isEmpty(in database: borrowing Database) throws -> Bool {
    try database.first("SELECT 1 FROM satchel_exports LIMIT 1") { _ in false } ?? true
  }

  static func contains(_ sequence: SequenceNumber, in database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_exports WHERE sequence = :number", ["number": .integer(sequence.rawValue)]
    ) { _ in true } ?? false
  }

  /// The numbers of all recorded exports.
  static func sequences(in database: borrowing Database) throws -> Set<SequenceNumber> {
    Set(try database.all("SELECT sequence FROM satchel_exports") { SequenceNumber($0.integer(0)) })
  }

  /// The file names of the exports up to `last`.
  static func files(through last: SequenceNumber, in database: borrowing Database) throws -> [Name] {
    try database.all("SELECT file FROM satchel_exports WHERE sequence <= :last", ["last": .integer(last.rawValue)]) {
      Name($0.text(0))
    }
  }

  /// The exports before `known` that were made before `limit`, oldest first.
  /// - Parameter limit: in milliseconds since 1970.
  static func old(
    before known: SequenceNumber, madeBefore limit: Int64, in database: borrowing Database
  ) throws -> [(sequence: SequenceNumber, file: String)] {
    try database.all(
      "SELECT sequence, file FROM satchel_exports WHERE sequence < :known AND created < :limit ORDER BY sequence",
      ["known": .integer(known.rawValue), "limit": .integer(limit)]
    ) { (SequenceNumber($0.integer(0)), $0.text(1)) }
  }

  /// The file of an export, and the earlier export since which it holds all changes. nil if the export has no record.
  static func file(
    of sequence: SequenceNumber, in database: borrowing Database
  ) throws -> (file: String, base: SequenceNumber?)? {
    try database.first(
      "SELECT file, base FROM satchel_exports WHERE sequence = :sequence", ["sequence": .integer(sequence.rawValue)]
    ) { ($0.text(0), $0.optionalInteger(1).map { SequenceNumber($0) }) }
  }

  /// When an export was made, in milliseconds since 1970. nil if the export has no record.
  static func created(_ sequence: SequenceNumber, in database: borrowing Database) throws -> Int64? {
    try database.first(
      "SELECT created FROM satchel_exports WHERE sequence = :sequence", ["sequence": .integer(sequence.rawValue)]
    ) { $0.integer(0) }
  }

  /// When the newest export was made, in milliseconds since 1970. nil if there was none.
  static func lastCreated(in database: borrowing Database) throws -> Int64? {
    try database.first("SELECT max(created) FROM satchel_exports") { $0.optionalInteger(0) } ?? nil
  }

  /// The number of exports after `known` that carried changes. An export that only acknowledges is never acknowledged
  /// itself, so it does not count.
  static func countWithChanges(after known: SequenceNumber, in database: borrowing Database) throws -> Int64 {
    try database.first(
      """
      SELECT count(DISTINCT satchel_exports.sequence)
      FROM satchel_exports
      JOIN satchel_ledger ON satchel_ledger.bundle = satchel_exports.bundle
      WHERE satchel_exports.sequence > :known AND satchel_exports.written = 1
        AND satchel_ledger.direction = 'out' AND satchel_ledger.changes > 0
      """, ["known": .integer(known.rawValue)]
    ) { $0.integer(0) } ?? 0
  }

  // MARK: digests

  /// The exports from `first` on and before `sequence`, oldest first. Returns only the newest `longestChain` exports.
  static func chain(
    from first: SequenceNumber, before sequence: SequenceNumber, in database: borrowing Database
  ) throws -> [Manifest.Changes.Link] {
    try database.all(
      """
      SELECT sequence, digest
      FROM satchel_exports
      WHERE sequence >= :first AND sequence < :sequence
      ORDER BY sequence DESC
      LIMIT :longest
      """,
      [
        "first": .integer(first.rawValue), "sequence": .integer(sequence.rawValue),
        "longest": .integer(Int64(Manifest.Changes.longestChain)),
      ]
    ) { row -> Manifest.Changes.Link in
      let sequence = SequenceNumber(row.integer(0))
      return .init(sequence: sequence, digest: try digest(row.text(1), of: sequence))
    }.reversed()
  }

  /// The digest of an export's B2SUMS. nil if the export has no record.
  /// - Throws: a `WorkspaceError` if the record holds no digest.
  static func digest(of sequence: SequenceNumber, in database: borrowing Database) throws -> Digest? {
    try database.first(
      "SELECT digest FROM satchel_exports WHERE sequence = :sequence", ["sequence": .integer(sequence.rawValue)]
    ) { try digest($0.text(0), of: sequence) }
  }

  private static func digest(_ text: String, of sequence: SequenceNumber) throws -> Digest {
    if let digest = Digest(hexadecimal: text) { return digest }
    throw WorkspaceError(.badExport, "The row \(sequence) of satchel_exports holds no digest.")
  }
}
