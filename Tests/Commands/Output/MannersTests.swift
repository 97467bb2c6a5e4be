import Foundation
import SatchelJSON
import SatchelPlatform
import SatchelSQLite
import TestSupport
import Testing

@testable import SatchelCommands

@Suite("Manners of the command line")
struct MannersTests {
  private static var tools: [ToolSpec<CommandContext>] { [DeviceTool.spec, HubTool.spec] }

  @Test("the tables of commands have no mistakes, and every command has an example")
  func tables() {
    for tool in Self.tools {
      #expect(tool.faults == [])
      for command in tool.commands { #expect(!command.examples.isEmpty, "\(tool.name) \(command.name)") }
    }
  }

  @Test("help fits 80 columns, for each command, and lists its exit codes")
  func help() {
    for tool in Self.tools {
      for text in [tool.help()] + tool.commands.map({ tool.help($0) }) {
        for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
      }
      for command in tool.commands { #expect(tool.help(command).contains("a bundle was refused")) }
    }
  }

  @Test("--json prints exactly one document, on failure too, for every command")
  func oneDocument() throws {
    for tool in Self.tools {
      // `man` is left out, because it needs no workspace and so does not fail here.
      for command in tool.commands where command.path != ["man"] {
        let console = CollectingConsole()
        var context = CommandContext(platform: .real, console: console)
        let words = command.path + ["--json", "-C", "/nowhere"] + command.arguments.map { _ in "x" }
        let required = command.options.filter(\.required).flatMap { ["--\($0.long)", "x"] }
        let code = tool.run(words + required, context: &context, console: console) { failure, _ in
          report(failure, to: console)
        }
        #expect(code != .done, "\(command.name)")
        let document = try JSONValue.parse(Array(console.outText.utf8))
        #expect(document["ok"] == false)
        #expect(document["error"]?["message"]?.stringValue?.isEmpty == false)
        #expect(console.errorText.isEmpty)
      }
    }
  }

  @Test("the hint about a busy database names an edit session in a GIS")
  func busyDatabase() {
    // 5 is the code SQLITE_BUSY.
    let failure = Failure(SQLiteError(code: 5, message: "database is locked"))
    #expect(failure.code == .busy)
    let words = "An open edit session in QGIS or another GIS can hold the database: save or end it first."
    #expect(failure.hint?.hasSuffix(words) == true)
  }

  @Test("Ctrl-C ends a command with the exit code 130, and says what that means for its work")
  func interrupted() throws {
    let camp = try CommandLineFixture()
    try camp.open()
    // A background job of a shell script ignores Ctrl-C. `env` gives the tool the default reaction.
    let process = try ChildProcess(
      "/usr/bin/env", ["--default-signal=INT", builtProgram("satchel"), "-C", camp.path("tablet"), "import", "-"],
      takesInput: true)
    // This input is larger than a pipe's buffer. When the write returns, the tool is already reading.
    process.write([UInt8](repeating: 0, count: 1 << 20))
    #expect(kill(process.identifier, SIGINT) == 0)
    process.endInput()
    #expect(process.complaint().hasSuffix("Stopped. Nothing is half done: run the same command again.\n"))
    #expect(process.wait() == 130 && !process.wasKilled)
    #expect(camp.device("tablet", "export").code == 0)
    #expect(camp.device("tablet", "doctor").out == "All is well.\n")
  }

  @Test("the README's tour works as it is printed")
  func tour() throws {
    // The tests' folder also contains the built tools.
    let tools = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
    let process = try ChildProcess(
      "/bin/bash", [PackageFolder.file("scripts/tour.sh").path, tools], complaints: .withOutput)
    let text = String(decoding: process.readToEnd(), as: UTF8.self)
    #expect(process.wait() == 0, "\(text)")
  }
}
