import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The signed bundles that a device keeps: the bundles from its hub, and its own exports. Each bundle is verified each
/// time it is read.
struct ArchivedBundles {
  private let session: DeviceSession
  private let hubKeys: [PublicKey]
  private let ownKeys: [PublicKey]
  /// The files of exports that this device made under a former name.
  private let former: [SequenceNumber: String]

  /// Throws a `WorkspaceError` if a public key is missing.
  /// - Parameter former: the files of exports under a former name that are needed too, by number.
  init(_ session: DeviceSession, former: [SequenceNumber: String] = [:]) throws {
    self.session = session
    self.former = former
    ownKeys = try session.workspace.ownKeys()
    hubKeys = try session.archiveKeys ?? session.workspace.hubKeys()
    if hubKeys.isEmpty { throw Self.incomplete("the hub's public key is missing") }
  }

  /// A bundle from the hub. Throws a `WorkspaceError` if it is missing or damaged, or belongs to another history.
  func emission(_ number: Int64) throws -> VerifiedBundle {
    let bundle = try read(session.archive.path(session.incomingPrefix, number), hubKeys)
    _ = try scope(of: bundle.manifest)
    return bundle
  }

  func scope(of manifest: Manifest) throws -> Manifest.Scope {
    guard case .scope(let scope) = manifest.body, scope.epoch == session.state.epoch, manifest.to.id == session.state.id
    else {
      throw Self.incomplete("\(manifest.fileName) is of another history")
    }
    return scope
  }

  /// Whether a bundle from the hub belongs to an epoch that follows this device's epoch. Reads only its manifest.
  func isOfLaterEpoch(_ number: Int64) throws -> Bool {
    guard case .scope(let scope) = try manifest(ofEmission: number).body else { return false }
    return scope.former?.contains(session.state.epoch) ?? false
  }

  /// The numbers of this device's exports whose files are here, in order.
  func exports() throws -> [Int64] {
    try Set(session.archive.outgoing(session.outgoingPrefix) + former.keys.map(\.rawValue)).sorted()
  }

  /// The path of an export's file. nil if it is not here.
  func place(ofExport sequence: SequenceNumber) throws -> String? {
    try session.archive.place(ofOutgoing: session.fileName(ofExport: sequence)) ?? former[sequence]
  }

  /// An export of this device. Throws a `WorkspaceError` if it is missing or damaged.
  func export(_ sequence: SequenceNumber) throws -> VerifiedBundle {
    guard let path = try place(ofExport: sequence) else {
      throw Self.incomplete("this device's export \(sequence) is missing")
    }
    return try read(path, ownKeys)
  }

  /// The manifest of an export of this device. Throws a `WorkspaceError` if the export is missing or damaged.
  func manifest(ofExport sequence: SequenceNumber) throws -> Manifest {
    guard let path = try place(ofExport: sequence) else {
      throw Self.incomplete("this device's export \(sequence) is missing")
    }
    do { return try session.workspace.reader.manifest(of: path, trust: .keys(ownKeys)) } catch let error as BundleError
    {
      throw Self.incomplete("\(Paths.name(of: path)) is damaged (\(error.message))")
    }
  }

  /// The present emission of the device when it made this export; zero: that emission was of an earlier epoch.
  func stood(_ sequence: SequenceNumber) throws -> EmissionNumber {
    let bundle = try export(sequence)
    guard case .changes(let changes) = bundle.manifest.body else {
      throw Self.incomplete("\(bundle.manifest.fileName) is not an export")
    }
    return received(changes)
  }

  func received(_ changes: Manifest.Changes) -> EmissionNumber {
    changes.epoch == session.state.epoch ? changes.received : .zero
  }

  /// Whether a bundle from the hub is full or a delta. Reads only its manifest.
  func extent(of number: Int64) throws -> Manifest.Scope.Extent {
    try scope(of: manifest(ofEmission: number)).extent
  }

  /// The index of the last full bundle in `numbers`. Throws a `WorkspaceError` if there is no full bundle.
  func lastFull(of numbers: [Int64]) throws -> Int {
    guard let place = try numbers.lastIndex(where: { try extent(of: $0) == .full }) else {
      throw Self.incomplete("the last full bundle from the hub is missing")
    }
    return place
  }

  private func manifest(ofEmission number: Int64) throws -> Manifest {
    do {
      let path = session.archive.path(session.incomingPrefix, number)
      return try session.workspace.reader.manifest(of: path, trust: .keys(hubKeys))
    } catch let error as BundleError {
      throw Self.incomplete("the hub's bundle \(number) in bundles/archive is damaged (\(error.message))")
    }
  }

  private func read(_ path: String, _ keys: [PublicKey]) throws -> VerifiedBundle {
    do {
      return try session.workspace.reader.read(path, trust: .keys(keys), staging: session.folder.inbox)
    } catch let error as BundleError {
      throw Self.incomplete("\(Paths.name(of: path)) is damaged (\(error.message))")
    }
  }

  /// Returns the result of `body`; nil if it throws because bundles are missing in the archive.
  static func ifComplete<T>(_ body: () throws -> T) throws -> T? {
    do { return try body() } catch let error as WorkspaceError where error.code == .noHistory { return nil }
  }

  static func incomplete(_ what: String) -> WorkspaceError {
    WorkspaceError(
      .noHistory, "The hub's last state cannot be rebuilt: \(what).",
      hint: "Bring the file back to bundles/archive from a copy or from the hub, which has its own in bundles/sent.")
  }
}
