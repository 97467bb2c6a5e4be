/// A key that checks signatures: an Ed25519 key, and the id by which signatures name the key.
public struct PublicKey: Hashable, Sendable, CustomStringConvertible {
  static let size = 32
  static let algorithm = Array("Ed".utf8)

  public let id: KeyID
  public let bytes: [UInt8]

  /// Makes a key from exactly 32 bytes; nil: there are more or fewer bytes.
  public init?(id: KeyID, bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    self.id = id
    self.bytes = bytes
  }

  /// The key as one line for `minisign -P`: the base64 of "Ed", the id and the key.
  public var line: String { Base64Text.encode(Self.algorithm + id.bytes + bytes) }

  /// Accepts only the exact form of `line`.
  public init?(line: some StringProtocol) {
    guard let packed = Base64Text.decode(line.utf8, count: 2 + KeyID.size + Self.size),
      packed.starts(with: Self.algorithm)
    else { return nil }
    self.init(id: KeyID(unchecked: packed[2..<10]), bytes: Array(packed[10...]))
  }

  public var description: String { line }
}

extension PublicKey {
  /// Reads the file of a public key in minisign's form. Lines may end as on Windows.
  public init(fileBytes: [UInt8]) throws(KeyError) {
    guard fileBytes.count <= CommentedFile.sizeLimit else { throw .tooLarge }
    guard let lines = CommentedFile.forgivingLines(of: fileBytes, count: 2),
      CommentedFile.comment(in: lines[0], after: CommentedFile.untrustedPrefix) != nil,
      let key = PublicKey(line: String(decoding: lines[1], as: UTF8.self))
    else { throw .malformed }
    self = key
  }

  /// The bytes of a file that minisign reads. Fails only with `unfitComment`.
  public func fileBytes(comment: String) throws(KeyError) -> [UInt8] {
    let bytes = Array("\(CommentedFile.untrustedPrefix)\(comment)\n\(line)\n".utf8)
    guard CommentedFile.isFit(comment), bytes.count <= CommentedFile.sizeLimit else { throw .unfitComment }
    return bytes
  }
}
