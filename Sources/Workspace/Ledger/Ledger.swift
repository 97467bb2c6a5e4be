import SatchelBundle
import SatchelCrypto
import SatchelSQLite
import SatchelValues

/// The outcome for a bundle.
public enum Verdict: String, Sendable {
  /// Accepted.
  case imported
  /// Known already: nothing changed.
  case repeated
  /// Replaced by a newer bundle: nothing changed.
  case stale
  /// A volume, while other volumes of its bundle are missing. The volume is kept. The ledger does not record it.
  case part
  /// A hub's own bundle that a device brought back: it is kept until all bundles of the lost time are here.
  case collected
  /// A hub's own bundle that a device brought back and that the hub does not need: the hub knows it, or a lost key
  /// signed it. Nothing of it is kept.
  case unused
  /// A bundle from a restored hub that lacks exports of this device. Nothing changed, and the device must deliver those
  /// exports again.
  case redeliver
  /// Made here, to be carried.
  case written
  case refused

  /// Whether a bundle with this verdict need not be carried any more.
  public var isTaken: Bool {
    switch self {
    case .imported, .repeated, .stale, .part, .collected, .unused: true
    case .redeliver, .written, .refused: false
    }
  }
}

/// One line of the ledger.
public struct LedgerEntry: Sendable {
  /// Milliseconds since 1970 by this replica's clock.
  public let at: Int64
  public let direction: Direction
  public let kind: String
  public let bundle: String?
  /// The other side's name, if it is known.
  public let peer: String?
  public let number: Int64?
  public let digest: String?
  public let verdict: Verdict
  /// The number of changes that the bundle carried.
  public let changes: Int64
  /// The number of new conflicts that the bundle brought.
  public let conflicts: Int64
  /// For a refused bundle: the reason. For an imported bundle: the remark that its file is not kept any more.
  public let detail: String?

  public enum Direction: String, Sendable, CaseIterable {
    case incoming = "in"
    case outgoing = "out"
  }

  /// The columns that `init` reads, in this order.
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

/// The table `satchel_ledger`: a row for every bundle that was ever made or seen here.
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

  /// Records a refused file. A file that is refused again for the same reason is recorded once, if its digest is known.
  /// - Parameter digest: the digest of the file's beginning; nil: the file was not read.
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

  /// When a file was refused first, in milliseconds since 1970. nil: no refusal for this reason is recorded.
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

  /// The ledger's knowledge about a bundle's id.
  public enum Knowledge: Sendable {
    case nothing
    /// The same bundle was imported before, or a newer bundle had replaced it.
    case taken
    /// Another bundle of the same sender has the id.
    case other
  }

  /// Returns the ledger's knowledge about a bundle. The id alone proves nothing, because a carrier can read the ids of
  /// other bundles.
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

  /// Whether a bundle of this sender was imported before, or a newer bundle had replaced it. Another sender may have
  /// used the same id.
  public static func hasTaken(
    _ bundle: BundleID, from peer: String, in database: borrowing Database
  ) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_ledger WHERE bundle = :bundle AND peer = :peer AND verdict IN ('imported', 'stale')",
      ["bundle": .string(bundle.text), "peer": .string(peer)]
    ) { _ in true } ?? false
  }

  /// When the last bundle was imported or made, in milliseconds since 1970. nil: none was.
  public static func lastTime(in database: borrowing Database) throws -> Int64? {
    try database.first(
      "SELECT max(at) FROM satchel_ledger WHERE direction = 'out' OR verdict = 'imported'"
    ) { $0.optionalInteger(0) } ?? nil
  }

  /// Whether an export with this number was imported.
  public static func hasImported(_ number: Int64, from peer: String, in database: borrowing Database) throws -> Bool {
    try database.first(
      """
      SELECT 1 FROM satchel_ledger
      WHERE peer = :peer AND number = :number AND direction = 'in' AND kind = 'changes' AND verdict = 'imported'
      """, ["peer": .string(peer), "number": .integer(number)]
    ) { _ in true } ?? false
  }

  /// Whether a bundle was made here.
  public static func hasWritten(_ bundle: BundleID, in database: borrowing Database) throws -> Bool {
    try database.first(
      "SELECT 1 FROM satchel_ledger WHERE bundle = :bundle AND direction = 'out'", ["bundle": .string(bundle.text)]
    ) { _ in true } ?? false
  }

  /// Whether the bundle with this id and this digest was made here. Release 0.1 recorded no digest.
  public static func hasWritten(_ bundle: BundleID, _ digest: Digest, in database: borrowing Database) throws -> Bool {
    try database.first(
      """
      SELECT 1
      FROM satchel_ledger
      WHERE bundle = :bundle AND direction = 'out' AND coalesce(digest, :digest) = :digest
      """, ["bundle": .string(bundle.text), "digest": .string(digest.hexadecimal)]
    ) { _ in true } ?? false
  }

  /// Whether the records contain a bundle that was made here. For a volume: whether they contain the whole bundle.
  public static func hasWritten(_ manifest: Manifest, _ digest: Digest, in database: borrowing Database) throws -> Bool
  {
    if case .volume(let volume) = manifest.body { return try hasWritten(volume.of, in: database) }
    return try hasWritten(manifest.bundle, digest, in: database)
  }

  /// The time at which the bundle with this number was made for a device, in milliseconds since 1970; nil: not known.
  public static func written(_ number: Int64, for peer: String, in database: borrowing Database) throws -> Int64? {
    try database.first(
      "SELECT at FROM satchel_ledger WHERE peer = :peer AND kind = 'scope' AND number = :number AND direction = 'out'",
      ["peer": .string(peer), "number": .integer(number)]
    ) { $0.integer(0) }
  }
}
