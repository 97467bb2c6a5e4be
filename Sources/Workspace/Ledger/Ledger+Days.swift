import SatchelSQLite

/// The number of bundles with changes that came on one day.
public struct LedgerDay: Hashable, Sendable {
  /// The number of days since 1970, in UTC.
  public let day: Int64
  public let bundles: Int64
  /// The number of changes in these bundles.
  public let changes: Int64
}

extension Ledger {
  static let millisecondsOfDay: Int64 = 86_400_000

  /// The days on which bundles from devices were imported, oldest first.
  /// - Parameter time: the beginning of the period, in milliseconds since 1970.
  public static func days(since time: Int64, in database: borrowing Database) throws -> [LedgerDay] {
    try database.all(
      """
      SELECT at / :day, count(*), sum(changes)
      FROM satchel_ledger
      WHERE at >= :time AND direction = 'in' AND kind = 'changes' AND verdict = 'imported'
      GROUP BY at / :day
      ORDER BY at / :day
      """, ["day": .integer(millisecondsOfDay), "time": .integer(time)]
    ) { LedgerDay(day: $0.integer(0), bundles: $0.integer(1), changes: $0.integer(2)) }
  }
}
