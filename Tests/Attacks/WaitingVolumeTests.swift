import SatchelDevice
import SatchelHub
import SatchelJSON
import SatchelPlatform
import SatchelValues
import SatchelWorkspace
import TestSupport
import Testing

/// Volumes of complete bundles that cannot be merged. A device that can sign can make any number of small volumes.
@Suite("Further volumes of a bundle that waits")
struct WaitingVolumeTests {
  private let lab: AttackFixture

  init() throws { lab = try AttackFixture() }

  private static let id: JSONValue = "0d6a9f4e-3c1b-4a52-9a7e-5b0f6c2d1e42"

  /// A bundle that waits. It is cut into a large piece and a piece of one byte.
  private struct Cut {
    let forger: Forger
    let whole: [UInt8]
    let number: Int64

    /// Signs a new volume with one of the two pieces.
    func volume(_ part: Int64) throws -> [UInt8] {
      let piece = part == 2 ? whole.suffix(1) : whole.dropLast()
      return try forger.volume(
        of: whole, id, number: number, piece: Array(piece),
        changed: [(name: "part", value: .integer(part)), (name: "parts", value: 2)])
    }
  }

  private func cut(later: Int64, _ fill: (inout Forger.Content) -> Void) throws -> Cut {
    let forger = try lab.forger
    let whole = try forger.bundle(later: later) { content in
      content.set("bundle", Self.id)
      fill(&content)
    }
    return Cut(forger: forger, whole: whole, number: forger.sequence + later)
  }

  private func files(in folder: String) throws -> [String] {
    try lab.platform.files.kind(folder) == nil ? [] : lab.platform.files.list(folder)
  }

  /// The folders in which the hub keeps pieces.
  private var pieces: [String] { get throws { try files(in: Paths.join(lab.hub.folder.inbox, "parts")) } }
  private var waiting: [String] { get throws { try files(in: lab.hub.folder.waiting) } }

  @Test("a bundle that waits is joined once: its pieces go, and further volumes get the same answer")
  func joinedOnce() throws {
    let base = try lab.forger.sequence + 1
    let cut = try cut(later: 2) { $0.set("base", .integer(base)) }
    #expect(try lab.refusal(of: cut.volume(1)) == nil)
    #expect(try pieces.count == 1)
    #expect(try lab.refusal(of: cut.volume(2)) == "gap")
    #expect(try waiting.count == 1 && pieces == [])
    for part in [2, 1, 2] as [Int64] {
      let error = try #require(try lab.error(of: cut.volume(part)))
      #expect(error.reason == "gap" && error.message.contains("waits here already"), "\(error)")
      #expect(try waiting.count == 1 && pieces == [])
    }
    let status = lab.tool("status").out
    #expect(status.contains("earlier bundles of its device are missing") && !status.contains("volumes are here"))
    // The missing bundle has arrived. Now any volume of the waiting bundle is enough to merge it.
    #expect(try lab.refusal(of: lab.forger.bundle()) == nil)
    #expect(try lab.refusal(of: cut.volume(2)) == nil)
    #expect(try waiting == [])
    #expect(try lab.atHub("SELECT merged FROM satchel_devices WHERE name = 'evil'") == ["\(cut.number)"])
  }

  @Test("a complete bundle for which there is no room is not joined by each further volume")
  func noRoom() throws {
    for later in Int64(2)...9 {
      #expect(try lab.refusal(of: lab.forger.bundle(later: later) { $0.set("version", 99) }) == "newer-dataset")
    }
    let cut = try cut(later: 10) { $0.set("version", 99) }
    #expect(try lab.refusal(of: cut.volume(1)) == nil)
    let first = try #require(try lab.error(of: cut.volume(2)) as? Refusal)
    #expect(first.message.contains("8 of evil wait already") && first.keeping == .inPlace, "\(first)")
    #expect(lab.tool("status").out.contains("enough volumes are here"))
    // The second volume gets the same answer, and the hub does not join the pieces for it.
    let second = try #require(try lab.error(of: cut.volume(2)) as? Refusal)
    #expect(second.message == first.message && second.code == first.code && second.keeping == .unnoted, "\(second)")
    lab.clock.advance(by: 11 * 60_000)
    #expect((try lab.error(of: cut.volume(2)) as? Refusal)?.keeping == .inPlace)
    // One of the waiting bundles is gone, so there is room, and the next volume makes the hub join the pieces.
    try lab.platform.files.remove(Paths.join(lab.hub.folder.waiting, try #require(try waiting.first)))
    #expect(try lab.refusal(of: cut.volume(2)) == "newer-dataset")
    #expect(try waiting.count == 8 && pieces == [])
  }

  @Test("pieces that a complete bundle does not need are not kept")
  func surplus() throws {
    for later in Int64(2)...9 {
      #expect(try lab.refusal(of: lab.forger.bundle(later: later) { $0.set("version", 99) }) == "newer-dataset")
    }
    let cut = try cut(later: 10) { $0.set("version", 99) }
    for part in [1, 2] as [Int64] { _ = try lab.refusal(of: cut.volume(part)) }
    let parity = try cut.forger.volume(
      of: cut.whole, Self.id, number: cut.number, piece: Array(cut.whole.dropLast()),
      changed: [
        (name: "part", value: 3), (name: "parts", value: 2), (name: "parity", value: 1),
        (name: "critical", value: ["parity"]),
      ])
    #expect(try lab.refusal(of: parity) == "newer-dataset")
    let folder = try #require(try pieces.first)
    let kept = try files(in: Paths.join(Paths.join(lab.hub.folder.inbox, "parts"), folder))
    #expect(kept.filter { Int64($0) != nil } == ["1", "2"])
  }

  /// A device that calls itself `victim`. The hub knows it as `third`.
  private func third() throws -> Forger {
    let device = try DeviceWorkspace.create(
      lab.ground.folder("third"), dataset: "shop", name: "victim", platform: lab.platform)
    _ = try lab.hub.enrol(
      device.configuration.id, name: "third", user: "ann", key: device.keys.ownKey(),
      recipient: device.keys.recipient(), incarnation: #require(device.configuration.incarnation), asked: "victim")
    try device.keys.trust(lab.hub.keys.ownKey(), as: "hub")
    _ = try device.importBundle(lab.hub.emit(to: "third").file)
    return try Forger(device, lab.platform)
  }

  /// The first of two volumes of a bundle. The second volume never arrives, and the sender calls itself `victim`.
  private func lone(_ number: Int64, by forger: Forger) throws -> [UInt8] {
    let whole = Array("bundle \(number) of \(forger.id)".utf8)
    return try forger.volume(
      of: whole, .string(BundleID(random: lab.platform.random.bytes(16)).text), number: number,
      piece: Array(whole.prefix((whole.count + 1) / 2)),
      changed: [(name: "parts", value: 2), (name: "from", value: forger.party(forger.id, "victim"))])
  }

  @Test("pieces belong to the device that signed them, by whatever name it calls itself")
  func ownPieces() throws {
    let (third, victim) = (try third(), try Forger(lab.victim, lab.platform))
    for number in Int64(900_000)..<900_008 { #expect(try lab.refusal(of: lone(number, by: third)) == nil) }
    #expect(try pieces.count == 8 && pieces.allSatisfy { $0.hasPrefix("shop-third-hub-90000") })
    let number = victim.sequence + 1
    #expect(try lab.refusal(of: lone(number, by: victim)) == nil)
    // An earlier release used the name that a device gives itself for the folder of the device's pieces.
    let former = Paths.join(lab.hub.folder.inbox, "parts/shop-victim-hub-900100~2~5~0123456789abcdef")
    try lab.platform.files.makeDirectory(former, mode: 0o755)
    #expect(lab.tool("device", "revoke", "third").code == 0)
    let left = try pieces
    #expect(left.count == 1 && left[0].hasPrefix("shop-victim-hub-\(number)~"), "\(left)")
  }

  @Test("the bundle of a device with another name at the hub is joined from its volumes, also from those of before")
  func otherName() throws {
    let third = try third()
    let whole = try third.bundle { content in
      content.set("bundle", Self.id)
      content.set("from", third.party(third.id, "victim"))
      content.changes = [third.update("notes", "n1", set: ["body": "came"], was: ["body": "mine"])]
    }
    let half = (whole.count + 1) / 2
    for (part, piece) in [(1, whole.prefix(half)), (2, whole.dropFirst(half))] as [(Int64, ArraySlice<UInt8>)] {
      let volume = try third.volume(
        of: whole, Self.id, number: third.sequence + 1, piece: Array(piece),
        changed: [
          (name: "part", value: .integer(part)), (name: "parts", value: 2),
          (name: "from", value: third.party(third.id, "victim")),
        ])
      #expect(try lab.refusal(of: volume) == nil)
      guard part == 1 else { continue }
      let parts = Paths.join(lab.hub.folder.inbox, "parts")
      let words = try #require(try pieces.first).split(separator: "~")
      let former = "shop-victim-hub-\(third.sequence + 1)~" + words[1...3].joined(separator: "~")
      try lab.platform.files.rename(Paths.join(parts, try pieces[0]), to: Paths.join(parts, former))
    }
    #expect(try lab.atHub("SELECT body FROM notes WHERE id = 'n1'") == ["came"])
    #expect(try pieces == [])
  }
}
