import CSodium

/// The library's one-time start, which chooses the fastest code for this processor. Every entry to this module calls
/// it.
enum Sodium {
  private static let started: Void = {
    // It fails only where the system offers no source of random numbers at all; nothing here could be trusted then.
    precondition(sodium_init() >= 0, "libsodium cannot start on this system")
  }()

  static func start() { _ = started }
}
