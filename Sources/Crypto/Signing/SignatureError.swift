import SatchelValues

/// Why a signature is refused.
public enum SignatureError: Error, Equatable, Sendable {
  case tooLarge
  case malformed
  /// The signature was made in minisign's old way, over the message itself instead of its digest.
  case legacy
  /// The signature names another key than the key that checks it.
  case otherKey(signed: KeyID, expected: KeyID)
  /// The signature does not fit this message and this key.
  case wrongMessage
  /// The trusted comment is not the comment that was signed.
  case wrongComment
  case unfitComment

  /// The code by which scripts recognise the error. It never changes.
  public var code: Reason {
    switch self {
    case .tooLarge: .signatureTooLarge
    case .malformed: .signatureMalformed
    case .legacy: .signatureLegacy
    case .otherKey: .signatureOtherKey
    case .wrongMessage: .signatureWrong
    case .wrongComment: .signatureCommentWrong
    case .unfitComment: .signatureCommentUnfit
    }
  }

  /// The fault and the next step, in words for people.
  public var message: String {
    switch self {
    case .tooLarge: "the signature file is larger than \(CommentedFile.sizeLimit) bytes, the limit for a signature"
    case .malformed: "this is not a minisign signature of four lines: ask for the file again"
    case .legacy: "the signature is of minisign's old kind: sign again without `-l`"
    case .otherKey(let signed, let expected):
      "signed with the key \(signed), not with \(expected): check whose file this is"
    case .wrongMessage: "the content was changed or damaged after it was signed"
    case .wrongComment: "the signature's trusted comment was changed after it was signed"
    case .unfitComment: "a comment must be one line without control characters, short enough for the file"
    }
  }
}
