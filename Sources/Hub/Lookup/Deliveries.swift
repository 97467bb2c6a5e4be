import SatchelWorkspace

extension HubWorkspace {
  /// The days on which devices delivered changes, oldest first.
  /// - Parameter time: the beginning of the period, in milliseconds since 1970.
  public func deliveries(since time: Int64) throws -> [LedgerDay] {
    try Ledger.days(since: time, in: examined().database)
  }
}
