/// Gives apps time to write between two long pieces of work. SQLite has no lock queue: a waiting connection polls at
/// intervals of up to 100 ms. So Satchel waits before its next piece of work, until each app has polled once.
public final class WriteLockPacing {
  private let clock: any WallClock
  /// The earliest time for the next piece of work, in milliseconds since 1970; nil if it may begin at once.
  private var until: Int64?

  public init(_ clock: any WallClock) { self.clock = clock }

  public func take<T>(_ body: () throws -> T) rethrows -> T {
    let begin = Self.begin(after: until, clock)
    defer { until = Self.end(ofWorkSince: begin, clock) }
    return try body()
  }

  /// The length of a pause, and the length of work after which there is a pause. Both are in milliseconds.
  private static let turn: Int64 = 200
  private static let long: Int64 = 500

  /// Waits until `until` if necessary, and returns the present time.
  public static func begin(after until: Int64?, _ clock: any WallClock) -> Int64 {
    let now = clock.milliseconds()
    guard let until, until > now else { return now }
    // If the clock was set, `until` may be far away. So the wait is never longer than one pause.
    clock.pause(milliseconds: min(until - now, turn))
    return clock.milliseconds()
  }

  /// The earliest time for the next piece of work; nil if it may begin at once.
  public static func end(ofWorkSince begin: Int64, _ clock: any WallClock) -> Int64? {
    let now = clock.milliseconds()
    return now - begin > long ? now + turn : nil
  }
}
