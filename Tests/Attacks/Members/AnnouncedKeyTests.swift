import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

/// A device's next key must prove itself by its own signature, and must not belong to another owner.
@Suite("Announced keys")
struct AnnouncedKeyTests {
  private let lab: AttackFixture

  init() throws {
    lab = try AttackFixture()
    try lab.pretendRelease01()
  }

  @Test("a device that has shown a release which signs announces no key without a proof, whatever it shows later")
  func proofless() throws {
    let key = SigningKey.testKey(8)
    #expect(try lab.refusal(of: lab.forger.bundle { $0.set("understands", ["state"]) }) == nil)
    // From now on, the device's bundles look like those of release 0.1.
    #expect(try lab.refusal(of: lab.announcement(of: key.publicKey)) == nil)
    let device = try lab.hub.device("evil")
    #expect(device.nextKey == nil && device.refusedKey == key.publicKey)
    #expect(lab.tool("status").out.contains("did not sign the announcement"))
    #expect(try lab.refusal(of: lab.forger.bundle(key: key) { _ in }) != nil)
    #expect(try lab.hub.device("evil").key != key.publicKey)
    let proof = try lab.statement(key.publicKey).signed(with: key)
    #expect(try lab.refusal(of: lab.announcement(of: key.publicKey, proof: proof)) == nil)
    #expect(try lab.hub.device("evil").nextKey == key.publicKey)
    // A key that the hub has recorded may be announced again without a proof.
    #expect(try lab.refusal(of: lab.announcement(of: key.publicKey)) == nil)
    #expect(try lab.hub.device("evil").nextKey == key.publicKey)
    #expect(try lab.hub.device("evil").refusedKey == nil)
  }

  @Test("a device that signed an announcement once announces no later key without a proof")
  func proofOnce() throws {
    let first = SigningKey.testKey(8)
    let second = SigningKey.testKey(9)
    let proof = try lab.statement(first.publicKey).signed(with: first)
    #expect(try lab.refusal(of: lab.announcement(of: first.publicKey, proof: proof)) == nil)
    #expect(try lab.refusal(of: lab.announcement(of: second.publicKey)) == nil)
    #expect(try lab.hub.device("evil").nextKey == first.publicKey)
  }

  @Test("a former key, a next key and a revoked key of another owner are refused in announcements and in requests")
  func formerKeys() throws {
    var hubKeys = [try lab.hub.keys.ownKey()]
    var known = [try lab.victim.keys.ownKey()]
    // The victim replaces its key, and the hub announces a new key of its own. So the hub knows all these keys.
    _ = try lab.victim.rotateKeys()
    lab.tick()
    #expect(try lab.hub.importBundle(lab.victim.export().file).verdict == .imported)
    lab.tick()
    _ = try lab.victim.importBundle(lab.hub.emit(to: "victim").file)
    #expect(try lab.takesTheVictim())
    known.append(try lab.victim.keys.ownKey())
    hubKeys.append(try lab.hub.rotateKeys())
    known += hubKeys
    // This key was revoked together with a device that no longer exists.
    let gone = SigningKey.testKey(6).publicKey
    try lab.write(
      "INSERT INTO satchel_revoked VALUES ('\(gone.line)', 1); UPDATE satchel_hub SET revocations = 1",
      in: lab.hub.folder)
    known.append(gone)
    // Further keys: the same keys under other ids, and keys of the attacker with the ids of the hub's keys.
    let otherID = SigningKey.testKey(5).publicKey.id
    known += known.compactMap { PublicKey(id: otherID, bytes: $0.bytes) }
    known += hubKeys.map { lab.twin(of: $0).publicKey }
    for key in known {
      #expect(try lab.refusal(of: lab.announcement(of: key)) == nil)
      #expect(try lab.hub.device("evil").nextKey == nil && lab.hub.device("evil").refusedKey == key, "\(key)")
      #expect(try enrolmentRefusal(of: key) == "known-key", "\(key)")
    }
  }

  /// Why the hub refuses a request for enrolment with this key; nil: the hub accepts it.
  private func enrolmentRefusal(of key: PublicKey) throws -> String? {
    let id = try #require(ReplicaID("6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607"))
    let incarnation = try #require(lab.evil.configuration.incarnation)
    do {
      _ = try lab.hub.enrol(id, name: "new", user: "ann", key: key, recipient: nil, incarnation: incarnation)
      return nil
    } catch let error as any ExplainedError { return error.reason }
  }
}
