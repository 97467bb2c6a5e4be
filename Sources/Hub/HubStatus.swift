import SatchelBundle
import SatchelCapture
import SatchelConflicts
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// The content of the hub's `status`.
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
  /// Bundles that were not accepted, the newest failure first.
  public let failedImports: [FailedImport]
  /// Bundles of which some volumes are here and others are missing.
  public let volumes: [BundleParts.Waiting]
  /// Bundles that are sound and cannot be merged yet.
  public let waiting: [WaitingBundle]
  /// The proof that the hub was set back. nil if there is none.
  public let setBack: SetBack?
  /// The fault of the hub's own clock. nil if none is known.
  public let clockFault: ClockFault?
  /// The newest stamp that the hub has seen or given, in milliseconds since 1970.
  public let newestStamp: Int64
  /// Whether `newest` decides nothing until the clock reaches `newestStamp`, because the stamps do not show the order
  /// of changes. A person decides in its place.
  public let isNewestInDoubt: Bool
  /// The recovery of the time that the hub lost. nil if none is running.
  public let recovery: Recovering?
  /// Bundles that travel in volumes, if some of their volumes are on no stick yet.
  public let onSticks: [CarriedVolumes]
  /// The files in the outbox. People must still carry them.
  public let outbox: [String]
  public let attachments: Attachments
  /// The time of the last backup, in milliseconds since 1970. nil if there is none.
  public let backedUp: Int64?
  /// Devices that may not know the present epoch yet. An epoch begins when a hub is restored or replaces a lost key.
  public let unaware: [String]
  /// Whether a lost key of this hub was ever replaced.
  public let wasKeyLost: Bool
  /// The names of devices that may trust a newer key of this hub. This hub does not have that key.
  public let devicesWithNewerKey: [String]
  /// Damage to the database that may have hidden writes from capture.
  public let damage: [CaptureDamage]
  /// A trigger of the app that makes every import fail. nil if there is none.
  public let triggerFault: TriggerFault?
  /// The triggers in the damage that are missing or were changed.
  public let missingTriggers: [Name]

  /// The devices that the hub waits for before it merges the lost time.
  public struct Recovering: Sendable {
    /// Devices that have not delivered in this epoch yet.
    public let silent: [String]
    /// Devices that still have bundles of the lost time to bring, each with the number of these bundles.
    public let awaited: [(device: String, count: Int64)]
    /// Files that were once in `bundles/archive/lost`, and are missing now.
    public let missing: [String]
  }

  /// Bundles that delete or change very many rows: for each device the newest one, because it contains the changes of
  /// the older ones.
  public var braked: [WaitingBundle] {
    let all = waiting.filter { if case .braked = $0.reason { true } else { false } }
    return all.filter { bundle in !all.contains { $0.device == bundle.device && $0.number > bundle.number } }
  }

  /// The devices that work for a user whom the hub's record does not name, each with the name of that user.
  public var heldForUser: [(device: String, user: String)] {
    var found: [(device: String, user: String)] = []
    for bundle in waiting {
      guard case .user(let user) = bundle.reason, !found.contains(where: { $0.device == bundle.device }) else {
        continue
      }
      found.append((bundle.device, user))
    }
    return found
  }

  /// The refused files whose changes have not come in another bundle, as far as the hub knows. The newest is first.
  public var stillRefused: [Quarantine.Refused] { quarantined.filter { !$0.hasCome } }

  /// The devices on hold whose bundles wait here, by name.
  public var onHold: [String] {
    waiting.reduce(into: []) { names, bundle in
      if case .onHold = bundle.reason, !names.contains(bundle.device) { names.append(bundle.device) }
    }
  }

  /// The state of the attachments.
  public struct Attachments: Sendable {
    public var missing: [MissingAttachment] = []
    /// For each device that may lack files: the number of these files. Also the number and the bytes of those that no
    /// bundle has carried yet.
    public var waiting: [(device: String, count: Int, notSent: Int, notSentBytes: Int64)] = []
    /// Files that the hub kept under another path, because a file with other content has their path.
    public var beside: [(device: String, path: String, kept: String)] = []
  }

  public struct Device: Sendable {
    public let device: EnrolledDevice
    /// Whether the device is active, but its own last day or its user's last day has passed.
    public let isExpired: Bool
    /// The newest emission for the device. Zero if there is none.
    public let emitted: EmissionNumber
    /// The numbers of the device's bundles that never came: the newest twenty ranges. Later bundles brought the
    /// changes.
    public let missing: [ClosedRange<Int64>]
    /// The last comparison of the device's rows. nil if there was none.
    public let proof: StateProof?
    /// The device's health from its newest bundle. nil if that bundle has none.
    public let health: DeviceHealth?
    /// The number of rows that the newest emission left out, because the emission had to be small. The device's user
    /// may see these rows.
    public let rowsLeft: Int64
    /// The number of the device's changes that are held.
    public let held: Int
    /// Whether the device's held changes have reached the limit. Further changes become conflicts for a person to
    /// decide.
    public let isHeldFull: Bool
    /// The former users of the device. Changes in their names still count.
    public let formerUsers: [FormerUser]

    public struct FormerUser: Sendable {
      public let user: String
      /// The time when the device got another user, and the time until which the former user's work counts. In
      /// milliseconds since 1970.
      public let since: Int64
      public let until: Int64
    }
  }
}

extension HubWorkspace {
  /// Reads the workspace and changes nothing.
  public func status() throws -> HubStatus {
    let store = try examined()
    return HubStatus(
      configuration: configuration, fingerprint: try fingerprint(), version: store.dataset.version,
      epoch: store.identity.epoch,
      cursor: try store.cursor(),
      tables: try store.tables.map { ($0.name, try $0.count(in: store.database)) },
      users: try store.users().count,
      devices: try store.devices().map { try status(of: $0, store) },
      openConflicts: try ConflictTable.count(.open, in: store.database),
      heldConflicts: try ConflictTable.count(.held, in: store.database),
      quarantined: try quarantined(store),
      failedImports: try failedImports(store),
      volumes: try BundleParts(folder, platform: platform).waiting(),
      waiting: try waiting(), setBack: try setBack(store), clockFault: try clockFault(store),
      newestStamp: try Capture.newestStamp(in: store.database).milliseconds,
      isNewestInDoubt: try store.isNewestInDoubt(at: platform.clock.milliseconds()), recovery: try recovering(store),
      onSticks: try onSticks(for: store.devices()).map(\.volumes),
      outbox: try platform.files.list(folder.outbox).filter { $0.hasSuffix(".satchel") },
      attachments: try HubAttachments(store, self).status(),
      backedUp: try LastBackup(in: folder, platform.files)?.at,
      unaware: try store.devices().filter { $0.state == .active && $0.proved < store.identity.firstEmission }.map(
        \.name),
      wasKeyLost: try store.keyLostFrom() != nil, devicesWithNewerKey: try devicesWithNewerKey(store),
      damage: store.damage,
      triggerFault: try store.database.fatalTriggerFault(of: store.tables.map(\.name)),
      missingTriggers: try Capture.missingTriggers(in: store.database, tables: store.tables))
  }

  /// The bundles for active devices that travel in volumes, if some volumes of the bundle are on no stick yet.
  private func onSticks(for devices: [EnrolledDevice]) throws -> [(device: String, volumes: CarriedVolumes)] {
    let all = try CarriedVolumesFile(folder, platform.files).list()
    if all.isEmpty { return [] }
    return devices.filter { $0.state == .active }.flatMap { device in
      let prefix = Manifest.namePrefix(
        dataset: configuration.dataset, from: configuration.name, to: device.name)
      return all.filter { $0.isAwaited(prefix, above: device.proved.rawValue) }.map { (device.name, $0) }
    }
  }

  /// For each device, the path of the bundle that travels in volumes, if some of its volumes are on no stick yet.
  public func volumesOnSticks(for devices: [EnrolledDevice]) throws -> [String: String] {
    var paths: [String: String] = [:]
    for (device, volumes) in try onSticks(for: devices) {
      paths[device] = try folder.place(ofOutgoing: volumes.whole, platform.files)
    }
    return paths
  }

  /// The state of one device. Throws a `WorkspaceError` if there is no device with this name.
  public func status(of name: String) throws -> HubStatus.Device {
    let store = try examined()
    guard let device = try store.device(named: name) else { throw Self.noDevice(name) }
    return try status(of: device, store)
  }

  private func status(of device: EnrolledDevice, _ store: HubStore) throws -> HubStatus.Device {
    let now = platform.clock.milliseconds()
    let held = try ConflictTable.heldSize(of: device.id, in: store.database)
    let newest = try store.emissions(of: device.id).last
    return HubStatus.Device(
      device: device, isExpired: try store.isExpired(device, now: now),
      emitted: newest?.number ?? .zero,
      missing: try store.missing(of: device), proof: try store.proof(of: device.id),
      health: try store.health(of: device.id), rowsLeft: newest?.rowsLeft ?? 0, held: held.count,
      isHeldFull: heldLimit.isReached(by: held),
      formerUsers: try store.formerUsers(of: device).map {
        .init(user: $0.user, since: $0.at, until: $0.at + HubStore.longestOnTheWay)
      })
  }

  /// The failed imports, without bundles that the hub will never accept because their device was revoked.
  private func failedImports(_ store: HubStore) throws -> [FailedImport] {
    try failedImports.list().filter { failure in
      guard let origin = failure.origin, let device = try store.device(origin.sender), device.state == .revoked else {
        return true
      }
      return device.revokedFrom.map { origin.number < $0.rawValue } ?? false
    }
  }

  func recovering(_ store: HubStore) throws -> HubStatus.Recovering? {
    guard try store.isRecovering() else { return nil }
    return .init(
      silent: try store.silentDevices(), awaited: try store.awaitedEmissions(),
      missing: try missingLost(store).compactMap(\.file))
  }

  /// The entries of the ledger, the newest first.
  public func log(limit: Int64) throws -> [LedgerEntry] { try Ledger.list(limit: limit, in: examined().database) }

  /// The entries of the ledger about one device, the newest first.
  public func log(of device: String, limit: Int64) throws -> [LedgerEntry] {
    try Ledger.list(of: device, limit: limit, in: examined().database)
  }
}
