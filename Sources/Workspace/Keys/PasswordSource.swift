/// The source of the password that protects a workspace's keys.
public protocol PasswordSource: Sendable {
  /// The password, without the end of its line; nil if no person can be asked. Every call returns the same password.
  func password() throws -> [UInt8]?
}

/// A source that cannot ask any person.
public struct NoPassword: PasswordSource {
  public init() {}
  public func password() -> [UInt8]? { nil }
}
