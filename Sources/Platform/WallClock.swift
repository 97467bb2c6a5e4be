import Glibc

/// The civil time. It may jump, and may go backwards, so nothing is ordered by it.
public protocol WallClock: Sendable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  func milliseconds() -> Int64
  /// Waits for this long, or a little longer.
  func pause(milliseconds: Int64)
  /// How far local civil time is ahead of UTC at a moment, in seconds.
  func secondsEast(at milliseconds: Int64) -> Int64
}

/// The machine's clock.
public struct SystemClock: WallClock {
  public init() {}

  public func milliseconds() -> Int64 {
    var now = timespec()
    // The call fails only for a clock that does not exist, or for an invalid address.
    _ = unsafe clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1000 + Int64(now.tv_nsec) / 1_000_000
  }

  public func pause(milliseconds: Int64) {
    var rest = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    // A signal ends the call early. Then the loop waits for the rest of the time.
    var left = timespec()
    while unsafe nanosleep(&rest, &left) != 0, errno == EINTR { rest = left }
  }
}
