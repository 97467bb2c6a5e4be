import SatchelBundle
import SatchelCrypto
import SatchelDevice
import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

/// A key belongs to the device that has signed with it. A mere announcement does not make a key belong to a device.
@Suite("Forged keys")
struct KeyForgeryTests {
  private let lab: AttackFixture
  private let before: Protected

  init() throws {
    lab = try AttackFixture()
    try lab.pretendRelease01()
    before = try Protected(lab)
  }

  @Test("an announced key of another owner is refused, and the rest of its bundle is accepted")
  func announced() throws {
    let hub = try lab.hub.keys.ownKey()
    let known = try [hub, lab.victim.keys.ownKey(), lab.twin(of: hub).publicKey]
    for (note, key) in zip(["first", "second", "third"], known) {
      let bundle = try lab.forger.bundle {
        $0.set("rotation", try lab.rotation(to: key))
        let row: JSONValue = ["id": .string(note), "author": "ann", "body": .string(note)]
        $0.changes = [try lab.forger.insert("notes", .string(note), row)]
      }
      try lab.folder.write(bundle, to: "announced.satchel")
      lab.tick()
      let answer = lab.tool("import", lab.folder("announced.satchel"))
      #expect(answer.code == 0 && answer.out.contains("another device has it, or it did not sign"), "\(answer)")
      #expect(lab.tool("status").out.contains("the new key that evil announced is not accepted"))
      #expect(try lab.atHub("SELECT body FROM notes WHERE id = '\(note)'") == [note])
    }
    _ = try lab.hub.revoke("victim")
    #expect(try lab.refusal(of: lab.announcement(of: lab.victim.keys.ownKey())) == nil)
    #expect(try lab.atHub("SELECT next_key FROM satchel_devices WHERE name = 'evil'") == ["NULL"])
    #expect(try lab.refusal(of: lab.forger.bundle()) == nil)
    #expect(!lab.tool("status").out.contains("announced is not accepted"))
  }

  @Test("an announced key must sign that it is announced, by this device, if there is a proof at all")
  func proved() throws {
    let key = SigningKey.testKey(7)
    let others = try KeyStatement.rotation(dataset: "shop", replica: lab.victim.configuration.id, next: key.publicKey)
      .signed(with: key)
    let byAnother = try lab.statement(key.publicKey).signed(with: lab.evil.keys.signing())
    for proof in [others, byAnother] {
      #expect(try lab.refusal(of: lab.announcement(of: key.publicKey, proof: proof)) == "bad-manifest")
    }
    #expect(
      try lab.refusal(of: lab.announcement(of: key.publicKey, proof: lab.statement(key.publicKey).signed(with: key)))
        == nil)
    #expect(try lab.hub.device("evil").nextKey == key.publicKey)
  }

  @Test("a key that a device announced without a proof is that device's alone, and counts when it signs")
  func unproved() throws {
    // Release 0.1 announces a key without a proof. It signs with the new key as soon as the hub has acknowledged the
    // announcement.
    let key = SigningKey.testKey(8)
    #expect(try lab.refusal(of: lab.announcement(of: key.publicKey)) == nil)
    #expect(try lab.refusal(of: lab.forger.bundle(key: key) { _ in }) == nil)
    #expect(try lab.hub.device("evil").key == key.publicKey)
    // If the device never uses the announced key, the hub does not revoke this key together with the device.
    #expect(
      try lab.refusal(
        of: lab.forger.bundle(key: key) { $0.set("rotation", try lab.rotation(to: SigningKey.testKey(9).publicKey)) })
        == nil)
    _ = try lab.hub.revoke("evil")
    let revoked = try lab.atHub("SELECT key FROM satchel_revoked")
    #expect(revoked.contains(key.publicKey.line) && !revoked.contains(SigningKey.testKey(9).publicKey.line))
  }

  @Test("a key that another device announced first stops no bundle")
  func announcedFirst() throws {
    _ = try lab.victim.rotateKeys()
    let key = try #require(try lab.victim.keys.nextKey())
    lab.tick()
    let export = try lab.victim.export().file
    #expect(try lab.refusal(of: lab.announcement(of: key)) == nil)
    #expect(try lab.hub.importBundle(export).verdict == .imported)
    #expect(try lab.hub.device("victim").nextKey == key)
    _ = try lab.hub.revoke("evil")
    #expect(try !lab.atHub("SELECT key FROM satchel_revoked").contains(key.line))
    lab.tick()
    _ = try lab.victim.importBundle(lab.hub.emit(to: "victim").file)
    #expect(try lab.victim.keys.ownKey() == key)
    #expect(try lab.takesTheVictim())
    #expect(try lab.hub.device("victim").key == key)
    #expect(lab.tool("doctor").code == 0)
  }

  @Test("a key with the id of another device's new key stops no bundle")
  func twinAnnouncedFirst() throws {
    _ = try lab.victim.rotateKeys()
    let key = try #require(try lab.victim.keys.nextKey())
    try lab.useTwin(of: key)
    lab.tick()
    #expect(try lab.hub.importBundle(lab.victim.export().file).verdict == .imported)
    lab.tick()
    _ = try lab.victim.importBundle(lab.hub.emit(to: "victim").file)
    #expect(try lab.victim.keys.ownKey() == key)
    #expect(try lab.takesTheVictim())
  }

  @Test("a request is accepted even if another device announced its key or its id before", arguments: [false, true])
  func requestAhead(isTwin: Bool) throws {
    let device = try lab.newDevice("new")
    let key = try device.keys.ownKey()
    if isTwin { try lab.useTwin(of: key) } else { #expect(try lab.refusal(of: lab.announcement(of: key)) == nil) }
    _ = try lab.hub.revoke("evil")
    try lab.hub.admit(device, user: "ben")
    lab.tick()
    _ = try device.importBundle(lab.hub.emit(to: "new").file)
    lab.tick()
    #expect(try lab.hub.importBundle(device.export().file).verdict == .imported)
  }

  @Test("a device of which the key was announced does not sign with it after it was revoked with another device")
  func revokedNextKey() throws {
    let key = SigningKey.testKey(7)
    #expect(try lab.refusal(of: lab.announcement(of: key.publicKey)) == nil)
    try lab.write("UPDATE satchel_devices SET key = '\(key.publicKey.line)' WHERE name = 'victim'", in: lab.hub.folder)
    _ = try lab.hub.revoke("victim")
    #expect(try lab.refusal(of: lab.forger.bundle(key: key) { _ in }) == "revoked-key")
    #expect(throws: Never.self) { try lab.hub.emit(to: "evil", full: true) }
  }

  @Test("a key that an earlier build revoked with a device that only announced it comes off the list")
  func upgraded() throws {
    let key = SigningKey.testKey(7).publicKey
    _ = try lab.hub.revoke("evil")
    try lab.write(
      """
      UPDATE satchel_devices SET next_key = '\(key.line)' WHERE name = 'evil';
      INSERT INTO satchel_revoked VALUES ('\(key.line)', 1);
      ALTER TABLE satchel_devices DROP COLUMN next_proved;
      ALTER TABLE satchel_devices DROP COLUMN refused_key;
      ALTER TABLE satchel_emissions DROP COLUMN stamp;
      ALTER TABLE satchel_devices DROP COLUMN signs_keys;
      ALTER TABLE satchel_devices DROP COLUMN only_receives;
      ALTER TABLE satchel_devices DROP COLUMN backed_up;
      ALTER TABLE satchel_owed DROP COLUMN equal_at;
      DROP TABLE satchel_operators;
      DROP TABLE satchel_acts;
      DROP TABLE satchel_former_emissions;
      DROP TABLE satchel_doubtful_times;
      DROP TABLE satchel_former_rights;
      DROP TABLE satchel_braked;
      DROP TABLE satchel_health;
      DROP TABLE satchel_recovered_rows;
      DROP TABLE satchel_joined_rows;
      ALTER TABLE satchel_hub DROP COLUMN names_settled;
      DROP INDEX satchel_received_paths;
      DROP INDEX satchel_attachment_rows;
      DROP INDEX satchel_conflicts_held;
      DROP INDEX satchel_conflicts_untold;
      DROP INDEX satchel_rekeyed_old_keys;
      DROP INDEX satchel_rekeyed_untold;
      ALTER TABLE satchel_devices DROP COLUMN hold_since;
      ALTER TABLE satchel_devices DROP COLUMN hold_note;
      ALTER TABLE satchel_emissions DROP COLUMN rows_left;
      UPDATE satchel_schema SET version = 8
      """, in: lab.hub.folder)
    #expect(lab.tool("status").code == 0)
    let revoked = try lab.atHub("SELECT key FROM satchel_revoked")
    #expect(try revoked == [lab.evil.keys.ownKey().line])
  }

  @Test("to revoke a device never revokes the hub's own key, or another device's")
  func revokedWithOthersKey() throws {
    // An earlier build accepted announcements of other owners' keys.
    for key in try [lab.hub.keys.ownKey(), lab.victim.keys.ownKey()] {
      let announced = "next_key = '\(key.line)', next_proved = 1"
      try lab.write("UPDATE satchel_devices SET \(announced) WHERE name = 'evil'", in: lab.hub.folder)
      _ = try lab.hub.revoke("evil")
      #expect(try !lab.atHub("SELECT key FROM satchel_revoked").contains(key.line))
    }
    #expect(try lab.atHub("SELECT count(*) FROM satchel_revoked") == ["1"])
    lab.tick()
    _ = try lab.victim.importBundle(lab.hub.emit(to: "victim").file)
    #expect(try lab.takesTheVictim())
  }

  @Test("a list of revoked keys with a key in use is not emitted; doctor names it, and mends it")
  func poisonedList() throws {
    for key in try [lab.hub.keys.ownKey(), lab.victim.keys.ownKey()] {
      try lab.write(
        "INSERT INTO satchel_revoked VALUES ('\(key.line)', 1); UPDATE satchel_hub SET revocations = revocations + 1",
        in: lab.hub.folder)
      #expect(throws: WorkspaceError.self) { try lab.hub.emit(to: "victim", full: true) }
      #expect(lab.tool("doctor").out.contains("which is in use"))
      #expect(lab.tool("doctor", "--repair").code == 0)
      #expect(lab.tool("doctor").code == 0)
      lab.tick()
      _ = try lab.victim.importBundle(lab.hub.emit(to: "victim", full: true).file)
    }
  }

  @Test("of several keys with one id, each is tried")
  func keysOfOneID() throws {
    try lab.write("UPDATE notes SET likes = 3 WHERE id = 'n5'", in: lab.victim.folder)
    let path = try lab.victim.export().file
    let key = try lab.victim.keys.ownKey()
    let reader = BundleReader(platform: lab.platform)
    for keys in [[lab.twin(of: key).publicKey, key], [key, lab.twin(of: key).publicKey]] {
      #expect(try reader.manifest(of: path, trust: .keys(keys)).from.name == "victim")
    }
  }

  @Test("a request with the hub's id, or with any known key, is refused")
  func enrolment() throws {
    let device = try lab.newDevice("new")
    let incarnation = try #require(device.configuration.incarnation)
    func reason(_ id: ReplicaID, _ key: PublicKey) throws -> String? {
      do {
        _ = try lab.hub.enrol(id, name: "new", user: "ann", key: key, recipient: nil, incarnation: incarnation)
        return nil
      } catch let error as any ExplainedError { return error.reason }
    }
    let (id, key) = (device.configuration.id, try device.keys.ownKey())
    #expect(try reason(lab.hub.configuration.id, key) == "own-id")
    _ = try lab.hub.revoke("evil")
    let known = try [lab.hub.keys.ownKey(), lab.victim.keys.ownKey(), lab.evil.keys.ownKey()]
    for known in known {
      #expect(try reason(id, known) == "known-key")
    }
    #expect(try reason(id, lab.twin(of: lab.hub.keys.ownKey()).publicKey) == "known-key")
    #expect(try reason(id, key) == nil)
  }

  /// A device's request that claims to continue a former device.
  private func request(_ continues: [JSONValue.Member]) throws -> String {
    let forger = try lab.forger
    let bytes = try forger.bundle(key: SigningKey.testKey(9)) {
      $0.isRequest = true
      $0.set("from", forger.party("6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607", "heir"))
      $0.set("critical", ["continues"])
      $0.set("continues", .object(continues))
    }
    try lab.folder.write(bytes, to: "request.satchel")
    return lab.folder("request.satchel")
  }

  private func claim(of device: DeviceWorkspace, received: Int64 = 1) -> [JSONValue.Member] {
    [
      .init(name: "device", value: .string(device.configuration.id.text)), .init(name: "acknowledged", value: 1),
      .init(name: "received", value: .integer(received)), .init(name: "chain", value: []),
    ]
  }

  private func enrol(_ request: String, _ words: String...) -> (code: Int32, out: String, error: String) {
    let console = CollectingConsole()
    let words =
      [
        "-C", lab.hub.folder.root, "device", "enrol", request, "--user", "ann", "--fingerprint",
        SigningKey.testKey(9).publicKey.fingerprint,
      ] + words
    let code = lab.tool(words, console)
    return (code, console.outText, console.errorText)
  }

  @Test(
    "a request that goes on with another device's work must be signed by that device's key, or the operator says so",
    arguments: [false, true])
  func continuation(isRevoked: Bool) throws {
    let unproved = try request(claim(of: lab.victim))
    let refused = enrol(unproved)
    #expect(refused.code == 3 && refused.error.contains("No present key of victim signed that"))
    #expect(try before.differences(to: Protected(lab)) == [])
    #expect(enrol(unproved, "--continues", "evil").code == 3)
    // A signature of another statement is no proof.
    var wrong = claim(of: lab.victim)
    let key = SigningKey.testKey(9).publicKey
    let heir = try #require(ReplicaID("6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607"))
    func proof(_ former: ReplicaID, by signer: borrowing SigningKey) throws -> JSONValue {
      let statement = KeyStatement.continuation(dataset: "shop", device: heir, former: former, key: key)
      return .string(String(decoding: try statement.signed(with: signer).fileBytes, as: UTF8.self))
    }
    wrong.set("proof", try proof(lab.evil.configuration.id, by: lab.victim.keys.signing()))
    #expect(enrol(try request(wrong)).code == 3)
    wrong.set("proof", try proof(lab.victim.configuration.id, by: lab.evil.keys.signing()))
    #expect(enrol(try request(wrong)).code == 3)
    var right = claim(of: lab.victim)
    right.set("proof", try proof(lab.victim.configuration.id, by: lab.victim.keys.signing()))
    if isRevoked {
      _ = try lab.hub.revoke("victim")
      #expect(enrol(try request(right)).code == 3)
      #expect(enrol(try request(right), "--continues", "victim").code == 0)
      return
    }
    let taken = enrol(try request(right))
    #expect(taken.code == 0 && taken.error.contains("A key of victim signed that"))
  }

  @Test("the operator who knows that a device lost its key lets its heir in by name")
  func namedContinuation() throws {
    #expect(enrol(try request(claim(of: lab.victim)), "--continues", "victim").code == 0)
  }

  @Test("a request that names a bundle which the hub never came to is refused")
  func numberOfContinuation() throws {
    let high = try request(claim(of: lab.victim, received: (1 << 53) - 1))
    #expect(enrol(high, "--continues", "victim").error.contains("has not made that many bundles"))
    #expect(try lab.hub.devices().count == 2)
  }
}
