import SatchelCommands
import SatchelPlatform
import TestSupport
import Testing

@Suite("Completion and manual")
struct ManualTests {
  private func run(_ tool: ([String], any Console) -> Int32, _ words: [String]) -> String {
    let console = CollectingConsole()
    #expect(tool(words, console) == 0)
    return console.outText
  }

  /// The completions that bash offers for a command line that is being typed.
  private func offers(_ line: String) throws -> [String] {
    let folder = try TemporaryFolder()
    try folder.write(Array(run({ runHubTool($0, console: $1) }, ["completion", "bash"]).utf8), to: "completion")
    let words = line.split(separator: " ", omittingEmptySubsequences: false).map { "'\($0)'" }.joined(separator: " ")
    let script = """
      source ./completion
      COMP_WORDS=(\(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _satchel_hub; printf '%s\\n' "${COMPREPLY[@]}"
      """
    return try StockTool.bash("-c", script, in: folder.path).lines
  }

  @Test("bash completes commands, words of two, and options")
  func bash() throws {
    #expect(try offers("satchel-hub conf") == ["conflicts"])
    #expect(try Set(offers("satchel-hub user ")) == ["add", "set", "import", "remove", "list"])
    #expect(try offers("satchel-hub -C hub device prov") == ["provision"])
    #expect(try offers("satchel-hub emit --vol") == ["--volume-size"])
    #expect(try offers("satchel-hub compl") == ["completion"])
  }

  @Test("the shells accept the completion that is printed for them")
  func shells() throws {
    for name in ["bash", "zsh", "fish"] {
      #expect(run({ runDeviceTool($0, console: $1) }, ["completion", name]).contains("satchel"))
    }
    let console = CollectingConsole()
    #expect(runDeviceTool(["completion", "csh"], console: console) == 2)
  }

  @Test("the manual page has every command and option, and groff finds nothing wrong")
  func man() throws {
    let folder = try TemporaryFolder()
    for (name, page) in [
      ("satchel", run({ runDeviceTool($0, console: $1) }, ["man"])),
      ("satchel-hub", run({ runHubTool($0, console: $1) }, ["man"])),
    ] {
      try folder.write(Array(page.utf8), to: "page.1")
      let result = try runProgram(at: "/usr/bin/groff", ["-man", "-Tascii", "-ww", "page.1"], in: folder.path)
      #expect(result.status == 0 && result.complaint.isEmpty, "\(result.complaint)")
      for word in ["\(name) sync", "EXIT STATUS", "conflicts resolve"] {
        #expect(result.text.contains(word) || page.contains(word.split(separator: " ")[0]), "\(word)")
      }
    }
  }
}
