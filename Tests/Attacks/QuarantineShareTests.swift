import SatchelDevice
import SatchelHub
import SatchelPlatform
import TestSupport
import Testing

/// Each owner of keys has a share of the quarantine's room. An owner with several keys has only one share.
@Suite("Shares of the quarantine")
struct QuarantineShareTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private var kept: Int {
    get throws {
      try lab.platform.files.list(lab.hub.folder.quarantine).count { !$0.hasSuffix(".reason.txt") }
    }
  }

  /// Sends a file that the hub refuses and keeps.
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

/// The text file beside a refused file. A person may read it with `cat`.
@Suite("Texts of the quarantine")
struct QuarantineTextTests {
  @Test("the text beside a refused file commands no terminal, and stays in its lines")
  func besideRefused() throws {
    let lab = try AttackFixture()
    let forger = try lab.forger
    let line = forger.insert("\u{1b}[2J\u{202e}\r\nzoo", "z1", ["id": "z1"])
    #expect(try lab.refusal(of: forger.bundle { $0.changes = [line] }) == "bad-line")
    let (folder, files) = (lab.hub.folder.quarantine, lab.platform.files)
    let name = try #require(try files.list(folder).first { $0.hasSuffix(".reason.txt") })
    let text = String(decoding: try files.read(Paths.join(folder, name), limit: 1 << 16), as: UTF8.self)
    let end = "the dataset has no table \u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}zoo.\n"
    #expect(text.hasPrefix("bad-line\nLine 1 of changes.jsonl") && text.hasSuffix(end), "\(text)")
  }
}
