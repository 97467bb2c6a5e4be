import CSodium

/// Encrypts and decrypts a file's key for one recipient, by age's recipient types X25519 and scrypt.
enum AgeWrapping {
  static let fileKeySize = 16
  private static let wrappedSize = 32
  private static let noNonce = [UInt8](repeating: 0, count: 12)

  // MARK: X25519

  static let x25519 = "X25519"

  /// - Parameter seed: 32 random bytes. They become a secret key for this one file.
  static func wrap(_ fileKey: borrowing SecretBytes, for recipient: AgeRecipient, seed: [UInt8]) throws(AgeError)
    -> AgeStanza
  {
    let once = AgeIdentity(seed: seed)
    guard let shared = shared(once, recipient.bytes) else { throw .unfitKey }
    let key = HKDF.derive(shared, salt: once.recipient.bytes + recipient.bytes, info: "age-encryption.org/v1/X25519")
    return AgeStanza(type: x25519, arguments: [AgeBase64.encode(once.recipient.bytes)], body: seal(fileKey, with: key))
  }

  /// Opens a stanza and returns the file's key; nil: the stanza is for another identity.
  static func unwrap(_ stanza: AgeStanza, _ identity: AgeIdentity) throws(AgeError) -> SecretBytes? {
    guard stanza.arguments.count == 1, let share = AgeBase64.decode(Array(stanza.arguments[0].utf8)),
      share.count == AgeRecipient.size
    else { throw .malformed("an X25519 recipient is malformed") }
    guard stanza.body.count == wrappedSize else { throw .malformed("an X25519 recipient's key has another size") }
    guard let shared = shared(identity, share) else { throw .malformed("an X25519 recipient's share is of low order") }
    let key = HKDF.derive(shared, salt: share + identity.recipient.bytes, info: "age-encryption.org/v1/X25519")
    return open(stanza.body, with: key)
  }

  /// The secret that both sides share; nil: the other side's share would make the secret predictable.
  private static func shared(_ identity: AgeIdentity, _ share: [UInt8]) -> SecretBytes? {
    let shared = SecretBytes(count: AgeRecipient.size)
    if crypto_scalarmult(shared.pointer(), identity.secret.pointer(), share) != 0 { return nil }
    return shared
  }

  // MARK: scrypt

  static let scrypt = "scrypt"
  private static let saltSize = 16
  /// The largest accepted work factor, which needs 2^20 blocks of 1 KiB. A greater factor would use up a small device's
  /// memory.
  static let maximumWorkFactor = 20
  /// The work factor for new files. It equals minisign's interactive limits: 16 MiB of memory, and a tenth of a second.
  static let workFactor = 14

  static func wrap(
    _ fileKey: borrowing SecretBytes, password: borrowing Password, salt: [UInt8], workFactor: Int = workFactor
  ) throws(AgeError) -> AgeStanza {
    let key = try derive(password, salt, workFactor)
    return AgeStanza(
      type: scrypt, arguments: [AgeBase64.encode(salt), String(workFactor)], body: seal(fileKey, with: key))
  }

  static func unwrap(_ stanza: AgeStanza, _ password: borrowing Password) throws(AgeError) -> SecretBytes? {
    guard stanza.arguments.count == 2, let salt = AgeBase64.decode(Array(stanza.arguments[0].utf8)),
      salt.count == saltSize,
      stanza.body.count == wrappedSize
    else { throw .malformed("an scrypt recipient is malformed") }
    let digits = Array(stanza.arguments[1].utf8)
    guard (1...2).contains(digits.count), digits.allSatisfy({ (48...57).contains($0) }), digits[0] != 48,
      let factor = Int(stanza.arguments[1]), factor <= maximumWorkFactor
    else { throw .malformed("an scrypt recipient's work factor is not accepted here") }
    return open(stanza.body, with: try derive(password, salt, factor))
  }

  private static func derive(_ password: borrowing Password, _ salt: [UInt8], _ factor: Int) throws(AgeError)
    -> SecretBytes
  {
    let salted = Array("age-encryption.org/v1/scrypt".utf8) + salt
    let derived = password.scrypt(salt: salted, cost: 1 << UInt64(factor), blockSize: 8, parallelization: 1, count: 32)
    guard let derived else { throw .noMemory }
    return derived
  }

  // MARK: both recipient types

  private static func seal(_ fileKey: borrowing SecretBytes, with key: borrowing SecretBytes) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: wrappedSize)
    crypto_aead_chacha20poly1305_ietf_encrypt(
      &sealed, nil, fileKey.pointer(), UInt64(fileKey.memory.count), nil, 0, nil, noNonce, key.pointer())
    return sealed
  }

  private static func open(_ body: [UInt8], with key: borrowing SecretBytes) -> SecretBytes? {
    let fileKey = SecretBytes(count: fileKeySize)
    let status = crypto_aead_chacha20poly1305_ietf_decrypt(
      fileKey.pointer(), nil, nil, body, UInt64(body.count), nil, 0, noNonce, key.pointer())
    if status != 0 { return nil }
    return fileKey
  }
}
