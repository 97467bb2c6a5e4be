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
  public var hexadecimal: String {
    let digits = String(UInt64(bitPattern: rawValue), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  public init?(hexadecimal text: some StringProtocol) {
    guard text.utf8.count == 16, text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }),
      let bits = UInt64(text, radix: 16), bits <= UInt64(Int64.max)
    else { return nil }
    rawValue = Int64(bits)
  }
}
