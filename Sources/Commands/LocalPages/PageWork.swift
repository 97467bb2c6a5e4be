import SatchelPlatform
import Synchronization

/// Long work that a form of a page begins. It is done beside the pages, so they stay usable.
protocol PageTask: Sendable {
  /// The work in a few words, such as `Sync the stick BLUE`.
  var title: String { get }
  /// Does the work, and writes the result to the terminal of the context.
  func run(_ context: CommandContext) throws -> ExitCode
}

/// The one piece of long work of a site, and its thread.
final class PageWork<Item: PageTask>: Sendable {
  private struct State {
    var run: WorkRun<Item>?
    var thread: WorkThread?
  }

  private let state: Mutex<State>

  init() { state = Mutex(State()) }

  /// The work that runs now, or else the last work; nil: no work was begun yet.
  var current: WorkRun<Item>? { state.withLock { $0.run } }

  /// Begins work on a thread of its own.
  /// - Returns: other work that still runs, if there is any. If so, the new work is not begun.
  func begin(_ task: Item, _ context: CommandContext) -> Item? {
    let run = WorkRun(task, context)
    let (former, other) = state.withLock { state -> (WorkThread?, Item?) in
      if let other = state.run, other.code == nil { return (nil, other.task) }
      let former = state.thread
      (state.run, state.thread) = (run, nil)
      return (former, nil)
    }
    if let other { return other }
    withExtendedLifetime(former) {}
    guard let thread = WorkThread({ run.run(context) }) else {
      run.run(context)
      return nil
    }
    state.withLock { $0.thread = thread }
    return nil
  }
}
