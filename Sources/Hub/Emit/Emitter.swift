import SatchelBundle
import SatchelPlatform
import SatchelSQLite
import SatchelValues
import SatchelWorkspace

/// Makes bundles for many devices, and keeps the database open for all of them. Opening and checking the database takes
/// as long as reading the changes for one device.
public final class Emitter {
  private let hub: HubWorkspace
  private let turns: WriteLockPacing
  private var opened: (store: HubStore, schema: Int64)?

  fileprivate init(_ hub: HubWorkspace) {
    self.hub = hub
    turns = WriteLockPacing(hub.platform.clock)
  }

  /// Writes a bundle for one device into the outbox. The bundle has the rows that the device's user may see and that
  /// the device may lack. If nothing is new, no bundle is written.
  /// - Parameters:
  ///   - full: send everything, even if the device has it.
  ///   - encryption: has no effect on a bundle that already exists.
  ///   - room: the room for the bundle. The bundle has all rows, even beyond this room. Only for a requested size, rows
  ///     of a lower priority may stay behind. Attached files that do not fit are sent with later bundles. If the last
  ///     bundle has files and does not fit, another bundle is made.
  public func emit(
    to name: String, full: Bool = false, encryption: Encryption = .asTheDatasetSays, room: BundleRoom = BundleRoom()
  ) throws -> EmitReport {
    try withStore {
      try hub.emit(to: name, full: full, encryption: encryption, room: room, $0, turns)
    }
  }

  /// Cuts a finished bundle for a device into volumes, unless it fits as a whole. Returns the paths of the volumes. The
  /// list is empty if the bundle fits.
  /// - Parameters:
  ///   - size: the largest size of a volume's file, in bytes.
  ///   - parity: the number of parity volumes, which come last. Each of them replaces any one missing volume.
  ///   - target: the folder for the volumes; nil for the outbox.
  public func cut(
    _ report: EmitReport, size: Int64, parity: ParityShare = .none, into target: String?
  ) throws -> [String] {
    try withStore { try hub.cut(report, size: size, parity, into: target, $0) }
  }

  /// Puts volumes of a finished bundle on a medium, as many as fit. Continues with the volumes that are on no medium
  /// yet.
  /// - Parameters:
  ///   - file: the path of the bundle.
  ///   - parity: the number of parity volumes, which come last.
  public func putVolumes(
    of file: String, for device: String, on medium: some VolumeMedium, parity: ParityShare
  ) throws -> CarriedVolumes {
    try withStore { try hub.putVolumes(of: file, for: device, on: medium, parity, $0) }
  }

  /// Runs `body` with the store of the previous call. If tables or triggers were changed meanwhile, or an error
  /// occurred, the store is opened again and checked for damage.
  private func withStore<T>(_ body: (HubStore) throws -> T) throws -> T {
    let known = opened
    opened = nil
    let store: HubStore
    if let known, try known.store.database.schemaVersion() == known.schema {
      store = known.store
      if hub.runMode == .commit { try store.absorbAhead(user: HubWorkspace.hubUser, clock: hub.platform.clock) }
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
  /// Runs `body`, which makes bundles for devices, while no other Satchel command works on this workspace.
  public func emitting<T>(_ body: (Emitter) throws -> T) throws -> T { try locked { try body(Emitter(self)) } }

  /// Makes a bundle for one device. See `Emitter.emit` for the parameters.
  public func emit(
    to name: String, full: Bool = false, encryption: Encryption = .asTheDatasetSays, room: BundleRoom = BundleRoom()
  ) throws -> EmitReport {
    try emitting { try $0.emit(to: name, full: full, encryption: encryption, room: room) }
  }
}
