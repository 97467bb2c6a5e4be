import SatchelJSON
import SatchelPlatform
import TestSupport
import Testing

/// A device may claim that its work is old. The hub's clock limits for how long the hub believes this.
@Suite("Work that says that it is old")
struct LateWorkTests {
  private let lab: AttackFixture
  private let day: Int64 = 86_400_000

  init() throws { lab = try AttackFixture() }

  private func note(_ body: String) throws -> [UInt8] {
    let forger = try lab.forger
    return try forger.bundle {
      $0.changes = [forger.update("notes", "n1", set: ["body": .string(body)], was: ["body": "mine"])]
    }
  }

  @Test("a device that was given away speaks for its former user for 90 days, and status says so")
  func givenAway() throws {
    _ = try lab.hub.setDevice("evil", user: "ben")
    _ = try lab.hub.emit(to: "evil")
    #expect(lab.tool("status").out.contains("Earlier work of ann that it brings counts until"))
    lab.clock.advance(by: 80 * day)
    #expect(try lab.refusal(of: note("in time")) == nil)
    #expect(try lab.atHub("SELECT body FROM notes WHERE id = 'n1'") == ["in time"])
    lab.clock.advance(by: 20 * day)
    #expect(try lab.refusal(of: note("for ever")) == "former-user")
    #expect(!lab.tool("status").out.contains("Handed over"))
    #expect(try lab.atHub("SELECT body FROM notes WHERE id = 'n1'") == ["in time"])
    // An operator who trusts the device can still make the hub accept the work.
    _ = try lab.hub.setDevice("evil", user: "ann")
    #expect(try lab.refusal(of: note("all the same")) == nil)
  }

  @Test("an expired device's word that a bundle is of before its last day counts for 90 days")
  func expired() throws {
    let end = lab.clock.milliseconds() + day
    _ = try lab.hub.setDevice("evil", expires: end)
    let stamp = try JSONValue.string(lab.forger.stamp())
    func old(_ body: String) throws -> [UInt8] {
      let forger = try lab.forger
      return try forger.bundle {
        $0.changes = [forger.update("notes", "n1", set: ["body": .string(body)], was: ["body": "mine"])]
        $0.set("stamp", stamp)
      }
    }
    lab.clock.advance(by: 50 * day)
    #expect(try lab.refusal(of: note("today")) == "expired")
    #expect(try lab.refusal(of: old("on its way")) == nil)
    lab.clock.advance(by: 50 * day)
    #expect(try lab.refusal(of: old("for ever")) == "expired")
  }

  @Test("a former user who has expired is not the author of anything that comes after that")
  func expiredFormerUser() throws {
    _ = try lab.hub.setDevice("evil", user: "ben")
    _ = try lab.hub.setUser("ann", attributes: [], expires: .some(lab.clock.milliseconds() - 1000))
    #expect(try lab.refusal(of: note("late")) == "expired")
  }
}
