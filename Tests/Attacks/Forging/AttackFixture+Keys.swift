import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

/// Announcements of keys by the attacker's device.
extension AttackFixture {
  /// From here on the attacker's device seems to have release 0.1, whose new keys do not sign their announcements.
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

  /// A key of the attacker with the id of another key.
  func twin(of key: PublicKey) -> SigningKey {
    SigningKey.generate(seed: platform.random.bytes(32), keyID: key.id)
  }

  func statement(_ key: PublicKey) -> KeyStatement {
    .rotation(dataset: "shop", replica: evil.configuration.id, next: key)
  }

  /// The attacker's bundle that announces a key.
  func announcement(of key: PublicKey, proof: Signature? = nil) throws -> [UInt8] {
    try forger.bundle { $0.set("rotation", try rotation(to: key, proof: proof)) }
  }

  /// The attacker's device changes to a new key. From here on its forger signs with the replaced key.
  func replaceKey() throws {
    let key = SigningKey.testKey(7)
    let proof = try statement(key.publicKey).signed(with: key)
    #expect(try refusal(of: announcement(of: key.publicKey, proof: proof)) == nil)
    #expect(try refusal(of: forger.bundle(key: key) { _ in }) == nil)
    #expect(try hub.device("evil").key == key.publicKey)
  }

  /// The attacker's device changes its key by itself, and the hub learns of it.
  func rotateKey() throws {
    _ = try evil.rotateKeys()
    for _ in 0..<3 {
      try write("UPDATE notes SET likes = likes + 1 WHERE id = 'n1'", in: evil.folder)
      tick()
      _ = try hub.importBundle(evil.export().file)
      _ = try evil.importBundle(hub.emit(to: "evil").file)
    }
  }

  /// The attacker makes a key with the id of another one, announces it with its proof, and then signs with it.
  func useTwin(of key: PublicKey) throws {
    let twin = twin(of: key)
    let proof = try statement(twin.publicKey).signed(with: twin)
    #expect(try refusal(of: announcement(of: twin.publicKey, proof: proof)) == nil)
    #expect(try refusal(of: forger.bundle(key: twin) { _ in }) == nil)
    #expect(try hub.device("evil").key == twin.publicKey)
  }
}
