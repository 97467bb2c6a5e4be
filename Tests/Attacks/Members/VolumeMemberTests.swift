import SatchelJSON
import TestSupport
import Testing

/// Volumes with untrue members, signed with a device's own key.
@Suite("Each member of a device's volume")
struct VolumeMemberTests {
  private static let common = ["from", "to", "dataset", "version", "user", "stamp"]

  @Test(
    "no member of a volume changes what its device's user may not change, whatever it says",
    arguments: try MemberTests.table().filter { $0.entry == "volume" }.map(\.name) + common)
  func tried(name: String) throws {
    let lab = try AttackFixture()
    let before = try Protected(lab)
    let reasons = try MemberTests.table().filter { $0.name == name && ["volume", "manifest.json"].contains($0.entry) }
      .reduce(into: Set<String>()) { $0.formUnion($1.reasons) }
    let values: [JSONValue] =
      try ForeignValues(lab).share(for: name) + [2, 9_999, .integer(1 << 40), "scope", "enrolment"]
    for (place, value) in values.enumerated() {
      let forger = try lab.forger
      let bundle = JSONValue.string("0d6a9f4e-3c1b-4a52-9a7e-5b0f6c2d1\(100 + place)")
      let whole = try forger.bundle { content in
        content.set("bundle", bundle)
        content.changes = [forger.update("notes", "n4", set: ["body": "x"], was: ["body": "unknown"])]
      }
      let forged = try forger.volume(
        of: whole, bundle, number: forger.sequence + 1, changed: [(name: name, value: value)])
      let reason = try lab.refusal(of: forged)
      #expect(reason.map(reasons.contains) ?? true, "\(value): \(reason ?? "")")
      try #require(before.differences(to: Protected(lab)) == [], "\(value)")
      try lab.letGoOn()
    }
    #expect(try lab.takesTheVictim())
    #expect(try !lab.tellsSecrets(to: "evil"))
  }

  @Test("the volume whose members are changed is sound: unchanged, its bundle is taken")
  func sound() throws {
    let lab = try AttackFixture()
    let forger = try lab.forger
    let bundle: JSONValue = "0d6a9f4e-3c1b-4a52-9a7e-5b0f6c2d1e99"
    let whole = try forger.bundle { content in
      content.set("bundle", bundle)
      content.changes = [forger.update("notes", "n1", set: ["body": "came"], was: ["body": "mine"])]
    }
    #expect(try lab.refusal(of: forger.volume(of: whole, bundle, number: forger.sequence + 1, changed: [])) == nil)
    #expect(try lab.atHub("SELECT body FROM notes WHERE id = 'n1'") == ["came"])
  }
}
