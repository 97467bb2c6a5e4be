import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import Synchronization
import TestSupport
import Testing

/// A clock that runs fast, so that all work appears slow.
private final class HurryingClock: WallClock {
  private let now = Mutex<Int64>(1_800_000_000_000)

  func milliseconds() -> Int64 {
    now.withLock { now in
      now += 4000
      return now
    }
  }

  func pause(milliseconds: Int64) {}
}

@Suite("Standard input and output")
struct StreamTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 3 WHERE id = 'r1'")
  }

  private func run(
    _ tool: ([String], Platform, any Console) -> Int32, _ words: [String], input: [UInt8] = [],
    traits: ConsoleTraits = ConsoleTraits(), clock: any WallClock = SystemClock()
  ) -> (code: Int32, bytes: [UInt8], out: String, error: String) {
    let console = CollectingConsole(input: input, traits: traits)
    let code = tool(words, Platform(files: HostFileSystem(), clock: clock, random: SystemRandom()), console)
    return (code, console.outputBytes, console.outText, console.errorText)
  }

  private func device(_ words: String..., input: [UInt8] = [], traits: ConsoleTraits = ConsoleTraits()) -> (
    code: Int32, bytes: [UInt8], out: String, error: String
  ) {
    run(
      { runDeviceTool($0, platform: $1, console: $2) }, ["-C", camp.path("tablet")] + words, input: input,
      traits: traits)
  }

  private func hub(_ words: String..., input: [UInt8] = []) -> (code: Int32, bytes: [UInt8], out: String, error: String)
  {
    run({ runHubTool($0, platform: $1, console: $2) }, ["-C", camp.path("hub")] + words, input: input)
  }

  @Test("a bundle goes from export to import through a pipe, and back, and the words go elsewhere")
  func pipe() throws {
    let exported = device("export", "--to", "-")
    #expect(exported.code == 0 && exported.out.isEmpty && exported.error.contains("Export 1: 1 change"))
    #expect(exported.bytes == (try camp.read("tablet/bundles/outbox/camp-tablet-hub-1.satchel")))
    #expect(hub("verify", "-", input: exported.bytes).code == 0)
    #expect(hub("inspect", "-", input: exported.bytes).out.contains("reviews"))
    let imported = hub("import", "-", input: exported.bytes)
    #expect(imported.code == 0 && imported.out.contains("1 change taken"))
    let emitted = hub("emit", "--device", "tablet", "--to", "-", "--json")
    #expect(emitted.out.isEmpty && emitted.error.contains("\"emissions\""))
    #expect(device("import", "-", input: emitted.bytes).out.contains("Bundle 2 of the hub"))
    #expect(try HostFileSystem().list(camp.path("hub/bundles/inbox")).isEmpty)
  }

  @Test("a device joins through pipes")
  func joining() throws {
    let asked = run(
      { runDeviceTool($0, platform: $1, console: $2) },
      ["init", camp.path("radio"), "--dataset", "camp", "--name", "radio", "--request", "-", "--json"])
    #expect(asked.code == 0 && asked.out.isEmpty)
    let print = try #require(try JSONValue.parse(Array(asked.error.utf8))["fingerprint"]?.stringValue)
    #expect(hub("device", "enrol", "-", "--user", "ben", "--fingerprint", print, input: asked.bytes).code == 0)
  }

  @Test("a refused bundle on standard input is kept in quarantine, and nothing else stays")
  func refused() throws {
    var bytes = device("export", "--to", "-").bytes
    bytes[bytes.count / 2] ^= 1
    #expect(hub("import", "-", input: bytes).code == 3)
    #expect(hub("import", "-", input: []).code == 3)
    let kept = try HostFileSystem().list(camp.path("hub/bundles/quarantine"))
    #expect(kept.contains { $0.hasSuffix("standard-input.satchel") })
    #expect(try HostFileSystem().list(camp.path("hub/bundles/inbox")).isEmpty)
  }

  @Test("no bundle is written to a terminal, and none of several to one pipe; nothing is done then")
  func nonsense() throws {
    let before = try camp.everything()
    let terminal = device("export", "--to", "-", traits: ConsoleTraits(showsOutput: true))
    #expect(terminal.code == 2 && terminal.error.contains("not for a terminal"))
    #expect(device("export", "--to", "-", "--volume-size", "1M").code == 2)
    #expect(hub("emit", "--all", "--to", "-").code == 2)
    #expect(hub("import", "-", "x.satchel").code == 2)
    #expect(try camp.everything() == before)
  }

  @Test("a rehearsal writes no bundle to standard output")
  func rehearsal() { #expect(device("export", "--to", "-", "--dry-run").bytes.isEmpty) }

  @Test("who watches sees how far a long command is; who does not gets a line every half minute; quiet is quiet")
  func progress() throws {
    try camp.sql(
      "tablet/data.sqlite",
      """
      WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
      INSERT INTO reviews SELECT 'n' || i, 'lake', 'ann', 1, 'x' FROM n
      """)
    let export = ["-C", camp.path("tablet"), "export", "--dry-run"]
    let tool: ([String], Platform, any Console) -> Int32 = { runDeviceTool($0, platform: $1, console: $2) }
    let watched = run(tool, export, traits: ConsoleTraits(interactive: true), clock: HurryingClock())
    #expect(watched.error.contains("\r\u{1B}[KCollecting: ") && watched.error.contains("rows/s"))
    #expect(watched.error.hasSuffix("\r\u{1B}[K") && !watched.out.contains("\r"))
    let logged = run(tool, export, clock: HurryingClock())
    #expect(logged.error.hasPrefix("Collecting: ") && !logged.error.contains("\r") && logged.error.hasSuffix("\n"))
    #expect(logged.error.split(separator: "\n").count < 10)
    #expect(run(tool, export + ["--quiet"], clock: HurryingClock()).error.isEmpty)
    #expect(run(tool, export, traits: ConsoleTraits(interactive: true)).code == 0)
  }
}
