/// A hybrid logical clock's reading: 48 bits of milliseconds since 1970, 16 bits of counter.
///
/// Kulkarni, Demirbas, Madeppa, Avva, Leone: "Logical Physical Clocks and Consistent Snapshots in Globally Distributed
/// Databases" (2014). Stamps are compared, never wall times.
public struct Stamp: Counter {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The first stamp of a millisecond.
  public init(milliseconds: Int64) { rawValue = milliseconds << 16 }

  public var milliseconds: Int64 { rawValue >> 16 }

  /// Sixteen hexadecimal digits: sorts as text, and no JSON reader rounds it.
  public var hexadecimal: String { String(decoding: hexadecimalBytes, as: UTF8.self) }

  /// The same as bytes, as they stand in a line.
  public var hexadecimalBytes: [UInt8] {
    Hexadecimal.utf8(of: (0..<8).lazy.map { [rawValue] in UInt8(truncatingIfNeeded: rawValue >> (56 - 8 * Int64($0))) })
  }

  public init?(hexadecimal text: String) { self.init(hexadecimal: Array(text.utf8)) }

  /// From the bytes of the text, as they stand in a line.
  public init?(hexadecimal text: [UInt8]) {
    guard text.count == 16 else { return nil }
    var bits: UInt64 = 0
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): bits = bits << 4 | UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): bits = bits << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    guard bits <= UInt64(Int64.max) else { return nil }
    rawValue = Int64(bits)
  }
}
