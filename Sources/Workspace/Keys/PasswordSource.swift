/// The source of the password that protects the secret keys of a workspace.
public protocol PasswordSource: Sendable {
  /// The password, without the end of its line; nil if there is no person to ask. Each call returns the same
  /// password.
  func password() throws -> [UInt8]?
}

/// A password source for commands that cannot ask a person.
public struct NoPassword: PasswordSource {
  public init() {}
  public func password() -> [UInt8]? { nil }
}
