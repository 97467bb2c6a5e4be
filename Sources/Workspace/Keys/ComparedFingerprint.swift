import SatchelCrypto
import SatchelValues

extension PublicKey {
  /// Throws a `Refusal` unless `compared` is the fingerprint of this key. The message never shows this key's own
  /// fingerprint, because a person in a hurry would then enter it without a comparison.
  /// - Parameters:
  ///   - compared: the fingerprint that a person has compared and typed.
  ///   - what: the kind of the signed file, in one word.
  ///   - hint: the advice if another key signed the file.
  public func requireFingerprint(_ compared: String, of what: String, hint: String) throws {
    guard let words = PublicKey.normalisedFingerprint(compared) else {
      throw Refusal(
        .otherFingerprint, "The typed words are not a fingerprint: the last group does not fit the others.",
        hint: "Have it read out again.", keeping: .unnoted)
    }
    guard words == fingerprint else {
      throw Refusal(
        .otherFingerprint, "The \(what) is signed by another key than the one whose fingerprint you gave.",
        hint: hint, keeping: .unnoted)
    }
  }
}
