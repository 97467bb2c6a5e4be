/// How a command ended, as the shell sees it.
public enum ExitCode: Int32, CaseIterable, Sendable {
  case done = 0
  case failed = 1
  case usage = 2
  case refused = 3
  case busy = 4
  case partial = 5

  /// The line of this code in every command's help.
  public var meaning: String {
    switch self {
    case .done: "done"
    case .failed: "failed, nothing changed"
    case .usage: "wrong usage"
    case .refused: "a bundle was refused, with its reason"
    case .busy: "busy: another command works on this workspace"
    case .partial: "done in part: the messages say what is missing"
    }
  }
}
