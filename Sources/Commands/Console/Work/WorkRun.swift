import SatchelPlatform
import Synchronization

/// One piece of long work while it runs, and its result. It takes the place of the terminal for the command that does
/// the work.
final class WorkRun: Console, ProgressObserver {
  /// A part of the result, in the order in which the command wrote it.
  struct Piece: Sendable {
    let words: String
    let isWarning: Bool
  }

  private struct State {
    var pieces: [Piece] = []
    var progress: Progress?
    /// The time at which the phase of the progress began, in milliseconds since 1970.
    var phaseBegan: Int64 = 0
    var isAsking = false
    /// nil while the work runs.
    var code: ExitCode?
  }

  let task: ConsoleTask
  /// The time at which the work began, in milliseconds since 1970.
  let began: Int64
  private let terminal: any Console
  private let clock: any WallClock
  private let state = Mutex(State())

  /// - Parameter context: its terminal is asked for the password of the keys.
  init(_ task: ConsoleTask, _ context: CommandContext) {
    self.task = task
    clock = context.platform.clock
    began = clock.milliseconds()
    terminal = context.console
  }

  /// The result as far as the command wrote it.
  var pieces: [Piece] { state.withLock { $0.pieces } }
  /// nil while the work runs.
  var code: ExitCode? { state.withLock { $0.code } }

  /// How far the work is, in words.
  var progressWords: String {
    let (progress, phaseBegan, isAsking) = state.withLock { ($0.progress, $0.phaseBegan, $0.isAsking) }
    if isAsking { return "It waits for the password of the keys. Type it at the terminal of the console." }
    guard let progress else { return "It has begun." }
    return ProgressLine.words(progress, milliseconds: clock.milliseconds() - phaseBegan)
  }

  /// Does the work. A failure is a part of the result, in the words of the command.
  func run(_ context: CommandContext) {
    var context = CommandContext(platform: context.platform, console: self, endRequest: context.endRequest)
    context.platform.progress = self
    let code: ExitCode
    do { code = try task.body(context) } catch {
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
    state.withLock { $0.pieces.append(Piece(words: text, isWarning: isWarning)) }
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
