import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import Synchronization

/// The work on a copy of a tablet's database, until the copy is back on the tablet.
///
/// The tablet's file is the device's only database. If the copy does not get back to the tablet, the device continues
/// from the tablet's file. The device would then make another export with a number of the copy's exports, like a second
/// copy of the device. So nothing that only the copy has may leave this machine. This value holds the files until the
/// copy is back.
final class Docking: Sendable {
  /// An export that is not yet in the outbox.
  struct HeldExport: Sendable {
    let name: String
    let sequence: SequenceNumber
    /// The digest of the export's B2SUMS.
    let digest: Digest
    var path: String
  }

  /// A full bundle that was imported into the copy. It replaces the bundles that came before it.
  struct ReplacedBundles: Sendable {
    let scope: Manifest.Scope
    let isNewHistory: Bool
  }

  private struct Held: Sendable {
    var exports: [HeldExport] = []
    var replaced: [ReplacedBundles] = []
  }

  /// The path of the copy.
  let database: String
  private let folder: String
  private let held = Mutex(Held())

  /// - Parameters:
  ///   - database: the path of the copy.
  ///   - folder: a folder of the workspace that exists until the work ends.
  init(database: String, in folder: String) {
    self.database = database
    self.folder = folder
  }

  var exports: [HeldExport] { held.withLock { $0.exports } }
  var replaced: [ReplacedBundles] { held.withLock { $0.replaced } }

  /// Holds the file of an export back until the copy is on the tablet again.
  func hold(_ export: HeldExport, _ files: any FileSystem) throws {
    var export = export
    let place = Paths.join(folder, export.name)
    if holds(export.name) { throw PlatformError.exists(path: place) }
    try files.rename(export.path, to: place)
    export.path = place
    held.withLock { [export] in $0.exports.append(export) }
  }

  /// Records that the files of the exports were moved to another folder.
  func move(to folder: String) {
    held.withLock { held in
      for place in held.exports.indices { held.exports[place].path = Paths.join(folder, held.exports[place].name) }
    }
  }

  func holds(_ name: String) -> Bool { exports.contains { $0.name == name } }

  func note(_ scope: Manifest.Scope, _ isNewHistory: Bool) {
    held.withLock { $0.replaced.append(ReplacedBundles(scope: scope, isNewHistory: isNewHistory)) }
  }
}

extension DeviceWorkspace {
  /// Whether the database of this device is on a tablet, and no copy of it is here.
  public var isDocked: Bool { docking == nil && configuration.docks != nil }

  /// Whether the database of this device can still begin on a tablet. The device has no database yet, and no app on
  /// this machine has one for it.
  public func canBeginOnTablet() throws -> Bool { try configuration.canBeginOnTablet && isInitial() }

  /// The finished files for the hub, in the order in which the hub needs them. For a device whose database is on a
  /// tablet: without the database, only the outbox shows which files the hub may lack.
  public func outgoing() throws -> [String] {
    let names = try platform.files.list(folder.outbox).filter { $0.hasSuffix(".satchel") }
    let files = names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.map { Paths.join(folder.outbox, $0) }
    // If a waiting bundle from the hub does not follow the present emission, the hub needs its present bundle as a
    // proof.
    let isWaiting =
      try platform.files.kind(folder.waiting) == .directory
      && platform.files.list(folder.waiting).contains { $0.hasSuffix(".satchel") }
    guard isWaiting, let proof = try stranded()?.proof else { return files }
    return [proof] + files
  }

  /// Completes the work that had to wait until the copy was on the tablet. Moves the exports to the outbox, and removes
  /// files that only the former database needed.
  func completeDocking() throws {
    guard let docking else { return }
    let session = try session()
    for export in docking.exports where try platform.files.kind(export.path) == .file {
      try session.publish(export.path, as: export.name)
      try session.moveToSent(below: export.sequence)
    }
    for full in docking.replaced { try session.forgetBundles(before: full.scope, full.isNewHistory) }
    try DeviceAttachments(session).sweepNow()
    try session.moveToSent(below: session.state.acknowledged.next)
    try BundleParts(folder, platform: platform).forget(session.partsSender, ...session.state.received.rawValue)
    try session.putOutBrought()
    try unstage(upTo: session.state.received)
    try noteAnswer()
    try setJoined()
  }
}

extension WorkspaceConfiguration {
  /// Whether the first bundle of this device may go to a tablet. The device must not have a database yet.
  public var canBeginOnTablet: Bool { docks == nil && !joins && !database.hasPrefix("/") }
}

extension WorkspaceError {
  /// - Parameter name: the name of the database on the tablet.
  static func away(_ name: String) -> WorkspaceError {
    WorkspaceError(
      .docked, "The database of this device is on its tablet, in \(name).",
      hint:
        """
        Connect the tablet, close the app there, and run satchel dock FOLDER with the folder of \(name). It also \
        brings in what is staged. Without the tablet, satchel sync and satchel import --stage work.
        """)
  }
}
