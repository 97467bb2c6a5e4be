import SatchelPlatform
import SimulatedWorld
import Testing

@Suite struct FolderNameTests {
  @Test("a folder whose maker was killed has a name that stays when the next command has used it", arguments: 1...20)
  func madeTwice(seed: UInt64) throws {
    let world = SimulatedWorld(seed: seed)
    defer { world.end() }
    let files = SimulatedFiles(world)
    let folder = Paths.join(world.root, "archive")
    let path = Paths.join(folder, "bundle")
    try files.makeDirectory(world.root, mode: 0o755)
    world.settle()
    // The folder is made. Its maker is killed before the folder's name is synced.
    world.set(Fault(.killed, step: 1))
    #expect(throws: PlatformError.self) { try files.makeDirectory(folder, mode: 0o755) }
    world.restart()
    try files.makeDirectory(folder, mode: 0o755)
    try files.replace(path, mode: 0o644, contents: [1, 2, 3])
    // The second command has synced its writes. Then the power fails at the next step.
    world.set(Fault(.powerCut, step: 0))
    #expect(throws: PlatformError.self) { try files.remove(path) }
    world.restart()
    #expect(try files.read(path, limit: 10) == [1, 2, 3])
  }
}
