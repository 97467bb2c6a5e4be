import SatchelCrypto
import SatchelHub
import SatchelJSON
import SatchelWorkspace
import TestSupport
import Testing

/// The hub decides the state of a device. Bundles of revoked or replaced keys do not change it.
@Suite("Forged states")
struct StateForgeryTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private var state: String { get throws { try lab.hub.device("evil").state.rawValue } }

  private static let otherLife = JSONValue.string("99999999-8888-4777-8666-555555555555")

  @Test("a revoked device stays revoked, whatever bundles come from it, and no command makes it active")
  func revoked() throws {
    let old = try lab.forger.bundle(later: 0) { $0.set("incarnation", Self.otherLife) }
    let other = try lab.forger.bundle(later: 0)
    _ = try lab.hub.revoke("evil")
    for bytes in [old, other] { #expect(try lab.refusal(of: bytes) == "revoked") }
    #expect(try state == "revoked")
    #expect(lab.tool("device", "unflag", "evil").code == 1)
    #expect(lab.tool("device", "fork", "evil", "--keep", "1").code == 1)
    #expect(try lab.refusal(of: lab.forger.bundle()) == "revoked")
    #expect(try state == "revoked")
  }

  @Test("a device that an earlier build flagged after it was revoked is not made active by unflag or fork")
  func flaggedAfterRevoked() throws {
    _ = try lab.hub.revoke("evil")
    try lab.write("UPDATE satchel_devices SET state = 'flagged' WHERE name = 'evil'", in: lab.hub.folder)
    #expect(lab.tool("device", "unflag", "evil").error.contains("is revoked"))
    #expect(lab.tool("device", "fork", "evil", "--keep", "1").error.contains("is revoked"))
  }

  @Test("the holder of a device's replaced key cannot stop the device")
  func replacedKey() throws {
    let forger = try lab.forger
    let old = try [
      forger.bundle(later: 0) { $0.set("incarnation", Self.otherLife) }, forger.bundle(later: 0),
    ]
    // The device changes to a new key.
    _ = try lab.evil.rotateKeys()
    for _ in 0..<3 {
      try lab.write("UPDATE notes SET likes = likes + 1 WHERE id = 'n1'", in: lab.evil.folder)
      lab.tick()
      _ = try lab.hub.importBundle(lab.evil.export().file)
      _ = try lab.evil.importBundle(lab.hub.emit(to: "evil").file)
    }
    for bytes in old { #expect(try lab.refusal(of: bytes) == "replaced-key") }
    #expect(try state == "active")
    #expect(try lab.hub.fork(of: "evil").isForked == false)
    try lab.write("UPDATE notes SET likes = likes + 1 WHERE id = 'n1'", in: lab.evil.folder)
    #expect(try lab.hub.importBundle(lab.evil.export().file).verdict == .imported)
  }

  @Test("two histories under the device's present key still stop it")
  func realFork() throws {
    #expect(try lab.refusal(of: lab.forger.bundle(later: 0)) == "fork")
    #expect(try state == "flagged")
    #expect(lab.tool("device", "unflag", "evil").code == 0)
    #expect(try lab.refusal(of: lab.forger.bundle { $0.set("incarnation", Self.otherLife) }) == "other-incarnation")
    #expect(try state == "flagged")
  }
}
