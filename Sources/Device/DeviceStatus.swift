import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelCrypto
import SatchelPlatform
import SatchelRows
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The data of a device's `status`.
public struct DeviceStatus: Sendable {
  public let configuration: WorkspaceConfiguration
  public let fingerprint: String
  /// Files in the outbox, waiting to be carried.
  public let outbox: [String]
  /// Refused files, newest first.
  public let quarantined: [Quarantine.Refused]
  /// Bundles from the hub that were not accepted, the newest failure first.
  public let failedImports: [FailedImport]
  /// Bundles that are verified and wait to be applied.
  public let staged: [String]
  /// Bundles that wait because they could not be applied to the database, with the reasons.
  public let obstacles: [StagingObstacle]
  /// Bundles of which some volumes have not come.
  public let volumes: [BundleParts.Waiting]
  /// The state of the data; nil: no bundle from the hub was imported yet, or `trouble` describes a fault.
  public let current: Current?
  /// The fault of the database; nil: there is no fault, or there is no database yet.
  public let trouble: Trouble?
  /// The health of this device, as its next bundle reports it to the hub. nil: there is no database here, or the system
  /// does not give a value.
  public let health: Manifest.Changes.Health?

  /// The fault of a database that this device used before.
  public enum Trouble: Sendable {
    /// Another program put a new file in the place of the database. The file has no tables of Satchel.
    case replaced
    /// The file is missing or empty. The text says which.
    case lost(String)
    /// The device has left its hub, and has lost the database with the rows for its next hub.
    case lostAfterLeaving(WorkspaceError)
    /// SQLite cannot read the file. The text is SQLite's message.
    case damaged(String)
    /// The database is on a tablet. The text is the name of its file there.
    case away(String)
  }

  /// Counts of the files that rows name.
  public struct Attachments: Sendable {
    public var missing: [MissingAttachment] = []
    /// The number of files that the hub is not known to have. `notSent`: the number of these that no export has carried
    /// yet.
    public var waiting = 0
    public var notSent = 0
    public var notSentBytes: Int64 = 0
    /// The number of files that the hub has and that are missing here. `notAsked`: the number of these that no export
    /// has requested yet.
    public var lost = 0
    public var notAsked = 0
    /// The number of files that the hub is not known to have and that no bundle can carry: they are missing, too large,
    /// or not below `files/`.
    public var notCarriable = 0
  }

  /// Work that the hub is not known to have, besides the pending changes and the files.
  public struct Unconfirmed: Sendable {
    /// The number of decisions that were made on this device.
    public let decisions: Int
    /// The number of conflicts that were found on this device.
    public let conflicts: Int64
    /// The number of exports with changes.
    public let exports: Int64
  }

  public struct Current: Sendable {
    public let state: DeviceState
    public let version: Int64
    /// The number of steps that the hub has not acknowledged, by table.
    public let pending: [(table: Name, count: Int)]
    /// The number of these steps that no export has carried yet.
    public let notExported: Int
    /// Whether another program was writing. Its newest changes are then not counted.
    public let isBusy: Bool
    public let openConflicts: Int64
    public let heldConflicts: Int64
    public let unconfirmed: Unconfirmed
    /// Rows of this device that the hub did not accept. A person decides about them.
    public let kept: [KeptRow]
    /// Damage to capture. Capture may have missed changes because of this damage.
    public let damage: [CaptureDamage]
    /// A trigger of the app that makes every import fail; nil: there is none.
    public let triggerFault: TriggerFault?
    /// The triggers of capture that are missing or changed. `damage` contains this damage too.
    public let missingTriggers: [Name]
    /// The number of the newest export, if this database has no record of it. In that case, an older copy replaced the
    /// database.
    public let unknownExport: SequenceNumber?
    /// Exports that a restored hub lacks and that must be carried to it again.
    public let redelivery: [SequenceNumber]
    /// The bundle that shows that the histories of the hub and of this device differ; nil: the histories agree.
    public let estrangement: Estrangement?
    /// Changes of former users that the hub is not known to have, oldest first.
    public let sealed: [SealedChanges]
    /// The number of bundles that the hub made and lost, and that this device carries back.
    public let brought: Int
    /// The number of rows whose primary key holds NULL, by table. These rows are not kept in step.
    public let namelessRows: [(table: Name, count: Int64)]
    /// Tables that have rows and are not in the dataset.
    public let localTables: [LocalTable]
    /// Descriptions of tables whose next new primary keys lie outside the range of this device.
    public let lostCounts: [String]
    /// For each table in which this device has a range of primary keys: the range, and how many keys are left.
    public let blocks: [(block: KeyBlock, left: Int64, isShort: Bool)]
    public let attachments: Attachments
    /// Exports that sticks carry in volumes, if some volumes are on no stick yet.
    public let onSticks: [CarriedVolumes]
    /// Whether a new signing key exists that no export has announced to the hub.
    public let hasUntoldKey: Bool
    /// Milliseconds since 1970 of the last export; nil before the first.
    public let lastExport: Int64?
    /// Milliseconds since 1970 of the newest export that the hub is known to have; nil: the hub has none. The last
    /// contact with the hub was later.
    public let acknowledgedExport: Int64?
    /// Milliseconds since 1970 of the newest change or hub bundle that this device has seen.
    public let newestStamp: Int64
  }
}

extension DeviceWorkspace {
  /// Examines the workspace and changes nothing.
  public func status() throws -> DeviceStatus {
    let key = try keys.ownKey()
    let (current, trouble) = try currentOrTrouble()
    return DeviceStatus(
      configuration: configuration, fingerprint: key.fingerprint,
      outbox: try platform.files.list(folder.outbox).filter { $0.hasSuffix(".satchel") },
      quarantined: try quarantined(),
      failedImports: try failedImports.list(),
      staged: try staged(), obstacles: try obstacles(), volumes: try BundleParts(folder, platform: platform).waiting(),
      current: current, trouble: trouble,
      health: trouble == nil ? health() : nil)
  }

  /// The path of the export that sticks carry in volumes; nil: there is none, or all its volumes are on sticks.
  public func exportOnSticks() throws -> String? {
    try examined().onSticks().last.map { try folder.place(ofOutgoing: $0.whole, platform.files) }
  }

  /// The state of the data, or the fault of the database. Both are nil before the first bundle from the hub is
  /// imported.
  private func currentOrTrouble() throws -> (DeviceStatus.Current?, DeviceStatus.Trouble?) {
    do {
      if let trouble = try trouble() { return (nil, trouble) }
      return (try examinedIfCaptured()?.status(), nil)
    } catch let error as SQLiteError where error.isDamage {
      // The exports that wait can still be named.
      return (nil, .damaged(error.message))
    }
  }

  private func trouble() throws -> DeviceStatus.Trouble? {
    switch try databaseCondition() {
    case .lost(let words): return .lost(words)
    case .lostAfterLeaving(let lost): return .lostAfterLeaving(try lost.error())
    case .away(let name): return .away(name)
    case .there, .initial: break
    }
    guard !configuration.joins, try hasForeignFile(), try hasHistory() else { return nil }
    return .replaced
  }

  /// The entries of the ledger, newest first.
  public func log(limit: Int64) throws -> [LedgerEntry] { try Ledger.list(limit: limit, in: examined().database) }
}

extension DeviceSession {
  /// The first generation whose writes are in no export that can be carried. Exports that were made under a former name
  /// of the device cannot be carried.
  private func unsentGeneration() throws -> Generation {
    if try ExportTable.isEmpty(in: database) { return Generation(state.sequence.rawValue) }
    let carried = try ExportTable.lastWritten(in: database)?.0.rawValue
    return Generation(max(carried ?? 0, state.acknowledged.rawValue))
  }

  private typealias PendingSteps = (tables: [(table: Name, count: Int)], unsent: Int)

  /// Counts the steps that the hub has not acknowledged.
  ///
  /// To count the newest local writes, the function logs them in a transaction that it rolls back. If another program
  /// is writing, the function counts only writes that were logged before.
  private func countPending(_ readable: [TrackedTable]) throws -> (steps: PendingSteps, isBusy: Bool) {
    func count() throws -> PendingSteps {
      try PreImageStore.countSteps(readable, since: acknowledgedGeneration, unsent: unsentGeneration(), in: database)
    }
    do {
      let steps = try database.waitingBriefly {
        try database.writeTransaction(.dryRun) {
          try Capture.settle(readable, in: database)
          return try count()
        }
      }
      return (steps, false)
    } catch let error as SQLiteError where error.kind == .busy {
      return (try database.readTransaction(count), true)
    }
  }

  /// The exports that sticks carry in volumes, if some volumes are on no stick yet.
  fileprivate func onSticks() throws -> [CarriedVolumes] {
    try CarriedVolumesFile(folder, platform.files).list()
      .filter { $0.isAwaited(outgoingPrefix, above: state.acknowledged.rawValue) }
  }

  private func unconfirmed() throws -> DeviceStatus.Unconfirmed {
    let known = state.acknowledged
    return DeviceStatus.Unconfirmed(
      decisions: try ResolutionTable.all(since: Generation(known.rawValue), in: database).count,
      conflicts: try ConflictTable.countUntold(of: state.id, after: known.rawValue, in: database),
      exports: try ExportTable.countWithChanges(after: known, in: database))
  }

  fileprivate func status() throws -> DeviceStatus.Current {
    // If a table's columns have changed, its captured changes cannot be read before a repair.
    let readable = tables.filter { table in
      !damage.contains { $0.table == table.name && ![.triggers, .remade].contains($0.kind) }
    }
    let (steps, isBusy) = try countPending(readable)
    let nameless = try tables.map { table in (table: table.name, count: try table.namelessRows(in: database)) }
    return DeviceStatus.Current(
      state: state, version: dataset.version,
      pending: steps.tables, notExported: steps.unsent, isBusy: isBusy,
      openConflicts: try ConflictTable.count(.open, in: database),
      heldConflicts: try ConflictTable.count(.held, in: database), unconfirmed: try unconfirmed(),
      kept: try damage.isEmpty ? keptRows() : [],
      damage: damage, triggerFault: try database.fatalTriggerFault(of: tables.map(\.name)),
      missingTriggers: try Capture.missingTriggers(in: database, tables: tables), unknownExport: try unknownExport(),
      redelivery: try state.restored.map { try sequences(after: $0) } ?? [],
      estrangement: try estrangement(), sealed: try sealedChanges(),
      brought: try BroughtEmissionTable.count(in: database),
      namelessRows: nameless.filter { $0.count > 0 },
      localTables: try LocalTable.find(besides: tables, in: database),
      lostCounts: try tables.compactMap { try $0.lostCount(for: state.id, in: database) },
      blocks: try tables.filter { $0.rules.keys == .blocks }.compactMap { table in
        guard let block = try BlockTable.newest(of: table.name, for: state.id, in: database) else { return nil }
        let next = try table.nextKey(in: database)
        return (block, block.left(from: next), block.isShort(from: next))
      },
      attachments: try DeviceAttachments(self).status(),
      onSticks: try onSticks(),
      hasUntoldKey: try workspace.keys.nextKey() != nil && state.toldKey == nil,
      lastExport: try ExportTable.lastCreated(in: database),
      acknowledgedExport: try ExportTable.created(state.acknowledged, in: database),
      newestStamp: try Capture.newestStamp(in: database).milliseconds)
  }
}
