import SatchelCommands
import Testing

@Suite("Parsing a command line")
struct ParsingTests {
  @Test("options may be anywhere, with their value in the next word or after an equals sign")
  func optionsAnywhere() throws {
    for words in ["pack --to x a b --fold", "pack a --fold b --to=x", "pack -t x --fold a b", "pack -t=x a --fold b"] {
      let command = try bag.parsed(words)
      #expect(command.value("to") == "x")
      #expect(command.flag("fold"))
      #expect(command.arguments("THING") == ["a"])
      #expect(command.argument("POCKET") == "b")
    }
  }

  @Test("options and arguments that are not given are false, nil or empty")
  func defaults() throws {
    let command = try bag.parsed("pack a b")
    #expect(!command.flag("fold") && !command.json && !command.quiet && !command.dryRun)
    #expect(command.value("to") == nil)
    #expect(command.values("label") == [])
    #expect(command.directory == ".")
    #expect(try bag.parsed("conflicts show").optionalArgument("ID") == nil)
  }

  @Test("common options go before the command, between its words and after it")
  func commonOptions() throws {
    for words in ["-C d --json -q user list", "user -C d --json list -q", "user list --quiet --json --directory=d"] {
      let command = try bag.parsed(words)
      #expect(command.path == ["user", "list"])
      #expect(command.directory == "d")
      #expect(command.json && command.quiet)
    }
  }

  @Test("the folder of -C may be called like a command")
  func folderLikeCommand() throws {
    #expect(try bag.parsed("-C user status").directory == "user")
    #expect(try bag.parsed("--password-file pack -C user status").path == ["status"])
  }

  @Test("after two hyphens every word is an argument")
  func endOfOptions() throws {
    #expect(try bag.parsed("pack -- --fold -x").arguments("THING") == ["--fold"])
    #expect(try bag.parsed("conflicts show -- -5").optionalArgument("ID") == "-5")
    #expect(try bag.parsed("conflicts show -- --json").json == false)
  }

  @Test("a lone hyphen and a word with an equals sign are arguments")
  func plainWords() throws {
    let command = try bag.parsed("user add - region=north tier=2")
    #expect(command.argument("NAME") == "-")
    #expect(command.arguments("ATTR=VALUE") == ["region=north", "tier=2"])
  }

  @Test("a list gets the words that the arguments around it leave")
  func lists() throws {
    let command = try bag.parsed("pack a b c d")
    #expect(command.arguments("THING") == ["a", "b", "c"])
    #expect(command.argument("POCKET") == "d")
    #expect(try bag.parsed("user add asha").arguments("ATTR=VALUE") == [])
  }

  @Test("the longest name wins, and a shorter one is a command too")
  func longestName() throws {
    #expect(try bag.parsed("conflicts").path == ["conflicts"])
    #expect(try bag.parsed("conflicts --json show 5").path == ["conflicts", "show"])
  }

  @Test("an option that may be repeated keeps its order")
  func repeats() throws {
    #expect(try bag.parsed("pack --label b=1 x --label a=2 y").values("label") == ["b=1", "a=2"])
  }

  @Test("dry runs are for what changes data")
  func dryRuns() throws {
    #expect(try bag.parsed("pack --dry-run a b").dryRun)
    #expect(bag.usageError("status --dry-run")?.message == "'status' changes no data, so it takes no --dry-run")
  }

  @Test(
    "a command line that does not fit says what is wrong",
    arguments: [
      ("statsu", "there is no command 'statsu'; did you mean 'status'?"),
      ("user ad", "there is no command 'user ad'; did you mean 'user add'?"),
      ("usre add", "there is no command 'usre'; did you mean 'user'?"),
      ("provision x", "there is no command 'provision'; did you mean 'device provision'?"),
      ("frobnicate", "there is no command 'frobnicate'"),
      ("-C d frobnicate", "there is no command 'frobnicate'"),
      ("help exprot", "there is no command 'exprot'"),
      ("frobnicate --help", "there is no command 'frobnicate'"),
      ("user", "'user' needs one more word: add, list"),
      ("--json", "no command is given"),
      ("--", "no command is given"),
      ("--jsno status", "there is no option --jsno; did you mean '--json'?"),
      ("--fold pack a b", "the option --fold belongs to a command and goes after it"),
      ("pack --flod a b", "'pack' has no option --flod; did you mean '--fold'?"),
      ("pack --wrap a b", "'pack' has no option --wrap"),
      ("pack -qt a b", "'pack' has no option -qt"),
      ("pack --fold=yes a b", "the option --fold takes no value"),
      ("pack a b --to", "the option --to needs a value: PATH"),
      ("pack --to --json a b", "the option --to needs a value: PATH"),
      ("pack --to= a b", "the option --to has an empty value; it needs PATH"),
      ("pack --to x -t y a b", "the option -t is given twice"),
      ("pack", "the argument THING is missing"),
      ("pack a", "the argument POCKET is missing"),
      ("user add", "the argument NAME is missing"),
      ("status a", "the argument 'a' is one too many"),
      ("device provision tablet", "the option --user U is missing"),
    ])
  func complaints(words: String, message: String) {
    let error = bag.usageError(words)
    #expect(error?.message == message)
    #expect(error?.hint?.contains("Read 'bag help") == true)
  }

  @Test("a usage error prints the usage line and where to read on")
  func usageErrorText() {
    #expect(
      bag.usageError("user add")?.text(tool: "bag") == """
        bag: the argument NAME is missing
        Usage: bag user add NAME [ATTR=VALUE...]
        Read 'bag help user add'.

        """)
  }

  @Test("an assignment is split at its first equals sign, byte for byte")
  func assignments() {
    #expect(Assignment("a=b=c").map { [$0.name, $0.value] } == ["a", "b=c"])
    #expect(Assignment("a=")?.value == "")
    #expect(Assignment("a=\u{338}x")?.name == "a")
    #expect(Assignment("=b") == nil)
    #expect(Assignment("ab") == nil)
  }
}
