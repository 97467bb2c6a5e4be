import SatchelBundle
import SatchelCapture
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// `doctor` at the hub: what is wrong with its workspace, and which changes went by unseen.
extension HubWorkspace {
  /// Looks at everything and changes nothing. Reads every row, the log since the base, and every bundle of the archive.
  public func examine() throws -> DoctorReport {
    try folder.locked(platform, .takeBack) {
      var report = DoctorReport()
      try report.check(folder, keys, platform: platform)
      do {
        let store = try examined()
        report.add(store.damage)
        if let found = try store.setBack() { report.add(Finding("set-back", found.words, hint: SetBack.wayOut)) }
        if let fault = try clockFault(store) { report.add(Finding("clock", fault.words, hint: ClockFault.wayOut)) }
        try report.check(store.database, at: databasePath)
        if store.damage.contains(where: { !$0.isRepairable }) { return report }
        let changes = try store.writeTransaction(.takeBack) { try reinstallAndCompare(store) }
        report.add(changes, of: store.tables)
        for finding in try audit(store).findings { report.add(finding) }
        for finding in try differences(store) { report.add(finding) }
      } catch let error as WorkspaceError { report.add(Finding(error)) } catch let error as SQLiteError
        where error.kind == .corrupt || error.kind == .notADatabase
      { report.add(DoctorReport.broken(databasePath, error.message)) }
      return report
    }
  }

  /// Devices whose rows are other ones than the hub believes.
  private func differences(_ store: HubStore) throws -> [Finding] {
    try store.devices().filter { $0.state == .active }.compactMap { device in
      guard let proof = try store.proof(of: device.id), proof.result == .differs else { return nil }
      return Finding(
        "differs", proof.differenceWords(of: device.name) + ".", hint: "See which: satchel-hub compare \(device.name)")
    }
  }

  /// Makes capture anew where it was damaged, and gives every change that went by unseen what makes it the hub's own change.
  ///
  /// Throws and changes nothing if only a person can mend an obstacle, or if it cannot be known what changed.
  public func repair() throws -> DoctorReport {
    try locked {
      var report = DoctorReport()
      try report.check(folder, keys, platform: platform)
      if ending == .keep { try folder.makeFolders(platform.files) }
      let store = try examined()
      try report.admit(store.database, at: databasePath, store.damage, tool: "satchel-hub")
      if let fault = try clockFault(store) {
        report.add(Finding("clock", "\(fault.words) What it shows now is taken to be right."))
      }
      let changes = try store.writeTransaction(ending) {
        try acceptClock(store)
        return try repair(store)
      }
      report.add(changes, of: store.tables)
      report.isRepaired = true
      return report
    }
  }

  /// Takes what the clock shows to be right. The caller holds a transaction.
  private func acceptClock(_ store: HubStore) throws {
    let now = platform.clock.milliseconds()
    if try store.clockReading() > 0 { try store.saveClockReading(now) }
    guard store.damage.isEmpty else { return }
    try Capture.settle(store.tables, in: store.database)
    try store.restampWrites(at: now)
  }

  private func repair(_ store: HubStore) throws -> [UnseenChange] {
    if store.damage.isEmpty, try !hasBase(store) {
      // The rows as they are are all that anybody knows: from now on it is known what they were.
      try store.absorb(user: Self.hubUser, at: platform.clock.milliseconds())
      if ending == .takeBack { return [] }
      try writeBase(store.database, store.tables, store.dataset, epoch: store.identity.epoch, cursor: store.cursor())
    }
    let changes = try reinstallAndCompare(store)
    for table in store.tables {
      try UnseenChanges.save(
        changes, of: table, generation: .zero,
        stamp: { try Capture.tick(now: platform.clock.milliseconds(), in: store.database) }, in: store.database)
    }
    return changes
  }

  private func reinstallAndCompare(_ store: HubStore) throws -> [UnseenChange] {
    if store.damage.isEmpty {
      try Capture.settle(store.tables, in: store.database)
    } else {
      let mappings = try Capture.reinstall(in: store.database, tables: store.tables, generation: .zero)
      for table in store.tables {
        try RowNumbers.follow(table, in: store.database)
        guard let mapping = mappings[table.name] else { continue }
        try RenamedColumns.follow(
          mapping, of: table.name, in: "satchel_log", ["set_values", "was_values"], database: store.database)
        try RenamedColumns.followInConflicts(mapping, of: table.name, database: store.database)
      }
    }
    return try compare(store)
  }

  private func compare(_ store: HubStore) throws -> [UnseenChange] {
    let staging = try StagingFolder(in: folder.inbox, platform: platform)
    let known = try known(store, in: staging)
    var changes: [UnseenChange] = []
    for table in known.tables {
      // Nothing is exported here: what waits is taken into the log at the next command.
      let comparison = UnseenChanges(of: table.table, known: table, unsent: Generation(Int64.max), generation: .zero)
      try comparison.find(in: store.database) { changes.append($0) }
    }
    return changes
  }
}
