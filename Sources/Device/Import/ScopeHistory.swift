import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Whether a bundle from the hub continues the history of this database.
///
/// A number alone never identifies a bundle, because a hub that was set back uses its numbers again. Two copies of one
/// hub use the same numbers too. A number and a digest together identify a bundle.
extension DeviceSession {
  enum Continuation {
    /// The bundle follows the present emission of this device.
    case next
    /// The bundle is the first of a new epoch, which follows this device's epoch.
    case epoch
    /// The bundle was imported before, or is older than an imported bundle.
    case known
  }

  /// How a bundle continues this device's history. Throws a `Refusal` if the device cannot accept the bundle yet, or
  /// can never accept it.
  /// - Parameter time: the time when the hub made the bundle.
  func continuation(of scope: Manifest.Scope, _ digest: Digest, made time: String) throws -> Continuation {
    if scope.epoch == state.epoch { return try continuationInEpoch(of: scope, digest, made: time) }
    if try isFormer(scope.epoch) {
      if try digests(ofImported: scope.number).contains(digest) { return .known }
      return try passed(scope, digest, made: time)
    }
    if !isOfOtherCopy(scope) { try refuseAnswerToOther(scope) }
    try refuseDelta(of: scope)
    if isOfOtherCopy(scope), !isHubConfirmed { throw Refusal.otherHub(keeping: .waiting) }
    try refuseAnswerToOther(scope)
    return .epoch
  }

  /// Whether a bundle of another epoch is from another copy of the hub than the copy that this device follows. False
  /// for a hub of release 0.1, which did not name its former epochs.
  func isOfOtherCopy(_ scope: Manifest.Scope) -> Bool {
    guard let former = scope.former, scope.epoch != state.epoch else { return false }
    return !former.contains(state.epoch)
  }

  /// How a bundle continues the history if its place is before the present emission, and it was not imported. Throws a
  /// `Refusal` if the bundle comes from a hub that was set back, or from a copy of the hub.
  ///
  /// Later bundles name the bundles that the hub had made before them. If none of them names this number, the time
  /// decides, because numbers and epochs follow each other in time. The time alone is not enough, because the hub's
  /// clock may have been corrected.
  private func passed(_ scope: Manifest.Scope, _ digest: Digest, made time: String) throws -> Continuation {
    let named = try NamedEmissionTable.digests(of: scope.number, in: scope.epoch, database)
    if named.contains(digest) { return .known }
    if scope.epoch == state.epoch, !named.isEmpty { throw otherHistory(scope) }
    guard let present = try archived(state.received), time > present.created else { return .known }
    throw otherHistory(scope)
  }

  private func archived(_ number: EmissionNumber) throws -> Manifest? {
    let path = archive.path(incomingPrefix, number.rawValue)
    return try workspace.reader.manifestIfSound(of: path, trust: .keys(workspace.hubKeys()))
  }

  private func continuationInEpoch(
    of scope: Manifest.Scope, _ digest: Digest, made time: String
  ) throws -> Continuation {
    if scope.number <= state.received {
      let known = try digests(ofImported: scope.number)
      guard known.isEmpty || known.contains(digest) else { throw otherHistory(scope) }
      return known.isEmpty ? try passed(scope, digest, made: time) : .known
    }
    guard scope.number.rawValue - state.received.rawValue <= Manifest.Scope.longestJump else {
      throw Refusal(
        .number, "It is bundle \(scope.number) of the hub, and the last bundle here is \(state.received).",
        hint: "No hub makes so many bundles. Do not use this file. Ask the hub's operator where it comes from.",
        keeping: .quarantine)
    }
    try refuseAnswerToOther(scope)
    if scope.extent == .delta, scope.after > state.received {
      throw Refusal(
        .gap, "It builds on the hub's bundle \(scope.after), and the last bundle here is \(state.received).",
        hint:
          "Import the bundles in between first, or ask for a full one: satchel-hub emit --device \(state.name) --full")
    }
    guard follows(scope), scope.acknowledged >= state.acknowledged else { throw otherHistory(scope) }
    return .next
  }

  /// Whether the bundle follows the present emission of this device. A bundle from a hub of release 0.1 does not name
  /// the emissions that it follows, and is accepted.
  private func follows(_ scope: Manifest.Scope) -> Bool {
    guard let follows = scope.follows else { return true }
    return follows.contains { $0.number == state.received && (state.proof == nil || $0.digest == state.proof?.digest) }
  }

  /// Throws a `Refusal` if the bundle answers exports that this database did not make.
  ///
  /// This check comes before the check for a gap. If this folder is an old copy, the bundles may have a gap too. A full
  /// bundle would close the gap, but the hub would never see this folder's history.
  private func refuseAnswerToOther(_ scope: Manifest.Scope) throws {
    try refuseAnswerToCopy(scope)
    try refuseOlderDatabase(scope)
  }

  private func refuseOlderDatabase(_ scope: Manifest.Scope) throws {
    guard scope.acknowledged > state.sequence else { return }
    throw Refusal(
      .olderDatabase,
      """
      The hub has \(scope.acknowledged) exports of this device, but this database has made only \(state.sequence). \
      The database was replaced by an older copy.
      """,
      hint:
        """
        Put the newer database back if there is one. If this one is its backup and the newer one is lost, tell the \
        hub's operator: satchel-hub device fork NAME --restored. If the newer one is in use elsewhere, this one \
        continues under a new name: satchel renew --name NEW-NAME --request FILE
        """
    )
  }

  private func otherHistory(_ scope: Manifest.Scope) -> Refusal {
    Refusal(
      .otherHistory,
      """
      The hub's bundle \(scope.number) does not follow bundle \(state.received), which came here. The hub was set \
      back to an earlier copy, or two copies of it are at work.
      """,
      hint:
        """
        Nothing is lost. Continue to work and deliver: the next sync carries the proof to the hub. Inform the hub's \
        operator.
        """,
      keeping: .waiting)
  }

  // MARK: epochs

  func isFormer(_ epoch: Epoch) throws -> Bool {
    try FormerEpochTable.contains(epoch, in: database)
  }

  /// Records that a new epoch begins. The caller saves the state.
  func begin(_ scope: Manifest.Scope) throws {
    try FormerEpochTable.add([state.epoch], in: database)
    try ExportTable.forgetReceived(in: database)
    state.epoch = scope.epoch
    state.formerExports = state.sequence
    // The acknowledgements of exports that the hub now lacks are void. These exports had no content, or were given up.
    // If a sealed export had arrived, or was given up too, the next export begins after the last export that the hub
    // has.
    if let sealed = state.sealed, try sealed <= state.acknowledged || lost == .givenUp && sealedFiles().isEmpty {
      state.sealed = nil
    }
    state.acknowledged = scope.acknowledged
    state.restored = nil
  }

  /// The digests of the imported bundles with this number.
  func digests(ofImported number: EmissionNumber) throws -> [Digest] {
    try Ledger.digests(ofImported: number, from: state.hubName, in: database)
  }
}

extension Refusal {
  /// The refusal of a full bundle whose epoch does not follow this device's epoch.
  static func otherHub(keeping: Keeping) -> Refusal {
    Refusal(
      .otherHub,
      "This bundle is from another copy of the hub than this device's. One of the two must be retired.",
      hint:
        """
        Nothing is lost. Ask the hub's operator which copy continues. If it is the copy that made this bundle: \
        satchel import FILE --fingerprint, with the fingerprint that satchel-hub keys show shows there.
        """,
      keeping: keeping)
  }
}

/// The record of the newest bundle that showed that the histories of the hub and of this device differ.
public struct Estrangement: Sendable {
  /// The time of the record, in milliseconds since 1970.
  public let at: Int64
  /// `other-history` or `other-hub`.
  public let code: Reason
  public let number: EmissionNumber
  /// The refused bundle's name in `bundles/inbox/waiting`.
  public let file: String

  public var isOtherHub: Bool { code == .otherHub }

  /// The word of `code`, for programs.
  public var reason: String { code.rawValue }

  /// Describes what happened.
  public var words: String {
    isOtherHub
      ? "The hub's bundle \(number) is from another copy of the hub than this device's."
      : """
      The hub's bundle \(number) does not follow what came here: the hub was set back, or two copies of it are at \
      work.
      """
  }

  /// Describes what to do next.
  public var hint: String {
    isOtherHub
      ? """
      Ask the hub's operator which copy continues. If it is the other one: satchel import \
      bundles/inbox/waiting/\(file) --fingerprint WORDS
      """
      : "Inform the hub's operator, and continue with satchel sync: it carries the proof to the hub."
  }

  var finding: Finding { Finding(code, words, hint: hint) }
}

extension DeviceSession {
  /// The recorded estrangement; nil: the hub's bundles follow the earlier bundles.
  func estrangement() throws -> Estrangement? {
    try EstrangementTable.find(in: database)
  }

  /// Stores a bundle of another history in `bundles/inbox/waiting`, and records that it came. The bundle is read again
  /// to its end, so that exactly the kept bytes are verified.
  func keepAside(_ path: String, because refusal: Refusal) throws {
    if workspace.runMode == .dryRun { return }
    let waiting = WaitingBundles(folder, platform.files)
    let bundle = try workspace.reader.read(
      path, trust: .keys(workspace.hubKeys()), staging: folder.inbox, file: .kept)
    let manifest = bundle.manifest
    guard case .scope(let scope) = manifest.body else { return }
    try forgetEstrangement(but: manifest.fileName)
    try waiting.keep(bundle, from: path, as: manifest.fileName)
    try database.writeTransaction {
      let found = Estrangement(
        at: platform.clock.milliseconds(), code: refusal.code, number: scope.number, file: manifest.fileName)
      try EstrangementTable.save(found, of: scope.epoch, in: database)
    }
  }

  /// The path of the whole bundle of a volume, if that bundle waits here and a person has confirmed the hub. nil: that
  /// bundle does not wait here. Throws the refusal of that bundle again if it waits and no person has confirmed the
  /// hub.
  func waitingWhole(of manifest: Manifest, _ volume: Manifest.Volume) throws -> String? {
    guard let found = try estrangement(), found.file == manifest.wholeFileName else { return nil }
    let path = Paths.join(folder.waiting, found.file)
    guard try platform.files.kind(path) == .file,
      try workspace.reader.manifestIfSound(of: path, trust: .keys(workspace.hubKeys()))?.bundle == volume.of
    else { return nil }
    if isHubConfirmed { return path }
    let words = "\(found.words) The whole bundle waits here already."
    throw Refusal(found.code, words, hint: found.hint, keeping: .unnoted)
  }

  /// A text that changes if a refused bundle may be accepted now; nil: a person confirmed the hub, so each bundle is
  /// tried.
  var stateForJoining: String? {
    if isHubConfirmed { return nil }
    return "\(state.epoch) \(state.received) \(state.sequence) \(lost) \(migrations) \(removals)"
  }

  /// Removes the stored bundle of another history and its record, unless its file is `kept`.
  func forgetEstrangement(but kept: String? = nil) throws {
    guard let found = try estrangement(), found.file != kept else { return }
    try platform.files.removeIfThere(Paths.join(folder.waiting, found.file))
    try EstrangementTable.clear(in: database)
  }
}
