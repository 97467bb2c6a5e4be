/// A time of a hybrid logical clock: 48 bits of milliseconds since 1970, and 16 bits of counter.
///
/// Kulkarni, Demirbas, Madeppa, Avva, Leone: "Logical Physical Clocks and Consistent Snapshots in Globally
/// Distributed Databases" (2014). Decisions compare stamps, and never times of a wall clock.
public struct Stamp: Counter {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The first stamp of a millisecond.
  public init(milliseconds: Int64) { rawValue = milliseconds << 16 }

  public var milliseconds: Int64 { rawValue >> 16 }

  /// The latest accepted time, in the year 6429. It is a minute before the last time that a stamp can hold, so that
  /// there is room for later stamps.
  public static let latestMilliseconds: Int64 = (1 << 47) - 60_000

  /// The stamp as sixteen hexadecimal digits. These texts sort like the stamps, and no JSON reader rounds them.
  public var hexadecimal: String { String(decoding: hexadecimalBytes, as: UTF8.self) }

  /// The bytes of `hexadecimal`, for a line of a bundle.
  public var hexadecimalBytes: [UInt8] { Hexadecimal.utf8(of: UInt64(bitPattern: rawValue)) }

  public init?(hexadecimal text: String) { self.init(hexadecimal: Array(text.utf8)) }

  /// The stamp with these sixteen digits; nil if the bytes are no stamp.
  public init?(hexadecimal text: [UInt8]) {
    guard let value = Hexadecimal.bits(of: text).flatMap(Int64.init(exactly:)) else { return nil }
    rawValue = value
  }
}
