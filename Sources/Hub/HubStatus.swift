import SatchelCapture
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// What the hub's `status` tells.
public struct HubStatus: Sendable {
  public let configuration: WorkspaceConfiguration
  public let fingerprint: String
  public let version: Int64
  public let epoch: Epoch
  public let cursor: Cursor
  public let tables: [(table: Name, rows: Int64)]
  public let users: Int
  public let devices: [Device]
  public let openConflicts: Int64
  public let heldConflicts: Int64
  /// Files that were refused, the newest first.
  public let quarantined: [Quarantine.Refused]
  /// The bundle that the database did not take; nil: the last import came through.
  /// Bundles that were not taken, the newest failure first.
  public let failedImports: [FailedImport]
  /// Bundles of which some volumes came, and others did not.
  public let volumes: [BundleParts.Waiting]
  /// Bundles that nothing is wrong with and that cannot be merged yet.
  public let waiting: [WaitingBundle]
  /// What proves that the hub was set back; nil: nothing does.
  public let setBack: SetBack?
  /// What is wrong with the hub's own clock; nil: nothing that anybody knows.
  public let clockFault: ClockFault?
  /// Milliseconds since 1970 of the newest stamp that the hub has seen or given.
  public let newestStamp: Int64
  /// What is collected of the time that the hub lost; nil: nothing is.
  public let recovery: Recovering?
  /// Files in the outbox, waiting to be carried.
  public let outbox: [String]
  public let attachments: Attachments
  /// Milliseconds since 1970 of the last backup; nil: there is none.
  public let backedUp: Int64?
  /// Devices that are not known to have heard yet that the hub was restored from a backup.
  public let unaware: [String]
  /// What was done to the database by which writes may have gone by unseen.
  public let damage: [CaptureDamage]
  /// A trigger of the app's that makes every import fail; nil: there is none.
  public let triggerFault: TriggerFault?
  /// Of the damage: triggers that are gone or were changed.
  public let missingTriggers: [Name]

  /// The devices for which the hub waits before it merges what the lost time held.
  public struct Recovering: Sendable {
    /// Those that did not deliver in this epoch yet.
    public let silent: [String]
    /// Those that still have bundles of the lost time to bring, and how many.
    public let awaited: [(device: String, count: Int64)]
    /// Files of bundles that came, in `bundles/archive/lost`, that are gone.
    public let missing: [String]
  }

  /// The files that rows name.
  public struct Attachments: Sendable {
    public var missing: [MissingAttachment] = []
    /// How many files are there for a device that is not known to have them, and how many of these nothing carried yet.
    public var waiting: [(device: String, count: Int, notSent: Int)] = []
    /// Files that came with a path that a file of another content has: they are kept under another one.
    public var beside: [(device: String, path: String, kept: String)] = []
  }

  public struct Device: Sendable {
    public let device: EnrolledDevice
    /// The newest bundle that was made for it; zero before the first.
    public let emitted: EmissionNumber
    /// Numbers of its bundles that never came, the newest twenty ranges. What they held came with a later one.
    public let missing: [ClosedRange<Int64>]
    /// What its rows were when they were compared last; nil: they never were.
    public let proof: StateProof?
    /// The users for whom it worked before, and in whose names its changes still count.
    public let formerUsers: [FormerUser]

    public struct FormerUser: Sendable {
      public let user: String
      /// Milliseconds since 1970 when the device was given to another user, and until when its word still counts.
      public let since: Int64
      public let until: Int64
    }
  }
}

extension HubWorkspace {
  /// Looks at the workspace and changes nothing.
  public func status() throws -> HubStatus {
    let store = try examined()
    return HubStatus(
      configuration: configuration, fingerprint: try fingerprint(), version: store.dataset.version,
      epoch: store.identity.epoch,
      cursor: try store.cursor(),
      tables: try store.tables.map { ($0.name, try $0.count(in: store.database)) },
      users: try store.users().count,
      devices: try store.devices().map {
        HubStatus.Device(
          device: $0, emitted: try store.emissions(of: $0.id).last?.number ?? .zero,
          missing: try store.missing(of: $0.name),
          proof: try store.proof(of: $0.id),
          formerUsers: try store.formerUsers(of: $0).map {
            .init(user: $0.user, since: $0.at, until: $0.at + HubStore.longestOnTheWay)
          })
      },
      openConflicts: try ConflictTable.count(.open, in: store.database),
      heldConflicts: try ConflictTable.count(.held, in: store.database),
      quarantined: try quarantined(),
      failedImports: try failedImports(store),
      volumes: try BundleParts(folder, platform: platform).waiting(),
      waiting: try waiting(), setBack: try store.setBack(), clockFault: try clockFault(store),
      newestStamp: try Capture.newestStamp(in: store.database).milliseconds, recovery: try recovering(store),
      outbox: try platform.files.list(folder.outbox).filter { $0.hasSuffix(".satchel") },
      attachments: try HubAttachments(store, self).status(),
      backedUp: try LastBackup(in: folder, platform.files)?.at,
      unaware: try store.devices().filter { $0.state == .active && $0.proved < store.identity.firstEmission }.map(
        \.name),
      damage: store.damage, triggerFault: try store.database.fatalTriggerFault(of: store.tables.map(\.name)),
      missingTriggers: try Capture.missingTriggers(in: store.database, tables: store.tables))
  }

  /// Without bundles that will never be taken, because their device was revoked.
  private func failedImports(_ store: HubStore) throws -> [FailedImport] {
    try failedImports.list().filter { failure in
      guard let origin = failure.origin, let device = try store.device(origin.sender), device.state == .revoked else {
        return true
      }
      return device.revokedFrom.map { origin.number < $0.rawValue } ?? false
    }
  }

  private func recovering(_ store: HubStore) throws -> HubStatus.Recovering? {
    guard try store.isRecovering() else { return nil }
    let silent = try store.devices().filter { $0.state == .active && $0.proved < store.identity.firstEmission }.map(
      \.name)
    return .init(
      silent: silent, awaited: try store.awaitedEmissions(), missing: try missingLost(store).compactMap(\.file))
  }

  /// The newest entries of the ledger first.
  public func log(limit: Int64) throws -> [LedgerEntry] { try Ledger.list(limit: limit, in: examined().database) }
}
