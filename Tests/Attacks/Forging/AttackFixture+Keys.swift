import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

/// Announcements of new keys by the attacker's device.
extension AttackFixture {
  /// Makes the attacker's device look like release 0.1 from now on. New keys of that release do not sign their
  /// announcements.
  func pretendRelease01() throws {
    try write("UPDATE satchel_devices SET signs_keys = 0 WHERE name = 'evil'", in: hub.folder)
  }

  func rotation(to key: PublicKey, proof: Signature? = nil) throws -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "key", value: .string(key.line)),
      .init(name: "recipient", value: .string(try evil.keys.recipient().text)),
    ]
    if let proof { members.set("proof", .string(String(decoding: proof.fileBytes, as: UTF8.self))) }
    return .object(members)
  }

  /// A new key of the attacker that has the id of this key.
  func twin(of key: PublicKey) -> SigningKey {
    SigningKey.generate(seed: platform.random.bytes(32), keyID: key.id)
  }

  func statement(_ key: PublicKey) -> KeyStatement {
    .rotation(dataset: "shop", replica: evil.configuration.id, next: key)
  }

  /// A bundle of the attacker that announces this key.
  func announcement(of key: PublicKey, proof: Signature? = nil) throws -> [UInt8] {
    try forger.bundle { $0.set("rotation", try rotation(to: key, proof: proof)) }
  }

  /// Replaces the key of the attacker's device at the hub. From now on, its forger still signs with the replaced key.
  func replaceKey() throws {
    let key = SigningKey.testKey(7)
    let proof = try statement(key.publicKey).signed(with: key)
    #expect(try refusal(of: announcement(of: key.publicKey, proof: proof)) == nil)
    #expect(try refusal(of: forger.bundle(key: key) { _ in }) == nil)
    #expect(try hub.device("evil").key == key.publicKey)
  }

  /// The attacker's device rotates its key in the ordinary way, and the hub follows.
  func rotateKey() throws {
    _ = try evil.rotateKeys()
    for _ in 0..<3 {
      try write("UPDATE notes SET likes = likes + 1 WHERE id = 'n1'", in: evil.folder)
      tick()
      _ = try hub.importBundle(evil.export().file)
      _ = try evil.importBundle(hub.emit(to: "evil").file)
    }
  }

  /// The attacker makes a key with the id of this key, announces it with a proof, and then signs with it.
  func useTwin(of key: PublicKey) throws {
    let twin = twin(of: key)
    let proof = try statement(twin.publicKey).signed(with: twin)
    #expect(try refusal(of: announcement(of: twin.publicKey, proof: proof)) == nil)
    #expect(try refusal(of: forger.bundle(key: twin) { _ in }) == nil)
    #expect(try hub.device("evil").key == twin.publicKey)
  }
}
