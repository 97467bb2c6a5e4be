import SatchelWorkspace

extension HubWorkspace {
  /// Some of the ledger's entries that fit a filter, newest first.
  /// - Parameter first: the number of newer entries that are left out.
  public func log(_ filter: LedgerFilter, from first: Int64, limit: Int64) throws -> [LedgerEntry] {
    try Ledger.list(filter, from: first, limit: limit, in: store().database)
  }
}
