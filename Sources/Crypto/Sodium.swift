import CSodium

/// Starts libsodium once. The start chooses the fastest code for this processor. Every function that uses libsodium
/// calls `start` first, directly or through `SecretBytes`.
enum Sodium {
  private static let started: Void = {
    // The start fails only if the system has no source of random numbers. Without this source, no key would be safe.
    precondition(sodium_init() >= 0, "libsodium cannot start on this system")
  }()

  static func start() { _ = started }
}
