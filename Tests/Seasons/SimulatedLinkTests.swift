import SatchelPlatform
import SimulatedWorld
import TestSupport
import Testing

@Suite struct SimulatedLinkTests {
  @Test("the simulated files keep the same promises about links as the machine's")
  func links() throws {
    let world = SimulatedWorld(seed: 1)
    defer { world.end() }
    let files = SimulatedFiles(world)
    let root = world.root + "/links"
    try files.makeDirectory(root, mode: 0o755)
    #expect(try LinkContract(files, in: root) { world.link($0, to: $1) }.broken() == [])
  }
}
