import SatchelJSON
import TestSupport
import Testing

/// A bundle describes only the health of its own device. The hub makes no decision because of it.
@Suite("Forged health")
struct HealthForgeryTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private func take(_ health: JSONValue) throws {
    #expect(try lab.refusal(of: lab.forger.bundle { $0.set("health", health) }) == nil)
  }

  @Test("a time after the hub's time counts as the hub's time")
  func laterTime() throws {
    try take([
      "satchel": "0.1.0", "free": 1, "database": 1, "quarantined": 1,
      "doctor": ["at": "2999-01-31T08:05:09Z", "result": "well"],
    ])
    let late = """
      SELECT count(*) FROM satchel_health JOIN satchel_devices ON id = device
      WHERE name = 'evil' AND doctor_at <= heard AND at <= heard
      """
    #expect(try lab.atHub(late) == ["1"])
  }

  @Test("the largest numbers and the longest version are shown, and change no other device")
  func largest() throws {
    let others = "SELECT h.* FROM satchel_health AS h JOIN satchel_devices ON id = device WHERE name <> 'evil'"
    let before = try lab.atHub(others)
    try take([
      "satchel": .string(String(repeating: "9", count: 32)), "free": 9_007_199_254_740_991,
      "database": 9_007_199_254_740_991, "quarantined": 9_007_199_254_740_991, "more": ["x"],
    ])
    #expect(lab.tool("status").code == 0)
    let shown = lab.tool("device", "show", "evil")
    #expect(shown.code == 0 && shown.out.contains("9007199254740991 refused files"), "\(shown)")
    #expect(try lab.atHub(others) == before)
    #expect(try lab.takesTheVictim())
  }

  @Test("a newer bundle without health removes the older health")
  func removed() throws {
    let own = "SELECT doctor_result FROM satchel_health JOIN satchel_devices ON id = device WHERE name = 'evil'"
    try take(Forger.health)
    #expect(try lab.atHub(own) == ["well"])
    #expect(try lab.refusal(of: lab.forger.bundle()) == nil)
    #expect(try lab.atHub(own) == [])
  }
}
