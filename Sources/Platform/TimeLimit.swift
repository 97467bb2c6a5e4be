/// A limit on the time of a piece of work.
///
/// The clock may be set during the work, so a pause between two calls counts as a minute at most.
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

  /// Whether the time is over. The work must call this often.
  public func isOver() -> Bool {
    let now = clock.milliseconds()
    spent += min(max(0, now - last), Self.longestPause)
    last = now
    return spent > milliseconds
  }

  /// Begins the time again.
  public func restart() { (spent, last) = (0, clock.milliseconds()) }
}
