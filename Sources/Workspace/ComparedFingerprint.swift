import SatchelCrypto

extension PublicKey {
  /// Throws a `Refusal` unless this is the key whose fingerprint a person has compared.
  /// - Parameters:
  ///   - what: is signed by this key, in one word.
  ///   - hint: what to do where it is another one's.
  public func requireFingerprint(_ compared: String, of what: String, hint: String) throws {
    guard PublicKey.normalisedFingerprint(compared) == fingerprint else {
      throw Refusal(
        "other-fingerprint",
        "The \(what) is signed by another key than the one that you compared: its fingerprint is \(fingerprint).",
        hint: hint)
    }
  }
}
