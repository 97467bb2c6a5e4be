import SatchelPlatform
import Synchronization

/// Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators" (2014). One number is the whole of a history.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ z >> 30) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ z >> 27) &* 0x94d0_49bb_1331_11eb
    return z ^ z >> 31
  }

  /// From 0 up to 1.
  mutating func fraction() -> Double { Double.random(in: 0..<1, using: &self) }

  mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }

  /// One of these, which must not be none.
  mutating func one<C: RandomAccessCollection>(of all: C) -> C.Element {
    all[all.index(all.startIndex, offsetBy: below(all.count))]
  }
}

/// Ids and keys from a seed, so that a history has the same ones whenever it is played.
final class SeededRandom: RandomSource {
  private let generator: Mutex<SplitMix64>

  init(seed: UInt64) { generator = Mutex(SplitMix64(seed: seed)) }

  func bytes(_ count: Int) -> [UInt8] {
    generator.withLock { generator in (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) } }
  }
}

/// The time of one history: it goes on by a millisecond whenever somebody looks.
final class HistoryTime: Sendable {
  /// Later than today: triggers use SQLite's own clock, and what they say is then ordered by what they have seen, not by how fast
  /// this machine is.
  private let now = Atomic<Int64>(4_102_444_800_000)

  func tick() -> Int64 { now.add(1, ordering: .relaxed).newValue }
}

/// One replica's clock, which may be wrong.
struct ReplicaClock: WallClock {
  let time: HistoryTime
  let ahead: Int64

  func milliseconds() -> Int64 { time.tick() + ahead }
}
