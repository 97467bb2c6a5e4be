/// The form of a public key that people can read aloud: nine groups, `A1B2-C3D4-...-XY`.
///
/// The first eight groups have 32 characters. They show a BLAKE2b digest of 160 bits, made from the key's 32 bytes
/// without the key's id. Each character shows five bits, and the highest bits come first. The alphabet is Crockford's
/// base32: digits and upper-case letters without I, L, O and U.
///
/// The ninth group is a checksum of two characters. The first 32 characters are read as a number in base 32. The
/// checksum is this number modulo 1021. 1021 is a prime, and no power of 32 up to the 33rd is 1 or -1 modulo 1021. So
/// the checksum always finds one wrong character, or two exchanged characters. It misses one in 1021
/// of all other errors.
enum Fingerprint {
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  private static let modulus = 1021
  private static let symbols = 32

  static func text(of key: [UInt8]) -> String {
    grouped(withCheck(base32(blake2b(key, length: 20))))
  }

  /// The typed fingerprint, rewritten in the form of `text(of:)`. nil: the typed text is no fingerprint, or has an
  /// error.
  static func normalised(_ typed: String) -> String? {
    var values: [Int] = []
    for byte in typed.utf8 where !separators.contains(byte) {
      guard let value = value(of: byte) else { return nil }
      values.append(value)
    }
    guard values.count == symbols + 2, withCheck(Array(values[..<symbols])) == values else { return nil }
    return grouped(values)
  }

  private static let separators: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d, UInt8(ascii: "-")]

  private static func value(of letter: UInt8) -> Int? {
    let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) ? letter - 0x20 : letter
    switch upper {
    case UInt8(ascii: "O"): return 0
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
    default: return alphabet.firstIndex(of: upper)
    }
  }

  private static func base32(_ bytes: [UInt8]) -> [Int] {
    var values: [Int] = []
    var pending = 0
    var bits = 0
    for byte in bytes {
      pending = pending << 8 | Int(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        values.append(pending >> bits)
        pending &= 1 << bits - 1
      }
    }
    return values
  }

  private static func withCheck(_ values: [Int]) -> [Int] {
    let check = values.reduce(0) { ($0 * 32 + $1) % modulus }
    return values + [check / 32, check % 32]
  }

  private static func grouped(_ values: [Int]) -> String {
    var text: [UInt8] = []
    for (i, value) in values.enumerated() {
      if i > 0, i % 4 == 0 { text.append(UInt8(ascii: "-")) }
      text.append(alphabet[value])
    }
    return String(decoding: text, as: UTF8.self)
  }
}

extension PublicKey {
  /// The text by which people compare keys: nine groups of characters. They show 160 bits of the key's BLAKE2b digest,
  /// and two check characters.
  public var fingerprint: String { Fingerprint.text(of: bytes) }

  /// The typed fingerprint, rewritten in the form of `fingerprint`. Lower case, missing hyphens and spaces are allowed.
  /// O is read as 0, and I and L as 1. nil: the typed text is no fingerprint, or its check characters are wrong.
  public static func normalisedFingerprint(_ typed: String) -> String? { Fingerprint.normalised(typed) }
}
