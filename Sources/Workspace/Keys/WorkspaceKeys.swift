import SatchelCrypto
import SatchelPlatform
import SatchelValues

/// The keys of a workspace: its own keys, and the public keys of replicas that it trusts.
///
///     keys/own.key  own.pub            signs; a minisign pair
///     keys/own.identity  own.recipient opens encrypted bundles; an age pair, the newest identity first
///     keys/next.key  next.pub          will sign, when the other side is known to have it
///     keys/NAME.pub                    trusted by this workspace
///     keys/former/NAME-ID.pub          keys that signed before
///     keys/operators/NAME.key  NAME.pub  signs the acts of an operator of the hub
public struct WorkspaceKeys: Sendable {
  let folder: WorkspaceFolder
  let platform: Platform
  private let role: Role
  private let passwords: any PasswordSource

  /// The name of this workspace's own key files.
  public static let own = "own"
  private static let next = "next"
  private static let maximumBytes = 64 << 10

  var files: any FileSystem { platform.files }

  public init(
    _ folder: WorkspaceFolder, of role: Role, platform: Platform, passwords: any PasswordSource = NoPassword()
  ) {
    self.folder = folder
    self.role = role
    self.platform = platform
    self.passwords = passwords
  }

  // MARK: own keys

  /// Makes a new signing key and a new age identity from the platform's random numbers. Only the owner of the files
  /// can read the secret keys.
  @discardableResult public func generate(name: String) throws -> PublicKey {
    let publicKey = try makeSigningKey(Self.own, of: name)
    try addIdentity(of: name)
    return publicKey
  }

  /// Deletes the secret keys of a device that only shows rows. Without them a thief can neither sign bundles nor
  /// decrypt any.
  public func discard() throws {
    let words = "This device has no secret keys: it receives, and delivers nothing.\n"
    try files.replace(folder.key(Self.own, "none"), mode: 0o644, contents: Array(words.utf8))
    for secret in ["key", "identity"] { try files.removeIfThere(folder.key(Self.own, secret)) }
  }

  /// Whether the secret keys were deleted on purpose. A file records this, because otherwise the keys would count as
  /// lost.
  public func areDiscarded() throws -> Bool { try files.kind(folder.key(Self.own, "none")) != nil }

  /// The secret key that signs. Throws a `WorkspaceError` if the key is missing, if other users can read it, or if
  /// there is no password for it.
  public func signing() throws -> SigningKey { try signing(Self.own) }

  /// Whether the secret key that signs exists.
  public func canSign() throws -> Bool { try files.kind(folder.key(Self.own, "key")) != nil }

  public func ownKey() throws -> PublicKey {
    let path = folder.key(Self.own, "pub")
    guard try files.kind(path) != nil else {
      throw WorkspaceError(.noKey, "The public key \(path) is missing.", hint: "Bring it back from a backup.")
    }
    return try publicKey(at: path)
  }

  /// The age recipient for which other replicas encrypt bundles for this workspace.
  public func recipient() throws -> AgeRecipient {
    let path = folder.key(Self.own, "recipient")
    guard let recipient = AgeRecipient(try text(path)) else {
      throw WorkspaceError(.badKey, "\(path) does not hold a recipient of age.", hint: "Bring it back from a backup.")
    }
    return recipient
  }

  /// The identities that decrypt bundles for this workspace, newest first.
  public func identities() throws -> [AgeIdentity] { try identities(orBehind: nil) }

  /// - Parameter other: the password to try next if the usual password is wrong.
  private func identities(orBehind other: Password?) throws -> [AgeIdentity] {
    let path = folder.key(Self.own, "identity")
    let bytes = try secret(path, .identity)
    func opened(_ password: Password) throws(AgeError) -> [UInt8] {
      var opener = AgeOpener(.password(password))
      return try opener.open(bytes) + opener.finish()
    }
    do {
      guard AgeOpener.isAge(bytes) else { return try AgeIdentity.identities(fileBytes: bytes) }
      do { return try AgeIdentity.identities(fileBytes: opened(password(for: path))) } catch AgeError.wrongPassword {
        guard let other else { throw AgeError.wrongPassword }
        return try AgeIdentity.identities(fileBytes: opened(other))
      }
    } catch let error as AgeError {
      throw WorkspaceError(
        error.code, "The identity \(path) cannot be used: \(error.message).",
        hint: Self.wayBack(isPasswordWrong: error == .wrongPassword, isMemoryShort: error == .noMemory))
    }
  }

  private func signing(_ name: String, orBehind other: Password? = nil) throws -> SigningKey {
    let path = folder.key(name, "key")
    let bytes = try secret(path, .signingKey)
    do {
      guard SigningKey.isProtected(fileBytes: bytes) else { return try SigningKey(fileBytes: bytes) }
      do { return try SigningKey(fileBytes: bytes, password: password(for: path)) } catch KeyError.wrongPassword {
        guard let other else { throw KeyError.wrongPassword }
        return try SigningKey(fileBytes: bytes, password: other)
      }
    } catch let error as KeyError {
      throw WorkspaceError(
        error.code, "The secret key \(path) cannot be used: \(error.message).",
        hint: Self.wayBack(isPasswordWrong: error == .wrongPassword, isMemoryShort: error == .noMemory))
    }
  }

  private static func wayBack(isPasswordWrong: Bool, isMemoryShort: Bool) -> String {
    if isPasswordWrong { return "Try again with the right password." }
    return isMemoryShort ? "Close other programs, and try again." : "Bring it back from a backup."
  }

  private enum Secret: String {
    case signingKey = "secret key"
    case identity

    /// The command that makes a new secret if this one is lost for ever. For a new identity, no person has to compare
    /// a fingerprint, because the signing key signs it.
    func replacement(at role: Role) -> String {
      switch (self, role) {
      case (.signingKey, .hub): "satchel-hub keys rotate --lost"
      case (.signingKey, .device): "satchel renew --name NEW --request FILE"
      case (.identity, _): "\(role.tool) keys rotate"
      }
    }
  }

  /// The content of a file that no other user may read.
  private func secret(_ path: String, _ what: Secret) throws -> [UInt8] {
    guard try files.kind(path) != nil else {
      throw WorkspaceError(
        .noKey, "The \(what.rawValue) \(path) is missing.",
        hint: "Bring it back from a backup. If there is none: \(what.replacement(at: role))")
    }
    try checkFolder(of: path)
    guard try files.permissions(path) & 0o077 == 0 else {
      throw WorkspaceError(
        .openKey, "The \(what.rawValue) \(path) can be read by others.", hint: "Run: chmod 600 \(path)")
    }
    return try files.read(path, limit: Self.maximumBytes)
  }

  /// Throws a `WorkspaceError` if other users can put files into the folder of this file.
  private func checkFolder(of path: String) throws {
    let place = Paths.parent(of: path)
    guard try files.permissions(place) & 0o022 != 0 else { return }
    throw WorkspaceError(
      .openFolder, "Others can put keys into the folder \(place).",
      hint: "See that each file in it is yours (ls -l). Then run: chmod 700 \(place)")
  }

  private func text(_ path: String) throws -> String {
    guard try files.kind(path) != nil else {
      throw WorkspaceError(.noKey, "\(path) is missing.", hint: "Bring it back from a backup.")
    }
    return String(decoding: try files.read(path, limit: Self.maximumBytes).prefix { $0 != 0x0a }, as: UTF8.self)
  }

  /// Throws a `WorkspaceError` if a key of this workspace is missing, damaged or readable by others. Keys that a
  /// password protects are not decrypted for this check.
  public func check() throws {
    if try areDiscarded() {
      _ = try ownKey()
      return
    }
    _ = try secret(folder.key(Self.own, "key"), .signingKey)
    _ = try secret(folder.key(Self.own, "identity"), .identity)
    _ = try (ownKey(), recipient())
    if try isProtected() { return }
    let isPair = try signing().publicKey == ownKey() && identities().contains { try $0.recipient == recipient() }
    guard isPair else {
      throw WorkspaceError(
        .badKey, "The secret and the public halves of the keys in \(folder.keys) do not belong together.",
        hint: "Bring the whole folder back from a backup.")
    }
  }

  // MARK: other replicas' keys

  /// The public key in a file with the form of minisign.
  func publicKey(at path: String) throws -> PublicKey {
    try checkFolder(of: path)
    do { return try PublicKey(fileBytes: files.read(path, limit: Self.maximumBytes)) } catch let error as KeyError {
      throw WorkspaceError(.badKey, "The public key \(path) cannot be used: \(error.message)", hint: nil)
    }
  }

  /// The trusted public key of a replica; nil if there is none.
  public func trusted(as name: String) throws -> PublicKey? {
    let path = folder.key(name, "pub")
    return try files.kind(path) == nil ? nil : publicKey(at: path)
  }

  public func trust(_ key: PublicKey, as name: String) throws {
    try files.replace(
      folder.key(name, "pub"), mode: 0o644, contents: key.fileBytes(comment: "satchel public key of \(name)"))
  }

  public func distrust(_ name: String) throws {
    let path = folder.key(name, "pub")
    if try files.kind(path) != nil { try files.remove(path) }
  }

  /// The former signing keys of a replica.
  public func former(of name: String = own) throws -> [PublicKey] {
    guard try files.kind(folder.formerKeys) == .directory else { return [] }
    return try files.list(folder.formerKeys).filter { $0.hasPrefix("\(name)-") && $0.hasSuffix(".pub") }
      .map { try publicKey(at: Paths.join(folder.formerKeys, $0)) }
  }

  /// Withdraws trust in the present and all former keys of a replica. The key files stay under another name, which only
  /// `renounced` reads.
  public func renounce(_ name: String) throws {
    for key in try [trusted(as: name)].compactMap(\.self) + former(of: name) {
      try retire(key, of: Self.renounced(name))
      try files.removeIfThere(Paths.join(folder.formerKeys, "\(name)-\(key.id).pub"))
    }
    try distrust(name)
  }

  /// The keys of a replica from which trust was withdrawn.
  public func renounced(_ name: String) throws -> [PublicKey] { try former(of: Self.renounced(name)) }

  private static func renounced(_ name: String) -> String { "left-\(name)" }

  /// Adds a key to the former keys of a replica, because the key's old signatures must still be verified.
  public func retire(_ key: PublicKey, of name: String = own) throws {
    try files.makeDirectory(folder.formerKeys, mode: 0o755)
    try files.replace(
      Paths.join(folder.formerKeys, "\(name)-\(key.id).pub"), mode: 0o644,
      contents: key.fileBytes(comment: "satchel former public key of \(name)"))
  }
}

/// Replaces old keys in steps. The keys can be used after each step, even if the command is killed.
extension WorkspaceKeys {
  /// The next signing key; nil if there is none.
  public func nextKey() throws -> PublicKey? { try trusted(as: Self.next) }

  public func nextSigning() throws -> SigningKey { try signing(Self.next) }

  /// Makes a new signing key and a new age identity. From now on other replicas encrypt for the new identity. The old
  /// identity stays, so that bundles on their way can still be decrypted. The new key signs only after
  /// `finishRotation`.
  public func beginRotation(name: String) throws -> PublicKey {
    let key = try makeSigningKey(Self.next, of: name)
    try addIdentity(of: name)
    return key
  }

  /// Makes the next key the signing key. Does nothing if there is no next key.
  public func finishRotation() throws {
    guard try nextKey() != nil else { return }
    try retire(ownKey())
    try files.rename(folder.key(Self.next, "key"), to: folder.key(Self.own, "key"))
    try completeRotation()
  }

  /// Completes a `finishRotation` that was killed halfway: the next key's secret file has already replaced this
  /// replica's secret file, and the next key's public file has not replaced the public file.
  public func completeRotation() throws {
    let (secret, publicHalf) = (folder.key(Self.next, "key"), folder.key(Self.next, "pub"))
    guard try files.kind(secret) == nil, try files.kind(publicHalf) != nil else { return }
    try files.rename(publicHalf, to: folder.key(Self.own, "pub"))
  }

  /// Deletes the next signing key.
  public func dropNext() throws {
    for suffix in ["pub", "key"] where try files.kind(folder.key(Self.next, suffix)) != nil {
      try files.remove(folder.key(Self.next, suffix))
    }
  }

  /// Makes a new signing key and a new identity at once, because the old key is lost or stolen. No signature of the
  /// old key announces the new key.
  public func replaceLost(name: String) throws -> PublicKey {
    try retire(ownKey())
    let key = try makeSigningKey(Self.next, of: name)
    let identity = folder.key(Self.own, "identity")
    if (try? identities()) == nil, try files.kind(identity) != nil { try files.remove(identity) }
    try addIdentity(of: name)
    try files.rename(folder.key(Self.next, "key"), to: folder.key(Self.own, "key"))
    try completeRotation()
    return key
  }

  /// Makes a signing key. The public key is written last, because a secret key without it has no effect.
  private func makeSigningKey(_ role: String, of name: String) throws -> PublicKey {
    guard let id = KeyID(bytes: platform.random.bytes(KeyID.size)) else {
      throw WorkspaceError(.badKey, "No key could be made.")
    }
    let key = SigningKey.generate(seed: platform.random.bytes(32), keyID: id)
    let publicKey = key.publicKey
    try files.replace(folder.key(role, "key"), mode: 0o600, contents: file(of: key, name))
    try files.replace(
      folder.key(role, "pub"), mode: 0o644, contents: publicKey.fileBytes(comment: "satchel public key of \(name)"))
    return publicKey
  }

  // MARK: operators

  private static func role(ofOperator name: String) -> String { "operators/\(name)" }

  /// Makes the signing key of an operator. If a password protects the hub's own keys, the same password protects the
  /// operator's secret key.
  public func generateKey(ofOperator name: String) throws -> PublicKey {
    let role = Self.role(ofOperator: name)
    try files.makeDirectory(Paths.parent(of: folder.key(role, "key")), mode: 0o700)
    return try makeSigningKey(role, of: name)
  }

  /// The secret key of an operator. Throws a `WorkspaceError` if the key is missing or if other users can read it.
  public func signingKey(ofOperator name: String) throws -> SigningKey {
    let role = Self.role(ofOperator: name)
    guard try files.kind(folder.key(role, "key")) != nil else {
      throw WorkspaceError(
        .noKey, "The key of the operator \(name) is missing.",
        hint: "Bring \(folder.key(role, "key")) back from a backup. Or add the operator under another name.")
    }
    return try signing(role)
  }

  /// Deletes the secret key of a removed operator.
  public func dropKey(ofOperator name: String) throws {
    try files.removeIfThere(folder.key(Self.role(ofOperator: name), "key"))
  }

  private func file(of key: borrowing SigningKey, _ name: String) throws -> [UInt8] {
    let protection =
      try isProtected() ? (password: password(for: folder.key(Self.own, "key")), salt: platform.random.bytes(32)) : nil
    return try key.fileBytes(comment: "satchel secret key of \(name)", protection: protection)
  }

  private func addIdentity(of name: String) throws {
    let path = folder.key(Self.own, "identity")
    let known = try files.kind(path) == nil ? [] : identities()
    let new = AgeIdentity(seed: platform.random.bytes(32))
    try write([new] + known, protectedBy: isProtected() ? password(for: path) : nil, of: name)
    try files.replace(folder.key(Self.own, "recipient"), mode: 0o644, contents: Array("\(new.recipient.text)\n".utf8))
  }

  private func write(_ identities: [AgeIdentity], protectedBy password: Password?, of name: String) throws {
    var bytes = Array("# satchel identity of \(name)\n".utf8)
    for identity in identities {
      bytes += Array("# opens what is for \(identity.recipient.text)\n\(identity.text)\n".utf8)
    }
    if let password {
      var sealer = try AgeSealer(password: password, random: platform.random.bytes)
      bytes = sealer.beginning + sealer.seal(bytes) + sealer.finish()
    }
    try files.replace(folder.key(Self.own, "identity"), mode: 0o600, contents: bytes)
  }
}

/// Protects secret keys by a password.
extension WorkspaceKeys {
  public func isProtected() throws -> Bool {
    let path = folder.key(Self.own, "key")
    return try files.kind(path) != nil && SigningKey.isProtected(fileBytes: files.read(path, limit: Self.maximumBytes))
  }

  /// Sets or removes the password of the secret keys. If the command is killed, some files already have the new
  /// password, and the user must run the command again.
  /// - Parameter new: the new password; nil removes the password.
  public func setPassword(_ new: Password?, name: String) throws {
    let known = try identities(orBehind: new)
    for role in [Self.own, Self.next] where try files.kind(folder.key(role, "key")) != nil {
      let key = try signing(role, orBehind: new)
      let protection = new.map { (password: $0, salt: platform.random.bytes(32)) }
      try files.replace(
        folder.key(role, "key"), mode: 0o600,
        contents: key.fileBytes(comment: "satchel secret key of \(name)", protection: protection))
    }
    try write(known, protectedBy: new, of: name)
  }

  private func password(for path: String) throws -> Password {
    guard let password = try passwords.password().flatMap({ Password($0) }) else {
      throw WorkspaceError(
        .passwordNeeded, "\(path) is protected by a password.",
        hint: "Put it into a file that only you can read, and add: --password-file FILE (or set SATCHEL_PASSWORD_FILE)")
    }
    return password
  }
}
