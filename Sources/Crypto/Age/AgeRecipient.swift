import CSodium

/// A recipient of encrypted files: an X25519 public key, in age's form `age1...`.
public struct AgeRecipient: Hashable, Sendable, CustomStringConvertible {
  static let size = 32
  private static let prefix = "age"

  let bytes: [UInt8]

  init(bytes: [UInt8]) { self.bytes = bytes }

  /// Accepts only the exact form of `text`.
  public init?(_ text: some StringProtocol) {
    guard let bytes = Bech32.decode(text, prefix: Self.prefix), bytes.count == Self.size,
      text.utf8.allSatisfy({ !(65...90).contains($0) })
    else { return nil }
    self.bytes = bytes
  }

  public var text: String { Bech32.encode(Self.prefix, bytes) }
  public var description: String { text }
}

/// The secret key of an `AgeRecipient`. It opens files that are encrypted for this recipient. Its memory is wiped at
/// the end.
public final class AgeIdentity {
  private static let prefix = "age-secret-key-"

  public let recipient: AgeRecipient
  let secret: SecretBytes

  /// Makes the identity from 32 random bytes. These bytes are the secret: the caller must wipe them.
  public init(seed: [UInt8]) {
    precondition(seed.count == AgeRecipient.size, "an X25519 secret has 32 bytes")
    let secret = SecretBytes(count: AgeRecipient.size)
    secret.memory.copyBytes(from: seed)
    recipient = AgeRecipient(bytes: AgeIdentity.publicKey(of: secret))
    self.secret = secret
  }

  /// Reads an identity from a line of a file from age-keygen. Fails only with `unfitKey`.
  public convenience init(_ text: some StringProtocol) throws(AgeError) {
    guard text.utf8.allSatisfy({ !(97...122).contains($0) }), var bytes = Bech32.decode(text, prefix: Self.prefix),
      bytes.count == AgeRecipient.size
    else { throw .unfitKey }
    defer { sodium_memzero(&bytes, bytes.count) }
    self.init(seed: bytes)
  }

  /// The identity as a line that `age -i` reads. This line is the secret: write it only to a file that no other user
  /// can read.
  public var text: String {
    // Bech32 allows text that is wholly in upper case. age writes identities in upper case.
    String(
      decoding: Bech32.encode(Self.prefix, secret.memory).utf8.map { (97...122).contains($0) ? $0 & 0xdf : $0 },
      as: UTF8.self)
  }

  private static func publicKey(of secret: borrowing SecretBytes) -> [UInt8] {
    Sodium.start()
    var bytes = [UInt8](repeating: 0, count: AgeRecipient.size)
    crypto_scalarmult_base(&bytes, secret.pointer())
    return bytes
  }
}

extension AgeIdentity {
  /// Reads the identities in a file from age-keygen. Each identity has its own line. Comments and empty lines are
  /// allowed. Fails with `unfitKey` if there is any other line, or no identity.
  public static func identities(fileBytes: [UInt8]) throws(AgeError) -> [AgeIdentity] {
    var found: [AgeIdentity] = []
    for line in fileBytes.split(separator: 0x0a) {
      let text = String(decoding: line.last == 0x0d ? line.dropLast() : line, as: UTF8.self)
      if text.isEmpty || text.utf8.first == UInt8(ascii: "#") { continue }
      found.append(try AgeIdentity(text))
    }
    if found.isEmpty { throw .unfitKey }
    return found
  }
}
