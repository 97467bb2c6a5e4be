/// A limit on the attempts to merge waiting steps or changes. The cost then grows with their number, and not by its
/// square.
///
/// `WaitingOrder` nearly always finds an order in which one round is enough. But it does not know the values of an
/// index over an expression, and it believes the old values that a device sends. So each round may free a single step.
/// Without a limit each step would then be tried as often as there are steps.
struct RetryLimit {
  /// In a small merge each step may be tried for each other step: this is enough for 140 steps.
  private static let leastAttempts = 10_000
  private static let usualRounds = 8

  /// The number of attempts that remain. The last round may exceed it.
  private var left: Int

  init(steps: Int) { left = max(Self.leastAttempts, Self.usualRounds * steps) }

  /// Whether each of these steps may be tried once more. If so, counts the attempts.
  mutating func allowsRound(over steps: Int) -> Bool {
    if left <= 0 { return false }
    left -= steps
    return true
  }
}
