import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What `compact` did on a device.
public struct DeviceCompactReport: Sendable {
  /// Files of exports that went, and their size in bytes.
  public var exports = 0
  public var bytes: Int64 = 0
  /// Files that the archive keeps until the hub's next full bundle comes.
  public var archived = 0
  /// Attached files of the hub's that went, because nothing here names them any more.
  public var attached = UnnamedFiles()
  /// Of the database, in bytes.
  public var database: (before: Int64, after: Int64) = (0, 0)
  /// Why the database could not be shrunk as was asked, in SQLite's words; nil: it could.
  public var notShrunk: String?
}

extension DeviceWorkspace {
  /// The age from which on exports are given up where nobody says another one, in days: an older backup no hub should
  /// come back from.
  public static let keptDays: Int64 = 365

  /// Forgets exports that the hub acknowledged and that are old: nobody needs their files but a hub that is restored
  /// from a backup which is older still. The ledger stays. Attached files that came from the hub, and that nothing here
  /// names any more, go too.
  /// - Parameters:
  ///   - days: how old, by this device's clock.
  ///   - isShrinking: whether the database gives its free pages back to the file system.
  public func compact(olderThan days: Int64 = keptDays, shrinking isShrinking: Bool = false) throws
    -> DeviceCompactReport
  {
    try locked {
      let session = try session()
      let limit = platform.clock.milliseconds() - days * 86_400_000
      var report = DeviceCompactReport()
      report.database.before = try platform.files.size(databasePath)
      // The last one that it acknowledged, the hub still speaks of; and what a restored hub lacks is on its way to it.
      let known = min(session.state.acknowledged, session.state.restored ?? session.state.acknowledged)
      let old = try session.database.all(
        "SELECT sequence, file FROM satchel_exports WHERE sequence < :known AND created < :limit ORDER BY sequence",
        ["known": .integer(known.rawValue), "limit": .integer(limit)]
      ) { (sequence: $0.integer(0), file: $0.text(1)) }
      for export in old {
        let path = Paths.join(folder.sent, export.file)
        guard try platform.files.kind(path) == .file else { continue }
        report.exports += 1
        report.bytes += try platform.files.size(path)
        if ending == .keep { try platform.files.remove(path) }
      }
      // After the files: an export whose file was forgotten alone would stand in nobody's way.
      if ending == .keep, let last = old.last {
        try session.database.writeTransaction {
          try session.database.run(
            "DELETE FROM satchel_exports WHERE sequence <= :last", ["last": .integer(last.sequence)])
        }
      }
      if ending == .keep { try BundleParts(folder, platform: platform).forgetOld() }
      report.attached = try DeviceAttachments(session).compact()
      if ending == .keep, isShrinking { report.notShrunk = try session.database.shrink() }
      report.archived = try platform.files.list(folder.archive).count { $0.hasSuffix(".satchel") }
      report.database.after = try platform.files.size(databasePath)
      return report
    }
  }
}
