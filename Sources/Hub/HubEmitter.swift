import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Makes bundles for many devices over one open database: opening it, and finding everything there in order, takes as
/// long as what changed does for one device.
public final class HubEmitter {
  private let hub: HubWorkspace
  private let turns: Turns
  private var opened: (store: HubStore, schema: Int64)?

  fileprivate init(_ hub: HubWorkspace) {
    self.hub = hub
    turns = Turns(hub.platform.clock)
  }

  /// Writes for one device what its user may see and it may not have yet, as a bundle in the outbox. Nothing new:
  /// nothing written.
  /// - Parameters:
  ///   - full: send everything, whatever the device is known to have.
  ///   - encryption: a bundle that is there already is encrypted as it lies there.
  ///   - attachedBytes: how much of attached files it carries at most; nil: what the dataset says. The others go with
  ///     the next bundles.
  public func emit(
    to name: String, full: Bool = false, encryption: Encryption = .asTheDatasetSays, attachedBytes: Int64? = nil
  ) throws -> EmitReport {
    try withStore {
      try hub.emit(to: name, full: full, encryption: encryption, attachedBytes: attachedBytes, $0, turns)
    }
  }

  /// Cuts a bundle that was made for a device into volumes, unless it fits as it is. Returns their paths; none: it
  /// fits.
  /// - Parameters:
  ///   - size: of each volume's file, at most, in bytes.
  ///   - target: the folder to put them in; nil: the outbox.
  public func cut(_ report: EmitReport, size: Int64, into target: String?) throws -> [String] {
    try withStore { try hub.cut(report, size: size, into: target, $0) }
  }

  /// The store of the device before. Where somebody changed tables or triggers meanwhile, or something went wrong, it
  /// is opened anew, and looked through for damage.
  private func withStore<T>(_ body: (HubStore) throws -> T) throws -> T {
    let known = opened
    opened = nil
    let store: HubStore
    if let known, try known.store.database.schemaVersion() == known.schema {
      store = known.store
      if hub.ending == .keep { try store.absorbAhead(user: HubWorkspace.hubUser, clock: hub.platform.clock) }
    } else {
      store = try hub.storeForLongWork()
    }
    let schema = try store.database.schemaVersion()
    let result = try body(store)
    opened = (store, schema)
    return result
  }
}

extension HubWorkspace {
  /// Runs `body`, which makes bundles for devices, while no other command of ours works on this workspace.
  public func emitting<T>(_ body: (HubEmitter) throws -> T) throws -> T { try locked { try body(HubEmitter(self)) } }

  /// Makes a bundle for one device alone. `HubEmitter.emit` says what the parameters mean.
  public func emit(
    to name: String, full: Bool = false, encryption: Encryption = .asTheDatasetSays, attachedBytes: Int64? = nil
  ) throws -> EmitReport {
    try emitting { try $0.emit(to: name, full: full, encryption: encryption, attachedBytes: attachedBytes) }
  }
}
