import SatchelBundle
import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// Checks that decide whether a device trusts a bundle: the sender, the recipient, and the key that signed it.
extension DeviceWorkspace {
  func read(
    _ path: String, fingerprint: String?, _ session: DeviceSession?, of volume: Manifest?
  ) throws -> VerifiedBundle {
    if try hubKey() != nil {
      do {
        // This device's own keys count too. If an export of this device comes back, the refusal can then give the true
        // reason.
        return try readIfRoom(path, trust: .keys(ownKeys() + hubKeys())) { manifest, signer in
          try check(manifest)
          try manifest.check(isWholeOf: volume)
          try check(signer, of: manifest, session?.state) { try session?.isRevoked($0) ?? false }
          // If the user gives a fingerprint, it is compared even if the key is known already.
          if fingerprint != nil { try compare(fingerprint, with: signer) }
        }
      } catch BundleError.unknownKey(let id) {
        return try readWithNewKey(path, id: id, fingerprint: fingerprint, session)
      }
    }
    guard try isInitial() else {
      throw WorkspaceError.noHubKey(self)
    }
    return try readIfRoom(path, trust: .firstContact) { manifest, signer in
      try check(manifest)
      try manifest.check(isWholeOf: volume)
      try compare(fingerprint, with: signer)
    }
  }

  /// Reads a bundle, unless the disk has too little room for its content.
  private func readIfRoom(
    _ path: String, trust: BundleReader.Trust, admit: (_ manifest: Manifest, _ signer: PublicKey) throws -> Void
  ) throws -> VerifiedBundle {
    try reader.read(path, trust: trust, staging: folder.inbox, file: fileKeeping, admit: admit) { bytes in
      try DiskRoom.onDevice.check(bytes, in: folder.inbox, platform.files)
    }
  }

  /// An imported bundle goes into the archive. A dry run stores nothing.
  private var fileKeeping: FileKeeping { runMode == .commit ? .kept : .notKept }

  /// Reads a bundle from a hub that lost its key and signs with a key that no bundle announced. A person confirms that
  /// the new key is the hub's key.
  private func readWithNewKey(_ path: String, id: String, fingerprint: String?, _ session: DeviceSession?) throws
    -> VerifiedBundle
  {
    guard let old = try hubKey() else { throw BundleError.unknownKey(id) }
    let archive = try session == nil ? ArchivedEmissions(self) : nil
    let bundle = try readIfRoom(path, trust: .firstContact) { manifest, signer in
      try check(manifest)
      let hub = session?.state.hubID ?? archive?.hubID
      guard hub == nil || manifest.from.id == hub,
        try !(session?.isRevoked(signer) ?? archive?.isRevoked(signer) ?? false)
      else { throw BundleError.unknownKey(id) }
      guard let fingerprint else {
        throw Refusal(
          .newHubKey, "It is signed with another key than the hub's. A stranger may have made it.",
          hint: """
            \(Self.askForFingerprint). This is the way if the hub lost its key, or if this folder is a copy from \
            before the hub got a new key. If the words differ, do not use this file.
            """,
          keeping: .quarantine)
      }
      try compare(fingerprint, with: signer)
    }
    if runMode == .commit { try trust(bundle.signer, of: bundle.manifest, after: old, session) }
    return bundle
  }

  /// Trusts a new key of the hub after a person compared it.
  ///
  /// If the bundle is of another epoch, the hub has lost its old key, and the old key is no longer valid. In the same
  /// epoch, the hub has announced its new key. It may sign with the old key until this device acknowledges a bundle
  /// that the new key signed.
  private func trust(
    _ signer: PublicKey, of manifest: Manifest, after old: PublicKey, _ session: DeviceSession?
  ) throws {
    if case .scope(let scope) = manifest.body, scope.epoch == session?.state.epoch {
      try keys.trust(signer, as: Self.nextHubKeyName)
    } else {
      try replaceHubKey(old, by: signer)
    }
  }

  /// The fingerprint must come from the hub itself: the maker of a forged file could print any fingerprint.
  private static let askForFingerprint =
    """
    Have the fingerprint read out that satchel-hub keys show shows at the hub; then: satchel import FILE \
    --fingerprint WORDS
    """

  /// Compares the fingerprint that a person entered with the key that signed the bundle.
  private func compare(_ fingerprint: String?, with signer: PublicKey) throws {
    guard let fingerprint else {
      throw Refusal(
        .untrustedHub, "This device does not know its hub yet, so a stranger may have made this file.",
        hint: Self.askForFingerprint, keeping: .unnoted)
    }
    try signer.requireFingerprint(
      fingerprint, of: "bundle", hint: "Do not use this file before you have spoken with the hub's operator.")
  }

  /// Throws a `Refusal` unless the bundle is from a hub, and is for this dataset and this device.
  private func check(_ manifest: Manifest) throws {
    if manifest.emission == nil { _ = try scope(of: manifest) }
    guard manifest.dataset == configuration.dataset else {
      throw Refusal(
        .wrongDataset, "It is of the dataset \(manifest.dataset); this device has \(configuration.dataset).",
        keeping: .unnoted)
    }
    guard manifest.to.id == configuration.id else {
      throw Refusal(
        .notForUs, "It is for the device \(manifest.to.name); this one is \(configuration.name).",
        hint: "Carry it on.", keeping: .unnoted)
    }
  }

  func scope(of manifest: Manifest) throws -> Manifest.Scope {
    if case .scope(let scope) = manifest.body { return scope }
    throw Refusal(
      .wrongKind, "This is \(manifest.kind.words); a device imports the bundles that its hub makes for it.",
      hint: "Carry it to the hub \(manifest.to.name).", keeping: .unnoted)
  }
}

extension WorkspaceError {
  static func noHubKey(_ workspace: DeviceWorkspace) -> WorkspaceError {
    WorkspaceError(
      .noHubKey, "The hub's public key \(workspace.folder.key(DeviceWorkspace.hubKeyName, "pub")) is missing.",
      hint: "Bring it back from a backup, or from another device of this hub.")
  }
}
