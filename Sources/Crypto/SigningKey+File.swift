import CSodium

/// minisign's secret key, without a password: 158 bytes in base64 below an untrusted comment.
///
///     2  "Ed"       8  key id
///     2  0 0        32 seed
///     2  "B2"       32 public key
///     48 unused     32 BLAKE2b-256 of "Ed", id, seed and public key
///
/// The 48 bytes are salt and limits of the password's derivation: minisign ignores them here, and we write zeros. minisign 0.11
/// leaves the sum of such a key zero, and takes one that is right.
private enum SecretFile {
  static let size = 158
  static let kdf = 2
  static let checksum = 4
  static let id = 54
  static let secret = 62
  static let sum = 126
  static let noPassword: [UInt8] = [0, 0]
  static let scrypt = Array("Sc".utf8)
  static let blake2b = Array("B2".utf8)
  static let sumSize = 32

  static func sum(of packed: borrowing SecretBytes) -> [UInt8] {
    let summed = SecretBytes(count: 2 + sum - id)
    summed.memory.copyBytes(from: packed.memory[..<2])
    UnsafeMutableRawBufferPointer(rebasing: summed.memory[2...]).copyBytes(from: packed.memory[id..<sum])
    var digest = [UInt8](repeating: 0, count: sumSize)
    crypto_generichash(&digest, sumSize, summed.pointer(), UInt64(summed.memory.count), nil, 0)
    return digest
  }
}

extension SigningKey {
  /// Reads a secret key as `minisign -G -W` writes it. Fails with `tooLarge`, `malformed`, `passwordProtected` or `damaged`.
  public init(fileBytes: [UInt8]) throws(KeyError) {
    guard fileBytes.count <= CommentedFile.sizeLimit else { throw .tooLarge }
    let packed = SecretBytes(count: SecretFile.size)
    guard let lines = CommentedFile.forgivingLines(of: fileBytes, count: 2),
      CommentedFile.comment(in: lines[0], after: CommentedFile.untrustedPrefix) != nil,
      Base64Text.decode(lines[1], into: packed.memory),
      packed.memory.starts(with: PublicKey.algorithm)
    else { throw .malformed }
    let derivation = packed.memory[SecretFile.kdf..<SecretFile.checksum]
    guard !derivation.elementsEqual(SecretFile.scrypt) else { throw .passwordProtected }
    guard derivation.elementsEqual(SecretFile.noPassword),
      packed.memory[SecretFile.checksum..<SecretFile.checksum + 2].elementsEqual(SecretFile.blake2b)
    else { throw .malformed }
    let sum = packed.memory[SecretFile.sum...]
    guard sum.allSatisfy({ $0 == 0 }) || sum.elementsEqual(SecretFile.sum(of: packed)) else { throw .damaged }

    // A secret key beside a public key of another one gives itself away with its first signature: make the latter afresh.
    let secret = SecretBytes(count: Self.secretSize)
    var publicBytes = [UInt8](repeating: 0, count: PublicKey.size)
    crypto_sign_seed_keypair(&publicBytes, secret.pointer(), packed.pointer(at: SecretFile.secret))
    guard secret.memory.elementsEqual(packed.memory[SecretFile.secret..<SecretFile.sum]),
      let id = KeyID(bytes: Array(packed.memory[SecretFile.id..<SecretFile.secret])),
      let publicKey = PublicKey(id: id, bytes: publicBytes)
    else { throw .damaged }
    self.init(publicKey: publicKey, secret: secret)
  }

  /// The file that `minisign -S` reads without a password. It is the secret: write it where nobody else reads.
  ///
  /// Fails with `unfitComment` alone.
  public func fileBytes(comment: String) throws(KeyError) -> [UInt8] {
    let packed = SecretBytes(count: SecretFile.size)
    packed.memory.initializeMemory(as: UInt8.self, repeating: 0)
    packed.memory.copyBytes(from: PublicKey.algorithm)
    UnsafeMutableRawBufferPointer(rebasing: packed.memory[SecretFile.checksum...]).copyBytes(from: SecretFile.blake2b)
    UnsafeMutableRawBufferPointer(rebasing: packed.memory[SecretFile.id...]).copyBytes(from: publicKey.id.bytes)
    UnsafeMutableRawBufferPointer(rebasing: packed.memory[SecretFile.secret...]).copyBytes(from: secret.memory)
    UnsafeMutableRawBufferPointer(rebasing: packed.memory[SecretFile.sum...]).copyBytes(from: SecretFile.sum(of: packed))
    let line = Base64Text.encode(Array(packed.memory))
    let bytes = Array("\(CommentedFile.untrustedPrefix)\(comment)\n\(line)\n".utf8)
    guard CommentedFile.isFit(comment), bytes.count <= CommentedFile.sizeLimit else { throw .unfitComment }
    return bytes
  }
}
