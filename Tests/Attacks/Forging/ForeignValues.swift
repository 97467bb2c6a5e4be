import Foundation
import SatchelCrypto
import SatchelJSON
import SatchelValues
import TestSupport

/// Values that an attacker writes into a bundle: ids, keys and names of other devices and users, and values that belong
/// to no one.
struct ForeignValues {
  let ofAnotherDevice: [JSONValue]
  let ofAnotherUser: [JSONValue]
  let ofTheHub: [JSONValue]
  let random: [JSONValue]

  var all: [JSONValue] { ofAnotherDevice + ofAnotherUser + ofTheHub + random }

  /// The values that a test writes into this member: half of the values of each kind. The member's name decides which
  /// half. `make fuzz` writes all values into each member.
  func share(for member: String) -> [JSONValue] {
    if ProcessInfo.processInfo.environment["SATCHEL_ATTACKS"] != nil { return all }
    let half = member.utf8.reduce(0) { $0 + Int($1) } % 2
    return all.enumerated().filter { $0.offset % 2 == half }.map(\.element)
  }

  init(_ lab: AttackFixture) throws {
    let victim = lab.victim.configuration
    func texts(_ sql: String) throws -> [JSONValue] { try lab.atHub(sql).map { .string($0) } }
    func rotation(_ key: PublicKey) throws -> JSONValue {
      ["key": .string(key.line), "recipient": .string(try lab.victim.keys.recipient().text)]
    }
    let (theirKey, hubKey) = try (lab.victim.keys.ownKey(), lab.hub.keys.ownKey())
    ofAnotherDevice =
      try [
        .string(victim.id.text), .string(victim.name), .string(victim.incarnation?.text ?? ""), .string(theirKey.line),
        .string(lab.victim.keys.recipient().text), rotation(theirKey),
        ["id": .string(victim.id.text), "name": .string(victim.name)], [2], ["n5"],
      ] + texts("SELECT digest FROM satchel_chain WHERE device = '\(victim.id)' LIMIT 1")
      + texts("SELECT bundle FROM satchel_ledger WHERE peer = 'victim' AND direction = 'in' LIMIT 1")
      + texts("SELECT id FROM satchel_conflicts WHERE user <> 'ann' LIMIT 1")
    ofAnotherUser = [
      "ben", "boss", ["n4"], ["n3"], [3], ["r2"], "prices", "SECRET.jpg",
      .string(AttackFixture.missing), .string(AttackFixture.guess), ["author": "ben"], ["pub": 1], ["tier": 0],
      ["cents": 1], Self.note("n4", by: "ben"), Self.note("n9", by: "boss"), ["owner": "ben"],
    ]
    ofTheHub =
      try [
        .string(lab.hub.configuration.id.text), "hub", .string(hubKey.line), rotation(hubKey),
        ["id": .string(lab.hub.configuration.id.text), "name": "hub"],
      ] + texts("SELECT epoch FROM satchel_hub")
      + texts("SELECT digest FROM satchel_emissions WHERE device = '\(victim.id)' LIMIT 1")
    random = try [
      rotation(SigningKey.testKey(7).publicKey),
      "0d6a9f4e-3c1b-4a52-9a7e-5b0f6c2d1e88", "nothing", "", "satchel_devices", "0000000000000000", "7fffffffffffffff",
      0, 1, -1, .integer((1 << 53) - 1), ["integer": "9223372036854775807"], .real(1.5), nil, true, [], [:],
      [["integer": "9223372036854775807"]], ["n1", "n1"], .string(String(repeating: "0f", count: 64)),
    ]
  }

  static func note(_ id: String, by author: String) -> JSONValue {
    ["id": .string(id), "author": .string(author), "pub": 1, "body": "x", "likes": 0, "photo": nil]
  }
}
