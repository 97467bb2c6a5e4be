import Glibc

/// The source of requests to end a process that would otherwise run for ever.
public protocol EndRequest: Sendable {
  /// Waits for this time, or until an end is requested. Returns whether an end was requested.
  func comes(within milliseconds: Int64) throws(PlatformError) -> Bool
}

/// Requests by Ctrl-C, by a closed terminal, and by the signals of `kill` and systemd.
///
/// After the first call, these signals are held until the next call. So work in progress is completed.
public struct EndBySignal: EndRequest {
  public init() {}

  public func comes(within milliseconds: Int64) throws(PlatformError) -> Bool {
    _ = HeldEndSignals()
    return try HeldEndSignals.next(within: milliseconds) != nil
  }
}

/// The signals by which a person or the system asks a process to end, held for this thread.
struct HeldEndSignals {
  private static let numbers = [SIGTERM, SIGINT, SIGHUP]
  private let former: sigset_t

  /// Holds the signals from now on.
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

  /// Waits for a held signal.
  /// - Returns: its number; nil: none came within the time.
  static func next(within milliseconds: Int64) throws(PlatformError) -> Int32? {
    var (signals, pause) = (
      all, timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    )
    let number = unsafe sigtimedwait(&signals, nil, &pause)
    if number > 0 { return number }
    switch errno {
    // The time is over, or another signal came. The caller calls again.
    case EAGAIN, EINTR: return nil
    case let code: throw PlatformError(errno: code, operation: "wait for", path: "a signal")
    }
  }

  /// Treats the signals as before.
  /// - Parameter taken: a signal that came meanwhile. If the signals were held before, it still ends what waits for it.
  func release(_ taken: Int32?) {
    var former = former
    if let taken, unsafe sigismember(&former, taken) == 1 { _ = kill(getpid(), taken) }
    _ = unsafe pthread_sigmask(SIG_SETMASK, &former, nil)
  }
}
