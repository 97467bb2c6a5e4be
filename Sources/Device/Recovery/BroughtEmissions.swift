import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Bundles from the hub that this device carries back to the hub.
///
/// A hub that was restored or set back lacks the bundles that it had sent in the lost time. The devices still have
/// these bundles, with the hub's signature.
extension DeviceSession {
  /// Records the emissions of earlier epochs that the hub lacks. These are the emissions after the newest emission that
  /// the hub has a record of. The caller holds the transaction.
  ///
  /// An emission that the hub has only as a file does not end the search. Such a file proved that the hub was set back,
  /// and the hub may lack older emissions.
  func noteBrought(to scope: Manifest.Scope) throws {
    let known = Set(scope.known)
    let collected = Set(scope.collected)
    var names = Set(try BroughtEmissionTable.all(in: database).map { Name($0.file) })
    for emission in try archivedEmissions(before: scope.epoch).reversed() {
      if known.contains(emission.digest) { break }
      if collected.contains(emission.digest) { continue }
      let number = emission.scope.number.rawValue
      // Emissions of two histories may have one number.
      let usual = "\(incomingPrefix)\(number).satchel"
      let other = "\(incomingPrefix)\(number)+\(emission.digest.hexadecimal.prefix(16)).satchel"
      let file = names.insert(Name(usual)).inserted ? usual : other
      try BroughtEmissionTable.add(emission.digest, number, file: file, in: database)
    }
  }

  /// The hub's archived emissions of epochs other than `present`, with their files, in the order in which this device
  /// got them. The archive may also have bundles of a hub that this device has left.
  func archivedEmissions(
    before present: Epoch
  ) throws -> [(scope: Manifest.Scope, digest: Digest, path: String)] {
    let keys = try workspace.hubKeys()
    let files = try archive.withFormer(incomingPrefix)
    let found = try files.compactMap { _, path -> (scope: Manifest.Scope, digest: Digest, path: String)? in
      guard let identity = try workspace.reader.identityIfSound(of: path, trust: .keys(keys)),
        identity.manifest.from.id == state.hubID, case .scope(var scope) = identity.manifest.body,
        scope.epoch != present
      else { return nil }
      // These long lists are dropped, because a device may have hundreds of bundles.
      (scope.collected, scope.known) = ([], [])
      return (scope, identity.digest, path)
    }
    let order = EpochOrder(found.lazy.map(\.scope))
    return found.sorted { order.precedes($0.scope, $1.scope) }
  }

  /// The emissions of former epochs that the next export names, sorted by the text of their digests. An export names a
  /// limited number of emissions. Later exports name the others, when the hub has these.
  func brought() throws -> [(digest: Digest, file: String)] {
    try BroughtEmissionTable.newest(workspace.mostBrought, in: database)
  }

  /// Whether an export named the maximum number of emissions, and the next export must name others, or none. The hub
  /// waits for that next export.
  func mustNameOthers(than last: ExportRecord) throws -> Bool {
    let path = try folder.place(ofOutgoing: last.file, platform.files)
    let manifest = try workspace.reader.manifestIfSound(of: path, trust: .keys(workspace.ownKeys()))
    guard case .changes(let changes) = manifest?.body, changes.brings.count == workspace.mostBrought else {
      return false
    }
    return try changes.brings != brought().map(\.digest)
  }

  /// Deletes the records of emissions that the hub now has.
  func forgetBrought(_ collected: [Digest]) throws {
    let done = Set(collected)
    let gone = try BroughtEmissionTable.all(in: database).filter { done.contains($0.digest) }
    for emission in gone {
      try BroughtEmissionTable.remove(emission.digest, in: database)
    }
  }

  /// Puts the emissions of `brought` into the outbox, and removes other emissions from it.
  func putOutBrought() throws {
    let needed = Set(try broughtFiles().map { Name(Paths.name(of: $0)) })
    for name in try platform.files.list(folder.outbox)
    where number(ofBrought: name) != nil && !needed.contains(Name(name)) {
      try platform.files.remove(Paths.join(folder.outbox, name))
    }
  }

  /// The files of `brought` in the outbox. A missing file is copied there. A file that only has the right name does not
  /// count, because it may be of another history.
  func broughtFiles() throws -> [String] {
    try brought().compactMap { emission in
      let target = Paths.join(folder.outbox, emission.file)
      if try has(target, emission.digest) { return target }
      let candidates = try archive.withFormer(incomingPrefix).filter { $0.number == number(ofBrought: emission.file) }
      guard let source = try candidates.last(where: { try has($0.path, emission.digest) })?.path else { return nil }
      if workspace.runMode == .dryRun { return source }
      try platform.files.copy(source, to: target, mode: 0o644)
      return target
    }
  }

  private func has(_ path: String, _ digest: Digest) throws -> Bool {
    guard try platform.files.kind(path) == .file else { return false }
    return try workspace.reader.identityIfSound(of: path, trust: .keys(workspace.hubKeys()))?.digest == digest
  }

  private func number(ofBrought file: String) -> Int64? {
    BundleArchive.number(in: file, incomingPrefix) ?? BundleArchive.formerNumber(in: file, incomingPrefix)
  }
}
