import SatchelJSON
import SatchelPlatform
import Synchronization

/// The sync of one stick, as the command `sync` does it.
struct WindowTask: PageTask {
  /// The name of the stick for people.
  let stick: String
  let path: String
  /// The command line of the sync, without the tool's name.
  let line: [String]
  let outcome = SyncOutcome()

  var title: String { stick }

  func run(_ context: CommandContext) throws -> ExitCode {
    guard case .run(_, let command) = try DeviceTool.spec.parse(line) else {
      throw UsageError("the stick cannot be synced")
    }
    do {
      let answer = try DeviceTool.syncing.syncWithHooks(path, command, context.confined(below: path))
      outcome.record(.object(answer.members))
      context.console.show(answer.text)
      context.console.warn(answer.warnings)
      context.console.show(answer.closing)
      return answer.code
    } catch {
      outcome.record(["error": Failure(error).json])
      throw error
    }
  }
}

/// The result of a sync as a JSON document. The thread of the work writes it, and the pages read it.
final class SyncOutcome: Sendable {
  private let state = Mutex<JSONValue?>(nil)

  /// nil: the sync has not ended.
  var document: JSONValue? { state.withLock { $0 } }

  func record(_ document: JSONValue) { state.withLock { $0 = document } }
}
