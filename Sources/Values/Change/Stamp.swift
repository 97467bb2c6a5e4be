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

  /// The last millisecond that a stamp can hold, with room for the stamps that follow: in the year 6429.
  public static let latestMilliseconds: Int64 = (1 << 47) - 60_000

  /// Sixteen hexadecimal digits: sorts as text, and no JSON reader rounds it.
  public var hexadecimal: String { String(decoding: hexadecimalBytes, as: UTF8.self) }

  /// The same as bytes, as in a line.
  public var hexadecimalBytes: [UInt8] { Hexadecimal.utf8(of: UInt64(bitPattern: rawValue)) }

  public init?(hexadecimal text: String) { self.init(hexadecimal: Array(text.utf8)) }

  /// From the bytes of the text, as in a line.
  public init?(hexadecimal text: [UInt8]) {
    guard let value = Hexadecimal.bits(of: text).flatMap(Int64.init(exactly:)) else { return nil }
    rawValue = value
  }
}
