/// Whether a command commits its changes.
public enum RunMode: Sendable {
  /// The result is committed.
  case commit
  /// The command does and reports everything, and then undoes all changes.
  case dryRun
}
