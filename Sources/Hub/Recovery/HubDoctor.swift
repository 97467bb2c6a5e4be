import SatchelBundle
import SatchelCapture
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The command `doctor` at the hub. It finds faults of the workspace, and changes that capture did not see.
extension HubWorkspace {
  /// Examines the workspace and changes nothing. Reads every row, the log since the base, and every bundle of the
  /// archive.
  public func examine() throws -> DoctorReport {
    try folder.locked(platform, .dryRun) {
      var report = DoctorReport()
      try report.check(folder, keys, platform: platform)
      do {
        let store = try examined()
        report.add(store.damage)
        report.mayBeMigrated = store.damage.contains(where: \.mayBeMigration)
        for finding in try histories(store) { report.add(finding) }
        if let fault = try clockFault(store) { report.add(Finding(.clock, fault.words, hint: fault.wayOut)) }
        try report.checkFile(store.database, at: databasePath, of: .hub)
        try report.checkReferences(among: store.tables, in: store.database)
        try report.checkTriggers(of: store.tables, in: store.database)
        try report.checkSpatialIndexes(of: store.tables, in: store.database)
        if store.damage.contains(where: { !$0.isRepairable }) { return report }
        let remade = try store.tables.madeAgain(in: store.database)
        let changes = try transaction(store, .dryRun, puttingBack: remade) {
          try reinstallAndCompare(store, puttingBack: remade, &report)
        }
        report.add(changes, of: store.tables)
        for finding in try audit(store).findings { report.add(finding) }
        for finding in try differences(store) + wrongRevocations(store) { report.add(finding) }
      } catch let error as WorkspaceError { report.add(Finding(error)) } catch let error as SQLiteError
        where error.isDamage
      { report.add(DoctorReport.broken(databasePath, error.message, of: .hub)) } catch let error as TriggerError {
        report.add(Finding(error))
      }
      return report
    }
  }

  /// Returns the findings about histories. The hub may have been set back. It may not know a device's history or user,
  /// or may not be able to open a device's files.
  private func histories(_ store: HubStore) throws -> [Finding] {
    let back = try setBack(store).map { Finding(.setBack, $0.words, hint: $0.wayOut) }
    return try [back].compactMap(\.self) + unknownHistories(store) + unopenedFindings(store)
      + unknownUsers(store)
  }

  /// Returns a finding for each refused export with a history that the hub does not know. Such an export may show that
  /// the hub was set back, but does not prove it. A later export of the device ends the finding.
  private func unknownHistories(_ store: HubStore) throws -> [Finding] {
    try exportsOfUnknownHistory(store).map {
      Finding($0.reason, "\($0.refused.file) of \($0.device.name) was refused. \($0.refused.words)")
    }
  }

  /// Returns a finding for each device that works for another user than this hub's record names.
  private func unknownUsers(_ store: HubStore) throws -> [Finding] {
    try store.devices().compactMap { device in
      guard let user = try unknownUser(of: device, store) else { return nil }
      return Finding(
        .otherUser, wordsOfUnknownUser(user, of: device), hint: Self.wayOutOfUnknownUser(user, of: device))
    }
  }

  /// Returns a finding for each device whose rows differ from the rows that the hub expects.
  private func differences(_ store: HubStore) throws -> [Finding] {
    try store.devices().filter { $0.state == .active }.compactMap { device in
      guard let proof = try store.proof(of: device.id), proof.result == .differs else { return nil }
      return Finding(
        .differs, proof.differenceWords(of: device.name) + ".", hint: "See which: satchel-hub compare \(device.name)")
    }
  }

  /// Repairs damaged capture, and records every unseen change as the hub's own change.
  ///
  /// Throws and changes nothing if a person must first remove an obstacle, or if the changes cannot be determined.
  /// - Parameter missing: whether rows that are missing from a recreated table are inserted again or count as deleted.
  public func repair(missing: MissingRows = .putBack) throws -> DoctorReport {
    try locked {
      var report = DoctorReport()
      try report.check(folder, keys, platform: platform)
      if runMode == .commit { try folder.makeFolders(platform.files) }
      let store = try examined()
      try report.admit(store.database, at: databasePath, store.damage, of: .hub)
      try report.acceptClock(clockFault(store), stamps: clockFaultOfStamps(store))
      let remade = try missing == .putBack ? store.tables.madeAgain(in: store.database) : []
      let changes = try transaction(store, runMode, puttingBack: remade) {
        try acceptClock(store)
        try mendRevocations(store)
        let changes = try repair(store, puttingBack: remade, &report)
        try report.mendSpatialIndexes(of: store.tables, in: store.database)
        return changes
      }
      if runMode == .commit { try LastBackup.lower(to: platform.clock.milliseconds(), in: folder, platform.files) }
      report.add(changes, of: store.tables)
      try report.checkReferences(among: store.tables, in: store.database)
      // The repair ends none of these findings, so the person must see them afterwards too.
      for finding in try histories(store) + audit(store).findings + differences(store) { report.add(finding) }
      report.isRepaired = true
      return report
    }
  }

  /// Accepts the present time of the hub's clock as correct. The caller holds a transaction.
  func acceptClock(_ store: HubStore) throws {
    let now = platform.clock.milliseconds()
    // A wrong clock may have given the times of former users, and the differences to the devices' clocks.
    if try store.clockFault(at: now) != nil {
      try store.restartFormerUsers(at: now)
      try store.forgetSkews()
    }
    if try store.clockReading() > 0 { try store.saveClockReading(now) }
    try store.lowerTimes(at: now)
    guard store.damage.isEmpty else { return }
    try Capture.settle(store.tables, in: store.database)
    try store.lowerStamps(at: now)
    try store.restampWrites(at: now)
    try store.noteDoubtfulTimes(at: now)
  }

  /// Runs `body` in a transaction. If the repair may insert rows again, the transaction ignores CHECK constraints,
  /// because the former rows may break them.
  private func transaction<T>(
    _ store: HubStore, _ runMode: RunMode, puttingBack remade: [TrackedTable], _ body: () throws -> T
  ) throws -> T {
    if remade.isEmpty { return try store.writeTransaction(runMode, body) }
    try store.database.execute("PRAGMA ignore_check_constraints = ON")
    return try store.applyTransaction(runMode, body)
  }

  private func repair(
    _ store: HubStore, puttingBack remade: [TrackedTable], _ report: inout DoctorReport
  ) throws -> [UnseenChange] {
    if store.damage.isEmpty, try !hasBase(store) {
      // The hub knows only the present rows, so they become its base.
      try store.logLocalWrites(user: Self.hubUser, at: platform.clock.milliseconds())
      if runMode == .dryRun { return [] }
      try writeBase(store.database, store.tables, store.dataset, epoch: store.identity.epoch, cursor: store.cursor())
    }
    let changes = try reinstallAndCompare(store, puttingBack: remade, &report)
    try save(changes, store)
    return changes
  }

  /// Records unseen changes as the hub's own changes.
  func save(_ changes: [UnseenChange], _ store: HubStore) throws {
    for table in store.tables { try table.resumeCount(for: store.identity.id, in: store.database) }
    for table in store.tables {
      try UnseenChanges.save(
        changes, of: table, generation: .zero,
        stamp: { try Capture.tick(now: platform.clock.milliseconds(), in: store.database) }, in: store.database)
    }
  }

  private func reinstallAndCompare(
    _ store: HubStore, puttingBack remade: [TrackedTable], _ report: inout DoctorReport
  ) throws -> [UnseenChange] {
    try reinstall(store)
    let changes = try compare(store)
    let isAnyWritten = try report.putBack(remade, in: store.database) { table in
      try LackingRows(of: table, among: changes, in: store.database)
    }
    return isAnyWritten ? try compare(store) : changes
  }

  /// Installs capture again if it is damaged. Returns the column mapping of each table whose columns changed.
  @discardableResult
  func reinstall(_ store: HubStore) throws -> [Name: ColumnMapping] {
    if store.damage.isEmpty {
      try Capture.settle(store.tables, in: store.database)
      return [:]
    }
    let mappings = try Capture.reinstall(in: store.database, tables: store.tables, generation: .zero)
    for table in store.tables {
      try RowNumbers.follow(table, in: store.database)
      guard let mapping = mappings[table.name] else { continue }
      try RenamedColumns.follow(
        mapping, of: table.name, in: "satchel_log", ["set_values", "was_values"], database: store.database)
      try RenamedColumns.followInConflicts(mapping, of: table.name, database: store.database)
    }
    return mappings
  }

  /// Finds the changes that capture did not see. The caller has installed capture again.
  func compare(_ store: HubStore) throws -> [UnseenChange] {
    let staging = try StagingFolder(in: folder.inbox, platform: platform)
    let known = try known(store, in: staging)
    var changes: [UnseenChange] = []
    for table in known.tables {
      // The hub makes no exports, so no write is unsent. The next command takes waiting writes into the log.
      let comparison = UnseenChanges(of: table.table, known: table, unsent: .zero, generation: .zero)
      try comparison.find(in: store.database) { changes.append($0) }
    }
    return changes
  }
}

extension DoctorReport {
  /// Adds the faults of the hub's clock: those that the repair ends, and the fault that it cannot end.
  /// - Parameter stamps: the fault of the stamps that the hub has given, in addition to `fault`.
  fileprivate mutating func acceptClock(_ fault: ClockFault?, stamps: ClockFault?) {
    for fault in [fault, stamps].compactMap(\.self) {
      switch fault.kind {
      case .stamps where fault.isRepairable:
        add(Finding(.clock, "\(fault.words) They now have the present time, in their order."))
      case .stamps: add(Finding(.clock, fault.words, hint: fault.wayOut))
      case .behind, .leapt, .writes:
        add(Finding(.clock, "\(fault.words) Its present reading now counts as right."))
      }
    }
  }
}
