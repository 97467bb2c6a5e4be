import CSodium

extension PublicKey {
  /// Checks that the owner of this key signed this message. Returns the trusted comment, which the owner signed with
  /// the message.
  ///
  /// Fails with `otherKey`, `wrongMessage` or `wrongComment`.
  @discardableResult
  public func verify(_ signature: Signature, message: [UInt8]) throws(SignatureError) -> String {
    try verify(signature, digest: .of(message))
  }

  /// Like `verify(_:message:)`, for a caller that hashed the message while the message arrived.
  @discardableResult
  public func verify(_ signature: Signature, digest: Digest) throws(SignatureError) -> String {
    guard signature.keyID == id else { throw .otherKey(signed: signature.keyID, expected: id) }
    guard isSignature(signature.signature, of: digest.bytes) else { throw .wrongMessage }
    let comment = signature.unverifiedTrustedComment
    guard isSignature(signature.globalSignature, of: Signature.signedComment(comment, after: signature.signature))
    else {
      throw .wrongComment
    }
    return comment
  }

  private func isSignature(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    Sodium.start()
    return crypto_sign_verify_detached(signature, message, UInt64(message.count), bytes) == 0
  }
}
