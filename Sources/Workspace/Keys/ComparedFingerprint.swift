import SatchelCrypto
import SatchelValues

extension PublicKey {
  /// Throws a `Refusal` unless this is the key whose fingerprint a person has compared. The message never shows the
  /// key's own fingerprint, because a person in a hurry would enter that fingerprint next.
  /// - Parameters:
  ///   - what: the kind of the signed file, in one word.
  ///   - hint: what to do if another key signed it.
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
