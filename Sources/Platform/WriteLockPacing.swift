/// Lets apps write between two long units of work. SQLite has no lock queue: a waiting connection polls at intervals of
/// up to 100 ms. So the next unit of work does not begin before an app has had time to poll.
public final class WriteLockPacing {
  private let clock: any WallClock
  /// When the next work may begin, in milliseconds; nil: at once.
  private var until: Int64?

  public init(_ clock: any WallClock) { self.clock = clock }

  public func take<T>(_ body: () throws -> T) rethrows -> T {
    let begin = Self.begin(after: until, clock)
    defer { until = Self.end(ofWorkSince: begin, clock) }
    return try body()
  }

  /// The length of a pause, and of the work after which there is one, in milliseconds.
  private static let turn: Int64 = 200
  private static let long: Int64 = 500

  /// Waits until `until`. Returns the time.
  public static func begin(after until: Int64?, _ clock: any WallClock) -> Int64 {
    let now = clock.milliseconds()
    guard let until, until > now else { return now }
    // Never longer than a pause, even if the clock was set meanwhile.
    clock.pause(milliseconds: min(until - now, turn))
    return clock.milliseconds()
  }

  /// When the next work may begin; nil: at once.
  public static func end(ofWorkSince begin: Int64, _ clock: any WallClock) -> Int64? {
    let now = clock.milliseconds()
    return now - begin > long ? now + turn : nil
  }
}
