import SatchelCapture
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// `doctor`: finds damage in a device's workspace, and changes that the triggers missed.
extension DeviceWorkspace {
  /// Examines everything and changes nothing. Reads every row, and every bundle since the last full bundle.
  public func examine() throws -> DoctorReport {
    try folder.locked(platform, .dryRun) {
      var report = DoctorReport()
      try report.check(folder, keys, platform: platform)
      do {
        switch try databaseCondition() {
        case .there: break
        case .initial, .away: return report
        case .lost(let words):
          report.add(Finding(WorkspaceError.lostDatabase(words, of: configuration.name)))
          return report
        case .lostAfterLeaving(let lost):
          report.add(Finding(try lost.error()))
          return report
        }
        if let replaced = try ReplacedFile.find(self) {
          _ = try replaced.takeUp(missing: .putBack, .dryRun, &report)
          return report
        }
        let session = try examined()
        report.addDamage(to: session)
        for finding in try session.lostCounts() { report.add(finding) }
        var file = DoctorReport()
        try file.checkFile(session.database, at: databasePath, of: .device)
        if !file.findings.isEmpty, let damaged = try DamagedDatabase.find(self) {
          report.add(try damaged.finding())
          return report
        }
        report.findings += file.findings
        try report.checkReferences(among: session.tables, in: session.database)
        try report.checkTriggers(of: session.tables, in: session.database)
        try report.checkSpatialIndexes(of: session.tables, in: session.database)
        try session.examine(&report)
      } catch { try report.add(failure(error)) }
      return report
    }
  }

  /// Reinstalls capture if it was damaged, and makes every missed change pending, so that the next export carries it.
  ///
  /// Throws if a person must first mend something, or if the changed rows cannot be determined. If it throws, it has
  /// changed nothing.
  /// - Parameters:
  ///   - missing: how to treat rows that are missing from a recreated file or table.
  ///   - tables: how to treat tables that are gone or that differ from the hub's tables.
  public func repair(missing: MissingRows = .putBack, tables: LostTableHandling = .left) throws -> DoctorReport {
    try locked {
      do { return try repairFile(missing, tables) } catch  where Self.isDamage(error) {
        guard let damaged = try DamagedDatabase.find(self) else { throw error }
        return try repair(damaged)
      }
    }
  }

  /// Whether the error shows that SQLite cannot read the file to its end.
  private static func isDamage(_ error: any Error) -> Bool {
    switch error {
    case let error as SQLiteError: error.isDamage
    case let error as WorkspaceError: error.code == .corrupt
    default: false
    }
  }

  /// Repairs as `repair(missing:)` does. Throws if SQLite cannot read the file to its end.
  private func repairFile(_ missing: MissingRows, _ tables: LostTableHandling) throws -> DoctorReport {
    var report = DoctorReport()
    try report.check(folder, keys, platform: platform)
    if runMode == .commit { try folder.makeFolders(platform.files) }
    switch try databaseCondition() {
    case .there: break
    case .initial, .away: return report
    case .lost(let words): return try repair(lost: words, report)
    case .lostAfterLeaving(let lost): return try lost.repair(report)
    }
    if let replaced = try ReplacedFile.find(self) {
      try replaced.takeUp(missing: missing, runMode, &report)
      report.isRepaired = true
      return report
    }
    var session = try examined()
    if tables == .madeAgain, let lost = try LostTables(session) {
      try lost.makeAgain(&report)
      if runMode == .dryRun {
        report.isRepaired = true
        return report
      }
      session = try examined()
    }
    try report.admit(session.database, at: databasePath, session.damage, of: .device)
    if let newest = try session.unknownExport() {
      if session.damage.isEmpty {
        try session.rollForward(to: newest, comparing: missing, &report)
      } else {
        // First, the writes that the triggers missed in the old copy become pending changes.
        let unseen: [UnseenChange]
        do { unseen = try session.repair(missing, &report) } catch let error as WorkspaceError
          where error.code == .noHistory
        {
          throw WorkspaceError.damagedOldCopy(session.damage[0])
        }
        if runMode == .dryRun {
          report.isRepaired = true
          return report
        }
        session = try examined()
        let finding = session.oldCopy(newest)
        try session.rollForward(to: newest, unseen)
        report.add(finding)
      }
      // In a dry run, the old database is still in place, so the next steps are left out.
      if runMode == .dryRun {
        report.isRepaired = true
        return report
      }
    }
    try session.repair(missing, &report)
    // The repair cannot remove these problems, so the report names them after the repair too.
    try session.examineHub(&report)
    try session.examineFiles(&report)
    report.isRepaired = true
    return report
  }

  /// Rebuilds a damaged database from bundles and exports, as far as they reach. The damaged file stays under another
  /// name.
  private func repair(_ damaged: DamagedDatabase) throws -> DoctorReport {
    var report = DoctorReport()
    try report.check(folder, keys, platform: platform)
    let saved = try runMode == .commit ? damaged.rebuild() : nil
    report.add(try saved.map { Finding(.corrupt, $0.words) } ?? damaged.finding())
    report.isRepaired = true
    return report
  }

  /// Rebuilds a lost database from bundles and exports, as far as they reach.
  private func repair(lost words: String, _ report: DoctorReport) throws -> DoctorReport {
    var report = report
    let built = "It is built again from bundles and exports: the app must open it again."
    report.isRepaired = true
    if runMode == .dryRun {
      report.add(Finding(.databaseLost, "\(words) \(built)"))
      return report
    }
    guard let rebuild = try DatabaseRebuild.find(self) else {
      throw ArchivedBundles.incomplete("the last full bundle from the hub is missing")
        .orFullBundle(for: configuration.name)
    }
    do { _ = try rebuild.run() } catch let error as WorkspaceError where error.code == .noHistory {
      throw error.orFullBundle(for: configuration.name)
    }
    report.add(Finding(.databaseLost, "\(words) \(try laterExportWords()) \(built)"))
    return report
  }

  /// Warns of a lost export. Nothing here shows such an export, and the next export gets the same number.
  private func laterExportWords() throws -> String {
    let newest = try session().state.sequence
    let known = newest > .zero ? "The newest export that is kept here is \(newest)." : "No export is kept here."
    return """
      \(known) If a stick has a later one, the hub can refuse the next export, because both have one number. Nothing \
      is lost then: its operator runs satchel-hub device fork \(configuration.name) --restored, and then \
      satchel-hub emit --device \(configuration.name).
      """
  }

  private func failure(_ error: any Error) throws -> Finding {
    switch error {
    case let error as WorkspaceError: return Finding(error)
    case let error as TriggerError: return Finding(error)
    case let error where Self.isDamage(error):
      guard let damaged = try DamagedDatabase.find(self) else { throw error }
      return try damaged.finding()
    default: throw error
    }
  }
}

extension WorkspaceError {
  /// The same error of a rebuild, with the way out that needs no archive.
  fileprivate func orFullBundle(for device: String) -> WorkspaceError {
    let other = "If that is not possible, import a full bundle from the hub: satchel-hub emit --device \(device) --full"
    return WorkspaceError(code, message, hint: [hint, other].compactMap(\.self).joined(separator: " "))
  }

  fileprivate static func damagedOldCopy(_ damage: CaptureDamage) -> WorkspaceError {
    WorkspaceError(
      .olderDatabase,
      "The database was replaced by an older copy, and \(damage.words): the changes made in the copy are unknown.",
      hint:
        """
        Keep this old database in another folder. Ask the hub's operator for a full bundle. Then search the old \
        database for your last changes.
        """
    )
  }
}

extension DeviceSession {
  /// Whether an archived bundle is from a copy of the hub that a person did not choose. Its epoch is not this device's
  /// epoch, and does not follow that epoch.
  private func isOfRetiredHub(_ path: String) throws -> Bool {
    let manifest = try workspace.reader.manifestIfSound(of: path, trust: .keys(workspace.hubKeys()))
    guard case .scope(let scope)? = manifest?.body, scope.epoch != state.epoch, let former = scope.former else {
      return false
    }
    return !former.contains(state.epoch)
  }

  /// Reports faults because of which this device refuses every bundle from the hub.
  fileprivate func examineHub(_ report: inout DoctorReport) throws {
    if try workspace.hubKey() == nil { report.add(Finding(WorkspaceError.noHubKey(workspace))) }
    if let found = try estrangement() { report.add(found.finding) }
  }

  /// Reports bundles that a person must carry or import.
  fileprivate func examineFiles(_ report: inout DoctorReport) throws {
    for name in try orphans() {
      report.add(
        Finding(
          .orphan, "bundles/outbox/\(name) is an export that the database has no record of any more.",
          hint: "Another program has changed satchel_exports. Carry the file to the hub; the hub imports it."))
    }
    for number in try archive.numbers(incomingPrefix) where number > state.received.rawValue {
      let file = archive.path(incomingPrefix, number)
      if try isOfRetiredHub(file) { continue }
      report.add(
        Finding(
          .notImported, "The hub's bundle \(number) was imported here once, and is not in the database.",
          hint: "satchel import \(file)"
        ))
    }
  }

  fileprivate func examine(_ report: inout DoctorReport) throws {
    try examineHub(&report)
    if let highest = try unknownExport() {
      do {
        try lookForUnseen(&report)
        report.add(oldCopy(highest))
      } catch let error as WorkspaceError where error.code == .noHistory {
        report.add(damage.isEmpty ? oldCopyToKeep(highest) : oldCopy(highest))
        if let damage = damage.first { report.add(Finding(WorkspaceError.damagedOldCopy(damage))) }
      } catch {
        report.add(oldCopy(highest))
        throw error
      }
      return
    }
    for name in try staleFiles() {
      report.add(Finding(.staleFile, "bundles/outbox/\(name) need not be carried any more."))
    }
    try examineFiles(&report)
    if damage.contains(where: { !$0.isRepairable }) { return }
    if workspace.configuration.continues != nil {
      report.add(
        Finding(
          .renewed,
          """
          This device continues under a new name, and the hub has not answered it yet: its last state cannot be \
          determined.
          """,
          hint:
            """
            Carry its request to the hub, and import the bundle that comes back. To write the request again: satchel \
            renew --request FILE
            """
        ))
      return
    }
    do { try lookForUnseen(&report) } catch let error as WorkspaceError where error.code == .noHistory {
      report.add(Finding(damage.isEmpty ? error.orFullBundle(for: state.name) : error))
    }
  }

  /// Reinstalls damaged capture, logs the local writes and compares all rows, then rolls everything back.
  private func lookForUnseen(_ report: inout DoctorReport) throws {
    let remade = try tables.madeAgain(in: database)
    let changes = try transaction(.dryRun, puttingBack: remade) {
      try reinstallAndCompare(puttingBack: remade, &report)
    }
    report.add(changes, of: tables)
  }

  func oldCopy(_ highest: SequenceNumber, _ more: String? = nil) -> Finding {
    let words = """
      The database had made \(state.sequence) exports, and this workspace holds export \(highest): the database was \
      replaced by an older copy.
      """
    return Finding(.olderDatabase, [words, more].compactMap(\.self).joined(separator: " "))
  }

  /// Returns the changes that the triggers missed. They are pending changes now.
  @discardableResult
  fileprivate func repair(_ missing: MissingRows, _ report: inout DoctorReport) throws -> [UnseenChange] {
    let remade = try missing == .putBack ? tables.madeAgain(in: database) : []
    for finding in try lostCounts() { report.add(finding) }
    let changes = try transaction(workspace.runMode, puttingBack: remade) {
      let changes = try reinstallAndCompare(puttingBack: remade, &report)
      for table in tables { try table.resumeCount(for: state.id, in: database) }
      try save(changes)
      try report.mendSpatialIndexes(of: tables, in: database)
      return changes
    }
    report.add(changes, of: tables)
    try report.checkReferences(among: tables, in: database)
    for name in try staleFiles() {
      report.add(Finding(.staleFile, "bundles/outbox/\(name) did not need to be carried any more."))
    }
    if workspace.runMode == .commit { try moveToSent(below: state.acknowledged.next) }
    return changes
  }

  /// Makes the changes pending, so that the next export carries them.
  func save(_ changes: [UnseenChange]) throws {
    try savePreImages(of: changes)
    try ExportedRows(self).noteAll()
  }

  /// Saves the pre-images with which the next export carries these changes. Leaves the digests of exported rows as they
  /// are.
  func savePreImages(of changes: [UnseenChange]) throws {
    let generation = try Capture.generation(in: database)
    for table in tables {
      try UnseenChanges.save(
        changes, of: table, generation: generation,
        stamp: { try Capture.tick(now: platform.clock.milliseconds(), in: database) }, in: database)
    }
  }

  /// Exports in the outbox that the hub already has.
  private func staleFiles() throws -> [String] {
    let delivered = try ExportTable.files(
      through: min(state.acknowledged, state.restored ?? state.acknowledged), in: database)
    return try outbox().filter { delivered.contains(Name($0)) }
  }

  private func outbox() throws -> [String] {
    try platform.files.kind(folder.outbox) == .directory ? platform.files.list(folder.outbox) : []
  }

  /// Exports in the outbox that the database has no record of, although it has records of earlier exports. A database
  /// that was created again has no records at all.
  private func orphans() throws -> [String] {
    let made = try ExportTable.sequences(in: database).map(\.rawValue)
    return try outbox().filter { name in
      BundleArchive.number(in: name, outgoingPrefix).map { number in
        !made.contains(number) && made.contains { $0 < number }
      } ?? false
    }
  }
}
