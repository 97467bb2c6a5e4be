/// Whether a command changes anything.
public enum RunMode: Sendable {
  /// The result is committed.
  case commit
  /// Everything is done and reported, and then rolled back.
  case dryRun
}
