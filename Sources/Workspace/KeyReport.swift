import SatchelCrypto

/// What `keys show` tells of a workspace's keys.
public struct KeyReport: Sendable {
  /// The key that signs.
  public let key: PublicKey
  /// For whom others encrypt what is for this workspace.
  public let recipient: AgeRecipient
  /// The key that will sign; nil: none is made.
  public let next: PublicKey?
  /// Who is not known to know that one.
  public let unaware: [String]
  public let isProtected: Bool
  /// Keys that nothing may be signed with any more, as this workspace knows.
  public let revoked: [PublicKey]
  /// At a device, the key of its hub; nil: it knows none yet.
  public let hub: PublicKey?

  public init(_ keys: WorkspaceKeys, unaware: [String], revoked: [PublicKey], hub: PublicKey? = nil) throws {
    self.hub = hub
    key = try keys.ownKey()
    recipient = try keys.recipient()
    next = try keys.nextKey()
    self.unaware = next == nil ? [] : unaware
    isProtected = try keys.isProtected()
    self.revoked = revoked
  }
}
