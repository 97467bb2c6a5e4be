import CSodium

/// A secret Ed25519 key with its id. The key cannot be copied, and its memory is wiped at the end.
public struct SigningKey: ~Copyable {
  static let secretSize = 64

  public let publicKey: PublicKey
  /// The seed and the public key, in libsodium's form.
  let secret: SecretBytes

  /// Makes the key from 32 random bytes. These bytes are the secret: the caller must wipe them.
  public static func generate(seed: [UInt8], keyID: KeyID) -> SigningKey {
    precondition(seed.count == 32, "an Ed25519 seed has 32 bytes")
    let secret = SecretBytes(count: secretSize)
    var publicBytes = [UInt8](repeating: 0, count: PublicKey.size)
    let status = crypto_sign_seed_keypair(&publicBytes, secret.pointer(), seed)
    guard status == 0, let publicKey = PublicKey(id: keyID, bytes: publicBytes) else {
      preconditionFailure("every seed of 32 bytes has its key")
    }
    return SigningKey(publicKey: publicKey, secret: secret)
  }

  init(publicKey: PublicKey, secret: consuming SecretBytes) {
    self.publicKey = publicKey
    self.secret = secret
  }

  /// Signs a message and a trusted comment. Fails only with `unfitComment`.
  public func sign(
    message: [UInt8], trustedComment: String, untrustedComment: String
  ) throws(SignatureError) -> Signature {
    try sign(digest: .of(message), trustedComment: trustedComment, untrustedComment: untrustedComment)
  }

  /// Like `sign(message:trustedComment:untrustedComment:)`, for a caller that hashed the message while writing it.
  public func sign(
    digest: Digest, trustedComment: String, untrustedComment: String
  ) throws(SignatureError) -> Signature {
    let signature = sign(digest.bytes)
    return try Signature(
      keyID: publicKey.id, signature: signature,
      globalSignature: sign(Signature.signedComment(trustedComment, after: signature)),
      trustedComment: trustedComment, untrustedComment: untrustedComment)
  }

  private func sign(_ message: [UInt8]) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: Signature.size)
    let status = crypto_sign_detached(&signature, nil, message, UInt64(message.count), secret.pointer())
    precondition(status == 0, "Ed25519 fails for no message")
    return signature
  }
}
