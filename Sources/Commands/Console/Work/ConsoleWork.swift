import SatchelPlatform
import SatchelValues
import Synchronization

/// The one piece of long work of a console, and its thread.
final class ConsoleWork: Sendable {
  private struct State {
    var run: WorkRun?
    var thread: WorkThread?
  }

  private let state: Mutex<State>

  init() { state = Mutex(State()) }

  /// The work that runs, or else the last one; nil: there was none yet.
  var current: WorkRun? { state.withLock { $0.run } }

  /// Begins work on a thread of its own. Throws a `WorkspaceError` if other work still runs.
  func begin(_ task: ConsoleTask, _ context: CommandContext) throws {
    let run = WorkRun(task, context)
    let former = try state.withLock { state in
      if let other = state.run, other.code == nil {
        throw WorkspaceError(
          .busy, "The console still works: \(other.task.title).",
          hint: "Wait until that is done. The page Work shows how far it is.")
      }
      defer { (state.run, state.thread) = (run, nil) }
      return state.thread
    }
    withExtendedLifetime(former) {}
    guard let thread = WorkThread({ run.run(context) }) else { return run.run(context) }
    state.withLock { $0.thread = thread }
  }
}
