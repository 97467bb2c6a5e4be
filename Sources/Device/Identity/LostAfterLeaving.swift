import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// A device that left its hub has lost its database, before the next hub's first bundle came.
///
/// No bundle can build this database again, because the device belongs to no hub now. The next hub's first bundle would
/// make a database without the device's rows, so it is refused. A person brings the database back, or the copy that was
/// made when the device left its hub.
struct LostAfterLeaving {
  private let workspace: DeviceWorkspace
  /// Describes what is in the database's place.
  private let words: String

  private var files: any FileSystem { workspace.platform.files }

  /// nil: the database is in its place or on a tablet, or the device has not left a hub.
  static func find(_ workspace: DeviceWorkspace) throws -> LostAfterLeaving? {
    guard workspace.configuration.leaves != nil, !workspace.isDocked, let words = try words(about: workspace) else {
      return nil
    }
    return LostAfterLeaving(workspace: workspace, words: words)
  }

  private static func words(about workspace: DeviceWorkspace) throws -> String? {
    let path = workspace.databasePath
    if let damaged = try DamagedDatabase.find(workspace) { return "The database \(path) is damaged: \(damaged.fault)." }
    let look = try workspace.look()
    switch look.content {
    case .missing: return "The database \(path) is missing."
    case .empty: return "The database \(path) is empty."
    case .captured: return nil
    case .foreign:
      // A device that leaves its hub deletes Satchel's tables, except those of capture.
      let isOwn = try look.database?.hasTable("satchel_capture") ?? false
      return isOwn ? nil : "Another program made the database \(path) again."
    }
  }

  /// The error, which names the copy and the next step.
  func error() throws -> WorkspaceError {
    let hint =
      try copy().map { copy in
        """
        Is its card or disk mounted? Put the right file back, if there is one. If not: satchel doctor --repair puts \
        back \(copy), the copy from the time when this device left its hub. Later changes are not in it.
        """
      } ?? """
        Is its card or disk mounted? Put the right file back. There is no sound copy of it in \
        \(workspace.folder.former). If the file is lost, no rows are left to bring to another hub. Keep this folder, \
        because its bundles hold your work, and make a new device in another folder: satchel init
        """
    return WorkspaceError(
      .databaseLost, "\(words) This device has left its hub, and keeps its rows for the next hub in this database.",
      hint: hint)
  }

  /// Puts the copy in the database's place. The file that was there stays under another name.
  func repair(_ report: DoctorReport) throws -> DoctorReport {
    guard let copy = try copy() else { throw try error() }
    var report = report
    report.isRepaired = true
    let kept = try workspace.runMode == .commit ? putBack(copy) : nil
    let former = kept.map { " The file that was there is \($0) now." } ?? ""
    report.add(
      Finding(
        .databaseLost,
        """
        \(words) The copy \(copy) takes its place, without the changes after this device left its hub.\(former) The \
        app must open it again.
        """))
    return report
  }

  private func putBack(_ copy: String) throws -> String? {
    let path = workspace.databasePath
    let mode = try 0o644 & workspace.folder.databaseMode(at: path, files)
    let kept = try workspace.replaceDatabase { try files.copy(copy, to: $0, mode: mode) }.kept
    try workspace.completeChangeOfHub()
    return kept
  }

  /// The newest sound copy of the database from the time when the device left its hub; nil: there is none.
  private func copy() throws -> String? {
    let former = workspace.folder.former
    guard try files.kind(former) == .directory else { return nil }
    return try files.list(former).sorted().reversed()
      .filter { $0.hasPrefix(DeviceWorkspace.copyPrefix) && $0.hasSuffix(".sqlite") }
      .map { Paths.join(former, $0) }.first(where: isSoundCopy)
  }

  private func isSoundCopy(_ path: String) throws -> Bool {
    do {
      let database = try Database(path: path, mode: .readOnly)
      return try DeviceState.id(in: database) == workspace.configuration.leaves && database.brokenPage() == nil
    } catch let error as SQLiteError where error.isDamage { return false }
  }
}

extension DeviceWorkspace {
  /// Throws a `WorkspaceError` if this device has left its hub, and has lost the database with the rows for its next
  /// hub.
  public func checkAfterLeaving() throws {
    if let lost = try LostAfterLeaving.find(self) { throw try lost.error() }
  }
}
