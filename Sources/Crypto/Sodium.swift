import CSodium

/// The library's one-time start, which chooses the fastest code for this processor. Every function of this module calls
/// it.
enum Sodium {
  private static let started: Void = {
    // It fails only if the system has no source of random numbers at all; then no key would be safe.
    precondition(sodium_init() >= 0, "libsodium cannot start on this system")
  }()

  static func start() { _ = started }
}
