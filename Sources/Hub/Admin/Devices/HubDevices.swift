import SatchelBundle
import SatchelConflicts
import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

extension HubWorkspace {
  public func devices() throws -> [EnrolledDevice] { try store().devices() }

  /// The fingerprint of the hub's own key, for people to compare.
  public func fingerprint() throws -> String {
    try keys.ownKey().fingerprint
  }

  /// Whether the hub's database declares itself a GeoPackage. A device's database is a GeoPackage only if it was
  /// created as a GeoPackage.
  public func isGeoPackage() throws -> Bool {
    let number = try store().database.first("PRAGMA application_id") { $0.integer(0) }
    // These numbers are the letters "GPKG", "GP10" and "GP11". The first versions of the GeoPackage standard used the
    // last two.
    return [0x4750_4b47, 0x4750_3130, 0x4750_3131].contains(number)
  }

  /// Enrols a device. The caller knows that the key is right: the hub made it, or a person compared its fingerprint.
  ///
  /// - Parameters:
  ///   - state: `preparing` while the device's folder is being made.
  ///   - asked: the name that the device gave itself. nil if it is `name`.
  ///   - continuation: the statement in the request about the device whose history this device continues.
  ///   - trust: the reason to believe that statement.
  public func enrol(
    _ id: ReplicaID, name: String, user: String, key: PublicKey, recipient: AgeRecipient?, incarnation: Incarnation,
    state: EnrolledDevice.State = .active, asked: String? = nil,
    continuing continuation: Manifest.Continuation? = nil, trusting trust: ContinuationTrust = .proof
  ) throws -> EnrolledDevice {
    try changing { store in
      guard try store.user(user) != nil else { throw Self.noUser(user) }
      // Key files are named after their owners. So a device cannot have a name that another key file has.
      guard isSafeName(name), name != configuration.name, !["own", "next"].contains(name) else {
        throw WorkspaceError(.badName, "\"\(name)\" cannot be the name of a device here.", hint: safeNameHint)
      }
      // Without this check, a file name such as `d-hub-a-1.satchel` could have two meanings.
      if name.hasPrefix(configuration.name + "-") || name.hasSuffix("-" + configuration.name) {
        throw WorkspaceError(
          .badName,
          "\"\(name)\" has the hub's name at its beginning or end: the names of bundles would be ambiguous.",
          hint: "Choose another name.")
      }
      if let known = try store.device(id) {
        throw Self.isEnrolled(known)
      }
      if let other = try store.device(named: name), other.state == .preparing {
        // An earlier command was stopped before it finished the folder of a device with this name.
        try store.remove(other.id)
      } else if let other = try store.device(named: name) {
        throw WorkspaceError(
          .exists,
          """
          There is a device \(name) already, \
          \(other.state == .revoked ? "a revoked one" : "of the user \(other.user)").
          """,
          hint:
            """
            Choose another name, also for a device that was set up again. Late bundles of \(name) are then still \
            accepted.
            """
        )
      }
      var device = EnrolledDevice(
        id: id, name: name, user: user, key: key, recipient: recipient, incarnation: incarnation, state: state,
        merged: .zero,
        proved: .zero,
        enrolled: platform.clock.milliseconds(), heard: nil, skew: 0, asked: asked ?? name)
      try checkEnrolment(id, key, store)
      if let continuation { try checkContinuation(continuation, of: id, key, trust, store) }
      try store.save(device)
      if let continuation { try store.goOn(&device, with: continuation) }
      if runMode == .commit { try keys.trust(key, as: name) }
      return device
    }
  }

  /// Verifies a request for enrolment. Returns its content, and the fingerprint that a person must compare.
  public func readRequest(_ path: String) throws -> (
    manifest: Manifest, enrolment: Manifest.Enrolment, fingerprint: String
  ) {
    let bundle = try reader.read(path, trust: .firstContact, staging: folder.inbox) { manifest, _ in
      _ = try self.enrolment(of: manifest)
    }
    let manifest = bundle.manifest
    let enrolment = try self.enrolment(of: manifest)
    guard enrolment.key == bundle.signer else {
      throw BundleError.badSignature("the request asks for another key than its own")
    }
    guard manifest.dataset == configuration.dataset else {
      throw Refusal(.wrongDataset, "It is of the dataset \(manifest.dataset); this hub has \(configuration.dataset).")
    }
    return (manifest, enrolment, bundle.signer.fingerprint)
  }

  private func enrolment(of manifest: Manifest) throws -> Manifest.Enrolment {
    if case .enrolment(let enrolment) = manifest.body { return enrolment }
    throw Refusal(.wrongKind, "This is \(manifest.kind.words), not a request for enrolment.")
  }

  /// Ends a device's right to deliver and to receive. All other devices are notified that its keys are revoked.
  /// - Parameter from: the first bundle of the device that is refused. nil: the bundle after the merged bundles. A
  ///   person gives a later number if bundles from before the loss of the device may still come.
  public func revoke(_ name: String, from: SequenceNumber? = nil) throws -> EnrolledDevice {
    // Refused bundles of a copied device may hold the only copy of some work. So they stay, and a person decides about
    // them.
    let isForked = try self.device(name).state == .flagged
    let device = try endRights(of: name, from: from)
    if runMode == .commit { try forgetArrived(of: device, refused: !isForked) }
    return device
  }

  /// The bundles of a device that wait here, and that `revoke` deletes.
  public func waitingBundles(deletedByRevoking name: String, from: SequenceNumber?) throws -> [WaitingBundle] {
    let device = try self.device(name)
    let first = device.firstRefused(from: from).rawValue
    return try waiting().filter { $0.device == device.name && $0.number >= first }
  }

  /// Deletes the waiting bundles and volumes of a revoked device, because the hub would refuse them. With `refused`,
  /// this also deletes the device's bundles in the quarantine.
  private func forgetArrived(of device: EnrolledDevice, refused: Bool) throws {
    let first = device.revokedFrom ?? .zero
    try locked {
      try BundleParts(folder, platform: platform).forget(partsSender(device), first.rawValue...)
      try forgetWaiting(of: device, from: first, store())
      if refused { try forgetRefused(of: device, store()) }
    }
  }

  private func endRights(of name: String, from: SequenceNumber?) throws -> EnrolledDevice {
    try changing { store in
      guard var device = try store.device(named: name) else { throw Self.noDevice(name) }
      device.state = .revoked
      device.revokedFrom = device.firstRefused(from: from)
      try store.save(device)
      try store.revoke(keysToRevoke(of: device, store), at: platform.clock.milliseconds())
      // Held changes in the bundles from `from` on now wait for a person, so the hub does not take them by itself. An
      // operator can undo changes that were taken, with `revert`.
      if let from { try ConflictTable.openHeld(of: device.id, from: from, in: store.database) }
      return device
    }
  }

  /// The keys that only this device has proved to hold. A device may have announced a key that it does not hold. Such a
  /// key is not revoked with the device.
  private func keysToRevoke(of device: EnrolledDevice, _ store: HubStore) throws -> [PublicKey] {
    let others = try store.devices().filter { $0.id != device.id && $0.state != .revoked }
    let inUse = try ownKeys() + others.flatMap(\.provedKeys)
    let own = try device.provedKeys + store.formerKeys(of: device.id)
    return own.filter { !inUse.contains($0) }
  }

  /// Lets a flagged device deliver again. The operator must first ensure that only one copy of the device works.
  public func unflag(_ name: String) throws -> EnrolledDevice {
    let device = try device(name)
    try device.refuseRevoked()
    guard device.state == .flagged else {
      throw WorkspaceError(.notFlagged, "The device \(name) is not flagged.")
    }
    return try setState(.active, of: name)
  }

  /// Changes a device's user, its last day, and whether it may change rows.
  /// - Parameters:
  ///   - user: the user for whom the device works as soon as it imports its next bundle. nil: no change.
  ///   - expires: the last day, in milliseconds since 1970. nil: no change; `.some(nil)`: the device never expires.
  ///   - readOnly: whether the hub refuses all changes of the device. nil: no change.
  public func setDevice(
    _ name: String, user: String? = nil, expires: Int64?? = nil, readOnly: Bool? = nil
  ) throws -> EnrolledDevice {
    try changing { store in
      guard var device = try store.device(named: name) else { throw Self.noDevice(name) }
      if let user {
        guard try store.user(user) != nil else { throw Self.noUser(user) }
        if Name(user) != Name(device.user) {
          try store.noteFormer(user: device.user, of: device.id, at: platform.clock.milliseconds())
        }
        device.user = user
      }
      device.expires = expires ?? device.expires
      device.isReadOnly = readOnly ?? device.isReadOnly
      try store.save(device)
      return device
    }
  }

  public func device(_ name: String) throws -> EnrolledDevice {
    guard let device = try store().device(named: name) else { throw Self.noDevice(name) }
    return device
  }

  private func setState(_ state: EnrolledDevice.State, of name: String) throws -> EnrolledDevice {
    try changing { store in
      guard var device = try store.device(named: name) else { throw Self.noDevice(name) }
      device.state = state
      try store.save(device)
      return device
    }
  }

  private static func isEnrolled(_ known: EnrolledDevice) -> WorkspaceError {
    let hint =
      known.state == .revoked
      ? "It is revoked. It comes back under a new name: satchel renew --name NEW --request FILE there."
      : """
      If its database is lost, or it refuses this hub's bundles: satchel-hub emit --device \(known.name) --full, and \
      there satchel import FILE --fingerprint WORDS. satchel-hub keys show shows the words to read out.
      """
    return WorkspaceError(.exists, "This device is enrolled already, as \(known.name).", hint: hint)
  }

  static func noDevice(_ name: String) -> WorkspaceError {
    WorkspaceError(.noDevice, "There is no device \(name).", hint: "`satchel-hub device list` shows them.")
  }
}

extension HubWorkspace {
  /// Withdraws the enrolment of a device whose folder was never finished. Does nothing if a bundle of the device was
  /// merged.
  public func withdraw(_ device: EnrolledDevice) throws {
    try changing { store in
      guard let known = try store.device(device.id), known.merged == .zero, known.proved == .zero else { return }
      // If this device continues another device's history, that history belongs to it now. So it stays enrolled. Its
      // next emission brings all rows that it lacks.
      if known.continues != nil { return }
      try store.remove(device.id)
      try keys.distrust(device.name)
    }
  }

  /// Records that a device has an emission, because the emission was imported on this computer. The emission's file
  /// moves to `bundles/sent`, because no one need carry it. If the file cannot be moved, that is ignored.
  public func markDelivered(
    _ emission: EmitReport, secrets: EnrolledDevice.Secrets = .made
  ) throws -> EnrolledDevice {
    let device = try changing { store in
      guard var device = try store.device(named: emission.device) else { throw Self.noDevice(emission.device) }
      device.proved = emission.number
      if device.state == .preparing { device.state = .active }
      if secrets == .none { device.onlyReceives = true }
      try store.save(device)
      try store.prove(device.proved, by: device.id)
      try store.markDelivered(emission.number, to: device.id)
      return device
    }
    try? platform.files.rename(emission.file, to: Paths.join(folder.sent, Paths.name(of: emission.file)))
    return device
  }
}

extension EnrolledDevice {
  /// The first export that is refused if the device is revoked now. Merged exports stay.
  /// - Parameter from: the export that a person named. nil if the person named none.
  fileprivate func firstRefused(from: SequenceNumber?) -> SequenceNumber { max(from ?? merged.next, merged.next) }
}
