import SatchelCapture
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What a device's `status` tells.
public struct DeviceStatus: Sendable {
  public let configuration: WorkspaceConfiguration
  public let fingerprint: String
  /// Files in the outbox, waiting to be carried.
  public let outbox: [String]
  /// Files that were refused, the newest first.
  public let quarantined: [Quarantine.Refused]
  /// The bundle that the database did not take; nil: the last import came through.
  /// Bundles from the hub that were not taken, the newest failure first.
  public let failedImports: [FailedImport]
  /// Bundles that are verified and wait to be applied.
  public let staged: [String]
  /// Of these, the ones that could not be applied as the database was, and why.
  public let obstacles: [(file: String, words: String)]
  /// Bundles of which some volumes came, and others did not.
  public let volumes: [BundleParts.Waiting]
  /// nil: no bundle from the hub was imported yet.
  public let current: Current?
  /// Why there is no database to look into, where one was. nil: there is one, or none came yet.
  public let trouble: Trouble?

  /// What is wrong with the database of a device that had one.
  public enum Trouble: Sendable {
    /// Another program put a new file in its place: nothing of Satchel's is in it.
    case replaced
    /// It is gone, or an empty file is in its place. In words which.
    case lost(String)
    /// SQLite cannot read it. In SQLite's words.
    case damaged(String)
  }

  /// The files that rows name.
  public struct Attachments: Sendable {
    public var missing: [MissingAttachment] = []
    /// How many the hub is not known to have, and how many of these no export carried yet.
    public var waiting = 0
    public var notSent = 0
    /// How many that the hub has are here no more, and for how many of these no export asked yet.
    public var lost = 0
    public var notAsked = 0
  }

  public struct Current: Sendable {
    public let state: DeviceState
    public let version: Int64
    /// Steps that the hub has not acknowledged, by table.
    public let pending: [(table: Name, count: Int)]
    /// Of these, the steps that no export has carried yet.
    public let notExported: Int
    public let openConflicts: Int64
    public let heldConflicts: Int64
    /// Rows of this device's own that the hub has not taken, and about which a person decides.
    public let kept: [KeptRow]
    /// What was done to the database by which writes may have gone by unseen.
    public let damage: [CaptureDamage]
    /// A trigger of the app's that makes every import fail; nil: there is none.
    public let triggerFault: TriggerFault?
    /// Of the damage: triggers that are gone or were changed.
    public let missingTriggers: [Name]
    /// An export that this database does not know of: it is an old copy of itself.
    public let unknownExport: SequenceNumber?
    /// Exports that a restored hub lacks, and that wait to be carried to it once more.
    public let redelivery: [SequenceNumber]
    /// The hub sends what is of another history than this device's; nil: it does not.
    public let estrangement: Estrangement?
    /// What former users of this device wrote and the hub is not known to have, the oldest first.
    public let sealed: [SealedChanges]
    /// How many bundles of the hub's own this device carries back to it, because the hub lost them.
    public let brought: Int
    /// Rows whose key holds NULL: they are not kept in step.
    public let namelessRows: [(table: Name, count: Int64)]
    /// Tables whose new rows get keys from outside of this device's range, in words.
    public let lostCounts: [String]
    /// For each table whose keys come from a range of this device's own: the range, and how many of it are left.
    public let blocks: [(block: KeyBlock, left: Int64, isShort: Bool)]
    public let attachments: Attachments
    /// Whether a new key was made of which no export has told the hub.
    public let hasUntoldKey: Bool
    /// Milliseconds since 1970 of the last export; nil before the first.
    public let lastExport: Int64?
    /// When the newest export was made that the hub is known to have: it heard of this device after that; nil: it has
    /// none.
    public let acknowledgedExport: Int64?
    /// Milliseconds since 1970 of the newest change, or word from the hub, that this device has seen.
    public let newestStamp: Int64
  }
}

extension DeviceWorkspace {
  /// Looks at the workspace and changes nothing.
  public func status() throws -> DeviceStatus {
    let key = try keys.ownKey()
    let trouble = try trouble()
    return DeviceStatus(
      configuration: configuration, fingerprint: key.fingerprint,
      outbox: try platform.files.list(folder.outbox).filter { $0.hasSuffix(".satchel") },
      quarantined: try quarantined(),
      failedImports: try failedImports.list(),
      staged: try staged(), obstacles: try obstacles(), volumes: try BundleParts(folder, platform: platform).waiting(),
      current: try trouble != nil || isInitial() ? nil : examined().status(), trouble: trouble)
  }

  private func trouble() throws -> DeviceStatus.Trouble? {
    do {
      if case .lost(let words) = try databaseCondition() { return .lost(words) }
      guard try hasForeignFile(), !configuration.joins, try BundleArchive(folder, platform.files).hasAny() else {
        return nil
      }
      return .replaced
    } catch let error as SQLiteError where error.kind == .corrupt || error.kind == .notADatabase {
      return .damaged(error.message)
    }
  }

  /// The newest entries of the ledger first.
  public func log(limit: Int64) throws -> [LedgerEntry] { try Ledger.list(limit: limit, in: examined().database) }
}

extension DeviceSession {
  /// Writes of this generation and later are in no export that could be carried. What was exported under a former name
  /// cannot.
  private func unsentGeneration() throws -> Generation {
    let (any, carried) =
      try database.first("SELECT count(*), max(sequence) FILTER (WHERE written = 1) FROM satchel_exports") {
        ($0.integer(0) > 0, $0.optionalInteger(1))
      } ?? (false, nil)
    return any ? Generation(max(carried ?? 0, state.acknowledged.rawValue)) : Generation(state.sequence.rawValue)
  }

  fileprivate func status() throws -> DeviceStatus.Current {
    // What was captured of a table that has other columns by now cannot be read before it is repaired.
    let readable = tables.filter { table in
      !damage.contains { $0.table == table.name && ![.triggers, .remade].contains($0.kind) }
    }
    // To read what was written it is sorted, and left as it was.
    let steps = try database.writeTransaction(.takeBack) {
      try Capture.settle(readable, in: database)
      return try PreImageStore.countSteps(
        readable, since: acknowledgedGeneration, unsent: unsentGeneration(), in: database)
    }
    let nameless = try tables.map { table in (table: table.name, count: try table.namelessRows(in: database)) }
    return DeviceStatus.Current(
      state: state, version: dataset.version,
      pending: steps.tables, notExported: steps.unsent,
      openConflicts: try ConflictTable.count(.open, in: database),
      heldConflicts: try ConflictTable.count(.held, in: database),
      kept: try damage.isEmpty ? keptRows() : [],
      damage: damage, triggerFault: try database.fatalTriggerFault(of: tables.map(\.name)),
      missingTriggers: try Capture.missingTriggers(in: database, tables: tables), unknownExport: try unknownExport(),
      redelivery: try state.restored.map { try sequences(after: $0) } ?? [],
      estrangement: try estrangement(), sealed: try sealedChanges(), brought: try brought().count,
      namelessRows: nameless.filter { $0.count > 0 },
      lostCounts: try tables.compactMap { try $0.lostCount(for: state.id, in: database) },
      blocks: try tables.filter { $0.rules.keys == .blocks }.compactMap { table in
        guard let block = try BlockTable.newest(of: table.name, for: state.id, in: database) else { return nil }
        let next = try table.nextKey(in: database)
        return (block, block.left(from: next), block.isShort(from: next))
      },
      attachments: try DeviceAttachments(self).status(),
      hasUntoldKey: try workspace.keys.nextKey() != nil && state.toldKey == nil,
      lastExport: try database.first("SELECT max(created) FROM satchel_exports") { $0.optionalInteger(0) } ?? nil,
      acknowledgedExport: try database.first(
        "SELECT created FROM satchel_exports WHERE sequence = :acknowledged",
        ["acknowledged": .integer(state.acknowledged.rawValue)]
      ) { $0.integer(0) },
      newestStamp: try Capture.newestStamp(in: database).milliseconds)
  }
}
