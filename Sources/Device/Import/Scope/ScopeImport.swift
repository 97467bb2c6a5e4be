import SatchelBundle
import SatchelCapture
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The import of a bundle from the hub at a device: the checks, one transaction, and the steps after the commit.
///
/// `ImportCheck`, `ImportWrite` and `ImportCompletion` list the steps in their order.
final class ScopeImport {
  private let session: DeviceSession
  private let manifest: Manifest
  private let scope: Manifest.Scope
  private let path: String
  /// Whether the bundle begins an epoch that is new to this device.
  private var isNewHistory = false
  /// Whether a restored hub lacks exports of this device.
  private var lacksExports = false
  /// Whether the hub has the export that announced this device's next key. This key signs all later exports.
  private var hasToldKey = false
  /// The unseen rows that this import turned into pending changes; nil: the import had no reason to look for unseen
  /// rows.
  private var takenUp: Set<RowInTable>?

  private var workspace: DeviceWorkspace { session.workspace }

  /// - Parameter path: the bundle's file.
  init(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String, into session: DeviceSession
  ) {
    self.session = session
    manifest = bundle.manifest
    self.scope = scope
    self.path = path
  }

  func run(_ bundle: borrowing VerifiedBundle) throws -> ImportReport {
    for step in ImportCheck.allCases {
      try session.reach(step)
      if let report = try check(step, bundle) { return report }
    }
    let isCopyChosen = isNewHistory && session.isOfOtherCopy(scope)
    let copy = try lacksExports && session.lost == .givenUp ? session.keepCopy(before: scope.number) : nil
    var report = try takingUpUnseen { try handingOver { try write(bundle, $0) } }
    report.copy = copy ?? report.copy
    report.isCopyChosen = isCopyChosen
    if workspace.runMode == .dryRun { return report }
    if scope.extent == .full { workspace.docking?.note(scope, isNewHistory) }
    for step in ImportCompletion.allCases where workspace.docking == nil || !step.isForNewDatabase {
      try session.reach(step)
      try complete(step, bundle)
    }
    return report
  }

  // MARK: checks

  /// Returns the import's report if the import ends with this check.
  private func check(_ step: ImportCheck, _ bundle: borrowing VerifiedBundle) throws -> ImportReport? {
    switch step {
    case .history:
      switch try session.continuation(of: scope, bundle.digest, made: manifest.created) {
      case .known:
        try session.completeKnown(bundle, scope, from: path)
        return ImportReport(manifest, .repeated)
      case .next: isNewHistory = false
      case .epoch: isNewHistory = true
      }
    case .sender:
      try checkSender()
      try checkUser()
    case .time: try session.refuseTimeJump(of: manifest)
    case .lostExports:
      lacksExports = try isNewHistory && session.isLacking(exportsAfter: scope.acknowledged)
      if lacksExports, session.lost == .deliveredAgain { return try session.redeliver(to: scope, manifest) }
    case .version: try checkVersion()
    case .revocations: if !isNewHistory { try RevokedKeys.check(manifest, session.state) }
    }
    return nil
  }

  /// Checks that the hub has kept its id and its name. Files and records on this device are found by them.
  private func checkSender() throws {
    let state = session.state
    if manifest.from.id == state.hubID, manifest.from.name == state.hubName { return }
    throw Refusal(
      .otherName, "It calls its hub \(manifest.from.name), and this device's hub is \(state.hubName).",
      hint: "Satchel at a hub never writes such a file. Ask the hub's operator who made it.", keeping: .quarantine)
  }

  /// Checks that a delta is for the present user. Another user's rows must come in a full bundle. After a delta, rows
  /// of the former user that the hub does not know would remain here. A hub of release 0.1 may send such a delta.
  private func checkUser() throws {
    guard scope.extent == .delta, Name(manifest.user) != Name(session.state.user), !session.isRebuilt,
      !session.state.hubUnderstands.isEmpty
    else { return }
    throw Refusal(
      .otherUser,
      "It is for the user \(manifest.user) and has changes alone. This device has the rows of \(session.state.user).",
      hint: """
        Satchel at a hub gives a device to another user by a full bundle. Ask the hub's operator who made this file, \
        and for a full bundle: satchel-hub emit --device \(session.state.name) --full
        """, keeping: .quarantine)
  }

  private func checkVersion() throws {
    guard manifest.version < session.dataset.version else { return }
    throw Refusal(
      .olderDataset,
      "It is of version \(manifest.version) of the dataset, and this device has version \(session.dataset.version).",
      hint: "Was the hub restored from an old backup? Its operator must bring it to that version again.")
  }

  // MARK: the transaction

  /// Exports all changes of a former user, and then runs `body`. Repeats both if the app wrote meanwhile.
  private func handingOver(_ body: (Handover?) throws -> ImportReport) throws -> ImportReport {
    for _ in 0..<Self.mostTriesOfHandover {
      var handover = try Handover(session, to: manifest)
      try handover?.export()
      let before = session.progress
      do { return try body(handover) } catch is Handover.WrittenMeanwhile { session.progress = before }
    }
    throw WorkspaceError(
      .busy,
      "This device is now for \(manifest.user), but the app still writes changes of \(session.state.user).",
      hint: "Close the app, then run the same command again.")
  }

  private static let mostTriesOfHandover = 5

  /// Runs `body`. An unseen row may hold a UNIQUE value of a row from the hub, or refer to a row that leaves. In both
  /// cases, the unseen rows become pending changes, which the import can undo, and `body` runs again.
  private func takingUpUnseen(_ body: () throws -> ImportReport) throws -> ImportReport {
    let before = session.progress
    do { return try body() } catch let refusal as Refusal where refusal.code == .rowsCollide {
      session.progress = before
      guard let found = try session.findUnseen(), !found.isEmpty else { throw refusal }
      if workspace.runMode == .dryRun { throw refusal.expectedOnlyHere }
    } catch is ScopeWriting.ChildrenStay {
      session.progress = before
      takenUp = []
      // The rows stay if the hub also has them without their parents, or if the archive does not show the hub's rows.
      let isAny = try workspace.runMode == .commit && session.findUnseen()?.isEmpty == false
      if !isAny { return try body() }
    }
    let changes = try session.takeUpUnseen()
    takenUp = Set(changes.filter { $0.change != nil }.map { RowInTable(table: $0.table, key: $0.key) })
    var report = try body()
    report.takenUp = changes.count
    return report
  }

  private func write(_ bundle: borrowing VerifiedBundle, _ handover: Handover?) throws -> ImportReport {
    if workspace.runMode == .commit, !session.isRebuilt { try workspace.trustNext(of: bundle) }
    hasToldKey = session.state.toldKey.map { $0 <= scope.acknowledged } ?? false
    if hasToldKey { session.state.toldKey = nil }
    var (compared, pendingRows): (ScopeWriting.Comparison, VersionStep.PendingRows) = (.lines, .inTables)
    let before = session.progress
    // Each of the two errors can occur only once, so the loop ends.
    while true {
      do {
        let writing = try ScopeWriting(
          bundle, scope, handover, session, comparing: compared, migratingWith: pendingRows, takenUp: takenUp)
        return try writing.run(bundle, from: path)
      } catch is ScopeWriting.NotCompared { compared = .allRows } catch is DeviceUpgrade.PendingRowsDoNotFit {
        pendingRows = .setAside
      }
      session.progress = before
    }
  }

  // MARK: after the commit

  private func complete(_ step: ImportCompletion, _ bundle: borrowing VerifiedBundle) throws {
    switch step {
    case .wiping: try session.wipe()
    case .unnamedFiles: try DeviceAttachments(session).sweep()
    case .signer: if !session.isRebuilt { try workspace.noteSigner(bundle.signer) }
    case .ownKey: if hasToldKey { try workspace.keys.finishRotation() }
    // Exports that the hub has need not be carried any more.
    case .sentExports: try session.moveToSent(below: session.state.acknowledged.next)
    case .volumes:
      try BundleParts(session.folder, platform: session.platform)
        .forget(session.partsSender, ...session.state.received.rawValue)
    case .replacedBundles: if scope.extent == .full { try session.forgetBundles(before: scope, isNewHistory) }
    case .broughtBundles: if !session.isRebuilt { try session.putOutBrought() }
    case .estrangement: try session.forgetEstrangement()
    case .stagedBundles: try workspace.unstage(upTo: session.state.received)
    case .answer: try workspace.noteAnswer()
    }
  }
}

extension Refusal {
  /// The same refusal for a dry run, which cannot turn unseen rows into pending changes.
  fileprivate var expectedOnlyHere: Refusal {
    Refusal(
      code, message,
      hint: """
        Rows were written here while Satchel's triggers were off. Without --dry-run, the import first makes them \
        changes of this device, and then takes the bundle.
        """)
  }
}
