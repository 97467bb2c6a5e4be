import Foundation
import SatchelCommands
import SatchelJSON
import SatchelPlatform
import Synchronization
import TestSupport
import Testing

@Suite("Watching for sticks")
struct WatchTests {
  let camp: CommandLineFixture

  init() throws {
    camp = try CommandLineFixture()
    try camp.open()
    try camp.makeFolder("media")
    try camp.sql("tablet/data.sqlite", "UPDATE reviews SET stars = 1 WHERE id = 'r1'")
  }

  /// The actions of people between two looks of the watch for sticks. When no action is left, the watch must end.
  private final class Story: EndRequest {
    private let steps: Mutex<[@Sendable () throws -> Void]>

    init(_ steps: [@Sendable () throws -> Void]) { self.steps = Mutex(steps) }

    func comes(within milliseconds: Int64) -> Bool {
      guard milliseconds > 0 else { return false }
      guard let step = steps.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return true }
      #expect(throws: Never.self) { try step() }
      return false
    }
  }

  private func watch(_ device: String, _ words: String..., during steps: @Sendable () throws -> Void...)
    -> CommandLineFixture.Outcome
  {
    let console = CollectingConsole()
    let words = ["-C", camp.path(device), "watch", camp.path("media")] + words
    let code = runDeviceTool(words, console: console, endRequest: Story(steps))
    return CommandLineFixture.Outcome(code: code, out: console.outText, error: console.errorText)
  }

  /// A courier plugs in a stick that was used with `sync` before.
  private var plug: @Sendable (_ stick: String) throws -> Void {
    let root = camp.root
    return {
      try FileManager.default.createDirectory(atPath: "\(root)/media/\($0)/SATCHEL", withIntermediateDirectories: true)
    }
  }

  private func count(_ text: String, in whole: String) -> Int { whole.components(separatedBy: text).count - 1 }

  @Test("a stick is synced once each time that it is plugged in")
  func eachTime() throws {
    let (root, plug) = (camp.root, plug)
    let outcome = watch(
      "tablet",
      during: { try plug("red") },
      {
        #expect(
          FileManager.default.fileExists(atPath: "\(root)/media/red/SATCHEL/camp/hub/tablet/camp-tablet-hub-1.satchel"))
      },
      { try FileManager.default.moveItem(atPath: "\(root)/media/red", toPath: "\(root)/pocket") },
      { try FileManager.default.moveItem(atPath: "\(root)/pocket", toPath: "\(root)/media/red") },
      { try plug("blue") })
    #expect(outcome.code == 0 && outcome.error.isEmpty)
    #expect(count("everything is in the folder", in: outcome.out) == 3, "\(outcome.out)")
    #expect(count("It is on the stick already", in: outcome.out) == 1)
    #expect(outcome.out.hasSuffix("Ended after 3 visits.\n"))
  }

  @Test("a stick in trouble is reported, and the next one is synced")
  func trouble() throws {
    let (root, plug) = (camp.root, plug)
    let outcome = watch(
      "tablet", "--json",
      during: {
        try plug("broken")
        // A file has the name of the folder that the sync needs.
        let folder = "\(root)/media/broken/SATCHEL/camp"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: "\(folder)/hub"))
      }, { try plug("good") })
    #expect(outcome.code == 0)
    #expect(outcome.error.contains("hub: "))
    let document = try outcome.json
    #expect(document["visits"] == 2 && document["failures"] == 1)
    #expect(document["sticks"]?.arrayValue?.map { $0["ok"]?.boolValue } == [false, true])
    #expect(
      FileManager.default.fileExists(atPath: "\(root)/media/good/SATCHEL/camp/hub/tablet/camp-tablet-hub-1.satchel"))
  }

  @Test("a folder that is no stick is left alone, such as a place where none is mounted now")
  func noStick() throws {
    try camp.makeFolder("media/empty")
    let before = try camp.everything()
    let outcome = camp.device("tablet", "watch", "--once", camp.path("media"))
    #expect(outcome.code == 0 && outcome.out.contains("There is no stick in"))
    #expect(try camp.everything() == before)
  }

  @Test("with --once the sticks that are in are served, a rehearsal changes nothing, and trouble is in the exit code")
  func once() throws {
    try plug("red")
    let before = try camp.everything()
    #expect(camp.hub("watch", "--once", "--dry-run", camp.path("media")).code == 0)
    #expect(try camp.everything() == before)
    #expect(camp.device("tablet", "watch", "--once", camp.path("media")).code == 0)
    #expect(try camp.hub("watch", "--once", camp.path("media"), "--json").json["sticks"]?.arrayValue?.count == 1)
    #expect(try camp.rows("office.sqlite", "SELECT stars FROM reviews WHERE id = 'r1'") == "1")
    try Data("x".utf8).write(
      to: URL(filePath: camp.path("media/red/SATCHEL/camp/tablet/hub/camp-hub-tablet-9.satchel")))
    #expect(camp.device("tablet", "watch", "--once", camp.path("media")).code == 3)
  }

  @Test(
    "a stick folder may be named, a wrong pause and a missing folder are refused, and a later folder is awaited"
  )
  func places() throws {
    try plug("red")
    #expect(
      camp.device("tablet", "watch", "--once", camp.path("media/red")).out.contains("everything is in the folder"))
    #expect(camp.device("tablet", "watch", "--every", "0", camp.path("media")).code == 2)
    #expect(camp.device("tablet", "watch", "--once", camp.path("nowhere")).error.contains("Is the stick mounted?"))
    #expect(camp.device("nobody", "watch", camp.path("media")).code == 1)
    try camp.remove("media")
    let plug = plug
    let outcome = watch("tablet", during: { try plug("red") })
    #expect(outcome.out.contains("not there yet") && outcome.out.contains("everything is in the folder"))
  }

  @Test("SIGTERM ends the tool with the exit code 0")
  func signal() throws {
    let process = try ChildProcess(builtProgram("satchel"), ["-C", camp.path("tablet"), "watch", camp.path("media")])
    #expect(String(decoding: process.read(), as: UTF8.self).hasPrefix("Watching "))
    process.terminate()
    let rest = process.readToEnd()
    #expect(process.wait() == 0 && !process.wasKilled)
    #expect(String(decoding: rest, as: UTF8.self).hasSuffix("Ended after 0 visits.\n"))
  }
}
