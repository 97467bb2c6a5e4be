import SatchelDevice
import SatchelHub
import TestSupport
import Testing

/// The room in the quarantine is shared by the owners of keys, and not by keys.
@Suite("Shares of the quarantine")
struct QuarantineShareTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private var kept: Int {
    get throws {
      try lab.platform.files.list(lab.hub.folder.quarantine).count { !$0.hasSuffix(".reason.txt") }
    }
  }

  /// Sends a file that is refused and kept.
  private func send(by forger: Forger) throws {
    let bytes = try forger.bundle { $0.set("from", ["id": .string(forger.id), "name": "another"]) }
    #expect(try lab.refusal(of: bytes) == "other-name")
  }

  @Test("a device that changes its key gets no second share, and leaves room for another device")
  func newKey() throws {
    let forger = try lab.forger
    for _ in 0..<202 { try send(by: forger) }
    #expect(try kept == 200)
    try lab.rotateKey()
    try send(by: lab.forger)
    #expect(try kept == 200)
    try send(by: Forger(lab.victim, lab.platform))
    #expect(try kept == 201)
  }
}
