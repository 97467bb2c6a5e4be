import SatchelDevice

/// The last contacts of a device with its office, in the order in which its user reads them.
struct OfficeContact {
  /// The times are in milliseconds since 1970; nil: there was no such contact.
  let facts: [(title: WindowText, time: Int64?)]

  /// - Parameter lastSync: the result of the last sync in this window; nil: it is not known.
  init(_ current: DeviceStatus.Current, lastSync: SyncSummary? = nil) {
    let heard = current.state.heard
    // An export that is on no stick yet is no exchange with the office.
    let exported = lastSync?.isWorkLeftBehind == true ? nil : current.lastExport
    facts = [
      (title: .lastSync, time: max(heard, exported ?? heard)), (title: .lastNews, time: heard),
      (title: .lastConfirmed, time: current.acknowledgedExport),
    ]
  }
}
