import Glibc

/// The end of a process by Ctrl-C, with a word about its work.
///
/// Every step of the engine is whole or undone, whenever the process ends. So the process can end at once.
public enum Interruption {
  /// From now on, Ctrl-C ends this process with a message. A command that holds the signal, such as `watch`, still
  /// treats it in its own way. A process that was started to ignore Ctrl-C still ignores it.
  public static func explain() {
    // nil is SIG_DFL: the signal would end the process without a word.
    guard signal(SIGINT, SIG_IGN) == nil else { return }
    signal(SIGINT) { _ in
      // Only calls that a signal handler may use: signal-safety(7). The terminal has shown ^C in the same line.
      let words: StaticString = "\nStopped. Nothing is half done: run the same command again.\n"
      _ = unsafe write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
      // As shells report a process that this signal ended.
      _exit(128 + SIGINT)
    }
  }
}
