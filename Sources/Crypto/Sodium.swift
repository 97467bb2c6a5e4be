import CSodium

/// The start of libsodium, which chooses the fastest code for this processor. It happens once. Every function that uses
/// the library starts it first, directly or by `SecretBytes`.
enum Sodium {
  private static let started: Void = {
    // The start fails only if the system has no source of random numbers. Then no key would be safe.
    precondition(sodium_init() >= 0, "libsodium cannot start on this system")
  }()

  static func start() { _ = started }
}
