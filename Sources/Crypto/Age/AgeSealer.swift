/// Encrypts bytes that come in pieces, in the age format (https://age-encryption.org/v1).
///
///     var sealer = try AgeSealer(for: recipients, random: platform.random.bytes)
///     file.write(sealer.beginning)
///     while let piece = next() { file.write(sealer.seal(piece)) }
///     file.write(sealer.finish())
public struct AgeSealer: ~Copyable {
  /// The first bytes of the encrypted file.
  public let beginning: [UInt8]
  private var payload: AgePayload
  private var pending: [UInt8] = []

  /// Encrypts for recipients. The holder of any recipient's identity can open the file. Fails with `unfitKey` if a
  /// recipient is no valid X25519 key.
  /// - Parameter random: returns secret random bytes. Its argument is their number.
  public init(for recipients: [AgeRecipient], random: (Int) -> [UInt8]) throws(AgeError) {
    precondition(!recipients.isEmpty, "there is at least one recipient")
    let fileKey = Self.fileKey(random)
    var stanzas: [AgeStanza] = []
    for recipient in recipients { stanzas.append(try AgeWrapping.wrap(fileKey, for: recipient, seed: random(32))) }
    self.init(stanzas, fileKey, random)
  }

  /// Encrypts with a password. Fails only with `noMemory`.
  public init(password: borrowing Password, random: (Int) -> [UInt8]) throws(AgeError) {
    let fileKey = Self.fileKey(random)
    self.init([try AgeWrapping.wrap(fileKey, password: password, salt: random(16))], fileKey, random)
  }

  private init(_ stanzas: [AgeStanza], _ fileKey: borrowing SecretBytes, _ random: (Int) -> [UInt8]) {
    let nonce = random(AgePayload.nonceSize)
    beginning = AgeHeader(stanzas, fileKey: fileKey).bytes + nonce
    payload = AgePayload(fileKey: fileKey, nonce: nonce)
  }

  private static func fileKey(_ random: (Int) -> [UInt8]) -> SecretBytes {
    let key = SecretBytes(count: AgeWrapping.fileKeySize)
    key.memory.copyBytes(from: random(AgeWrapping.fileKeySize))
    return key
  }

  /// Encrypts these bytes. Returns the complete chunks, and keeps the rest for a later call.
  public mutating func seal(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    pending += bytes
    var sealed: [UInt8] = []
    var place = 0
    // The last chunk must have a mark. Therefore a full chunk waits in `pending` until it is clear whether more bytes
    // follow.
    while pending.count - place > AgePayload.chunkSize {
      sealed += payload.seal(pending[place..<place + AgePayload.chunkSize], isLast: false)
      place += AgePayload.chunkSize
    }
    pending.removeFirst(place)
    return sealed
  }

  /// Encrypts the last chunk and returns it. After this call, nothing may be sealed.
  public mutating func finish() -> [UInt8] { payload.seal(pending[...], isLast: true) }
}
