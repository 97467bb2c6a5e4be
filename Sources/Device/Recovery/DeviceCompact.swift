import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The result of `compact` on a device.
public struct DeviceCompactReport: Sendable {
  /// The number of export files deleted, and their size in bytes.
  public var exports = 0
  public var bytes: Int64 = 0
  /// The number of files that the archive keeps until the hub's next full bundle comes.
  public var archived = 0
  /// The number of old exports that stay because no backup of the hub is known to contain them.
  public var unbacked = 0
  /// Attached files from the hub that were deleted because nothing here names them.
  public var attached = UnnamedFiles()
  /// The size of the database in bytes, before and after.
  public var database: (before: Int64, after: Int64) = (0, 0)
  /// SQLite's reason why the database could not be shrunk; nil: it was shrunk, or shrinking was not requested.
  public var notShrunk: String?
}

/// How `compact` treats exports that no backup of the hub is known to contain.
public enum UnbackedExports: Sendable {
  /// The exports stay, because only this device has them if the hub is lost.
  case kept
  case deleted
}

extension DeviceWorkspace {
  /// The default age in days after which exports are deleted. A hub should never be restored from an older backup.
  public static let keptDays: Int64 = 365

  /// Deletes old exports that the hub acknowledged. Only a hub that is restored from a still older backup would need
  /// them. The ledger stays. Attached files from the hub that nothing here names are deleted too.
  /// - Parameters:
  ///   - days: the age in days, by this device's clock.
  ///   - unbacked: how to treat exports that no backup of the hub is known to contain. If the hub does not say what its
  ///     backup contains, this has no effect.
  ///   - isShrinking: whether the database returns its free pages to the file system.
  public func compact(
    olderThan days: Int64 = keptDays, unbacked: UnbackedExports = .kept, shrinking isShrinking: Bool = false
  ) throws -> DeviceCompactReport {
    try locked {
      let session = try session()
      let limit = platform.clock.milliseconds() - days * 86_400_000
      var report = DeviceCompactReport()
      report.database.before = try platform.files.size(databasePath)
      try deleteExports(madeBefore: limit, unbacked, session, &report)
      if runMode == .commit {
        try BundleParts(folder, platform: platform).forgetOld()
        try Quarantine.forgetOld(folder, platform)
      }
      report.attached = try DeviceAttachments(session).compact()
      if runMode == .commit, isShrinking { report.notShrunk = try session.database.shrink() }
      report.archived = try platform.files.list(folder.archive).count { $0.hasSuffix(".satchel") }
      report.database.after = try platform.files.size(databasePath)
      return report
    }
  }

  private func deleteExports(
    madeBefore limit: Int64, _ unbacked: UnbackedExports, _ session: DeviceSession, _ report: inout DeviceCompactReport
  ) throws {
    // The last acknowledged export stays, because the hub still refers to it. If a hub was restored and lacks some
    // exports, these exports stay too: people must carry them again.
    let known = min(session.state.acknowledged, session.state.restored ?? session.state.acknowledged)
    var old = try ExportTable.old(before: known, madeBefore: limit, in: session.database)
    if unbacked == .kept, let backedUp = session.state.backedUp {
      report.unbacked = old.count { $0.sequence > backedUp }
      old.removeLast(report.unbacked)
    }
    for export in old {
      let path = Paths.join(folder.sent, export.file)
      guard try platform.files.kind(path) == .file else { continue }
      report.exports += 1
      report.bytes += try platform.files.size(path)
      if runMode == .commit { try platform.files.remove(path) }
    }
    // The records are deleted after the files: if a crash prevents this, a record without a file does no harm.
    if runMode == .commit, let last = old.last {
      try session.database.writeTransaction {
        try ExportTable.forget(through: last.sequence, in: session.database)
      }
    }
  }
}
