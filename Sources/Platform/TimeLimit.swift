/// A bound on the time that a piece of work may take.
///
/// The clock may be set meanwhile. So a pause between two looks at it counts as a minute at most.
public final class TimeLimit {
  private static let longestPause: Int64 = 60_000

  private let milliseconds: Int64
  private let clock: any WallClock
  private var last: Int64
  private var spent: Int64 = 0

  public init(milliseconds: Int64, by clock: any WallClock) {
    self.milliseconds = milliseconds
    self.clock = clock
    last = clock.milliseconds()
  }

  /// Looks at the clock, and says whether the time is over. The work asks again and again.
  public func isOver() -> Bool {
    let now = clock.milliseconds()
    spent += min(max(0, now - last), Self.longestPause)
    last = now
    return spent > milliseconds
  }

  /// Gives the whole time once more.
  public func restart() { (spent, last) = (0, clock.milliseconds()) }
}
