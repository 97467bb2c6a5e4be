import SatchelBundle
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The result of `HubWorkspace.continueRestored`.
public struct RestoredDevice: Sendable {
  /// A waiting bundle that was not merged.
  public struct Left: Sendable {
    public let number: SequenceNumber
    public let refusal: Refusal
  }

  /// The histories of the device before this run.
  public let fork: Fork
  /// The index of the history with which the device continues.
  public let present: Int
  public fileprivate(set) var imports: [HubImportReport] = []
  /// The bundles that still wait, each with the reason.
  public fileprivate(set) var left: [Left] = []

  /// The time when the device made the newest bundle of its present history. nil if no bundle of that history is here.
  public var made: String? { fork.histories[present].newest?.manifest.created }
}

extension HubWorkspace {
  /// Lets a device continue with its present history after its database was restored from its own backup. The waiting
  /// bundles of all histories are merged. Changes of a former history count as changes of others. A bundle that cannot
  /// be merged still waits, and does not stop the device.
  /// - Parameters:
  ///   - number: the number of the present history, from 1. nil: the history whose newest bundle was made last.
  ///   - brake: the decision about bundles that delete or change more rows than the dataset's limits allow. `.accept`
  ///     merges them, `.reject` makes each of their changes a conflict, and `.withHistory` leaves them waiting.
  /// - Returns: nil if only one history came from the device.
  public func continueRestored(
    _ name: String, with number: Int?, _ brake: BrakeDecision = .withHistory
  ) throws -> RestoredDevice? {
    try locked {
      let store = try storeForLongWork()
      let fork = try findFork(of: name, store, with: true)
      try fork.device.refuseRevoked()
      try fork.device.refuseOnHold()
      guard fork.histories.count > 1 || !fork.histories[0].waiting.isEmpty else { return nil }
      let present = try number.map { try fork.index(ofHistory: $0) } ?? fork.newestHistory
      var restored = RestoredDevice(fork: fork, present: present)
      if runMode == .dryRun { return restored }
      let chain = RestoredChain(self, store, of: fork.device, brake)
      try chain.run(&restored)
      return restored
    }
  }
}

/// The chain of a device's exports at this hub, while former histories of the device are merged.
///
/// To merge a bundle of a former history, the hub makes that history the device's history for a short time. The digests
/// in the bundle show which history this is. If the run is interrupted, the next bundle of the present history is
/// refused, and a person can repeat the run.
private struct RestoredChain {
  private let hub: HubWorkspace
  private let store: HubStore
  private let name: String
  /// The device's state before the run.
  private let state: EnrolledDevice.State
  private let brake: BrakeDecision

  init(_ hub: HubWorkspace, _ store: HubStore, of device: EnrolledDevice, _ brake: BrakeDecision) {
    (self.hub, self.store, self.brake) = (hub, store, brake)
    (name, state) = (device.name, device.state)
  }

  /// Merges the waiting bundles of the former histories, and then the waiting bundles of the present history.
  func run(_ restored: inout RestoredDevice) throws {
    let home = try store.links(of: restored.fork.device.id)
    let present = restored.fork.histories[restored.present]
    do {
      for (place, history) in restored.fork.histories.enumerated() where place != restored.present {
        for export in history.waiting { try take(export, &restored) }
      }
      if restored.present == 0 { try follow(home) }
      for export in present.waiting { try take(export, &restored) }
      if let newest = present.newest, restored.present > 0 { try follow(newest.links) }
    } catch {
      try follow(home, as: state)
      throw error
    }
  }

  private func take(_ export: Fork.Export, _ restored: inout RestoredDevice) throws {
    try follow(export.links)
    do {
      restored.imports.append(try merge(export))
    } catch let refusal as Refusal {
      restored.left.append(.init(number: export.sequence, refusal: refusal))
    }
  }

  /// Merges a bundle. With `.reject`, a bundle beyond the limits is rejected, and every other bundle is merged.
  private func merge(_ export: Fork.Export) throws -> HubImportReport {
    guard brake == .reject else { return try hub.take(export, store, brake) }
    do {
      return try hub.take(export, store, .withHistory)
    } catch let refusal as Refusal where refusal.code == .brake {
      return try hub.take(export, store, .reject)
    }
  }

  /// Makes the history that contains these exports the device's history.
  private func follow(_ links: [Manifest.Changes.Link], as state: EnrolledDevice.State = .active) throws {
    try store.writeTransaction(hub.runMode) {
      guard var device = try store.device(named: name) else { throw HubWorkspace.noDevice(name) }
      try store.logLocalWrites(user: HubWorkspace.hubUser, at: hub.platform.clock.milliseconds())
      while try followNext(of: links, &device) {}
      device.state = state
      try store.save(device)
    }
  }

  /// Compares the exports in order with the device's history, and changes that history at the first difference.
  /// - Returns: whether the caller must compare again.
  private func followNext(of links: [Manifest.Changes.Link], _ device: inout EnrolledDevice) throws -> Bool {
    let branches = try store.branches(of: device.id)
    var common = SequenceNumber.zero
    for link in links {
      let known = try store.digest(of: link.sequence, in: device.id)
      if known == link.digest {
        common = link.sequence
        continue
      }
      if let branch = try branches.first(where: { try store.digest(of: link.sequence, in: $0.id) == link.digest }) {
        try part(&device, after: branch.parted)
        try store.rejoin(branch, &device)
        return true
      }
      if known != nil {
        try part(&device, after: common)
        return false
      }
    }
    return false
  }

  private func part(_ device: inout EnrolledDevice, after parted: SequenceNumber) throws {
    guard try device.merged > parted || store.links(of: device.id).last.map({ $0.sequence > parted }) ?? false else {
      return
    }
    try store.part(
      &device, after: parted, as: hub.platform.random.identifier(), at: hub.platform.clock.milliseconds())
  }
}

extension Fork {
  /// The index of the history whose newest bundle was made last.
  ///
  /// If a new history came, the known histories of copies are left out, because a copy's clock may show another time.
  /// If the archive lacks the newest bundle of the first history, the first history comes before known histories of
  /// copies.
  fileprivate var newestHistory: Int {
    let places = isForked ? histories.indices.filter { histories[$0].branch == nil } : Array(histories.indices)
    let newest = places.max { !histories[$0].isNewer(than: histories[$1]) } ?? 0
    return histories[0].newest == nil && histories[newest].branch != nil ? 0 : newest
  }
}

extension Fork.History {
  /// The bundle of this history that was made last.
  fileprivate var newest: Fork.Export? { exports.max { $0.made < $1.made } }

  /// Whether the newest bundle of this history was made later. If both were made in the same second, the stamps of
  /// their changes decide.
  fileprivate func isNewer(than other: Self) -> Bool {
    guard let mine = newest else { return false }
    guard let its = other.newest else { return true }
    if mine.manifest.created == its.manifest.created, mine.latest == .zero || its.latest == .zero { return false }
    return mine.made > its.made
  }
}

extension Fork.Export {
  /// The second in which the bundle was made, and the stamp of its latest change.
  fileprivate var made: (String, Stamp) { (manifest.created, latest) }
}
