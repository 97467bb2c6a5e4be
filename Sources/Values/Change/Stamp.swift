/// A time of a hybrid logical clock: 48 bits of milliseconds since 1970, and 16 bits of counter.
///
/// Kulkarni, Demirbas, Madeppa, Avva, Leone: "Logical Physical Clocks and Consistent Snapshots in Globally Distributed
/// Databases" (2014). Satchel compares stamps, and never compares wall times.
public struct Stamp: Counter {
  public let rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The first stamp of a millisecond.
  public init(milliseconds: Int64) { rawValue = milliseconds << 16 }

  public var milliseconds: Int64 { rawValue >> 16 }

  /// The latest millisecond that is accepted. It is in the year 6429. It is a minute before the last millisecond that a
  /// stamp can hold, so that later stamps have room.
  public static let latestMilliseconds: Int64 = (1 << 47) - 60_000

  /// The stamp as sixteen hexadecimal digits. This text sorts like the stamp, and no JSON reader rounds it.
  public var hexadecimal: String { String(decoding: hexadecimalBytes, as: UTF8.self) }

  /// The bytes of `hexadecimal`, for a line of a bundle.
  public var hexadecimalBytes: [UInt8] { Hexadecimal.utf8(of: UInt64(bitPattern: rawValue)) }

  public init?(hexadecimal text: String) { self.init(hexadecimal: Array(text.utf8)) }

  /// The stamp of sixteen digits, given as bytes of a line; nil: the bytes are no stamp.
  public init?(hexadecimal text: [UInt8]) {
    guard let value = Hexadecimal.bits(of: text).flatMap(Int64.init(exactly:)) else { return nil }
    rawValue = value
  }
}
