import SatchelBundle
import SatchelCrypto
import SatchelHub
import SatchelJSON
import SatchelWorkspace
import TestSupport
import Testing

/// The hub alone decides the state of a device. Bundles that are signed with revoked or replaced keys do not change the
/// state.
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
    try lab.rotateKey()
    for bytes in old { #expect(try lab.refusal(of: bytes) == "replaced-key") }
    #expect(try state == "active")
    #expect(try lab.hub.fork(of: "evil").isForked == false)
    try lab.write("UPDATE notes SET likes = likes + 1 WHERE id = 'n1'", in: lab.evil.folder)
    #expect(try lab.hub.importBundle(lab.evil.export().file).verdict == .imported)
  }

  /// A bundle that replaces a photo of the attacker's user. It has an old number, and may claim to be another bundle.
  private func photo(by forger: Forger, later: Int64, as original: String? = nil) throws -> [UInt8] {
    try forger.bundle(later: later) { content in
      content.attachments = [Forger.file(at: "site/mine.jpg")]
      content.blobs = [Forger.photo]
      content.set("original", original.map { .string($0) })
    }
  }

  private func known(_ number: Int64) throws -> String {
    let device = try lab.forger.id
    return try #require(
      try lab.atHub("SELECT digest FROM satchel_chain WHERE device = '\(device)' AND sequence = \(number)").first)
  }

  @Test("a revoked device brings no file by a bundle with an old number, whatever that bundle says about itself")
  func overtakenOfRevoked() throws {
    // The device skips numbers. Its chain does not name exports with these numbers.
    #expect(try lab.refusal(of: lab.forger.bundle(later: 3)) == nil)
    let forger = try lab.forger
    let files = [
      try photo(by: forger, later: 0, as: known(forger.sequence)), try photo(by: forger, later: -1),
      try photo(by: forger, later: -1, as: known(forger.sequence)),
    ]
    let heard = try lab.hub.device("evil").heard
    _ = try lab.hub.revoke("evil")
    for file in files { #expect(try lab.refusal(of: file) == "revoked") }
    #expect(try lab.hubFile("site/mine.jpg") == nil)
    #expect(try lab.hub.device("evil").heard == heard)
  }

  @Test("the holder of a replaced key brings no file by a bundle with an old number")
  func overtakenWithReplacedKey() throws {
    #expect(try lab.refusal(of: lab.forger.bundle(later: 3)) == nil)
    let forger = try lab.forger
    let files = [
      try photo(by: forger, later: 0, as: known(forger.sequence)), try photo(by: forger, later: -1),
    ]
    try lab.write("UPDATE satchel_device SET sequence = \(forger.sequence)", in: lab.evil.folder)
    try lab.rotateKey()
    for file in files { #expect(try lab.refusal(of: file) == "replaced-key") }
    #expect(try lab.hubFile("site/mine.jpg") == nil)
  }

  @Test("a bundle that a later one overtook brings its files after its device was revoked")
  func overtakenBeforeRevoked() throws {
    let early = try photo(by: lab.forger, later: 1)
    try lab.folder.write(early, to: "early.satchel")
    let digest = try #require(
      BundleReader(platform: lab.platform).identityIfSound(
        of: lab.folder("early.satchel"), trust: .keys([lab.evil.keys.ownKey()]))?.digest)
    let late = try lab.forger.bundle(later: 2) {
      $0.set("chain", [["sequence": .integer(try lab.forger.sequence + 1), "digest": .string(digest.hexadecimal)]])
    }
    #expect(try lab.refusal(of: late) == nil)
    _ = try lab.hub.revoke("evil")
    #expect(try lab.refusal(of: early) == nil)
    #expect(try lab.hubFile("site/mine.jpg") == "a photo")
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
