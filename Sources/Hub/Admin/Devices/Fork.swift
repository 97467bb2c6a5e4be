import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The histories that came in one device's name.
public struct Fork: Sendable {
  /// An export in one history.
  public struct Export: Sendable {
    public let manifest: Manifest
    public let sequence: SequenceNumber
    /// The path of the export's file.
    public let path: String
    public let isMerged: Bool
    let counts: [Count]
    /// The stamp of the export's latest change.
    let latest: Stamp
    let links: [Manifest.Changes.Link]
    /// The digest of the export's entry `B2SUMS`.
    let digest: Digest
    let signer: PublicKey

    /// The number of changes that were made after the export `parted`, by table, in the order of the bundle.
    public func changes(after parted: SequenceNumber) -> [(table: Name, count: Int)] {
      counts.filter { $0.generation.rawValue >= parted.rawValue }.reduce(into: []) { tables, next in
        if let place = tables.firstIndex(where: { $0.table == next.table }) {
          tables[place].count += next.count
        } else {
          tables.append((next.table, next.count))
        }
      }
    }
  }

  struct Count: Sendable {
    let table: Name
    let generation: Generation
    var count: Int
  }

  public struct History: Sendable {
    /// The exports in the order of their numbers.
    public var exports: [Export] = []
    /// The id of a known history of a copy that no device continues yet. nil for any other history.
    var branch: ReplicaID?
    /// The last export that this history and the first history have in common. 0 if none is known.
    public fileprivate(set) var parted: SequenceNumber = .zero
    var known: [SequenceNumber: Digest] = [:]

    /// The exports that are not merged. Their files are in the quarantine.
    public var waiting: [Export] { exports.filter { !$0.isMerged } }
  }

  public internal(set) var device: EnrolledDevice
  /// The histories to choose from. The first one is the history that the hub has merged, even if it has no exports
  /// here. Each bundle is in one history.
  public fileprivate(set) var histories: [History]

  /// The last export that all histories have in common. 0 if there is none.
  public var parted: SequenceNumber { histories.lazy.map(\.parted).min() ?? .zero }

  /// Whether there is a second history, about which no person has decided yet.
  public var isForked: Bool { histories.dropFirst().contains { $0.branch == nil } }
}

extension Fork {
  /// - Parameter number: the number of the history as people see it, from 1.
  func index(ofHistory number: Int) throws -> Int {
    guard histories.indices.contains(number - 1) else {
      throw WorkspaceError(
        .noHistory, "There is no history \(number) of the device \(device.name).",
        hint: "See them: satchel-hub device fork \(device.name)")
    }
    return number - 1
  }
}

extension HubWorkspace {
  /// Sorts the bundles in the name of a device into possible histories. Changes nothing.
  public func fork(of name: String) throws -> Fork {
    try locked { try findFork(of: name, store(), with: true) }
  }

  /// Chooses the history with which a device continues, and merges its bundles from the quarantine. Merged changes of
  /// another history stay, and count as changes of others. The other copies of the device can continue under their own
  /// names.
  /// - Parameter number: the number of the history, from 1.
  /// - Returns: the fork as it was, and the imports.
  public func keep(history number: Int, of name: String) throws -> (fork: Fork, imports: [HubImportReport]) {
    try locked {
      let store = try storeForLongWork()
      let fork = try findFork(of: name, store)
      try fork.device.refuseRevoked()
      try fork.device.refuseOnHold()
      guard fork.isForked || !fork.histories[0].waiting.isEmpty || fork.device.state == .flagged else {
        throw WorkspaceError(.noFork, "One history came from the device \(name): there is nothing to settle.")
      }
      let kept = try fork.index(ofHistory: number)
      try settle(fork, with: kept, store)
      if runMode == .dryRun { return (fork, []) }
      return (fork, try fork.histories[kept].waiting.map { try take($0, store) })
    }
  }

  /// Merges a bundle from the quarantine, and removes the file there.
  func take(_ export: Fork.Export, _ store: HubStore, _ brake: BrakeDecision = .none) throws -> HubImportReport {
    let report = try take(export.path, store, of: nil, from: .named, brake)
    try Quarantine.release(export.path, files: platform.files)
    return report
  }

  private func settle(_ fork: Fork, with kept: Int, _ store: HubStore) throws {
    let now = platform.clock.milliseconds()
    try store.writeTransaction(runMode) {
      try store.logLocalWrites(user: Self.hubUser, at: now)
      var device = fork.device
      device.state = .active
      for (place, history) in fork.histories.enumerated() where place != kept && place > 0 {
        let links = history.known.filter { $0.key > history.parted }
          .map { Manifest.Changes.Link(sequence: $0.key, digest: $0.value) }
        try store.add(links, partedAfter: history.parted, from: device.id, as: platform.random.identifier(), at: now)
      }
      if kept > 0 {
        let parted = fork.histories[kept].parted
        try store.part(&device, after: parted, as: platform.random.identifier(), at: now)
      }
      try store.save(device)
    }
  }

  // MARK: finding the histories

  /// - Parameter branches: whether the known histories of copies are added, so that a person can choose them too.
  func findFork(of name: String, _ store: HubStore, with branches: Bool = false) throws -> Fork {
    guard let device = try store.device(named: name) else { throw Self.noDevice(name) }
    let waiting = try quarantined(of: device, store)
    var fork = Fork(device: device, histories: [Fork.History([], after: device.merged)])
    for (export, branch) in waiting where branch == nil {
      let common = try export.links.last { try store.digest(of: $0.sequence, in: device.id) == $0.digest }?.sequence
      let isOther = try export.links.contains {
        let known = try store.digest(of: $0.sequence, in: device.id)
        return known != nil && known != $0.digest
      }
      let parted = min(device.merged, common ?? .zero)
      let place = isOther ? fork.histories.dropFirst().firstIndex { $0.fits(export, after: parted) } : 0
      if let place {
        fork.histories[place].add(export)
      } else {
        fork.histories.append(Fork.History([export], after: parted))
      }
    }
    if branches { try add(waiting, to: &fork, store) }
    if fork.histories.count > 1 {
      fork.histories[0].exports =
        try merged(of: device, after: fork.parted, store) + fork.histories[0].exports
    }
    return fork
  }

  /// Adds each known history of a copy that no device continues, if bundles of it wait.
  private func add(
    _ waiting: [(export: Fork.Export, branch: ReplicaID?)], to fork: inout Fork, _ store: HubStore
  ) throws {
    for branch in try store.branches(of: fork.device.id) {
      let exports = waiting.filter { $0.branch == branch.id }.map(\.export)
      if exports.isEmpty { continue }
      fork.histories.append(Fork.History(exports, of: branch.id, after: branch.parted))
    }
  }

  /// The bundles of a device that were refused because of a fork, each once, in the order of their numbers. `branch` is
  /// the known history of a copy to which the bundle belongs. Bundles of histories that other devices continue are left
  /// out.
  private func quarantined(
    of device: EnrolledDevice, _ store: HubStore
  ) throws -> [(export: Fork.Export, branch: ReplicaID?)] {
    var seen: Set<Digest> = []
    let files = try platform.files.list(folder.quarantine).filter { $0.hasSuffix(".satchel") }
    return try files.compactMap { name -> (export: Fork.Export, branch: ReplicaID?)? in
      let path = Paths.join(folder.quarantine, name)
      // A damaged file cannot be read, so it is left out. A file of another device is left out too.
      guard let export = try read(path, isMerged: false, store), export.manifest.from.id == device.id,
        // A bundle that is signed with a replaced key is left out: the device cannot continue its history.
        device.signs(with: export.signer),
        case .changes(let changes) = export.manifest.body, let last = export.links.last,
        seen.insert(export.digest).inserted,
        try Ledger.knowledge(of: export.manifest.bundle, export.digest, from: device.name, in: store.database)
          != .taken
      else { return nil }
      guard let found = try store.contradiction(export.manifest, changes, last.digest) else { return (export, nil) }
      switch try store.partedHistory(of: device.id, with: found, in: export.links) {
      case .claimed: return nil
      case .unclaimed(let branch): return (export, branch)
      case nil: return (export, nil)
      }
    }.sorted { $0.export.sequence < $1.export.sequence }
  }

  private func merged(of device: EnrolledDevice, after parted: SequenceNumber, _ store: HubStore) throws -> [Fork
    .Export]
  {
    try HubArchive(folder, platform.files).bundles(of: device.name, dataset: store.dataset.name)
      .filter { $0.number > parted.rawValue }
      .compactMap { bundle in
        guard let export = try read(bundle.path, isMerged: true, store), let last = export.links.last,
          try store.digest(of: last.sequence, in: device.id) == last.digest
        else { return nil }
        return export
      }.sorted { $0.sequence < $1.sequence }
  }

  private func read(_ path: String, isMerged: Bool, _ store: HubStore) throws -> Fork.Export? {
    let bundle: VerifiedBundle
    do { bundle = try reader.read(path, trust: .keys(trustedKeys(store)), staging: folder.inbox) } catch is BundleError
    {
      return nil
    }
    guard case .changes(let changes) = bundle.manifest.body else { return nil }
    var counts: [Fork.Count] = []
    var latest = Stamp.zero
    try bundle.eachChange { line in
      latest = max(latest, line.stamp)
      guard let generation = line.generation else { return }
      if let place = counts.firstIndex(where: { $0.table == line.table && $0.generation == generation }) {
        counts[place].count += 1
      } else {
        counts.append(Fork.Count(table: line.table, generation: generation, count: 1))
      }
    }
    return Fork.Export(
      manifest: bundle.manifest, sequence: changes.sequence, path: path, isMerged: isMerged, counts: counts,
      latest: latest, links: changes.links(with: bundle.digest), digest: bundle.digest, signer: bundle.signer)
  }
}

extension Fork.History {
  fileprivate init(_ exports: [Fork.Export], of branch: ReplicaID? = nil, after parted: SequenceNumber) {
    self.branch = branch
    self.parted = parted
    for export in exports { add(export) }
  }

  /// Whether an export belongs to this history. Its digests must not contradict the digests of this history. It must
  /// also share an export with this history after the export `parted`. A bundle of release 0.1 names only itself, so
  /// this second condition does not hold for it.
  /// - Parameter parted: the last export that the export's history and the first history have in common.
  fileprivate func fits(_ export: Fork.Export, after parted: SequenceNumber) -> Bool {
    guard export.links.allSatisfy({ known[$0.sequence] == nil || known[$0.sequence] == $0.digest }) else {
      return false
    }
    if export.links.count == 1 || exports.allSatisfy({ $0.links.count == 1 }) { return true }
    let common = max(parted, self.parted)
    return export.links.contains { $0.sequence > common && known[$0.sequence] != nil }
  }

  fileprivate mutating func add(_ export: Fork.Export) {
    exports.append(export)
    for link in export.links { known[link.sequence] = link.digest }
  }
}
