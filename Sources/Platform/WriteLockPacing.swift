/// Gives apps time to write between two long pieces of work. SQLite has no lock queue: a waiting connection polls at
/// intervals of up to 100 ms. So the next piece of work begins only after an app has had time to poll.
public final class WriteLockPacing {
  private let clock: any WallClock
  /// The time when the next work may begin, in milliseconds; nil: at once.
  private var until: Int64?

  public init(_ clock: any WallClock) { self.clock = clock }

  public func take<T>(_ body: () throws -> T) rethrows -> T {
    let begin = Self.begin(after: until, clock)
    defer { until = Self.end(ofWorkSince: begin, clock) }
    return try body()
  }

  /// `turn` is the length of a pause. After work longer than `long` there is a pause. Both are in milliseconds.
  private static let turn: Int64 = 200
  private static let long: Int64 = 500

  /// Waits until `until`, and returns the present time.
  public static func begin(after until: Int64?, _ clock: any WallClock) -> Int64 {
    let now = clock.milliseconds()
    guard let until, until > now else { return now }
    // The wait is never longer than a pause, even if the clock was set meanwhile.
    clock.pause(milliseconds: min(until - now, turn))
    return clock.milliseconds()
  }

  /// The time when the next work may begin; nil: at once.
  public static func end(ofWorkSince begin: Int64, _ clock: any WallClock) -> Int64? {
    let now = clock.milliseconds()
    return now - begin > long ? now + turn : nil
  }
}
