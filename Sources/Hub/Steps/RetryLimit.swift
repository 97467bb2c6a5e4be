/// A limit on the attempts to merge waiting steps or changes. It keeps the cost proportional to their number.
///
/// With the order of `WaitingOrder`, one round is nearly always enough. There are exceptions: `WaitingOrder` does not
/// know the values of an index over an expression, and a device may send wrong old values. In the worst case each round
/// frees a single step. Without a limit, the cost would then grow with the square of the number of steps.
struct RetryLimit {
  /// Enough attempts for 140 steps, even if each round frees a single step.
  private static let leastAttempts = 10_000
  private static let usualRounds = 8

  /// The number of attempts that remain. The last round may use more attempts.
  private var left: Int

  init(steps: Int) { left = max(Self.leastAttempts, Self.usualRounds * steps) }

  /// Whether each of the steps may be tried once more. If so, this method counts the attempts.
  mutating func allowsRound(over steps: Int) -> Bool {
    if left <= 0 { return false }
    left -= steps
    return true
  }
}
