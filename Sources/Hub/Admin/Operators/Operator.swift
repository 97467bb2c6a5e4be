import SatchelCrypto
import SatchelPlatform
import SatchelValues
import SatchelWorkspace

/// A person who decides at a hub, and signs each act with a key of their own.
public struct Operator: Sendable {
  public let name: String
  /// nil if a dry run made no key.
  public let key: PublicKey?
  /// Milliseconds since 1970.
  public let added: Int64
  /// The time when the operator was removed, in milliseconds since 1970. nil if the operator may act.
  public var removed: Int64?
}

extension HubWorkspace {
  /// The operators who may act. If there are none, acts at this hub are not signed.
  public func operators() throws -> [Operator] { try examined().operatorRecords().filter { $0.removed == nil } }

  /// Adds an operator, and makes the operator's key.
  public func addOperator(_ name: String) throws -> Operator {
    guard isSafeName(name) else {
      throw WorkspaceError(.badName, "\"\(name)\" cannot be the name of an operator.", hint: safeNameHint)
    }
    return try changing { store in
      guard try store.operatorRecords().allSatisfy({ $0.name != name }) else {
        throw WorkspaceError(
          .exists, "There is or was an operator \(name).", hint: "Choose another name: the acts keep their names.")
      }
      let now = platform.clock.milliseconds()
      guard runMode == .commit else { return Operator(name: name, key: nil, added: now) }
      let key = try keys.generateKey(ofOperator: name)
      let added = Operator(name: name, key: key, added: now)
      try store.save(added, key: key)
      return added
    }
  }

  /// Ends the rights of an operator. The acts stay, and can be verified as before.
  public func removeOperator(_ name: String) throws -> Operator {
    let removed = try changing { store in
      let known = try store.operatorRecords().first { $0.name == name && $0.removed == nil }
      guard var found = known, let key = found.key else {
        throw WorkspaceError(
          .noOperator, "There is no operator \(name).", hint: "`satchel-hub operator list` shows them.")
      }
      found.removed = platform.clock.milliseconds()
      try store.save(found, key: key)
      return found
    }
    if runMode == .commit { try keys.dropKey(ofOperator: name) }
    return removed
  }
}
