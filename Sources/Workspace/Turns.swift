import SatchelPlatform

/// Gives apps that write their turn. Work that took long has kept them waiting, and SQLite lets nobody queue: who waits
/// looks again after up to a tenth of a second. So the next work does not begin before that.
public final class Turns {
  private let clock: any WallClock
  /// When the next work may begin, in milliseconds; nil: at once.
  private var until: Int64?

  public init(_ clock: any WallClock) { self.clock = clock }

  public func take<T>(_ body: () throws -> T) rethrows -> T {
    let begin = Self.begin(after: until, clock)
    defer { until = Self.end(ofWorkSince: begin, clock) }
    return try body()
  }

  /// The milliseconds of a turn, and of work after which there is one.
  private static let turn: Int64 = 200
  private static let long: Int64 = 500

  /// Waits for the time that the work before has said. Returns the time.
  static func begin(after until: Int64?, _ clock: any WallClock) -> Int64 {
    let now = clock.milliseconds()
    guard let until, until > now else { return now }
    // No longer than a turn, whatever a clock that was set meanwhile makes of it.
    clock.pause(milliseconds: min(until - now, turn))
    return clock.milliseconds()
  }

  /// When the next work may begin; nil: at once.
  static func end(ofWorkSince begin: Int64, _ clock: any WallClock) -> Int64? {
    let now = clock.milliseconds()
    return now - begin > long ? now + turn : nil
  }
}
