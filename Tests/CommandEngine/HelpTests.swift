import SatchelCommands
import SatchelValues
import Testing

@Suite("Help")
struct HelpTests {
  private func help(_ words: String) throws -> String {
    guard case .help(let text) = try bag.parse(words.split(separator: " ").map(String.init)) else { throw Refusal() }
    return text
  }

  @Test("both ways to ask for help give the same, whatever else is wrong")
  func bothWays() throws {
    #expect(try help("help pack") == help("pack --help"))
    #expect(try help("pack -h --bogus --to") == help("pack --help"))
    #expect(try help("-C d help pack") == help("pack --help"))
    #expect(try help("help") == help("--help"))
    #expect(try help("help user") == help("user --help"))
    #expect(try help("") == help("help"))
    #expect(try help("-C d --help") == help("help"))
  }

  @Test("no line is wider than 80 columns")
  func narrow() throws {
    let texts = try [help("help"), help("help user")] + bag.commands.map { bag.help($0) }
    for line in texts.joined().split(separator: "\n") { #expect(line.unicodeScalars.count <= 80, "\(line)") }
  }

  @Test("a usage line that is too long goes on below itself")
  func longUsage() {
    let options = (1...9).map { OptionSpec("option-\($0)", kind: .value("VALUE"), help: "h") }
    let command = CommandSpec<Trace>(["c"], summary: "s", discussion: "d", options: options, changesData: false) {
      _, _ in .done
    }
    let usage = bag.help(command).split(separator: "\n").dropFirst().prefix(3)
    #expect(usage.allSatisfy { $0.count <= 80 })
    #expect(usage.last?.hasPrefix("         [--option-") == true)
  }

  @Test("the example's table has no faults, and faults are found")
  func faults() {
    #expect(bag.faults == [])
    let options = [OptionSpec("json", help: "h"), OptionSpec("x", short: "q", help: "h")]
    let arguments = [ArgumentSpec("A", .many, help: "h"), ArgumentSpec("A", .zeroOrMore, help: "h")]
    let command = CommandSpec<Trace>(
      ["help"], summary: "s", discussion: "d", arguments: arguments, options: options, changesData: false
    ) { _, _ in .done }
    let tool = ToolSpec(name: "t", summary: "s", version: "1", commands: [command, command])
    #expect(
      Set(tool.faults) == [
        "the command 'help' is there twice", "'help' has two options --json", "'help' has two options -q",
        "'help' has two arguments A", "'help' has two lists of arguments", "'help' hides the help",
      ])
  }

  @Test("the tool's help reads like this")
  func toolSnapshot() throws {
    #expect(try help("help") == toolHelp)
  }

  @Test("a command's help reads like this")
  func commandSnapshot() throws {
    #expect(try help("help pack") == packHelp)
  }
}
