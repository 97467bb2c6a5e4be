import Glibc

/// A thread that runs a function once. When this object is released, it waits for the end of the function. So the
/// function must not hold a reference to this object.
@safe
public final class WorkThread: Sendable {
  private let thread: pthread_t

  /// The function for the thread. It is in an object, because a thread gets only one address as its argument.
  private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// nil if the system cannot start a thread.
  public init?(_ body: @escaping @Sendable () -> Void) {
    // The new thread receives no signals, because the main thread waits for them.
    var all = sigset_t()
    var before = sigset_t()
    unsafe sigfillset(&all)
    unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
    let handed = unsafe Unmanaged.passRetained(Work(body))
    var thread = pthread_t()
    let code = unsafe pthread_create(
      &thread, nil,
      { argument in
        guard let argument = unsafe argument else { return nil }
        unsafe Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, handed.toOpaque())
    guard code == 0 else {
      unsafe handed.release()
      return nil
    }
    self.thread = thread
  }

  deinit { pthread_join(thread, nil) }
}
