/// Where a password comes from when a workspace's keys are kept behind one.
public protocol PasswordSource: Sendable {
  /// The password, without the end of its line; nil where nobody can be asked. Asked for again, it is the same.
  func password() throws -> [UInt8]?
}

/// Nobody can be asked.
public struct NoPassword: PasswordSource {
  public init() {}
  public func password() -> [UInt8]? { nil }
}
