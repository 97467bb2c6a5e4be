import SatchelPlatform
import Synchronization

/// A text that the command wrote, as a part of the result of long work.
struct WorkPiece: Sendable {
  let words: String
  let isWarning: Bool
}

extension [WorkPiece] {
  /// The pieces as the command wrote them, for a page.
  /// - Parameter most: the most characters that are shown. The log has all.
  func markup(most: Int = 12_000) -> Markup {
    var left = most
    return map { piece -> Markup in
      let words = String(piece.words.unicodeScalars.prefix(left))
      left -= words.unicodeScalars.count
      if words.isEmpty { return "" }
      let more: Markup = words.utf8.count < piece.words.utf8.count ? "\n... and more, in the log." : ""
      return "<pre class=\"\(piece.isWarning ? "warning" : "notice")\">\(words)\(more)</pre>\n"
    }.reduce("") { $0 + $1 }
  }
}

/// How far long work is.
enum WorkStanding: Sendable {
  case begun
  /// A person must type the password of the keys at the terminal.
  case asksForPassword
  /// - Parameter milliseconds: the time since the phase began.
  case at(Progress, milliseconds: Int64)
}

/// Long work while it runs, and its result. The command that does the work writes to this object in place of the
/// terminal.
final class WorkRun<Item: PageTask>: Console, ProgressObserver {
  private struct State {
    var pieces: [WorkPiece] = []
    var progress: Progress?
    /// The time at which the phase of the progress began, in milliseconds since 1970.
    var phaseBegan: Int64 = 0
    var isAsking = false
    /// nil while the work runs.
    var code: ExitCode?
  }

  let task: Item
  /// The time at which the work began, in milliseconds since 1970.
  let began: Int64
  private let terminal: any Console
  private let clock: any WallClock
  private let state: Mutex<State>

  /// - Parameter context: the work asks for the password of the keys at the terminal of this context.
  init(_ task: Item, _ context: CommandContext) {
    self.task = task
    state = Mutex(State())
    clock = context.platform.clock
    began = clock.milliseconds()
    terminal = context.console
  }

  /// The result as far as the command wrote it.
  var pieces: [WorkPiece] { state.withLock { $0.pieces } }
  /// nil while the work runs.
  var code: ExitCode? { state.withLock { $0.code } }

  var standing: WorkStanding {
    let (progress, phaseBegan, isAsking) = state.withLock { ($0.progress, $0.phaseBegan, $0.isAsking) }
    if isAsking { return .asksForPassword }
    return progress.map { .at($0, milliseconds: clock.milliseconds() - phaseBegan) } ?? .begun
  }

  /// Does the work. A failure is a part of the result, in the words of the command.
  func run(_ context: CommandContext) {
    var context = CommandContext(platform: context.platform, console: self, endRequest: context.endRequest)
    context.platform.progress = self
    let code: ExitCode
    do { code = try task.run(context) } catch {
      let failure = Failure(error)
      warn(failure.text)
      code = failure.code
    }
    state.withLock { $0.code = code }
  }

  // MARK: The terminal of the command

  func out(_ text: String) { add(text, isWarning: false) }
  func error(_ text: String) { add(text, isWarning: true) }

  private func add(_ text: String, isWarning: Bool) {
    if text.isEmpty { return }
    state.withLock { $0.pieces.append(WorkPiece(words: text, isWarning: isWarning)) }
  }

  func readLine() -> String? { nil }

  func readSecret(_ prompt: String) -> [UInt8]? {
    state.withLock { $0.isAsking = true }
    defer { state.withLock { $0.isAsking = false } }
    return terminal.readSecret(prompt)
  }

  func readBytes(_ most: Int) -> [UInt8] { [] }
  func outBytes(_ bytes: [UInt8]) {}
  func environment(_ name: String) -> String? { terminal.environment(name) }
  var traits: ConsoleTraits { ConsoleTraits() }

  func observe(_ progress: Progress) {
    let now = clock.milliseconds()
    state.withLock { state in
      if state.progress?.phase != progress.phase { state.phaseBegan = now }
      state.progress = progress
    }
  }
}
