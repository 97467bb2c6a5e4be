import Glibc

/// The time of day. It may jump forwards and backwards, so nothing is ordered by it.
public protocol WallClock: Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  func milliseconds() -> Int64
  /// Waits for at least this time.
  func pause(milliseconds: Int64)
  /// The difference between local time and UTC at a moment, in seconds; positive in the east.
  func secondsEast(at milliseconds: Int64) -> Int64
}

/// The machine's clock.
public struct SystemClock: WallClock {
  public init() {}

  public func milliseconds() -> Int64 {
    var now = timespec()
    // The call fails only for a clock that does not exist or an invalid address, so its result is not checked.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }

  public func pause(milliseconds: Int64) {
    var rest = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    // A signal may end the call early. The loop then waits for the rest of the time.
    var left = timespec()
    while unsafe nanosleep(&rest, &left) != 0, errno == EINTR { rest = left }
  }
}
