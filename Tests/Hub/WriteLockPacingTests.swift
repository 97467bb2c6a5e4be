import SatchelPlatform
import SatchelValues
import TestSupport
import Testing

@testable import SatchelWorkspace

@Suite("Apps that write get their turn after long work")
struct WriteLockPacingTests {
  let clock = SetClock()

  /// How long a piece of work waits. It begins `pause` milliseconds after work that took `length` milliseconds.
  private func wait(after pause: Int64, ofWorkFor length: Int64, _ take: (() -> Void) throws -> Void) rethrows -> Int64
  {
    try take { clock.advance(by: length) }
    clock.advance(by: pause)
    let called = clock.milliseconds()
    try take {}
    return clock.milliseconds() - called
  }

  @Test("the next work waits for the rest of a pause, and after short work not at all")
  func withinACommand() throws {
    for (length, pause, expected) in [(501, 0, 200), (501, 150, 50), (501, 200, 0), (500, 0, 0)]
      as [(Int64, Int64, Int64)]
    {
      let turns = WriteLockPacing(clock)
      #expect(wait(after: pause, ofWorkFor: length) { body in turns.take(body) } == expected)
    }
  }

  @Test("so does the next command, and a clock that was set back makes it wait no longer than a turn")
  func betweenCommands() throws {
    let folder = try TemporaryFolder()
    let workspace = WorkspaceFolder(folder.path)
    let platform = Platform(files: HostFileSystem(), clock: clock, random: SeededRandom(1))
    for (length, pause, expected) in [(501, 0, 200), (9_000, 150, 50), (501, 300, 0), (500, 0, 0), (501, -90_000, 200)]
      as [(Int64, Int64, Int64)]
    {
      #expect(try wait(after: pause, ofWorkFor: length) { try workspace.locked(platform, .commit, $0) } == expected)
    }
  }
}
