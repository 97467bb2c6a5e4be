import SatchelCrypto
import SatchelValues
import SatchelWorkspace

/// The record of acts. It is in the hub's database, so an act and its effect are one transaction.
extension HubWorkspace {
  /// The newest acts, newest first.
  public func acts(limit: Int64) throws -> [Act] {
    try examined().newestActs(limit: limit).compactMap { Act(text: $0.text) }
  }

  /// Returns the same hub for one act of an operator. The first transaction that changes something records the act.
  public func acting(as name: String, _ draft: ActDraft) -> HubWorkspace {
    var hub = self
    hub.pending = PendingAct(by: name, draft)
    return hub
  }

  /// The act that the next transaction must record, signed by its operator. nil if there is none, or if it is recorded
  /// already. The caller must hold the workspace's lock, so that no other act comes between.
  ///
  /// Throws a `WorkspaceError` if the operator's key is missing, or is not the key that the hub knows.
  private func signedAct(_ store: HubStore) throws -> SignedAct? {
    guard let pending, pending.isDue, runMode == .commit else { return nil }
    let last = try store.newestActs(limit: 1).first
    let act = Act(
      number: (last?.number ?? 0) + 1, at: platform.clock.milliseconds(), who: pending.who, draft: pending.draft,
      before: last?.digest)
    let key = try keys.signingKey(ofOperator: pending.who)
    let publicKey = key.publicKey
    guard try store.operatorRecords().contains(where: { $0.name == pending.who && $0.key == publicKey }) else {
      throw WorkspaceError(
        .badKey, "The key of the operator \(pending.who) is not the key that this hub knows.",
        hint: "Bring keys/operators/\(pending.who).key back from a backup. Or add the operator under another name.")
    }
    let text = act.text
    let signature = try key.sign(
      message: Array(text.utf8), trustedComment: "act \(act.number) of \(pending.who)",
      untrustedComment: "signature of an operator of a satchel hub")
    return SignedAct(
      number: act.number, text: text, signature: String(decoding: signature.fileBytes, as: UTF8.self))
  }

  /// Runs a transaction that records the act of this command, if there is one. Later transactions of the same command
  /// do not record the act again. The caller must hold the workspace's lock.
  /// - Parameter transaction: runs one transaction, and adds the act to the store in it.
  func recordingAct<T>(_ store: HubStore, _ transaction: (_ act: SignedAct?) throws -> T) throws -> T {
    let act = try signedAct(store)
    let result = try transaction(act)
    if act != nil { pending?.noteRecorded() }
    return result
  }

  /// Verifies the record of acts. Returns the number of sound acts, and the faults.
  func checkedActs(_ store: HubStore) throws -> (count: Int, findings: [Finding]) {
    var keys: [String: PublicKey] = [:]
    for person in try store.operatorRecords() { keys[person.name] = person.key }
    var (count, findings, last) = (0, [Finding](), nil as SignedAct?)
    for act in try store.signedActs() {
      if let fault = act.fault(after: last, by: keys) {
        findings.append(
          Finding(
            .audit, "The act \(act.number) of the operators: \(fault)",
            hint:
              """
              A person or program has changed the record. Keep a copy, and compare satchel-hub acts with a hub that is \
              restored from a backup.
              """))
      } else {
        count += 1
      }
      last = act
    }
    return (count, findings)
  }
}
