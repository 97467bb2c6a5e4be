import SatchelSQLite
import SatchelValues

/// The entries of the ledger that a person searches for. A member that is nil limits nothing.
public struct LedgerFilter: Sendable {
  /// The other side's name, in upper or lower case.
  public var peer: String?
  public var direction: LedgerEntry.Direction?
  public var verdict: Verdict?
  /// The first time that counts, in milliseconds since 1970.
  public var from: Int64?
  /// The time after the last time that counts, in milliseconds since 1970.
  public var until: Int64?
  /// Text in the name, the number, the id, the kind or the detail, in upper or lower case.
  public var text: String?

  public init() {}

  fileprivate static let condition = """
    (:peer IS NULL OR peer = :peer COLLATE NOCASE)
      AND (:direction IS NULL OR direction = :direction)
      AND (:verdict IS NULL OR verdict = :verdict)
      AND (:from IS NULL OR at >= :from)
      AND (:until IS NULL OR at < :until)
      AND (:text IS NULL OR instr(
        lower(coalesce(peer, '') || ' ' || coalesce(number, '') || ' ' || kind || ' ' || coalesce(bundle, '') || ' '
          || coalesce(detail, '')),
        lower(:text)) > 0)
    """

  fileprivate func parameters(from first: Int64, limit: Int64) -> KeyValuePairs<String, Value> {
    func value(_ text: String?) -> Value { text.map { .string($0) } ?? .null }
    func value(_ number: Int64?) -> Value { number.map { .integer($0) } ?? .null }
    return [
      "peer": value(peer), "direction": value(direction?.rawValue), "verdict": value(verdict?.rawValue),
      "from": value(from), "until": value(until), "text": value(text), "first": .integer(first),
      "limit": .integer(limit),
    ]
  }
}

extension Ledger {
  /// Some of the entries of a filter, newest first.
  /// - Parameter first: the number of newer entries that are left out.
  public static func list(
    _ filter: LedgerFilter = LedgerFilter(), from first: Int64 = 0, limit: Int64, in database: borrowing Database
  ) throws -> [LedgerEntry] {
    try database.all(
      """
      SELECT \(LedgerEntry.columns)
      FROM satchel_ledger
      WHERE \(LedgerFilter.condition)
      ORDER BY entry DESC
      LIMIT :limit OFFSET :first
      """, filter.parameters(from: first, limit: limit)
    ) { LedgerEntry($0) }
  }

  /// The entries about one other side, newest first. Files that were refused unread name no sender, and are not among
  /// them.
  public static func list(of peer: String, limit: Int64, in database: borrowing Database) throws -> [LedgerEntry] {
    try database.all(
      "SELECT \(LedgerEntry.columns) FROM satchel_ledger WHERE peer = :peer ORDER BY entry DESC LIMIT :limit",
      ["peer": .string(peer), "limit": .integer(limit)]
    ) { LedgerEntry($0) }
  }
}
