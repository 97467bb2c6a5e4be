/// Numbers that look random and are the same in every run with one seed.
///
/// Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators" (2014).
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z >> 31
  }

  /// A random number from 0 up to 1.
  public mutating func fraction() -> Double { Double.random(in: 0..<1, using: &self) }

  public mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }

  /// True once in `count` times.
  public mutating func once(in count: Int) -> Bool { below(count) == 0 }

  /// A random element of `all`, which must not be empty.
  public mutating func one<C: RandomAccessCollection>(of all: C) -> C.Element {
    all[all.index(all.startIndex, offsetBy: below(all.count))]
  }

  public mutating func bytes(upTo count: Int) -> [UInt8] {
    (0..<Int.random(in: 0...count, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
  }
}
