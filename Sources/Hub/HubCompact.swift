import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What `compact` did.
public struct CompactReport: Sendable {
  /// Devices of which the hub forgot what they hold: they get everything when they are heard of again.
  public var forgotten: [String] = []
  /// The hub's history is told from here on.
  public var logFrom = Cursor.zero
  public var logEntries: Int64 = 0
  public var goneRows: Int64 = 0
  /// Files that the archive no longer keeps.
  public var bundles = 0
  /// Files that `bundles/sent` no longer keeps.
  public var sent = 0
  /// Attached files that went, because nothing names them any more.
  public var attached = UnnamedFiles()
  /// How many bundles must be taken, or decided, before it is known which files nothing names; then none went.
  public var attachedWait = 0
  /// In bytes.
  public var database: (before: Int64, after: Int64) = (0, 0)
  /// Why the database could not be shrunk as was asked, in SQLite's words; nil: it could.
  public var notShrunk: String?
  public var archive: (before: Int64, after: Int64) = (0, 0)
}

extension HubWorkspace {
  /// Forgets what nobody needs any more: changes from before the emission that the last device stands on, and numbers
  /// of rows that are gone.
  ///
  /// Revoked and expired devices hold nothing back.
  /// - Parameters:
  ///   - days: devices that were not heard of for longer hold nothing back either, and the files of bundles that were
  ///     imported before
  ///     that go from the archive, those that were made before it and have come from `bundles/sent`; nil: neither.
  ///   - isShrinking: whether the database gives its free pages back to the file system.
  public func compact(olderThan days: Int64? = nil, shrinking isShrinking: Bool = false) throws -> CompactReport {
    try locked {
      let store = try storeForLongWork()
      try checkClock(store)
      let now = platform.clock.milliseconds()
      let limit = days.map { now - $0 * 86_400_000 }
      var report = CompactReport()
      (report.database.before, report.archive.before) = try (platform.files.size(databasePath), archiveBytes())
      var files: [String] = []
      if ending == .keep { try BundleParts(folder, platform: platform).forgetOld() }
      try store.writeTransaction(ending) {
        try store.absorb(user: Self.hubUser, at: now)
        try forgetDevices(store, silentSince: limit, now: now, &report)
        report.logFrom = try store.forgettable()
        // In the base are all rows as they are: with it the log that is left tells what each must be.
        if ending == .keep, report.logFrom > store.identity.logFrom {
          try writeBase(
            store.database, store.tables, store.dataset, epoch: store.identity.epoch, cursor: store.cursor())
        }
        report.logEntries = try store.forgetLog(upTo: report.logFrom)
        // A device that may still hold a row, unknown to us, must not bring it back.
        if try store.devices().allSatisfy({ try $0.state == .revoked || store.knowsWhat($0) }) {
          report.goneRows = try store.forgetGoneRows()
        }
        files = try forgetBundles(store, before: limit).map { Paths.join(folder.archive, $0) }
        let carried = try limit.map { try store.carried(before: $0) } ?? []
        let kept = try carried.map { Paths.join(folder.sent, $0) }.filter { try platform.files.kind($0) == .file }
        report.sent = kept.count
        files += kept
        try forgetFiles(store, &report)
      }
      report.bundles = files.count - report.sent
      if ending == .keep {
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
      let isGone = try device.state == .revoked || store.hasExpired(device, now: now)
      let isSilent = limit.map { device.heard ?? device.enrolled < $0 } ?? false
      guard isGone || isSilent, try !store.emissions(of: device.id).isEmpty else { continue }
      try store.forgetEmissions(of: device.id)
      report.forgotten.append(device.name)
    }
  }

  /// Files that nothing names any more go. They do before the end of the transaction: no row comes to name one
  /// meanwhile.
  private func forgetFiles(_ store: HubStore, _ report: inout CompactReport) throws {
    let attachments = HubAttachments(store, self)
    guard attachments.areAny else { return }
    report.attachedWait = try bundlesToCome(store)
    if report.attachedWait > 0 { return }
    report.attached = try attachments.unnamed()
    if ending == .keep { try attachments.remove(report.attached) }
  }

  /// Returns the names of the files that go from the archive.
  private func forgetBundles(_ store: HubStore, before limit: Int64?) throws -> [String] {
    guard let limit else { return [] }
    return try store.forgettableBundles(before: limit).map {
      try store.markForgotten($0.bundle)
      return HubArchive.name(dataset: store.dataset.name, device: $0.peer, number: $0.number, bundle: $0.bundle)
    }
  }

  private func archiveBytes() throws -> Int64 {
    try platform.files.list(folder.archive).reduce(0) { sum, name in
      let path = Paths.join(folder.archive, name)
      return try platform.files.kind(path) == .file ? sum + platform.files.size(path) : sum
    }
  }
}

extension HubStore {
  /// Whether it is known which rows a device holds: it has none yet, or it stands on an emission that is remembered.
  fileprivate func knowsWhat(_ device: EnrolledDevice) throws -> Bool {
    try device.emitted == .zero || !emissions(of: device.id).isEmpty
  }
}
