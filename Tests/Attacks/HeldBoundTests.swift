import SatchelConflicts
import SatchelJSON
import TestSupport
import Testing

@testable import SatchelHub

/// The number of waiting changes of one device is limited. Further changes are not lost.
@Suite("Bound on changes that wait")
struct HeldBoundTests {
  private let lab: AttackFixture
  private let hub: HubWorkspace

  init() throws {
    lab = try AttackFixture()
    var hub = lab.hub
    hub.heldLimit.changes = 5
    self.hub = hub
  }

  /// The path of an export with replies to a note that does not exist.
  private func replies(_ numbers: Range<Int>, body: String = "x") throws -> String {
    let forger = try lab.forger
    let bytes = try forger.bundle { content in
      content.changes = numbers.map { number in
        forger.insert(
          "replies", .string("w\(number)"), ["id": .string("w\(number)"), "note": "later", "body": .string(body)])
      }
    }
    try lab.folder.write(bytes, to: "replies.satchel")
    return lab.folder("replies.satchel")
  }

  private func states() throws -> [String] {
    try lab.atHub("SELECT key, kind, state FROM satchel_conflicts ORDER BY key")
  }

  @Test("beyond the bound a change that would wait is an open conflict, and status says so")
  func beyondTheBound() throws {
    #expect(try hub.importBundle(replies(0..<4)).conflicts == 4)
    #expect(try hub.status().devices.allSatisfy { !$0.isHeldFull })
    let report = try hub.importBundle(replies(4..<8))
    #expect(report.conflicts == 4)
    #expect(
      try states()
        == (0..<5).map { "[\"w\($0)\"]|foreign key|held" } + (5..<8).map { "[\"w\($0)\"]|foreign key|open" })
    let evil = try #require(try hub.status().devices.first { $0.isHeldFull })
    #expect(evil.device.name == "evil" && evil.held == 5)
  }

  @Test("values of many bytes wait only up to a limit, and then each change is an open conflict")
  func bytes() throws {
    var hub = lab.hub
    hub.heldLimit.bytes = 1_000
    let body = String(repeating: "x", count: 400)
    #expect(try hub.importBundle(replies(0..<2, body: body)).conflicts == 2)
    #expect(try hub.status().devices.allSatisfy { !$0.isHeldFull })
    #expect(try hub.importBundle(replies(2..<5, body: body)).conflicts == 3)
    #expect(try hub.importBundle(replies(5..<6)).conflicts == 1)
    #expect(
      try states()
        == (0..<3).map { "[\"w\($0)\"]|foreign key|held" } + (3..<6).map { "[\"w\($0)\"]|foreign key|open" })
    #expect(try hub.status().devices.first { $0.isHeldFull }?.held == 3)
  }

  @Test("a change waits whatever its size is, but the changes of a unit only if all of their values have room")
  func units() {
    var limit = HeldLimit()
    limit.bytes = 100
    let known = ConflictSize(count: 3, bytes: 60)
    #expect(limit.allows(ConflictSize(count: 1, bytes: 500), besides: known))
    #expect(limit.allows(ConflictSize(count: 2, bytes: 40), besides: known))
    #expect(!limit.allows(ConflictSize(count: 2, bytes: 41), besides: known))
  }

  @Test("a device's own decisions let no more of its changes wait")
  func ownDecision() throws {
    let forger = try lab.forger
    let note: JSONValue = ["id": "later", "author": "ben", "pub": 1]
    let bytes = try forger.bundle { $0.changes = [forger.insert("notes", "later", note)] }
    #expect(try lab.refusal(of: bytes) == nil)
    _ = try hub.importBundle(replies(0..<8))
    let first = try #require(lab.atHub("SELECT id FROM satchel_conflicts WHERE kind = 'forbidden'").first)
    let decision = try lab.forger.bundle { $0.resolutions = [try lab.forger.resolution(of: first, "device")] }
    try lab.folder.write(decision, to: "decision.satchel")
    #expect(try hub.importBundle(lab.folder("decision.satchel")).resolved == 1)
    #expect(try lab.atHub("SELECT count(*) FROM satchel_conflicts WHERE state = 'held'") == ["5"])
    #expect(try lab.atHub("SELECT count(*) FROM satchel_conflicts WHERE state = 'open'") == ["3"])
  }

  @Test("what waits enters when it can, makes room for others, and what was open is decided by a person")
  func roomAgain() throws {
    _ = try hub.importBundle(replies(0..<8))
    try lab.write("INSERT INTO notes (id, author, pub) VALUES ('later', 'ann', 1)", in: hub.folder)
    lab.tick()
    _ = try hub.emit(to: "evil")
    #expect(try lab.atHub("SELECT id FROM replies WHERE note = 'later' ORDER BY id") == ["w0", "w1", "w2", "w3", "w4"])
    #expect(try hub.status().devices.allSatisfy { $0.held == 0 })
    let open = try lab.atHub("SELECT id FROM satchel_conflicts WHERE state = 'open' ORDER BY key")
    #expect(open.count == 3)
    for id in open { _ = try hub.resolve(id, .device, note: nil) }
    #expect(try lab.atHub("SELECT count(*) FROM replies WHERE note = 'later'") == ["8"])
  }
}
