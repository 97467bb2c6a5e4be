import SatchelBundle
import SatchelConflicts
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

extension DeviceSession {
  func isRevoked(_ key: PublicKey) throws -> Bool { try RevokedKeyTable.contains(key, in: database) }

  func quarantine(_ path: String, because error: any ExplainedError) throws {
    let trusted = try workspace.ownKeys() + workspace.hubKeys()
    let refused = Quarantine.Refusing(path, because: error, from: source) { [workspace] in
      try workspace.reader.identityIfSound(of: $0, trust: .keys(trusted))?.signer
    }
    try Quarantine.keep(refused, folder: folder, platform: platform, database: database, workspace.runMode)
  }

  func importScope(
    _ bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope, from path: String
  ) throws -> ImportReport { try ScopeImport(bundle, scope, from: path, into: self).run(bundle) }

  /// Wipes the bytes of deleted rows, because these rows may have left the user's scope. If another connection is
  /// reading, the next import wipes the bytes.
  func wipe() throws {
    guard state.isUnwiped else { return }
    guard try database.wipe() else { return }
    state.isUnwiped = false
    try state.save(in: database)
    try database.emptyLog()
  }

  /// Returns the rows of exported units that the hub did not take, if this bundle is the first to report this.
  func refusedUnits(in bundle: borrowing VerifiedBundle) throws -> [RowInTable: ConflictRecord] {
    var refused: [RowInTable: ConflictRecord] = [:]
    try bundle.eachConflict { record in
      guard record.unit != nil, record.isNotTaken, record.state != .held, record.device == state.id,
        record.user == state.user,
        let table = table(record.table)
      else { return }
      let generation = record.generation.rawValue
      let known = try ConflictTable.earlier(
        record.key, of: table, device: state.id, in: generation..<(generation + 1), database)
      if known.isEmpty { refused[record.rowInTable] = record }
    }
    return refused
  }

  /// Stores the hub's reports about changes of this device that the hub could not apply as they were.
  /// - Parameter scope: the scope of the bundle, if the bundle is being imported.
  @discardableResult
  func takeConflicts(
    of bundle: borrowing VerifiedBundle, _ scope: Manifest.Scope? = nil, at now: Int64
  ) throws -> ConflictOutcomes {
    var reported = ConflictOutcomes()
    let id = bundle.manifest.bundle
    try bundle.eachConflict { record in
      guard record.device == state.id else { throw LineProblem("it is about another device's change") }
      let known = try ConflictTable.conflict(record.id, in: database)?.record
      if record.isTakenLate ? known?.isTakenLate != true : known == nil { reported.add(record) }
      if try !ConflictTable.add(record, bundle: id, noted: now, told: 0, in: database) {
        if let scope, let known, try staysOpen(known, though: record, in: scope) { return }
        try ConflictTable.update(record, at: now, in: database)
      }
    }
    return reported
  }

  /// Whether a conflict of the lost time stays open here although the hub, which was set back, has settled it by
  /// stamps. This device reports the conflict again, and then the hub opens it or reports it as settled again.
  private func staysOpen(
    _ known: ConflictRecord, though record: ConflictRecord, in scope: Manifest.Scope
  ) throws -> Bool {
    guard record.state == .settled, let table = table(known.table), known.asksPerson(by: table.rules) else {
      return false
    }
    return try ConflictTable.isReportedAgain(
      known.id, after: scope.acknowledged.rawValue, isLost: scope.epoch != state.epoch, in: database)
  }
}
