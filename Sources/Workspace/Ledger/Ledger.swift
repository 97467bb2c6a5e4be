import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// The result of an attempt to import or make a bundle.
public enum Verdict: String, Sendable {
  /// A bundle that was accepted.
  case imported
  /// A bundle that had been imported before. Nothing changed.
  case repeated
  /// A bundle that a newer bundle has replaced. Nothing changed.
  case stale
  /// A volume whose bundle is not complete yet. The volume is stored. The ledger does not record this verdict.
  case part
  /// A bundle of the lost time that the hub made and a device brought back. The hub stores the bundle until it has all
  /// such bundles.
  case collected
  /// A bundle that the hub made and a device brought back, but that the hub does not need. The hub has it already, or
  /// a lost key signed it. It is not kept.
  case unused
  /// A bundle from a restored hub that lacks exports of this device. Nothing changed. The device must deliver these
  /// exports again first.
  case redeliver
  /// A bundle that this replica made, to be carried.
  case written
  case refused

  /// Whether a bundle with this verdict need not be carried again.
  public var isTaken: Bool {
    switch self {
    case .imported, .repeated, .stale, .part, .collected, .unused: true
    case .redeliver, .written, .refused: false
    }
  }
}

/// One row of the ledger.
public struct LedgerEntry: Sendable {
  /// The time of the row, in milliseconds since 1970 by this replica's clock.
  public let at: Int64
  public let direction: Direction
  public let kind: String
  public let bundle: String?
  /// The name of the other replica, if it is known.
  public let peer: String?
  public let number: Int64?
  public let digest: String?
  public let verdict: Verdict
  /// The number of changes that the bundle carried.
  public let changes: Int64
  /// The number of new conflicts that the import made.
  public let conflicts: Int64
  /// For a refused bundle: the reason. For an imported bundle: a remark if its file is no longer kept.
  public let detail: String?

  public enum Direction: String, Sendable, CaseIterable {
    case incoming = "in"
    case outgoing = "out"
  }

  /// The columns that `init` reads, in the order of its indexes.
  static let columns = "at, direction, kind, bundle, peer, number, digest, verdict, changes, conflicts, detail"

  init(_ row: borrowing Statement) {
    at = row.integer(0)
    direction = Direction(rawValue: row.text(1)) ?? .incoming
    kind = row.text(2)
    bundle = row.optionalText(3)
    peer = row.optionalText(4)
    number = row.optionalInteger(5)
    digest = row.optionalText(6)
    verdict = Verdict(rawValue: row.text(7)) ?? .refused
    changes = row.integer(8)
    conflicts = row.integer(9)
    detail = row.optionalText(10)
  }
}

/// The table `satchel_ledger`. It has a row for each bundle that this replica made or received.
public enum Ledger {
  public static let schema = """
    CREATE TABLE satchel_ledger (
      entry INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,       -- milliseconds since 1970 by this replica's clock
      direction TEXT NOT NULL,   -- in, out
      kind TEXT NOT NULL,        -- changes, scope, enrolment; '' where it could not be read
      bundle TEXT,
      peer TEXT,                 -- the other side's name
      number INTEGER,            -- sequence or emission
      digest TEXT,               -- of its B2SUMS; of a refused file on a stick: of its first MiB
      verdict TEXT NOT NULL,     -- imported, repeated, stale, written, refused
      changes INTEGER NOT NULL,
      conflicts INTEGER NOT NULL,
      detail TEXT                -- why it was refused; or that its file is not kept any more
    );
    CREATE INDEX satchel_ledger_by_peer ON satchel_ledger (peer, kind, number);
    CREATE INDEX satchel_ledger_by_bundle ON satchel_ledger (bundle);
    """

  public static func add(
    _ manifest: Manifest, digest: Digest, direction: LedgerEntry.Direction, verdict: Verdict, at time: Int64,
    conflicts: Int64 = 0,
    detail: String? = nil, in database: borrowing Database
  ) throws {
    try database.run(
      """
      INSERT INTO satchel_ledger
        (at, direction, kind, bundle, peer, number, digest, verdict, changes, conflicts, detail)
      VALUES (:at, :direction, :kind, :bundle, :peer, :number, :digest, :verdict, :changes, :conflicts, :detail)
      """,
      [
        "at": .integer(time), "direction": .string(direction.rawValue), "kind": .string(manifest.kind.rawValue),
        "bundle": .string(manifest.bundle.text),
        "peer": .string(direction == .incoming ? manifest.from.name : manifest.to.name),
        "number": .integer(manifest.number),
        "digest": .string(digest.hexadecimal), "verdict": .string(verdict.rawValue),
        "changes": .integer(manifest.changes), "conflicts": .integer(conflicts),
        "detail": detail.map { .string($0) } ?? .null,
      ])
  }

  /// Records a refused file. If the digest is known, the same refusal is recorded only once.
  /// - Parameter digest: the digest of the file's beginning; nil if the file was not read.
  public static func addRefusal(
    file: String, _ digest: Digest? = nil, reason: String, at time: Int64, in database: borrowing Database
  ) throws {
    let values: KeyValuePairs<String, Value> = [
      "at": .integer(time), "detail": .string("\(reason): \(file)"),
      "digest": digest.map { .string($0.hexadecimal) } ?? .null,
    ]
    try database.run(
      """
      INSERT INTO satchel_ledger (at, direction, kind, digest, verdict, changes, conflicts, detail)
      SELECT :at, 'in', '', :digest, 'refused', 0, 0, :detail
      WHERE NOT EXISTS (SELECT 1 FROM satchel_ledger WHERE bundle IS NULL AND digest = :digest AND detail = :detail)
      """, values)
  }

  /// The time of the first refusal of a file for this reason, in milliseconds since 1970. nil if the ledger has none.
  /// - Parameter digest: the digest of the file's beginning.
  static func refusal(
    of file: String, _ digest: Digest, reason: String, in database: borrowing Database
  ) throws -> Int64? {
    try database.first(
      """
      SELECT min(at)
      FROM satchel_ledger
      WHERE bundle IS NULL AND digest = :digest AND detail = :detail AND verdict = 'refused'
      """, ["digest": .string(digest.hexadecimal), "detail": .string("\(reason): \(file)")]
    ) { $0.optionalInteger(0) } ?? nil
  }

  /// The ledger's answer about the id of a bundle.
  public enum Knowledge: Sendable {
    case nothing
    /// This bundle was imported before, or a newer bundle had replaced it.
    case taken
    /// The same sender used this id for another bundle.
    case other
  }

  /// Returns what the ledger has about a bundle. The id alone proves nothing: each person who carries bundles can
  /// read their ids and copy them.
  public static func knowledge(
    of bundle: BundleID, _ digest: Digest, from peer: String, in database: borrowing Database
  ) throws -> Knowledge {
    let known = try database.all(
      """
      SELECT peer, digest
      FROM satchel_ledger
      WHERE bundle = :bundle AND direction = 'in' AND verdict IN ('imported', 'stale')
      """, ["bundle": .string(bundle.text)]
    ) { (peer: $0.text(0), digest: $0.text(1)) }
    if known.contains(where: { $0.digest == digest.hexadecimal }) { return .taken }
    return known.contains { $0.peer == peer } ? .other : .nothing
  }

  /// Whether a bundle with this id from this sender was imported before, or had been replaced by a newer bundle.
  /// Another sender may have used the same id.
  public static func hasTaken(
    _ bundle: BundleID, from peer: String, in database: borrowing Database
  ) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_ledger WHERE bundle = :bundle AND peer = :peer AND verdict IN ('imported', 'stale')",
      ["bundle": .string(bundle.text), "peer": .string(peer)]
    ) { _ in true } ?? false
  }

  /// The time at which this replica last imported or made a bundle, in milliseconds since 1970. nil if it never did.
  public static func lastTime(in database: borrowing Database) throws -> Int64? {
    try database.first(
      "SELECT max(at) FROM satchel_ledger WHERE direction = 'out' OR verdict = 'imported'"
    ) { $0.optionalInteger(0) } ?? nil
  }

  /// Whether the export of `peer` with this number was imported.
  public static func hasImported(_ number: Int64, from peer: String, in database: borrowing Database) throws -> Bool {
    try database.first(
      """
      SELECT 1 FROM satchel_ledger
      WHERE peer = :peer AND number = :number AND direction = 'in' AND kind = 'changes' AND verdict = 'imported'
      """, ["peer": .string(peer), "number": .integer(number)]
    ) { _ in true } ?? false
  }

  /// Whether this replica made the bundle.
  public static func hasWritten(_ bundle: BundleID, in database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_ledger WHERE bundle = :bundle AND direction = 'out'", ["bundle": .string(bundle.text)]
    ) { _ in true } ?? false
  }

  /// Whether this replica made the bundle with this id and this digest. If release 0.1 recorded no digest, the id is
  /// enough.
  public static func hasWritten(_ bundle: BundleID, _ digest: Digest, in database: borrowing Database) throws -> Bool {
    try database.first(
      """
      SELECT 1
      FROM satchel_ledger
      WHERE bundle = :bundle AND direction = 'out' AND coalesce(digest, :digest) = :digest
      """, ["bundle": .string(bundle.text), "digest": .string(digest.hexadecimal)]
    ) { _ in true } ?? false
  }

  /// Whether this replica made the bundle. For a volume: whether this replica made the whole bundle.
  public static func hasWritten(_ manifest: Manifest, _ digest: Digest, in database: borrowing Database) throws -> Bool
  {
    if case .volume(let volume) = manifest.body { return try hasWritten(volume.of, in: database) }
    return try hasWritten(manifest.bundle, digest, in: database)
  }

  /// The time at which the hub made the bundle with this number for a device, in milliseconds since 1970; nil if it
  /// is not known.
  public static func written(_ number: Int64, for peer: String, in database: borrowing Database) throws -> Int64? {
    try database.first(
      "SELECT at FROM satchel_ledger WHERE peer = :peer AND kind = 'scope' AND number = :number AND direction = 'out'",
      ["peer": .string(peer), "number": .integer(number)]
    ) { $0.integer(0) }
  }
}
