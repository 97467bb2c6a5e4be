/// Bech32 (BIP 173), the form of age's keys: a readable prefix, data in characters of five bits, and a checksum. The
/// checksum finds any four wrong characters. As in age, the limit of 90 characters does not apply.
enum Bech32 {
  private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
  private static let generator: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
  private static let checksumSize = 6

  /// - Parameter prefix: lower-case letters and hyphens.
  static func encode(_ prefix: String, _ bytes: some Sequence<UInt8>) -> String {
    let prefix = Array(prefix.utf8)
    let values = regrouped(bytes, from: 8, to: 5, padded: true) ?? []
    let sum = polymod(expanded(prefix) + values + [UInt8](repeating: 0, count: checksumSize)) ^ 1
    let check = (0..<checksumSize).map { UInt8(truncatingIfNeeded: sum >> UInt32(5 * (checksumSize - 1 - $0))) & 31 }
    return String(decoding: prefix + [UInt8(ascii: "1")] + (values + check).map { alphabet[Int($0)] }, as: UTF8.self)
  }

  /// The bytes of a text with this prefix; nil: the text has an error, or mixes upper and lower case.
  static func decode(_ text: some StringProtocol, prefix: String) -> [UInt8]? {
    let bytes = Array(text.utf8)
    let hasUpper = bytes.contains { (65...90).contains($0) }
    let hasLower = bytes.contains { (97...122).contains($0) }
    guard !(hasUpper && hasLower) else { return nil }
    let lower = bytes.map { (65...90).contains($0) ? $0 | 0x20 : $0 }
    let head = Array(prefix.utf8) + [UInt8(ascii: "1")]
    guard lower.starts(with: head), lower.count >= head.count + checksumSize else { return nil }
    var values: [UInt8] = []
    for byte in lower[head.count...] {
      guard let value = alphabet.firstIndex(of: byte) else { return nil }
      values.append(UInt8(value))
    }
    guard polymod(expanded(Array(prefix.utf8)) + values) == 1 else { return nil }
    return regrouped(values.dropLast(checksumSize), from: 5, to: 8, padded: false)
  }

  private static func expanded(_ prefix: [UInt8]) -> [UInt8] { prefix.map { $0 >> 5 } + [0] + prefix.map { $0 & 31 } }

  private static func polymod(_ values: [UInt8]) -> UInt32 {
    var sum: UInt32 = 1
    for value in values {
      let top = sum >> 25
      sum = (sum & 0x1ff_ffff) << 5 ^ UInt32(value)
      for (bit, constant) in generator.enumerated() where top >> UInt32(bit) & 1 == 1 { sum ^= constant }
    }
    return sum
  }

  /// Groups the bits of `values` into numbers of another size. Without padding, it returns nil if too many bits remain,
  /// or a remaining bit is not zero.
  private static func regrouped(_ values: some Sequence<UInt8>, from: Int, to: Int, padded: Bool) -> [UInt8]? {
    var result: [UInt8] = []
    var pending = 0
    var bits = 0
    for value in values {
      pending = (pending << from | Int(value)) & 0xfff
      bits += from
      while bits >= to {
        bits -= to
        result.append(UInt8(pending >> bits & (1 << to - 1)))
      }
    }
    let rest = pending & (1 << bits - 1)
    if padded {
      if bits > 0 { result.append(UInt8(rest << (to - bits))) }
      return result
    }
    return bits < from && rest == 0 ? result : nil
  }
}
