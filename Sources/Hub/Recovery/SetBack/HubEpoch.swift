import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of `restore --in-place`.
public struct InPlaceReport: Sendable {
  /// The epoch that ended. `epoch` is the epoch that begins.
  public let former: Epoch
  public let epoch: Epoch
  /// The path of the copy of the former database.
  public let copy: String
  /// The names of the devices that must deliver again.
  public let devices: [String]
  /// Whether a device's bundle had already proved that the hub was set back.
  public let wasKnown: Bool
  /// The time of the newest bundle in the hub's ledger, in milliseconds since 1970. The lost time begins after it. nil
  /// if the ledger has no bundle.
  public let last: Int64?
}

/// The beginning of a new epoch, which ends the present epoch.
extension HubWorkspace {
  /// Begins a new epoch on the present files, because an older copy replaced the newer files. The hub then continues as
  /// after a restore from a backup. Devices deliver the changes that this hub lacks, and bring back the emissions that
  /// this hub lost.
  ///
  /// A copy of the present database goes into `bundles/archive/former` first.
  public func restoreInPlace() throws -> InPlaceReport {
    try locked {
      let store = try store()
      try checkClock(store)
      try refuseWithoutKey(store)
      let wasKnown = try store.setBack() != nil
      let devices = try store.devices().filter { $0.state == .active }.map(\.name)
      let name = "data-before-\(UTCTime.fileName(milliseconds: platform.clock.milliseconds())).sqlite"
      let copy = Paths.join(folder.former, name)
      if runMode == .commit { try folder.keep(store.database, at: copy, platform.files) }
      let former = store.identity.epoch
      let last = try Ledger.lastTime(in: store.database)
      let epoch = try store.writeTransaction(runMode) { try beginEpoch(store, isAfterLoss: true) }
      return InPlaceReport(former: former, epoch: epoch, copy: copy, devices: devices, wasKnown: wasKnown, last: last)
    }
  }

  /// Begins a new epoch in a hub that was made from a backup.
  /// - Parameter time: the time of the backup by the hub's clock, in milliseconds since 1970.
  func beginEpochAfterLoss(of time: Int64) throws -> Epoch {
    let store = try store()
    return try store.writeTransaction(.commit) { try beginEpoch(store, isAfterLoss: true, notBefore: time) }
  }

  /// Begins a new epoch with the present rows, and writes a base for it. The caller holds the transaction.
  /// - Parameters:
  ///   - isAfterLoss: whether the hub lost rows. If so, it collects these rows from the devices.
  ///   - time: a time at which the hub worked, in milliseconds since 1970. This time may be later than the present
  ///     time, because the clock may have been ahead.
  func beginEpoch(_ store: HubStore, isAfterLoss: Bool, notBefore time: Int64 = 0) throws -> Epoch {
    let epoch: Epoch = platform.random.identifier()
    let now = platform.clock.milliseconds()
    try store.logLocalWrites(user: Self.hubUser, at: now)
    // After a loss, the hub does not know which emission numbers it used. So new numbers start at the time in seconds.
    try store.beginEpoch(epoch, after: isAfterLoss ? max(now, time) / 1000 : 0)
    if isAfterLoss {
      try store.beginRecovery()
      try forgetMissingLost(store)
      try KeyBlocks(store).beginAnew(after: store.identity.epoch)
    }
    if runMode == .commit {
      try writeBase(store.database, store.tables, store.dataset, epoch: epoch, cursor: store.cursor())
    }
    return epoch
  }
}
