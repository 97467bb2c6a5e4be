import SatchelPlatform
import Synchronization
import Testing

/// A clock that advances only when a test sets it.
private final class SetClock: WallClock {
  private let now = Atomic<Int64>(1_000_000)

  func milliseconds() -> Int64 { now.load(ordering: .relaxed) }
  func pause(milliseconds: Int64) { now.add(milliseconds, ordering: .relaxed) }
}

@Suite("A limit on time")
struct TimeLimitTests {
  @Test("the time is over when the clock has gone on for so long, and not before")
  func over() {
    let clock = SetClock()
    let limit = TimeLimit(milliseconds: 3_000, by: clock)
    for _ in 1...3 {
      clock.pause(milliseconds: 1_000)
      #expect(!limit.isOver())
    }
    clock.pause(milliseconds: 1)
    #expect(limit.isOver())
    limit.restart()
    #expect(!limit.isOver())
  }

  @Test("a clock that is set forward by years, or back, does not end the work")
  func clockIsSet() {
    let clock = SetClock()
    let limit = TimeLimit(milliseconds: 600_000, by: clock)
    for years: Int64 in [50, -50, 50] {
      clock.pause(milliseconds: years * 31_536_000_000)
      #expect(!limit.isOver())
    }
    // Each reading after such a jump counts as at most a minute. So the time limit is still reached.
    for _ in 1...9 {
      clock.pause(milliseconds: 60_000)
      _ = limit.isOver()
    }
    #expect(limit.isOver())
  }
}
