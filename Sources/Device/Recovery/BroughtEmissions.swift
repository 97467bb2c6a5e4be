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
  /// Records the emissions of earlier epochs that the hub does not have: those after the newest emission that the hub
  /// knows to have made. The caller holds the transaction.
  ///
  /// An emission whose file alone has come to the hub is no end: it proved that the hub was set back, and older ones
  /// may be missing there.
  func noteBrought(to scope: Manifest.Scope) throws {
    let known = Set(scope.known)
    let collected = Set(scope.collected)
    var lost: [(number: Int64, digest: Digest)] = []
    for emission in try archivedEmissions(before: scope.epoch).reversed() {
      if lost.count == Manifest.Changes.mostBrought || known.contains(emission.digest) { break }
      if !collected.contains(emission.digest) { lost.append((emission.scope.number.rawValue, emission.digest)) }
    }
    for emission in lost {
      try BroughtEmissionTable.add(
        emission.digest, emission.number, file: name(ofBrought: emission.digest, emission.number), in: database)
    }
  }

  /// The archived emissions of other epochs than the present one, in the order in which this device got them.
  private func archivedEmissions(before present: Epoch) throws -> [(scope: Manifest.Scope, digest: Digest)] {
    let keys = try workspace.hubKeys()
    let files = try archive.withFormer(incomingPrefix)
    let found = try files.compactMap { _, path -> (scope: Manifest.Scope, digest: Digest)? in
      guard let identity = try workspace.reader.identityIfSound(of: path, trust: .keys(keys)),
        case .scope(var scope) = identity.manifest.body, scope.epoch != present
      else { return nil }
      // These lists are long, and a device has hundreds of bundles.
      (scope.collected, scope.known) = ([], [])
      return (scope, identity.digest)
    }
    let order = EpochOrder(found.lazy.map(\.scope))
    return found.sorted { order.precedes($0.scope, $1.scope) }
  }

  /// The name of an emission in the outbox. Emissions of two histories may have one number.
  private func name(ofBrought digest: Digest, _ number: Int64) throws -> String {
    let name = "\(incomingPrefix)\(number).satchel"
    let isTaken = try brought().contains { Name($0.file) == Name(name) && $0.digest != digest }
    return isTaken ? "\(incomingPrefix)\(number)+\(digest.hexadecimal.prefix(16)).satchel" : name
  }

  /// The emissions of former epochs that the hub is not known to have, sorted by the text of their digests.
  func brought() throws -> [(digest: Digest, file: String)] {
    try BroughtEmissionTable.all(in: database)
  }

  /// Forgets the emissions that the hub has by now.
  func forgetBrought(_ collected: [Digest]) throws {
    let done = Set(collected)
    let gone = try brought().filter { done.contains($0.digest) }
    for emission in gone {
      try BroughtEmissionTable.remove(emission.digest, in: database)
    }
  }

  /// Puts into the outbox exactly the emissions that the hub is not known to have.
  func putOutBrought() throws {
    let needed = Set(try broughtFiles().map { Name(Paths.name(of: $0)) })
    for name in try platform.files.list(folder.outbox)
    where number(ofBrought: name) != nil && !needed.contains(Name(name)) {
      try platform.files.remove(Paths.join(folder.outbox, name))
    }
  }

  /// The files of `brought` in the outbox. A missing file is copied there. A file with the name alone does not count,
  /// because it may be of another history.
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
