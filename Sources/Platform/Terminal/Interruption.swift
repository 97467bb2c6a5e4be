import Glibc

/// Explains to the person what Ctrl-C did.
///
/// Each step of a command is complete or undone, whenever the process ends. So the process may end at once.
public enum Interruption {
  /// From now on, Ctrl-C ends this process with a message. A command that blocks the signal, such as `watch`, still
  /// handles it itself. A process that was started to ignore Ctrl-C still ignores it.
  public static func explain() {
    // nil is SIG_DFL, the default: the signal would end the process without a message.
    guard signal(SIGINT, SIG_IGN) == nil else { return }
    signal(SIGINT) { _ in
      // A signal handler may use only some calls: see signal-safety(7). The terminal has already shown ^C in this
      // line.
      let words: StaticString = "\nStopped. Nothing is half done: run the same command again.\n"
      _ = unsafe write(STDERR_FILENO, words.utf8Start, words.utf8CodeUnitCount)
      // Shells use this exit code for a process that the signal has ended.
      _exit(128 + SIGINT)
    }
  }
}
