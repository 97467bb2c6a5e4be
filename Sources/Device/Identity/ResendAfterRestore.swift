import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Delivers exports to a restored hub again. A hub that was restored from a backup begins a new history. It may lack
/// exports that it had acknowledged, and then only this device has them.
///
/// The device does not accept the new history before the hub has these exports again. Otherwise delivered rows would
/// disappear, with all later changes of these rows. So the signed files are carried again unchanged, and the hub merges
/// them as it did the first time.
///
/// If the files are gone, a person may give the exports up. In that case, the device stores a copy of the database, and
/// the rows get the values that the hub sends.
extension DeviceSession {
  /// Throws a `Refusal` for a delta: a new history begins with a full bundle.
  func refuseDelta(of scope: Manifest.Scope) throws {
    guard scope.extent == .full else {
      throw Refusal(
        .otherEpoch,
        """
        The hub has begun a new history since its last bundle for this device, and this bundle is not the first of \
        it.
        """,
        hint: "Ask the hub's operator for a full one: satchel-hub emit --device \(state.name) --full")
    }
  }

  /// Whether a hub that has the exports up to `merged` lacks exports whose changes this database cannot send again.
  /// These are acknowledged exports, and exports that were on their way when the database was created again.
  func isLacking(exportsAfter merged: SequenceNumber) throws -> Bool {
    try merged < state.acknowledged || sequences(after: merged).contains { try !isKnown(export: $0.rawValue) }
  }

  /// Puts the exports that a restored hub lacks into the outbox again. nil: the hub lacks no export with content.
  func redeliver(to scope: Manifest.Scope, _ manifest: Manifest) throws -> ImportReport? {
    let missing = try exports(after: scope.acknowledged)
    let isTold = try missing.contains {
      try $0.manifest.saysAnything && ($0.sequence <= state.acknowledged || !isKnown(export: $0.sequence.rawValue))
    }
    guard isTold else { return nil }
    var report = ImportReport(manifest, .redeliver)
    report.redelivered = missing.map(\.sequence)
    report.isCopyChosen = isOfOtherCopy(scope)
    if workspace.runMode == .dryRun { return report }
    try database.writeTransaction {
      state.restored = scope.acknowledged
      try noteBrought(to: scope)
      try state.save(in: database)
    }
    _ = try broughtFiles()
    // The person chose this copy of the hub, so `status` need not ask any more.
    if report.isCopyChosen { try forgetEstrangement() }
    for export in missing {
      let target = Paths.join(folder.outbox, fileName(ofExport: export.sequence))
      if export.manifest.from.id != state.id {
        try FormerExports(self).signAgain(export.path, as: target)
      } else if export.path != target {
        try platform.files.copy(export.path, to: target, mode: 0o644)
      }
    }
    return report
  }

  /// Makes a copy of the database for people to examine. Returns its path. nil in a dry run.
  func keepCopy(before number: EmissionNumber) throws -> String? { try keepCopy(named: "data-before-\(number).sqlite") }

  /// Makes a copy of the database before a repair that may lose rows. Returns its path. nil in a dry run.
  func keepCopyBeforeRepair() throws -> String? {
    try keepCopy(named: "data-before-repair-\(UTCTime.fileName(milliseconds: platform.clock.milliseconds())).sqlite")
  }

  private func keepCopy(named name: String) throws -> String? {
    if workspace.runMode == .dryRun { return nil }
    let path = Paths.join(folder.former, name)
    try folder.keep(database, at: path, platform.files)
    return path
  }

  private struct KeptExport {
    let sequence: SequenceNumber
    let path: String
    let manifest: Manifest
  }

  /// The kept exports after `merged`, the last export that a hub has, in order. Throws a `Refusal` if the hub could not
  /// merge them, because files are missing.
  private func exports(after merged: SequenceNumber) throws -> [KeptExport] {
    let own = try workspace.ownKeys()
    var kept: [KeptExport] = []
    var reached = merged
    let former = try formerExports(after: merged)
    for sequence in Set(try sequences(after: merged)).union(former.keys).sorted() {
      guard let path = try archive.place(ofOutgoing: fileName(ofExport: sequence)) ?? former[sequence],
        let manifest = try workspace.reader.manifestIfSound(of: path, trust: .keys(own)),
        case .changes(let changes) = manifest.body
      else { continue }
      if changes.reaches(back: reached) { reached = changes.sequence }
      kept.append(KeptExport(sequence: sequence, path: path, manifest: manifest))
    }
    guard reached >= state.acknowledged else {
      throw Refusal(
        .noExport,
        """
        The hub was restored from a backup and lacks this device's exports from \(merged.next) on, and the file of \
        export \(reached.next) is not here or is damaged.
        """,
        hint:
          """
          Bring it back to bundles/sent from a copy, or from the hub's former bundles/archive; then import this \
          bundle again. If it is lost: satchel import FILE --without-lost, which keeps the database as it is beside \
          the new one.
          """,
        keeping: .inPlace)
    }
    return kept
  }

  /// The files of exports that this device made under a former name, if they may be needed. Exports under the present
  /// name have other numbers.
  private func formerExports(after merged: SequenceNumber) throws -> [SequenceNumber: String] {
    guard workspace.configuration.predecessor != nil, merged < state.acknowledged else { return [:] }
    return try FormerExports(self).files(after: merged)
  }

  /// The numbers of the exports after `merged`, read from the files. The records are not enough, because a database
  /// that was created again has no record of earlier exports.
  func sequences(after merged: SequenceNumber) throws -> [SequenceNumber] {
    try archive.outgoing(outgoingPrefix).filter { $0 > merged.rawValue }.map { SequenceNumber($0) }
  }

  /// The paths of the exports in the outbox that a restored hub lacks, in order.
  func redelivery() throws -> [String] {
    guard let restored = state.restored else { return [] }
    return try exports(after: restored).map { Paths.join(folder.outbox, fileName(ofExport: $0.sequence)) }
      .filter { try platform.files.kind($0) == .file }
  }
}

/// How to handle exports that a restored hub lacks.
public enum LostExports: Sendable {
  case deliveredAgain
  case givenUp
}
