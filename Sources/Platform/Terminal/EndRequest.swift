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
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    for signal in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&signals, signal) }
    _ = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    var pause = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
    if unsafe sigtimedwait(&signals, nil, &pause) > 0 { return true }
    switch errno {
    // The time is over, or another signal came. The caller calls again.
    case EAGAIN, EINTR: return false
    case let code: throw PlatformError(errno: code, operation: "wait for", path: "a signal")
    }
  }
}
