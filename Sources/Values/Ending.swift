/// How a command's work ends after success.
public enum Ending: Sendable {
  case keep
  /// A dry run: everything is done and reported, and then rolled back.
  case takeBack
}
