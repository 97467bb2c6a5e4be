import Glibc

/// The door by which somebody says that a process is to end which would go on for ever.
public protocol EndRequest: Sendable {
  /// Does nothing for so long, or until somebody wants the process to end. Returns whether somebody does.
  func comes(within milliseconds: Int64) throws(PlatformError) -> Bool
}

/// Ctrl-C, a closed terminal, and what `kill` and systemd send.
///
/// From the first question on these signals wait until they are asked for: whatever is being done then is done to its
/// end.
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
    // The time is over, or another signal came: the caller asks again.
    case EAGAIN, EINTR: return false
    case let code: throw PlatformError(errno: code, operation: "wait for", path: "a signal")
    }
  }
}
