import SatchelPlatform
import TestSupport
import Testing

@Suite("An app that brings the library along")
struct EmbeddingTests {
  @Test("the example of docs/EMBEDDING.md takes a bundle and makes one")
  func example() throws {
    let world = try ExchangeFixture(random: SystemRandom())
    let device = try world.device("tablet", user: "ana", tier: 1).device
    _ = try device.importBundle(world.emit(to: device))
    try world.write("UPDATE camps SET name = 'Mine' WHERE id = 1", in: device.folder)
    try world.write("UPDATE camps SET name = 'New' WHERE id = 2", in: world.hub.folder)
    let stick = try world.folder.folder("stick")
    try world.platform.files.copy(world.emit(to: device), to: Paths.join(stick, "from-hub.satchel"), mode: 0o644)
    let run = try runProgram(at: builtProgram("embedding"), [device.folder.root, stick], in: world.folder.path)
    #expect(run.text.contains("from-hub.satchel: imported, 1 rows written, 0 removed"), "\(run.text)\(run.complaint)")
    #expect(run.text.contains("export 1: camps 1"))
    #expect(try world.hub.importBundle(Paths.join(stick, "world-tablet-hub-1.satchel")).taken == 1)
  }
}
