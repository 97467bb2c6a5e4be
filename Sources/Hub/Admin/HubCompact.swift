import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of `compact`.
public struct CompactReport: Sendable {
  /// Devices whose emissions the hub forgot. They get a full bundle at their next contact.
  public var forgotten: [String] = []
  /// The cursor at which the hub's history now begins.
  public var logFrom = Cursor.zero
  /// The time of the oldest change that the hub still knows, in milliseconds since 1970. nil: it knows none.
  public var knownSince: Int64?
  public var logEntries: Int64 = 0
  public var goneRows: Int64 = 0
  /// The number of files that were removed from the archive.
  public var bundles = 0
  /// The number of files that were removed from `bundles/sent`.
  public var sent = 0
  /// Attached files that were removed, because nothing names them any more.
  public var attached = UnnamedFiles()
  /// The number of bundles that may name any file, and must first be imported or settled. If it is not zero, `compact`
  /// removed no attached file.
  public var attachedWait = 0
  /// The size of the database, in bytes.
  public var database: (before: Int64, after: Int64) = (0, 0)
  /// The reason why SQLite could not shrink the database, in SQLite's words. nil if it did.
  public var notShrunk: String?
  public var archive: (before: Int64, after: Int64) = (0, 0)
}

extension HubWorkspace {
  /// Forgets history that is no longer needed: old changes in the log, and the numbers of deleted rows. A change is
  /// needed if it is newer than the oldest emission that a device has.
  ///
  /// Emissions for revoked and expired devices do not count. Changes younger than the dataset's `history` always stay.
  /// - Parameters:
  ///   - days: changes younger than this number of days stay. Emissions for devices that were silent for longer do not
  ///     count. Bundles imported before that time leave the archive. Bundles made before that time that have arrived
  ///     leave `bundles/sent`. nil: emissions for silent devices count, and no bundle is removed.
  ///   - isShrinking: whether the database gives its free pages back to the file system.
  public func compact(olderThan days: Int64? = nil, shrinking isShrinking: Bool = false) throws -> CompactReport {
    try locked {
      let store = try storeForLongWork()
      let now = platform.clock.milliseconds()
      let history = store.dataset.historyDays
      let limit = days.map { now - max($0, history ?? 0) * Self.day }
      let newest = limit ?? history.map { now - $0 * Self.day }
      var report = CompactReport()
      (report.database.before, report.archive.before) = try (platform.files.size(databasePath), archiveBytes())
      var files: [String] = []
      if runMode == .commit {
        try BundleParts(folder, platform: platform).forgetOld()
        try forgetOldWaiting()
        try Quarantine.forgetOld(but: filesOfForks(store), folder, platform)
      }
      try recordingAct(store) { act in
        try store.writeTransaction(runMode) {
          try store.logLocalWrites(user: Self.hubUser, at: now)
          try forgetDevices(store, silentSince: limit, now: now, &report)
          report.logFrom = try max(store.forgettable(before: newest), store.identity.logFrom)
          report.knownSince = try store.timeOfFirstChange(after: report.logFrom)
          // The new base holds all present rows. From this base and the remaining log, the hub can compute any earlier
          // row that it still knows.
          if runMode == .commit, report.logFrom > store.identity.logFrom {
            try writeBase(
              store.database, store.tables, store.dataset, epoch: store.identity.epoch, cursor: store.cursor())
          }
          report.logEntries = try store.forgetLog(upTo: report.logFrom)
          // The number of a deleted row prevents a device from bringing the row back. So numbers are forgotten only if
          // the hub knows the rows of all devices.
          if try store.devices().allSatisfy({ try $0.state == .revoked || store.knowsWhat($0) }) {
            report.goneRows = try store.forgetGoneRows()
          }
          files = try forgetBundles(store, before: limit).map { Paths.join(folder.archive, $0) }
          let carried = try limit.map { try store.carried(before: $0) } ?? []
          let kept = try carried.map { Paths.join(folder.sent, $0) }.filter { try platform.files.kind($0) == .file }
          report.sent = kept.count
          files += kept
          try forgetFiles(store, &report)
          try store.add(act)
        }
      }
      report.bundles = files.count - report.sent
      if runMode == .commit {
        for file in files { try platform.files.removeIfThere(file) }
        let archive = BundleArchive(folder, platform.files)
        try forgetBases(archive, store)
        if isShrinking { report.notShrunk = try store.database.shrink() }
      }
      (report.database.after, report.archive.after) = try (platform.files.size(databasePath), archiveBytes())
      return report
    }
  }

  private func forgetDevices(
    _ store: HubStore, silentSince limit: Int64?, now: Int64, _ report: inout CompactReport
  ) throws {
    for device in try store.devices() {
      let isRevoked = device.state == .revoked
      let isGone = try isRevoked || store.hasExpired(device, now: now)
      let isSilent = limit.map { device.heard ?? device.enrolled < $0 } ?? false
      guard isGone || isSilent, try !store.emissions(of: device.id).isEmpty else { continue }
      try store.forgetEmissions(of: device.id)
      // A revoked device does not come back, so the report does not name it.
      if !isRevoked { report.forgotten.append(device.name) }
    }
  }

  /// Removes files that nothing names any more. The transaction is still open then, so no writer can name such a file
  /// meanwhile.
  private func forgetFiles(_ store: HubStore, _ report: inout CompactReport) throws {
    let attachments = HubAttachments(store, self)
    guard attachments.areAny else { return }
    report.attachedWait = try bundlesToCome(store)
    if report.attachedWait > 0 { return }
    report.attached = try attachments.unnamed()
    if runMode == .commit { try attachments.remove(report.attached) }
  }

  /// Returns the names of the files that leave the archive.
  private func forgetBundles(_ store: HubStore, before limit: Int64?) throws -> [String] {
    guard let limit else { return [] }
    return try store.forgettableBundles(before: limit).map {
      try store.markForgotten($0.bundle, from: $0.peer)
      return HubArchive.name(dataset: store.dataset.name, device: $0.peer, number: $0.number, bundle: $0.bundle)
    }
  }

  /// In milliseconds.
  private static let day: Int64 = 86_400_000

  private func archiveBytes() throws -> Int64 {
    try platform.files.list(folder.archive).reduce(0) { sum, name in
      let path = Paths.join(folder.archive, name)
      return try platform.files.kind(path) == .file ? sum + platform.files.size(path) : sum
    }
  }
}

extension HubStore {
  /// Whether the hub knows the rows of a device: the device has none yet, or the hub remembers its emission.
  fileprivate func knowsWhat(_ device: EnrolledDevice) throws -> Bool {
    try device.emitted == .zero || !emissions(of: device.id).isEmpty
  }
}
