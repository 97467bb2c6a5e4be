import SatchelPlatform
import Synchronization

/// The time of one history: it goes on by a millisecond whenever somebody looks.
final class HistoryTime: Sendable {
  /// Later than today: triggers use SQLite's own clock, and what they say is then ordered by what they have seen, not by how fast
  /// this machine is.
  private let now = Atomic<Int64>(4_102_444_800_000)

  func pass(days: Int64) { now.add(days * 86_400_000, ordering: .relaxed) }

  func tick() -> Int64 { now.add(1, ordering: .relaxed).newValue }
}

/// One replica's clock, which may be wrong.
struct ReplicaClock: WallClock {
  let time: HistoryTime
  let ahead: Int64

  func milliseconds() -> Int64 { time.tick() + ahead }
  func pause(milliseconds: Int64) {}
}
