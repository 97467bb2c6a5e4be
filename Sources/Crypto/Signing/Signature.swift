/// A detached signature in minisign's form: four lines, at most 2 KiB.
///
/// Reading a signature proves nothing: only `PublicKey.verify` proves who signed. The format is described at
/// https://jedisct1.github.io/minisign/. Only the prehashed kind ("ED") is supported, because the old kind would need
/// the whole message in memory.
public struct Signature: Hashable, Sendable {
  static let size = 64
  static let algorithm = Array("ED".utf8)

  /// The id of the key that made the signature, as the signature claims. This claim is not verified.
  public let keyID: KeyID
  /// The signature over the message's digest.
  let signature: [UInt8]
  /// The signature over `signature` and the trusted comment.
  let globalSignature: [UInt8]
  /// The bytes of the signature's file. They contain all other values of this type.
  public let fileBytes: [UInt8]
  /// The trusted comment before it is verified. Use it only to find a key.
  public let unverifiedTrustedComment: String

  /// Reads the file of a signature strictly. Base64 must have its one form, and lines must end with a line feed.
  /// Comments must be UTF-8 without control characters. Fails with `tooLarge`, `malformed` or `legacy`.
  public init(fileBytes: [UInt8]) throws(SignatureError) {
    guard fileBytes.count <= CommentedFile.sizeLimit else { throw .tooLarge }
    guard let lines = CommentedFile.lines(of: fileBytes, count: 4),
      CommentedFile.comment(in: lines[0], after: CommentedFile.untrustedPrefix) != nil,
      let packed = Base64Text.decode(lines[1], count: 2 + KeyID.size + Self.size),
      let comment = CommentedFile.comment(in: lines[2], after: CommentedFile.trustedPrefix),
      let global = Base64Text.decode(lines[3], count: Self.size)
    else { throw .malformed }
    guard packed.starts(with: Self.algorithm) else {
      throw packed.starts(with: PublicKey.algorithm) ? .legacy : .malformed
    }
    keyID = KeyID(unchecked: packed[2..<10])
    signature = Array(packed[10...])
    globalSignature = global
    unverifiedTrustedComment = comment
    self.fileBytes = fileBytes
  }

  init(
    keyID: KeyID, signature: [UInt8], globalSignature: [UInt8], trustedComment: String, untrustedComment: String
  ) throws(SignatureError) {
    let packed = Base64Text.encode(Self.algorithm + keyID.bytes + signature)
    let text = """
      \(CommentedFile.untrustedPrefix)\(untrustedComment)
      \(packed)
      \(CommentedFile.trustedPrefix)\(trustedComment)
      \(Base64Text.encode(globalSignature))

      """
    guard CommentedFile.isFit(trustedComment), CommentedFile.isFit(untrustedComment),
      text.utf8.count <= CommentedFile.sizeLimit
    else { throw .unfitComment }
    self.keyID = keyID
    self.signature = signature
    self.globalSignature = globalSignature
    unverifiedTrustedComment = trustedComment
    fileBytes = Array(text.utf8)
  }

  /// The bytes that the global signature signs.
  static func signedComment(_ comment: String, after signature: [UInt8]) -> [UInt8] { signature + Array(comment.utf8) }
}

extension Signature {
  public static func == (a: Signature, b: Signature) -> Bool { a.fileBytes == b.fileBytes }
  public func hash(into hasher: inout Hasher) { hasher.combine(fileBytes) }
}
