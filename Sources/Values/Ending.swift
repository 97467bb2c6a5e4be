/// What becomes of a command's work when it has succeeded.
public enum Ending: Sendable {
  case keep
  /// A rehearsal: everything is done, looked at, and taken back.
  case takeBack
}
