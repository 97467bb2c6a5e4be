import SatchelCapture
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The repair of an old copy whose triggers are whole. Another program may have written into the copy while they were
/// not.
extension DeviceSession {
  /// Why the writes that the triggers missed in an old copy cannot be found.
  private static let unseenUnknown = """
    the bundles that show its former rows are gone: changes that no trigger recorded are in the old copy only.
    """

  /// The finding about an old copy that a repair keeps.
  func oldCopyToKeep(_ newest: SequenceNumber) -> Finding {
    oldCopy(newest, "A repair keeps it, because \(Self.unseenUnknown)")
  }

  /// The comparison of the old copy with its former rows is not possible.
  private struct NoComparison: Error {}

  /// Brings this old copy to the state after the newest export.
  /// - Parameter unseen: the changes that the triggers missed. They are pending changes now.
  func rollForward(to newest: SequenceNumber, _ unseen: [UnseenChange]) throws {
    try database.applyTransaction(workspace.runMode, to: tables.map(\.name)) {
      try bring(to: newest, unseen)
    }
  }

  private func bring(to newest: SequenceNumber, _ unseen: [UnseenChange]) throws {
    let rows = Set(unseen.map { RowInTable(table: $0.table, key: $0.key) })
    try RollForward(self, to: newest, unseen: rows).run()
  }

  /// Does the work of `rollForward(to:_:)`. First, the writes that the triggers missed in the old copy become pending
  /// changes, because only pending changes are repeated. If these writes cannot be found, a copy of the database is
  /// kept.
  func rollForward(to newest: SequenceNumber, comparing missing: MissingRows, _ report: inout DoctorReport) throws {
    // The roll forward changes the number of exports, which the finding names.
    let finding = oldCopy(newest)
    let toKeep = oldCopyToKeep(newest)
    do {
      let changes = try rollForwardCompared(to: newest, missing, &report)
      report.add(finding)
      report.add(changes, of: tables)
    } catch is NoComparison {
      let kept = try keepCopyBeforeRepair()
      do { try rollForward(to: newest, []) } catch {
        if let kept { try platform.files.removeIfThere(kept) }
        throw error
      }
      guard let kept else { return report.add(toKeep) }
      report.add(Finding(finding.code, "\(finding.message) It is kept in \(kept), because \(Self.unseenUnknown)"))
    }
  }

  private func rollForwardCompared(
    to newest: SequenceNumber, _ missing: MissingRows, _ report: inout DoctorReport
  ) throws -> [UnseenChange] {
    let remade = try missing == .putBack ? tables.madeAgain(in: database) : []
    try database.execute("PRAGMA ignore_check_constraints = ON")
    return try database.applyTransaction(workspace.runMode, to: tables.map(\.name)) {
      let changes = try ArchivedBundles.ifComplete { try reinstallAndCompare(puttingBack: remade, &report) }
      guard let changes else { throw NoComparison() }
      try save(changes)
      try bring(to: newest, changes)
      return changes
    }
  }
}
