import SatchelCrypto
import SatchelHub
import SatchelJSON
import SatchelValues
import TestSupport
import Testing

/// Requests for enrolment with untrue members, signed with a stranger's key. The operator has compared the fingerprint.
/// So the hub must judge the request by its content.
@Suite("Each member of a request for enrolment")
struct EnrolmentMemberTests {
  private static let heir = "6f1c2a9b-7d3e-4f50-8a61-b2c3d4e5f607"
  private static let common = ["to", "dataset", "version", "user", "stamp", "recipient", "lost"]
  private static let claimed = ["device", "acknowledged", "received", "chain", "proof"]

  @Test(
    "no member of a request changes what belongs to others, whatever it says",
    arguments: try MemberTests.table().filter { $0.entry == "enrolment" }.map(\.name) + common
      + claimed.map { "continues.\($0)" })
  func tried(name: String) throws {
    let lab = try AttackFixture()
    let before = try Protected(lab, withOwn: true)
    let path = name.split(separator: ".").map(String.init)
    let reasons = try MemberTests.table()
      .filter { ["enrolment", "manifest.json"].contains($0.entry) && [name, path[0]].contains($0.name) }
      .reduce(into: Set<String>()) { $0.formUnion($1.reasons) }
    for value in try ForeignValues(lab).share(for: name) + [2, 9_999, .integer(1 << 40), "scope", "volume"] {
      let request = try request(path, value, in: lab)
      do {
        try lab.hub.withdraw(enrol(request, at: lab))
      } catch let error as any ExplainedError {
        #expect(reasons.contains(error.reason), "\(value): \(error.reason)")
      }
      try #require(before.differences(to: Protected(lab, withOwn: true)) == [], "\(value)")
    }
    #expect(try lab.takesTheVictim())
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("the request whose members are changed is sound: unchanged, its device is enrolled")
  func sound() throws {
    let lab = try AttackFixture()
    let device = try enrol(request([], .null, in: lab), at: lab)
    #expect(device.name == "heir" && device.key == SigningKey.testKey(9).publicKey)
    #expect(try lab.atHub("SELECT count(*) FROM satchel_devices WHERE name = 'heir'") == ["1"])
  }

  /// A new device's request in which one member has another value.
  /// - Parameter path: the member, and a member inside it. Empty: nothing is changed.
  private func request(_ path: [String], _ value: JSONValue, in lab: AttackFixture) throws -> String {
    let forger = try lab.forger
    let bytes = try forger.bundle(key: SigningKey.testKey(9)) { content in
      content.isRequest = true
      var objects = ["from": forger.party(Self.heir, "heir")]
      if path.first == "continues" {
        content.set("critical", ["continues"])
        objects["continues"] = [
          "device": .string(lab.victim.configuration.id.text), "acknowledged": 1, "received": 1, "chain": [],
        ]
      }
      if path.count == 2 {
        var members = objects[path[0]]?.objectValue ?? []
        members.set(path[1], value)
        objects[path[0]] = .object(members)
      }
      for (name, object) in objects { content.set(name, object) }
      if path.count == 1 { content.set(path[0], value) }
    }
    try lab.folder.write(bytes, to: "request.satchel")
    return lab.folder("request.satchel")
  }

  /// Enrols the device of a request, as if a person had compared the fingerprint.
  private func enrol(_ path: String, at lab: AttackFixture) throws -> EnrolledDevice {
    let request = try lab.hub.readRequest(path)
    let manifest = request.manifest
    return try lab.hub.enrol(
      manifest.from.id, name: manifest.from.name, user: "ann", key: request.enrolment.key,
      recipient: manifest.recipient, incarnation: request.enrolment.incarnation, asked: manifest.from.name,
      continuing: request.enrolment.continues)
  }
}
