import SatchelSQLite
import SatchelValues

/// The ledger rows that a person searches for. A nil property does not limit the result.
public struct LedgerFilter: Sendable {
  /// The name of the other replica. Upper and lower case are the same.
  public var peer: String?
  public var direction: LedgerEntry.Direction?
  public var verdict: Verdict?
  /// The earliest time, in milliseconds since 1970.
  public var from: Int64?
  /// The end of the period, in milliseconds since 1970. This time itself is excluded.
  public var until: Int64?
  /// A text in the other replica's name, the number, the kind, the id or the detail. Upper and lower case are the
  /// same.
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
  /// A page of the ledger rows that a filter selects, newest first.
  /// - Parameter first: the number of newer rows to leave out.
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

  /// The ledger rows about one other replica, newest first. A refused file whose sender could not be read is not
  /// among them.
  public static func list(of peer: String, limit: Int64, in database: borrowing Database) throws -> [LedgerEntry] {
    try database.all(
      "SELECT \(LedgerEntry.columns) FROM satchel_ledger WHERE peer = :peer ORDER BY entry DESC LIMIT :limit",
      ["peer": .string(peer), "limit": .integer(limit)]
    ) { LedgerEntry($0) }
  }
}
