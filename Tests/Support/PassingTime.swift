import SatchelPlatform
import Synchronization

/// The time of one story. Each reading advances it by a millisecond.
public final class PassingTime: Sendable {
  /// This time is later than today, but triggers use SQLite's own clock. So each stamp of a trigger follows from the
  /// stamp before it, and not from the speed of this machine.
  private let now = Atomic<Int64>(4_102_444_800_000)

  public init() {}

  public func pass(days: Int64) { now.add(days * 86_400_000, ordering: .relaxed) }
  public func tick() -> Int64 { now.add(1, ordering: .relaxed).newValue }
}

/// One computer's clock, which may be wrong.
public struct PassingClock: WallClock {
  private let time: PassingTime
  private let ahead: Int64

  /// - Parameter ahead: in milliseconds.
  public init(_ time: PassingTime, ahead: Int64 = 0) {
    self.time = time
    self.ahead = ahead
  }

  public func milliseconds() -> Int64 { time.tick() + ahead }
  public func pause(milliseconds: Int64) {}
}

/// A computer's clock that a person, or a dead battery, may set wrong and right again.
public final class SettableClock: WallClock {
  private let time: PassingTime
  private let ahead = Atomic<Int64>(0)

  public init(_ time: PassingTime) { self.time = time }

  /// - Parameter ahead: in milliseconds. Below zero, the clock is behind.
  public func set(ahead: Int64) { self.ahead.store(ahead, ordering: .relaxed) }
  /// Whether the clock is wrong by years.
  public var isFarWrong: Bool { ahead.load(ordering: .relaxed).magnitude > 1000 * 86_400_000 }
  public var isRight: Bool { ahead.load(ordering: .relaxed) == 0 }
  public func milliseconds() -> Int64 { time.tick() + ahead.load(ordering: .relaxed) }
  public func pause(milliseconds: Int64) {}
}
