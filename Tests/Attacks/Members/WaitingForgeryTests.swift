import Foundation
import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

/// Correct bundles that can never be merged. A device that can sign can make any number of them.
@Suite("Bundles that wait for ever")
struct WaitingForgeryTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private var waiting: [String] {
    get throws {
      let folder = lab.hub.folder.waiting
      return try lab.platform.files.kind(folder) == nil ? [] : lab.platform.files.list(folder)
    }
  }

  /// Makes a bundle of a later version of the dataset. The bundle waits for that version.
  private func newer(_ later: Int64) throws -> [UInt8] {
    try lab.forger.bundle(later: later) { $0.set("version", 99) }
  }

  /// Makes a bundle that waits for missing earlier bundles.
  private func gap(_ later: Int64) throws -> [UInt8] {
    let forger = try lab.forger
    return try forger.bundle(later: later) { $0.set("base", .integer(forger.sequence + later - 1)) }
  }

  @Test(
    "of one sender eight bundles wait at most, one of each number; others stay where they are",
    arguments: [false, true])
  func eight(isGap: Bool) throws {
    let (make, reason) = isGap ? (gap, "gap") : (newer, "newer-dataset")
    for later in Int64(2)...9 { #expect(try lab.refusal(of: make(later)) == reason) }
    let kept = try waiting
    #expect(kept.count == 8)
    let ninth = try #require(try lab.error(of: make(10)))
    #expect(ninth.reason == reason && ninth.message.contains("8 of evil wait already"), "\(ninth)")
    #expect(try lab.platform.files.kind(lab.folder("forged.satchel")) == .file)
    #expect(try waiting == kept)
    let status = lab.tool("status").out
    #expect(status.split(separator: "\n").count { $0.contains("shop-evil-") } == 5 && status.contains("3 more"))
    // The other devices do not have less room because of these bundles.
    #expect(try lab.takesTheVictim())
  }

  @Test("of two bundles with one number the first waits, and the other is not kept")
  func oneNumber() throws {
    #expect(try lab.refusal(of: newer(2)) == "newer-dataset")
    let kept = try waiting
    #expect(try lab.error(of: newer(2))?.message.contains("not kept") == true)
    #expect(try waiting == kept)
  }

  @Test(
    "what waits of a device goes when it is revoked, but for bundles that still count", arguments: ["device", "keys"])
  func revoked(word: String) throws {
    for later in Int64(2)...4 { #expect(try lab.refusal(of: gap(later)) == "gap") }
    let from = try String(lab.forger.sequence + 4)
    #expect(lab.tool(word, "revoke", "evil", "--from", from, "--dry-run").code == 0)
    #expect(try waiting.count == 3)
    #expect(lab.tool(word, "revoke", "evil", "--from", from).code == 0)
    #expect(try waiting.count == 2)
    #expect(lab.tool(word, "revoke", "evil").code == 0)
    #expect(try waiting == [])
  }

  @Test("what has waited for more than 90 days goes by compact")
  func old() throws {
    for later in Int64(2)...3 { #expect(try lab.refusal(of: gap(later)) == "gap") }
    let now = Double(lab.clock.milliseconds()) / 1000
    for (name, days) in zip(try waiting, [89.0, 91.0]) {
      let time = Date(timeIntervalSince1970: now - days * 86_400)
      try FileManager.default.setAttributes(
        [.modificationDate: time], ofItemAtPath: Paths.join(lab.hub.folder.waiting, name))
    }
    let first = try waiting[0]
    #expect(lab.tool("compact", "--dry-run").code == 0)
    #expect(try waiting.count == 2)
    #expect(lab.tool("compact").code == 0)
    #expect(try waiting == [first])
  }
}
