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
    for (number, path) in try archive.withFormer(incomingPrefix).reversed() {
      if lost.count == Manifest.Changes.mostBrought { break }
      guard let identity = try workspace.reader.identityIfSound(of: path, trust: .keys(workspace.hubKeys())),
        case .scope(let archived) = identity.manifest.body, archived.epoch != scope.epoch
      else { continue }
      if known.contains(identity.digest) { break }
      if !collected.contains(identity.digest) { lost.append((number, identity.digest)) }
    }
    for emission in lost {
      try BroughtEmissionTable.add(
        emission.digest, emission.number, file: "\(incomingPrefix)\(emission.number).satchel", in: database)
    }
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
    where BundleArchive.number(in: name, incomingPrefix) != nil && !needed.contains(Name(name)) {
      try platform.files.remove(Paths.join(folder.outbox, name))
    }
  }

  /// The files of `brought` in the outbox. A missing file is copied there.
  func broughtFiles() throws -> [String] {
    try brought().compactMap { emission in
      let target = Paths.join(folder.outbox, emission.file)
      if try platform.files.kind(target) == .file { return target }
      let places = [folder.archive, folder.former].map { Paths.join($0, emission.file) }
      guard let source = try places.first(where: { try platform.files.kind($0) == .file }) else { return nil }
      if workspace.runMode == .dryRun { return source }
      try platform.files.copy(source, to: target, mode: 0o644)
      return target
    }
  }
}
