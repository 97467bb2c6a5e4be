import SatchelPlatform
import Synchronization

/// Shows the progress of a command on standard error. On a terminal, one line changes. In a file, a new line follows
/// every half minute. If a command ends within a second, nothing is shown.
final class ProgressLine: ProgressObserver {
  private struct State {
    var phase: Progress.Phase?
    /// Clock times at which the phase began and at which it was last shown.
    var began: Int64 = 0
    var shown: Int64 = 0
    var isDrawn = false
  }

  private let console: any Console
  private let clock: any WallClock
  private let state: Mutex<State>

  private var isWatched: Bool { console.traits.interactive }
  /// Milliseconds before the first line (`patience`) and between two lines (`pause`).
  private var patience: Int64 { isWatched ? 1000 : 30_000 }
  private var pause: Int64 { isWatched ? 200 : 30_000 }

  init(_ console: any Console, clock: any WallClock) {
    self.console = console
    self.clock = clock
    state = Mutex(State())
  }

  func observe(_ progress: Progress) {
    let now = clock.milliseconds()
    let text: String? = state.withLock { state in
      if state.phase != progress.phase { (state.phase, state.began, state.shown) = (progress.phase, now, 0) }
      guard now - state.began >= patience, now - state.shown >= pause else { return nil }
      state.shown = now
      state.isDrawn = isWatched
      return Self.words(progress, milliseconds: now - state.began)
    }
    if let text { console.error(isWatched ? "\r\u{1B}[K\(text)" : text + "\n") }
  }

  /// Removes the line from the terminal, because the answer follows.
  func finish() {
    let isDrawn = state.withLock { state in
      defer { state.isDrawn = false }
      return state.isDrawn
    }
    if isDrawn { console.error("\r\u{1B}[K") }
  }

  /// The progress in words, such as `Reading: 40 %, 12.3 MB/s, 20 s left`.
  static func words(_ progress: Progress, milliseconds: Int64) -> String {
    let rate = Double(progress.done) * 1000 / Double(max(1, milliseconds))
    let (name, isBytes): (String, Bool) =
      switch progress.phase {
      case .reading: ("Reading", true)
      case .applying: ("Applying", false)
      case .collecting: ("Collecting", false)
      case .writing: ("Writing", true)
      case .testing: ("Testing the stick's size", true)
      }
    let speed = isBytes ? "\(tenths(rate / 1_000_000)) MB/s" : "\(Int64(rate)) rows/s"
    guard let total = progress.total, total > 0 else {
      return "\(name): \(isBytes ? "\(progress.done >> 20) MiB" : Words.count(progress.done, "row")), \(speed)"
    }
    let percent = min(100, progress.done * 100 / total)
    let left = rate > 0 ? Int64(Double(max(0, total - progress.done)) / rate) : 0
    return "\(name): \(percent) %, \(speed), \(Self.time(left)) left"
  }

  private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

  private static func time(_ seconds: Int64) -> String { seconds < 90 ? "\(seconds) s" : "\((seconds + 30) / 60) min" }
}
