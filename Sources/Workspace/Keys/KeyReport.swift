import SatchelCrypto

/// The output of `keys show` about a workspace's keys.
public struct KeyReport: Sendable {
  /// The present signing key.
  public let key: PublicKey
  /// The age recipient for which other replicas encrypt bundles for this workspace.
  public let recipient: AgeRecipient
  /// The next signing key; nil: there is none.
  public let next: PublicKey?
  /// The names of replicas that may not have received the next key yet.
  public let unaware: [String]
  public let isProtected: Bool
  /// The revoked keys that this workspace knows.
  public let revoked: [PublicKey]
  /// At a device: the key of its hub; nil if the device knows no key of its hub yet.
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
