import Glibc

/// A source of requests to end a command that would otherwise run for ever.
public protocol EndRequest: Sendable {
  /// Waits until an end is requested, at most for this time. Returns whether it was requested.
  func comes(within milliseconds: Int64) throws(PlatformError) -> Bool
}

/// Requests an end by Ctrl-C, by a closed terminal, or by the signals of `kill` and systemd.
///
/// From the first call on, these signals no longer end the process at once. The next call reports them, so work in
/// progress is completed.
public struct EndBySignal: EndRequest {
  public init() {}

  public func comes(within milliseconds: Int64) throws(PlatformError) -> Bool {
    _ = HeldEndSignals()
    return try HeldEndSignals.next(within: milliseconds) != nil
  }
}

/// Blocks the signals that ask a process to end, for this thread.
struct HeldEndSignals {
  private static let numbers = [SIGTERM, SIGINT, SIGHUP]
  private let former: sigset_t

  /// Blocks the signals from now on.
  init() {
    var (signals, former) = (Self.all, sigset_t())
    _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, &former)
    self.former = former
  }

  private static var all: sigset_t {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for number in numbers { unsafe sigaddset(&signals, number) }
    return signals
  }

  /// Waits for one of the blocked signals.
  /// - Returns: the number of the signal; nil if none came within the time.
  static func next(within milliseconds: Int64) throws(PlatformError) -> Int32? {
    var (signals, pause) = (
      all, timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    )
    let number = unsafe sigtimedwait(&signals, nil, &pause)
    if number > 0 { return number }
    switch errno {
    // The time is over, or another signal came. The caller calls this again.
    case EAGAIN, EINTR: return nil
    case let code: throw PlatformError(errno: code, operation: "wait for", path: "a signal")
    }
  }

  /// Restores the former treatment of the signals.
  /// - Parameter taken: a signal that came in between. If the signals were already blocked before, it is sent again,
  ///   so that the code that waits for it gets it.
  func release(_ taken: Int32?) {
    var former = former
    if let taken, unsafe sigismember(&former, taken) == 1 { _ = kill(getpid(), taken) }
    _ = unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
  }
}
