import CSodium

/// minisign's secret key: 158 bytes in base64 below an untrusted comment.
///
///     2  "Ed"         32 salt           8  key id
///     2  "Sc" or 0 0  8  operations     32 seed
///     2  "B2"         8  memory         32 public key
///                                       32 BLAKE2b-256 of "Ed", id, seed and public key
///
/// With a password ("Sc"), the bytes from the id to the end are combined with 104 other bytes by exclusive or. scrypt
/// makes these 104 bytes from the password, the salt and the limits (operations and memory).
///
/// Without a password, minisign ignores the salt and the limits, and Satchel writes zeros. In this case minisign 0.11
/// writes a zero sum, and also accepts a correct sum.
private enum SecretFile {
  static let size = 158
  static let kdf = 2
  static let checksum = 4
  static let salt = 6
  static let operations = 38
  static let memory = 46
  static let id = 54
  static let secret = 62
  static let sum = 126
  static let noPassword: [UInt8] = [0, 0]
  static let scrypt = Array("Sc".utf8)
  static let blake2b = Array("B2".utf8)
  static let sumSize = 32
  static let saltSize = 32

  /// The largest accepted amount of memory for scrypt, which is also minisign's default: 1 GiB. A file that needs more
  /// is an attack on this machine's memory.
  static let maximumMemory: UInt64 = 1 << 30
  static let maximumOperations: UInt64 = 1 << 26

  static func sum(of packed: borrowing SecretBytes) -> [UInt8] {
    let summed = SecretBytes(count: 2 + sum - id)
    summed.memory.copyBytes(from: packed.memory[..<2])
    UnsafeMutableRawBufferPointer(rebasing: summed.memory[2...]).copyBytes(from: packed.memory[id..<sum])
    var digest = [UInt8](repeating: 0, count: sumSize)
    crypto_generichash(&digest, sumSize, summed.pointer(), UInt64(summed.memory.count), nil, 0)
    return digest
  }

  /// Encrypts or decrypts the secret part of the file: a second call undoes the first call.
  static func mask(_ packed: borrowing SecretBytes, with password: borrowing Password) throws(KeyError) {
    let (operations, memory) = (number(packed, at: operations), number(packed, at: memory))
    guard (1...maximumOperations).contains(operations), (1...maximumMemory).contains(memory) else { throw .malformed }
    let derived = password.scrypt(
      salt: Array(packed.memory[salt..<salt + saltSize]), operations: operations, memory: memory, count: size - id)
    guard let stream = derived else { throw .noMemory }
    let (hidden, mask) = (packed.memory, stream.memory)
    for place in id..<size { hidden[place] = hidden[place] ^ mask[place - id] }
  }

  /// Reads a little-endian number of eight bytes.
  private static func number(_ packed: borrowing SecretBytes, at place: Int) -> UInt64 {
    (0..<8).reduce(0) { $0 | UInt64(packed.memory[place + $1]) << UInt64(8 * $1) }
  }

  static func put(_ number: UInt64, into packed: borrowing SecretBytes, at place: Int) {
    let bytes = packed.memory
    for byte in 0..<8 { bytes[place + byte] = UInt8(truncatingIfNeeded: number >> UInt64(8 * byte)) }
  }
}

extension SigningKey {
  /// Reads a secret key that `minisign -G` made, with a password or without a password (`-W`).
  ///
  /// Fails with `tooLarge`, `malformed`, `damaged` or `wrongPassword`. Fails with `passwordProtected` if the file needs
  /// a password and the caller gave none. Fails with `noMemory` if the machine has too little memory for scrypt.
  public init(fileBytes: [UInt8], password: Password? = nil) throws(KeyError) {
    guard fileBytes.count <= CommentedFile.sizeLimit else { throw .tooLarge }
    let packed = SecretBytes(count: SecretFile.size)
    guard let lines = CommentedFile.forgivingLines(of: fileBytes, count: 2),
      CommentedFile.comment(in: lines[0], after: CommentedFile.untrustedPrefix) != nil,
      Base64Text.decode(lines[1], into: packed.memory),
      packed.memory.starts(with: PublicKey.algorithm),
      packed.memory[SecretFile.checksum..<SecretFile.checksum + 2].elementsEqual(SecretFile.blake2b)
    else { throw .malformed }
    let derivation = packed.memory[SecretFile.kdf..<SecretFile.checksum]
    if derivation.elementsEqual(SecretFile.scrypt) {
      guard let password else { throw .passwordProtected }
      try SecretFile.mask(packed, with: password)
      guard packed.memory[SecretFile.sum...].elementsEqual(SecretFile.sum(of: packed)) else { throw .wrongPassword }
    } else {
      guard derivation.elementsEqual(SecretFile.noPassword) else { throw .malformed }
      let sum = packed.memory[SecretFile.sum...]
      guard sum.allSatisfy({ $0 == 0 }) || sum.elementsEqual(SecretFile.sum(of: packed)) else { throw .damaged }
    }

    // An attacker may write another public key into the file. The first signature would then reveal the secret key.
    // Therefore the public key is computed from the seed and compared with the file.
    let secret = SecretBytes(count: Self.secretSize)
    var publicBytes = [UInt8](repeating: 0, count: PublicKey.size)
    crypto_sign_seed_keypair(&publicBytes, secret.pointer(), packed.pointer(at: SecretFile.secret))
    guard secret.memory.elementsEqual(packed.memory[SecretFile.secret..<SecretFile.sum]),
      let id = KeyID(bytes: Array(packed.memory[SecretFile.id..<SecretFile.secret])),
      let publicKey = PublicKey(id: id, bytes: publicBytes)
    else { throw .damaged }
    self.init(publicKey: publicKey, secret: secret)
  }

  /// Whether the bytes are the file of a secret key that needs a password.
  public static func isProtected(fileBytes: [UInt8]) -> Bool {
    do {
      _ = try SigningKey(fileBytes: fileBytes)
      return false
    } catch { return error == .passwordProtected }
  }

  /// The bytes of a file that `minisign -S` reads. Without a password, these bytes are the secret: write them only to a
  /// file that no other user can read.
  ///
  /// Fails with `unfitComment` or `noMemory`.
  /// - Parameter protection: a password, and 32 random bytes as the salt. The limits of scrypt suit a small device: 16
  ///   MiB of memory, and a tenth of a second.
  public func fileBytes(comment: String, protection: (password: Password, salt: [UInt8])? = nil) throws(KeyError)
    -> [UInt8]
  {
    let packed = SecretBytes(count: SecretFile.size)
    func put(_ bytes: some Collection<UInt8>, at place: Int) {
      UnsafeMutableRawBufferPointer(rebasing: packed.memory[place...]).copyBytes(from: bytes)
    }
    packed.memory.initializeMemory(as: UInt8.self, repeating: 0)
    put(PublicKey.algorithm, at: 0)
    put(SecretFile.blake2b, at: SecretFile.checksum)
    put(publicKey.id.bytes, at: SecretFile.id)
    put(secret.memory, at: SecretFile.secret)
    put(SecretFile.sum(of: packed), at: SecretFile.sum)
    if let protection {
      precondition(protection.salt.count == SecretFile.saltSize, "scrypt's salt has 32 bytes here")
      put(SecretFile.scrypt, at: SecretFile.kdf)
      put(protection.salt, at: SecretFile.salt)
      SecretFile.put(
        UInt64(crypto_pwhash_scryptsalsa208sha256_opslimit_interactive()), into: packed, at: SecretFile.operations)
      SecretFile.put(
        UInt64(crypto_pwhash_scryptsalsa208sha256_memlimit_interactive()), into: packed, at: SecretFile.memory)
      try SecretFile.mask(packed, with: protection.password)
    }
    let line = Base64Text.encode(Array(packed.memory))
    let bytes = Array("\(CommentedFile.untrustedPrefix)\(comment)\n\(line)\n".utf8)
    guard CommentedFile.isFit(comment), bytes.count <= CommentedFile.sizeLimit else { throw .unfitComment }
    return bytes
  }
}
