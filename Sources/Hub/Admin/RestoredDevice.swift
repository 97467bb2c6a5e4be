import SatchelBundle
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// The result of `HubWorkspace.continueRestored`.
public struct RestoredDevice: Sendable {
  /// The histories that came in the device's name, as they were before.
  public let fork: Fork
  /// The index of the history with which the device continues.
  public let present: Int
  public fileprivate(set) var imports: [HubImportReport] = []

  /// When the device made the newest bundle of its present history; nil: no bundle of it is here.
  public var made: String? { fork.histories[present].newest?.manifest.created }
}

extension HubWorkspace {
  /// Lets a device that was put back from its own backup continue with its present history. The waiting bundles of all
  /// its histories are merged. The changes of a former history count as changes of others.
  /// - Parameter number: the number of the present history, from 1. nil: it is the history whose newest bundle was made
  ///   last.
  /// - Returns: nil if only one history came from the device.
  public func continueRestored(_ name: String, with number: Int?) throws -> RestoredDevice? {
    try locked {
      let store = try storeForLongWork()
      let fork = try findFork(of: name, store, with: true)
      try fork.device.refuseRevoked()
      guard fork.histories.count > 1 else { return nil }
      let present = number.map { $0 - 1 } ?? fork.newestHistory
      guard fork.histories.indices.contains(present) else {
        throw WorkspaceError(
          .noHistory, "There is no history \(number ?? 0) of the device \(name).",
          hint: "See them: satchel-hub device fork \(name)")
      }
      var restored = RestoredDevice(fork: fork, present: present)
      if runMode == .dryRun { return restored }
      let chain = RestoredChain(self, store, of: name)
      for (place, history) in fork.histories.enumerated() where place != present && !history.waiting.isEmpty {
        restored.imports += try chain.merge(history)
      }
      restored.imports += try chain.goOn(with: fork.histories[present])
      return restored
    }
  }
}

/// The chain of a device's exports at this hub, while former histories of the device are merged.
///
/// To merge the bundles of a former history, the hub follows that history for a short time. Then it returns to the
/// history that it followed before. Between these steps the device is flagged, so an interrupted run can be repeated.
private struct RestoredChain {
  private let hub: HubWorkspace
  private let store: HubStore
  private let name: String

  init(_ hub: HubWorkspace, _ store: HubStore, of name: String) {
    (self.hub, self.store, self.name) = (hub, store, name)
  }

  /// Merges the waiting bundles of a history, and returns to the history that the hub follows now.
  func merge(_ history: Fork.History) throws -> [HubImportReport] {
    let former = try follow(history)
    do {
      let imports = try take(history.waiting)
      try goBack(to: former)
      return imports
    } catch {
      try goBack(to: former)
      throw error
    }
  }

  /// Follows a history from now on, and merges its waiting bundles.
  func goOn(with history: Fork.History) throws -> [HubImportReport] {
    _ = try follow(history)
    return try take(history.waiting)
  }

  private func take(_ exports: [Fork.Export]) throws -> [HubImportReport] {
    try exports.map { export in
      let report = try hub.take(export.path, store, of: nil)
      try Quarantine.release(export.path, files: hub.platform.files)
      return report
    }
  }

  /// - Returns: the history that the hub followed before, under its new id; nil: it is the same history.
  private func follow(_ history: Fork.History) throws -> ReplicaID? {
    try change(to: .active) { device in
      guard let branch = history.branch else {
        return history.isFirst ? nil : try part(&device, after: history.parted)
      }
      let below = try branchBelow(history, of: device)
      let former = try below.map { try follow($0, &device) }
      let latest = try follow(branch, &device)
      return former ?? latest
    }
  }

  private func goBack(to former: ReplicaID?) throws {
    try change(to: .flagged) { device in
      if let former { _ = try follow(former, &device) }
    }
  }

  private func change<T>(to state: EnrolledDevice.State, _ body: (inout EnrolledDevice) throws -> T) throws -> T {
    try store.writeTransaction(hub.runMode) {
      guard var device = try store.device(named: name) else { throw HubWorkspace.noDevice(name) }
      try store.logLocalWrites(user: HubWorkspace.hubUser, at: hub.platform.clock.milliseconds())
      let result = try body(&device)
      device.state = state
      try store.save(device)
      return result
    }
  }

  private func part(_ device: inout EnrolledDevice, after parted: SequenceNumber) throws -> ReplicaID {
    let id: ReplicaID = hub.platform.random.identifier()
    try store.part(&device, after: parted, as: id, at: hub.platform.clock.milliseconds())
    return id
  }

  private func follow(_ id: ReplicaID, _ device: inout EnrolledDevice) throws -> ReplicaID? {
    guard let branch = try store.branches(of: device.id).first(where: { $0.id == id }) else { return nil }
    let former = try part(&device, after: branch.parted)
    try store.rejoin(branch, &device)
    return former
  }

  /// The history that must be followed before another one can be. A device that was put back twice has such histories.
  private func branchBelow(_ history: Fork.History, of device: EnrolledDevice) throws -> ReplicaID? {
    for (sequence, digest) in history.known where sequence <= history.parted {
      guard let known = try store.digest(of: sequence, in: device.id), known != digest else { continue }
      return try store.branches(of: device.id).first { try store.digest(of: sequence, in: $0.id) == digest }?.id
    }
    return nil
  }
}

extension Fork {
  /// The index of the history whose newest bundle was made last. If the archive does not have the newest bundle of the
  /// first history, no history that was left before is newer.
  fileprivate var newestHistory: Int {
    let newest = histories.indices.max { !histories[$0].isNewer(than: histories[$1]) } ?? 0
    return histories[0].newest == nil && histories[newest].branch != nil ? 0 : newest
  }
}

extension Fork.History {
  /// The bundle of this history that was made last.
  fileprivate var newest: Fork.Export? { exports.max { $0.made < $1.made } }

  /// Whether this history has a bundle that was made later. Within one second the changes show the order.
  fileprivate func isNewer(than other: Self) -> Bool {
    guard let mine = newest else { return false }
    guard let its = other.newest else { return true }
    if mine.manifest.created == its.manifest.created, mine.latest == .zero || its.latest == .zero { return false }
    return mine.made > its.made
  }
}

extension Fork.Export {
  /// The second in which it was made, and the stamp of its latest change.
  fileprivate var made: (String, Stamp) { (manifest.created, latest) }
}
