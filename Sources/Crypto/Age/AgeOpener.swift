/// Decrypts the bytes of an age file, which come in pieces.
///
///     var opener = AgeOpener(.identities(identities))
///     while let piece = next() { use(try opener.open(piece)) }
///     use(try opener.finish())
///
/// All bytes that `open` returns are authentic. Only `finish` confirms that they are the complete content.
public struct AgeOpener: ~Copyable {
  /// The key that opens the file.
  public enum Key {
    case identities([AgeIdentity])
    case password(Password)
  }

  private let key: Key
  private var pending: [UInt8] = []
  private var payload: AgePayload?
  /// The position in `pending` where the header's next line begins.
  private var line = 0

  public init(_ key: Key) { self.key = key }

  /// Whether a file with this beginning is in the age format.
  public static func isAge(_ beginning: some Sequence<UInt8>) -> Bool { beginning.starts(with: AgeHeader.version.utf8) }

  /// Reads the next bytes of the file. Returns their decrypted content, which may be empty.
  public mutating func open(_ bytes: some Sequence<UInt8>) throws(AgeError) -> [UInt8] {
    pending += bytes
    if payload == nil { try readHeader() }
    guard payload != nil else { return [] }
    var opened: [UInt8] = []
    var place = 0
    let size = AgePayload.chunkSize + AgePayload.tagSize
    while pending.count - place > size {
      if let chunk = try payload?.open(pending[place..<place + size], isLast: false) { opened += chunk }
      place += size
    }
    pending.removeFirst(place)
    return opened
  }

  /// Returns the rest of the content. Call this function after `open` has received all bytes of the file.
  public mutating func finish() throws(AgeError) -> [UInt8] {
    if let last = try payload?.open(pending[...], isLast: true) { return last }
    guard Self.isAge(pending) else { throw .notAge }
    throw .malformed("it does not end")
  }

  /// The position after the line that begins with `---`; nil: this line has not arrived yet.
  private var headerEnd: Int?

  private mutating func readHeader() throws(AgeError) {
    let version = Array(AgeHeader.version.utf8)
    guard pending.starts(with: version.prefix(pending.count)) else { throw .notAge }
    while headerEnd == nil, let end = pending[line...].firstIndex(of: 0x0a) {
      if pending[line...end].starts(with: "---".utf8) { headerEnd = end + 1 }
      line = end + 1
    }
    guard let end = headerEnd else {
      guard pending.count <= AgeHeader.maximumBytes else { throw .malformed("it is too long") }
      return
    }
    guard end <= AgeHeader.maximumBytes else { throw .malformed("it is too long") }
    guard pending.count >= end + AgePayload.nonceSize else { return }
    let header = try AgeHeader(Array(pending[..<end]))
    let fileKey = try unwrap(header)
    guard header.isProven(by: fileKey) else { throw .headerChanged }
    payload = AgePayload(fileKey: fileKey, nonce: Array(pending[end..<end + AgePayload.nonceSize]))
    pending.removeFirst(end + AgePayload.nonceSize)
  }

  private func unwrap(_ header: AgeHeader) throws(AgeError) -> SecretBytes {
    if header.stanzas.contains(where: { $0.type == AgeWrapping.scrypt }), header.stanzas.count > 1 {
      throw .malformed("an scrypt recipient must be the only recipient")
    }
    switch key {
    case .password(let password):
      guard let stanza = header.stanzas.first, stanza.type == AgeWrapping.scrypt else { throw .noMatch }
      guard let found = try AgeWrapping.unwrap(stanza, password) else { throw .wrongPassword }
      return found
    case .identities(let identities):
      for stanza in header.stanzas where stanza.type == AgeWrapping.x25519 {
        for identity in identities { if let found = try AgeWrapping.unwrap(stanza, identity) { return found } }
      }
      throw .noMatch
    }
  }
}
