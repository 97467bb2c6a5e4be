import SatchelPlatform
import Synchronization

/// The time of one season: it goes on by a millisecond whenever somebody looks.
final class SeasonTime: Sendable {
  /// Later than today: triggers use SQLite's own clock, and what they say is then ordered by what they have seen, not by how fast
  /// this machine is.
  private let now = Atomic<Int64>(4_102_444_800_000)

  func pass(days: Int64) { now.add(days * 86_400_000, ordering: .relaxed) }
  func tick() -> Int64 { now.add(1, ordering: .relaxed).newValue }
}

/// One computer's clock, which may be wrong.
struct SeasonClock: WallClock {
  private let time: SeasonTime
  private let ahead: Int64

  init(_ time: SeasonTime, ahead: Int64 = 0) {
    self.time = time
    self.ahead = ahead
  }

  func milliseconds() -> Int64 { time.tick() + ahead }
  func pause(milliseconds: Int64) {}
}
