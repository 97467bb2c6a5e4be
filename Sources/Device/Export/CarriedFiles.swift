import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The files that are carried to the hub together with the newest export.
extension DeviceWorkspace {
  /// The files that the hub must import before the newest export, in order. First come the proof that the hub was set
  /// back, and the emissions that the hub lost. Then come the exports that the hub lacks and that the newest export
  /// does not contain.
  public func carriedBefore() throws -> [String] {
    try locked {
      guard let session = try sessionIfCaptured() else { return [] }
      try checkAfterLeaving()
      return try session.carriedBefore()
    }
  }

  /// The files that can be carried to the hub while this device has no usable database.
  public struct Stranded: Sendable {
    /// The hub's name.
    public let hub: String
    /// The newest bundle from the hub in the archive. nil if there is none.
    public let proof: String?
    /// The exports in the outbox.
    public let exports: [String]

    public var files: [String] { (proof.map { [$0] } ?? []) + exports }
  }

  /// The files that go to the hub while this device cannot export. nil: nothing here shows that the device ever had
  /// data.
  public func stranded() throws -> Stranded? {
    let keys = try hubKeys()
    let newest = try keys.isEmpty ? nil : newestArchived(signedBy: keys)
    guard let hub = try newest?.hub ?? newestOwnExport()?.to.name else { return nil }
    let prefix = Manifest.namePrefix(dataset: configuration.dataset, from: configuration.name, to: hub)
    let exports = try platform.files.list(folder.outbox).compactMap { BundleArchive.number(in: $0, prefix) }.sorted()
      .map { Paths.join(folder.outbox, "\(prefix)\($0).satchel") }
    return Stranded(hub: hub, proof: newest?.path, exports: exports)
  }

  /// The newest bundle from the hub in the archive, and the hub's name. nil if there is none.
  private func newestArchived(signedBy keys: [PublicKey]) throws -> (hub: String, path: String)? {
    guard try BundleArchive(folder, platform.files).hasAny() else { return nil }
    var newest: (number: Int64, hub: String, path: String)?
    for name in try platform.files.list(folder.archive) where name.hasSuffix(".satchel") {
      let path = Paths.join(folder.archive, name)
      guard let manifest = try reader.manifestIfSound(of: path, trust: .keys(keys)), manifest.kind == .scope,
        manifest.to.id == configuration.id, manifest.number > newest?.number ?? 0
      else { continue }
      newest = (manifest.number, manifest.from.name, path)
    }
    return newest.map { ($0.hub, $0.path) }
  }
}

extension DeviceSession {
  /// Returns the files of the public `carriedBefore`, for a caller that holds the workspace's lock.
  func carriedBefore() throws -> [String] {
    var files = try proof() + broughtFiles() + redelivery()
    for file in try sealedFiles() where !files.contains(file) { files.append(file) }
    return files
  }

  /// The present emission of this device, if the bundles that the hub sends now do not follow it. The bundles that
  /// announced keys come before it.
  private func proof() throws -> [String] {
    guard try estrangement() != nil else { return [] }
    let path = archive.path(incomingPrefix, state.received.rawValue)
    let proof = try platform.files.kind(path) == .file ? [path] : []
    return try announcements().filter { $0 != path } + proof
  }

  /// For each key that the hub announced: the hub's newest bundle with this announcement, the oldest bundle first. If
  /// the hub was set back to a time before a key, it cannot verify bundles that this key signed. It can verify the
  /// announcement.
  private func announcements() throws -> [String] {
    let keys = try workspace.hubKeys()
    var announced: [PublicKey] = []
    var paths: [String] = []
    for (_, path) in try archive.withFormer(incomingPrefix).reversed() {
      guard let manifest = try workspace.reader.manifestIfSound(of: path, trust: .keys(keys)),
        case .scope(let scope) = manifest.body, scope.epoch == state.epoch, let key = manifest.rotation?.key,
        !announced.contains(key)
      else { continue }
      announced.append(key)
      paths.insert(path, at: 0)
    }
    return paths
  }

  /// The files of the exports that later exports do not contain and that the hub is not known to have, oldest first.
  func sealedFiles() throws -> [String] {
    var files: [String] = []
    var next = state.sealed
    while let sequence = next, sequence > state.acknowledged {
      let known = try ExportTable.file(of: sequence, in: database)
      // A database that was created again lacks the records of some earlier exports. For such an export, the name of
      // the file is computed, and the file's manifest gives the base.
      let path = try archive.place(ofOutgoing: known?.file ?? fileName(ofExport: sequence))
      if let path { files.insert(path, at: 0) }
      next = try (known.map(\.base) ?? base(ofExportAt: path)).flatMap { $0 < sequence ? $0 : nil }
    }
    return files
  }

  /// The base of an export, read from its file. The export holds all changes since the export with this number.
  private func base(ofExportAt path: String?) throws -> SequenceNumber? {
    guard let path, let manifest = try workspace.reader.manifestIfSound(of: path, trust: .keys(workspace.ownKeys())),
      case .changes(let changes) = manifest.body
    else { return nil }
    return changes.base
  }
}
